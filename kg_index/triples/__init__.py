"""The triple index: facts by any two of their three terms, over memory-mapped columns."""
