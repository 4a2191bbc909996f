"""The content of a home as a whole: its exchange for another, which a crash leaves old or new, and its version."""
