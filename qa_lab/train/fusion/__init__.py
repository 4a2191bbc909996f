"""`train fusion`: learned fusion from judgements or votes."""
