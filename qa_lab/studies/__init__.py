"""Studies of generated replies."""
