"""Answers as JSON objects: the one shape that command line, store and services share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import orjson

from qa_core.types import Answer, AnswerSource, Candidate, Choice, Span, Styled, StyledLine


def as_dict(answer: Answer) -> dict[str, Any]:
    """The object of `ask --json`; `styled`, `understood`, `choices` and `trace` only where there are such."""
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
    if answer.understood:
        told["understood"] = answer.understood
    if answer.choices:
        told["choices"] = [asdict(choice) for choice in answer.choices]
    return told if answer.trace is None else {**told, "trace": dict(answer.trace)}


def from_dict(told: Mapping[str, Any]) -> Answer:
    """The answer that `as_dict` told; what was added to the object since is left out."""
    styled = told.get("styled")
    return Answer(
        question=told["question"],
        text=told["answer"],
        kind=told["kind"],
        answered=told["answered"],
        confidence=told["confidence"],
        reason=told["reason"],
        sources=tuple(AnswerSource(**{**each, **_spans(each)}) for each in told["sources"]),
        timings=told["timings"],
        skipped=tuple(told["skipped"]),
        id=told["id"],
        styled=None if styled is None else _styled(styled),
        understood=told.get("understood", ""),
        choices=tuple(Choice(**each) for each in told.get("choices", ())),
        trace=told.get("trace"),
    )


def styled_dict(styled: Styled) -> dict[str, Any]:
    """What a persona said, with all that it might have said."""
    return {**asdict(styled), "span": None if styled.span is None else list(styled.span)}


def source_dict(source: AnswerSource) -> dict[str, Any]:
    return {field.name: getattr(source, field.name) for field in fields(source)}


def _styled(told: Mapping[str, Any]) -> Styled:
    lines = tuple(StyledLine(**each) for each in told["lines"])
    return Styled(told["persona"], told["hint"], lines, _span(told["span"]), told["notice"])


def _spans(source: Mapping[str, Any]) -> dict[str, Span | None]:
    return {name: _span(source[name]) for name in ("span", "source_span")}


def _span(told: Sequence[int] | None) -> Span | None:
    return None if told is None else (told[0], told[1])


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
        "features": candidate.signals.by_name(),
    }


def dumps(payload: Mapping[str, Any]) -> bytes:
    """JSON of objects that may hold numpy numbers and arrays."""
    return orjson.dumps(payload, option=orjson.OPT_SERIALIZE_NUMPY)
