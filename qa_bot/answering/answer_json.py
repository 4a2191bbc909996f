"""Answers as JSON objects, the same for the command line, the store and the services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import orjson

from qa_bot.answering.stages.compose import source_of
from qa_core.types import Answer, AnswerSource, Candidate, Choice, Span, Styled, StyledLine

WHERE_KNOWN = {"path", "heading", "page", "row", "date", "language", "archived", "draft"}
"""Keys of a source that it has only if there is something to say."""


def as_dict(answer: Answer) -> dict[str, Any]:
    """The object of `ask --json`; fields after `skipped` are left out if they are empty or false."""
    payload: dict[str, Any] = {
        "id": answer.id,
        "question": answer.question,
        "answered": answer.answered,
        "kind": answer.kind,
        "answer": answer.text,
        "lead": answer.lead and list(answer.lead),
        "confidence": answer.confidence,
        "reason": answer.reason,
        "sources": [source_dict(source) for source in answer.sources],
        "timings": dict(answer.timings),
        "skipped": list(answer.skipped),
    }
    if answer.unsure:
        payload["unsure"] = True
    if answer.styled is not None:
        payload["styled"] = styled_dict(answer.styled)
    if answer.understood:
        payload["understood"] = answer.understood
    if answer.searched:
        payload["searched"] = answer.searched
    if answer.choices:
        payload["choices"] = [asdict(choice) for choice in answer.choices]
    if answer.former:
        payload["former"] = answer.former
    if answer.suggested:
        payload["suggested"] = True
    return payload if answer.trace is None else {**payload, "trace": dict(answer.trace)}


def from_dict(payload: Mapping[str, Any]) -> Answer:
    """The answer of an object that `as_dict` made, also in an older version; unknown fields are ignored."""
    styled = payload.get("styled")
    return Answer(
        question=payload["question"],
        text=payload["answer"],
        kind=payload["kind"],
        answered=payload["answered"],
        confidence=payload["confidence"],
        reason=payload["reason"],
        sources=tuple(AnswerSource(**{**source, **_spans(source)}) for source in payload["sources"]),
        timings=payload["timings"],
        skipped=tuple(payload["skipped"]),
        id=payload["id"],
        styled=None if styled is None else _styled(styled),
        understood=payload.get("understood", ""),
        searched=payload.get("searched", ""),
        choices=tuple(Choice(**source) for source in payload.get("choices", ())),
        trace=payload.get("trace"),
        lead=_span(payload.get("lead")),
        unsure=payload.get("unsure", False),
        former=payload.get("former", ""),
        suggested=payload.get("suggested", False),
    )


def styled_dict(styled: Styled) -> dict[str, Any]:
    """What a persona said, with all that it might have said."""
    return {**asdict(styled), "span": None if styled.span is None else list(styled.span)}


def source_dict(source: AnswerSource) -> dict[str, Any]:
    """A source; what is not known of its document or place (date, page, …) is left out."""
    named = ((field, getattr(source, field.name)) for field in fields(source))
    return {field.name: value for field, value in named if field.name not in WHERE_KNOWN or value != field.default}


def _styled(payload: Mapping[str, Any]) -> Styled:
    lines = tuple(StyledLine(**source) for source in payload["lines"])
    return Styled(payload["persona"], payload["hint"], lines, _span(payload["span"]), payload["notice"])


def _spans(source: Mapping[str, Any]) -> dict[str, Any]:
    spans = {name: _span(source[name]) for name in ("span", "source_span")}
    return {**spans, "heading": tuple(source.get("heading", ()))}


def _span(payload: Sequence[int] | None) -> Span | None:
    return None if payload is None else (payload[0], payload[1])


def candidate_dict(candidate: Candidate) -> dict[str, Any]:
    """One result of `search --json`: the keys of a source but its spans, with the score of every stage."""
    source = source_dict(source_of(candidate))
    stated = {key: value for key, value in source.items() if key not in {"span", "source_span"}}
    return {**stated, "score": candidate.score, "features": candidate.signals.by_name()}


def dumps(payload: Mapping[str, Any]) -> bytes:
    """JSON of objects that may hold numpy numbers and arrays."""
    return orjson.dumps(payload, option=orjson.OPT_SERIALIZE_NUMPY)
