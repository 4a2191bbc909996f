"""`eval rewrite`: rewriting of follow-up questions."""
