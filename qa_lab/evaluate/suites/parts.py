"""Parts of the pipeline that `eval everything --ablate` leaves out, one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

from qa_bot.answering import corridor
from qa_bot.answering.ask import STANDS_ALONE, Ask
from qa_bot.answering.clock import Clock
from qa_bot.answering.evidence import row_labels
from qa_bot.answering.stages import passages
from qa_bot.answering.tiling import answer_text
from qa_bot.answering.tiling.leads import lead, read_leads
from qa_bot.answering.verification import verify
from qa_core.types import FloatArray, Passage, Span
from rankers.passage_evidence import PAIRS, PROSE


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the pipeline: the configuration without it, or the attributes that are replaced to leave it out."""

    name: str
    config: Mapping[str, object] = field(default_factory=dict)
    replaced: Sequence[tuple[object, str, object]] = ()


@contextmanager
def left_out(part: Part) -> Iterator[None]:
    """Replace the attributes of a part while the block runs."""
    with ExitStack() as stack:
        for owner, name, value in part.replaced:
            stack.enter_context(patch.object(owner, name, value))
        yield


def _without_channels(*channels: str) -> list[tuple[object, str, object]]:
    """The weights of passages without some channels of evidence."""
    return [
        (passages, name, {channel: 0.0 if channel in channels else w for channel, w in weights.items()})
        for name, weights in (("PROSE", PROSE), ("PAIRS", PAIRS))
    ]


def _first_unit(_passage: Passage, units: Sequence[Span], _scores: FloatArray, **_options: object) -> Span | None:
    """The beginning of a passage in place of its lead."""
    return units[0] if units else None


_decided = corridor.Corridor._decided


def _in_one_reading(whole: corridor.Corridor, ask: Ask, clock: Clock, *rest: Any) -> Any:
    """A follow-up is searched alone, without the questions before it."""
    return _decided(whole, replace(ask, readings=STANDS_ALONE), clock, *rest)


PARTS: Mapping[str, Part] = {
    part.name: part
    for part in (
        Part("words", replaced=_without_channels("words", "pieces", "title words")),
        Part("vectors", replaced=_without_channels("passage", "unit", "title")),
        Part("vectors of sentences", replaced=_without_channels("unit")),
        Part("pieces of words", replaced=_without_channels("pieces")),
        Part("titles as fields", replaced=_without_channels("title", "title words")),
        Part("spelling", replaced=[(corridor.Corridor, "corrected", lambda _corridor, question: question)]),
        Part("penalty of archived pages", replaced=[(passages, "ARCHIVED", 0.0)]),
        Part("rows of tables by their names", replaced=[(row_labels, "ROW", 0.0)]),
        Part("reading", {"ranking.effort": "low"}),
        Part("order by cover", replaced=[(verify, "COVER_WEIGHT", 0.0)]),
        Part("refusal", {"answer.precision": 0.0, "serve.liveqa_precision": 0.0}),
        Part("graph", {"facts.enabled": False}),
        Part("choice of a lead", replaced=[(lead, "lead_of", _first_unit)]),
        Part("leads by tokens", replaced=[(read_leads, "COVERED", 0.0)]),
        Part("second passage", replaced=[(answer_text, "_second", lambda *_: None)]),
        Part("readings of follow-ups", replaced=[(corridor.Corridor, "_decided", _in_one_reading)]),
    )
}
"""By name. Confidence keeps the weights that were fitted with all parts."""
