"""Replies to small talk: about the bot itself, and about its previous answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from qa_bot.answering.scope import Knowledge
from qa_bot.answering.wording.refusals import refusals_of
from qa_bot.conversation.memory import RememberedTurn, sourced
from qa_bot.conversation.talk_wording import ENGLISH, TalkWording, wording_of
from qa_core.text.analysis import sentences
from qa_core.text.small_talk import Talk
from qa_core.types import Answer, AnswerKind, AnswerSource, Span

LISTED = 10
"""Documents named in reply to a request for sources."""
GRAPH = "graph"
"""The collection of facts."""
ANSWERS_AGAIN: frozenset[Talk] = frozenset({"repeat", "shorter", "why", "sources"})
"""Small talk about a previous answer; personas add nothing to it."""


def reply(talk: Talk, past: Sequence[RememberedTurn], knowledge: Knowledge, language: str = "en") -> Answer:
    """An answer without question, id and timings, which the caller adds.

    Args:
        past: the turns before, oldest first.
    """
    wording = wording_of(language)
    if talk in ANSWERS_AGAIN:
        return _about_previous(talk, past, wording)
    return talk_answer(wording.reply(talk, knowledge))


def talk_answer(text: str, sources: Sequence[AnswerSource] = ()) -> Answer:
    """An answer of the kind `talk`."""
    return Answer(question="", text=text, kind="talk", answered=True, confidence=1.0, sources=tuple(sources))


def _about_previous(talk: Talk, past: Sequence[RememberedTurn], wording: TalkWording) -> Answer:
    """A reply about the last answer to a question; "repeat" and "shorter" may also refer to such a reply."""
    kinds = {"repeat": (None, *ANSWERS_AGAIN), "shorter": (None, "shorter")}.get(talk, (None,))
    former = next((turn for turn in reversed(past) if turn.talk in kinds), None)
    if former is None:
        return talk_answer(wording.nothing[talk])
    answer = former.recall()
    if talk in ("repeat", "shorter") and not answer.answered and (answer.suggested or not answer.choices):
        return talk_answer(f"{refusals_of(answer.reason).unknown} {answer.reason}", answer.sources)
    match talk:
        case "repeat":
            kind: AnswerKind = "talk" if answer.answered else "none"
            return replace(answer, kind=kind, understood="", searched="", trace=None)
        case "shorter":
            return shortened(answer)
        case "why":
            return talk_answer(explained(answer, wording), _whole(answer.sources))
    return _listed(answer, wording)


# --- shorter --------------------------------------------------------------------------------------------------------


def shortened(answer: Answer) -> Answer:
    """The first sentence of the sourced text, verbatim."""
    text = sourced(answer)
    begins = len(answer.text) - len(text)
    end = next((end for _, end in sentences(text)), len(text))
    clipped = [_clipped(source, begins, begins + end) for source in answer.sources]
    used, rest = [s for s in clipped if s.span], [s for s in clipped if not s.span]
    kind: AnswerKind = "talk" if answer.answered else "none"
    lead = _clipped_span(answer.lead, begins, begins + end)
    shorter = replace(answer, text=text[:end].rstrip(), kind=kind, sources=(*used, *rest), lead=lead)
    return replace(shorter, styled=None, understood="", searched="", trace=None)


def _clipped(source: AnswerSource, start: int, end: int) -> AnswerSource:
    """A source with its spans cut to `[start, end)` of the answer, and counted from `start`."""
    if source.span is None or source.source_span is None:
        return source
    first, last = max(source.span[0], start), min(source.span[1], end)
    if first >= last:
        return replace(source, span=None, source_span=None)
    begins = source.source_span[0] + first - source.span[0]
    source_span = (begins, min(begins + last - first, source.source_span[1]))
    return replace(source, span=(first - start, last - start), source_span=source_span)


def _clipped_span(span: Span | None, start: int, end: int) -> Span | None:
    """The part of a span inside `[start, end)`, counted from `start`; None if nothing is left."""
    first, last = (0, 0) if span is None else (max(span[0], start), min(span[1], end))
    return (first - start, last - start) if first < last else None


# --- why ------------------------------------------------------------------------------------------------------------


def explained(answer: Answer, wording: TalkWording = ENGLISH) -> str:
    """Sentences about an answer's sources and its confidence."""
    opening = [wording.understood.format(question=answer.understood)] if answer.understood else []
    if not answer.answered:
        return " ".join([*opening, wording.no_answer, answer.reason])
    used = [source for source in answer.sources if source.span is not None]
    first = used[0]
    title = f"“{first.title or first.document}”"
    if first.collection == GRAPH:
        why = [wording.from_graph.format(title=title), *(source.text for source in used)]
    else:
        why = [wording.taken_from.format(title=title, collection=first.collection), *_evidence(answer, wording)]
        others = len(used) - 1
        why += [wording.others.format(count=others) if others > 1 else wording.other] if others else []
    return " ".join([*opening, *why, wording.how_sure.format(share=f"{answer.confidence:.0%}")])


def _evidence(answer: Answer, wording: TalkWording) -> list[str]:
    """A sentence about the first document's features in the trace, if there are any."""
    features: Any = (answer.trace or {}).get("confidence") or {}
    named = {"title_similarity": wording.like_title, "coverage": wording.has_words}
    reasons = [text.format(share=f"{features[name]:.0%}") for name, text in named.items() if name in features]
    sentence = wording.and_also.join(reasons)
    return [f"{sentence[0].upper()}{sentence[1:]}."] if sentence else []


# --- sources --------------------------------------------------------------------------------------------------------


def _listed(answer: Answer, wording: TalkWording) -> Answer:
    """The names of the documents that an answer used, and of further ones."""
    if not answer.sources:
        return talk_answer(wording.no_documents)
    used = [source for source in answer.sources if source.span is not None]
    rest = [source for source in answer.sources if source.span is None][: max(0, LISTED - len(used))]
    parts = []
    if used:
        parts.append(f"{wording.comes_from}\n{_numbered(used, 1)}")
    if rest:
        heading = wording.further if used else wording.nearest
        parts.append(f"{heading}\n{_numbered(rest, len(used) + 1)}")
    return talk_answer("\n\n".join(parts), _whole([*used, *rest]))


def _numbered(sources: Sequence[AnswerSource], first: int) -> str:
    return "\n".join(
        f"{number}. {source.title or source.document}{f' ({source.url})' if source.url else ''}"
        for number, source in enumerate(sources, first)
    )


def _whole(sources: Sequence[AnswerSource]) -> tuple[AnswerSource, ...]:
    """Sources without spans."""
    return tuple(replace(source, span=None, source_span=None) for source in sources)
