"""The conversation model: candidates drawn from it and ranked."""
