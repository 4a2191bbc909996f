"""Paragram: word and phrase vectors trained from paraphrases (Wieting et al. 2015)."""
