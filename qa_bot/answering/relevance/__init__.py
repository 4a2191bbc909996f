"""How likely a passage answers a question, by a cross-encoder that reads both together."""
