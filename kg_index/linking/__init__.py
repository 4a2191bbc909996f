"""Entity linking: mentions in a question and the entities that they name."""
