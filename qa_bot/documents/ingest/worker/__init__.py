"""Reads binary files in a child process with limits on time and memory: its messages, the child and its owner."""
