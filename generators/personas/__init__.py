"""Personas on top of a conversation model: fine-tuned weights and quotations."""
