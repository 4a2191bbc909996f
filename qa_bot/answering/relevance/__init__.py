"""How likely a passage answers a question, by a network that reads both together."""
