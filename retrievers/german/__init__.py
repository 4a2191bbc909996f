"""German words: compounds, synonyms and verbs with prefixes."""
