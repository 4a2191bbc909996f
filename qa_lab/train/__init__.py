"""Training verbs: `verb.py` is what all share, `registry.py` finds one by its name, the rooms hold the models."""
