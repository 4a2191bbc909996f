"""OpenAI-compatible chat completions."""
