"""Evaluation of word, phrase and question similarity."""
