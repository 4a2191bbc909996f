"""Networks that a dense index can be trained with: static tables, words, transformers."""
