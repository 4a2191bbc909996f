"""Training of encoders for dense search from questions and their answers, and of query expansion."""
