"""Formulate: a question becomes keyword queries and the text to encode."""

from __future__ import annotations

from qa_core.text.noun_phrases import noun_phrases
from qa_core.text.synonyms import synonyms
from qa_core.types import Question
from retrievers.formulate import Formulation
from retrievers.formulate import formulate as formulate_with


def formulate(question: Question) -> Formulation:
    return formulate_with(question, noun_phrases=noun_phrases, synonyms=synonyms)
