"""The corridor of a question: formulate, retrieve, rank, decide, compose, style."""
