"""Training from the owner's data: reading it, configuring a run, showing and keeping it."""
