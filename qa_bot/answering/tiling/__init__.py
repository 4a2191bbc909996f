"""Which stretches of passages become the text of an answer."""
