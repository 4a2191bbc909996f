"""Local transformers as conversation models and personas."""
