"""The TREC LiveQA service."""
