"""Community retrieval: search for the answers of held-out questions (Wang 2018, ch. 3)."""
