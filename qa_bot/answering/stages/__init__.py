"""The stages of the corridor, one file each."""
