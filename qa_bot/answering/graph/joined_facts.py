"""Joins the facts that answer the two parts of a question into one answer."""

from __future__ import annotations

from dataclasses import replace

from kg_index.answers.answerer import Evidence, FactAnswer
from qa_core.types import Span


def joined(one: FactAnswer, other: FactAnswer) -> FactAnswer:
    """Both answers, one after the other; facts about one subject become one evidence."""
    if one.text == other.text:
        return one
    text = f"{one.text} {other.text}"
    by_subject = {evidence.facts[0].subject: evidence for evidence in one.evidence}
    for evidence in other.evidence:
        subject, moved = evidence.facts[0].subject, _moved(evidence.span, len(one.text) + 1)
        first = by_subject.get(subject)
        by_subject[subject] = replace(evidence, span=moved) if first is None else _merged(first, evidence, text)
    return FactAnswer(text, tuple(by_subject.values()))


def _moved(span: Span | None, by: int) -> Span | None:
    return None if span is None else (span[0] + by, span[1] + by)


def _merged(one: Evidence, other: Evidence, answer: str) -> Evidence:
    """The sentences of both, then the triples of both; the whole answer is supported if these sentences are it."""
    first, _, first_triples = one.text.partition("\n")
    second, _, second_triples = other.text.partition("\n")
    sentences = f"{first} {second}"
    span, source_span = ((0, len(answer)),) * 2 if sentences == answer else (one.span, one.source_span)
    return Evidence((*one.facts, *other.facts), f"{sentences}\n{first_triples}\n{second_triples}", span, source_span)
