"""German words: compounds, and verbs with their prefixes."""
