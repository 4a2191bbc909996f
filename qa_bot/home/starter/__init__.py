"""What the project ships, so that a first question finds an answer: a collection, a graph, encoders, personas, and
the questions that confidence is fitted on."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
COLLECTION = FOLDER / "collection.jsonl"
QUESTIONS = FOLDER / "questions.jsonl"
ENCODER = FOLDER / "encoder"
TRANSFORMER = FOLDER / "transformer"
RELEVANCE = FOLDER / "relevance" / "interaction.onnx"
"""Tells whether a passage answers, from the states of the transformer's tokens."""
MULTILINGUAL = FOLDER / "multilingual"
"""A transformer that knows many languages, which reads passages in others than English."""
MULTILINGUAL_RELEVANCE = FOLDER / "relevance" / "multilingual.onnx"
"""The same as `RELEVANCE`, from the states of its tokens."""
MULTILINGUAL_LANGUAGES = frozenset(
    ("ca", "cs", "da", "de", "es", "fi", "fr", "hu", "it", "nl", "no", "pl", "pt", "ro", "sv", "tr")
)
"""Languages beside English whose words it has."""
GRAPH = sorted((FOLDER / "graph").glob("*.ttl"))
FACTS = FOLDER / "facts.json"
FACT_QUESTIONS = FOLDER / "graph_questions.jsonl"
VOICES = FOLDER / "voices"
NAME = "starter"
NAMESPACE = "https://qa-bot.org/kg/"
"""Where the IRIs of the starter graph begin."""
