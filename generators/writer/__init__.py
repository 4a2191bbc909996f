"""Checks that generated text agrees with its sources."""
