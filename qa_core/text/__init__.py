"""Text analysis: tokens, index terms, sentences, noun phrases and synonyms."""
