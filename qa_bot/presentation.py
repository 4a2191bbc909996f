"""Answers as JSON objects: the one shape that command line, store and services share."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from qa_core.types import Answer, AnswerSource, Candidate, Styled


def as_dict(answer: Answer) -> dict[str, Any]:
    """The object of `ask --json`; `styled` only where a persona was asked for, `trace` only where there is one."""
    told: dict[str, Any] = {
        "id": answer.id,
        "question": answer.question,
        "answered": answer.answered,
        "kind": answer.kind,
        "answer": answer.text,
        "confidence": answer.confidence,
        "reason": answer.reason,
        "sources": [source_dict(source) for source in answer.sources],
        "timings": dict(answer.timings),
        "skipped": list(answer.skipped),
    }
    if answer.styled is not None:
        told["styled"] = styled_dict(answer.styled)
    return told if answer.trace is None else {**told, "trace": dict(answer.trace)}


def styled_dict(styled: Styled) -> dict[str, Any]:
    """What a persona said, with all that it might have said."""
    return {**asdict(styled), "span": None if styled.span is None else list(styled.span)}


def source_dict(source: AnswerSource) -> dict[str, Any]:
    return {field.name: getattr(source, field.name) for field in fields(source)}


def candidate_dict(candidate: Candidate) -> dict[str, Any]:
    """One result of `search --json`, with the score of every stage."""
    passage = candidate.passage
    return {
        "id": passage.id,
        "document": passage.source.document,
        "collection": passage.source.collection,
        "title": passage.source.title,
        "url": passage.source.url,
        "score": candidate.score,
        "text": passage.text,
        "features": dict(candidate.features),
    }
