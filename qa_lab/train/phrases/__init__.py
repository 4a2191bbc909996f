"""`train phrases`: phrase vectors from a paraphrase database."""
