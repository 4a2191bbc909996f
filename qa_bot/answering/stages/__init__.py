"""The stages of the corridor, one file each: formulate, retrieve, fuse, rank, decide, compose, style."""
