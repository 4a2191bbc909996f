"""Replies to small talk: about the bot itself, and about its previous answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from qa_bot.answering.scope import Knowledge
from qa_bot.answering.wording.refusals import refusals_of
from qa_bot.conversation.memory import RememberedTurn, sourced
from qa_core.text.analysis import sentences
from qa_core.text.small_talk import Talk
from qa_core.types import Answer, AnswerKind, AnswerSource, Span

LISTED = 10
"""Documents named in reply to a request for sources."""
GRAPH = "graph"
"""The collection of facts."""
ANSWERS_AGAIN: frozenset[Talk] = frozenset({"repeat", "shorter", "why", "sources"})
"""Small talk about a previous answer; personas add nothing to it."""
NOTHING = {
    "repeat": "There is nothing to repeat yet; ask me something.",
    "shorter": "There is no answer yet to shorten; ask me something.",
    "why": "There is no answer yet to explain; ask me something.",
    "sources": "There is no answer yet that has sources; ask me something.",
}
FIXED = {
    "farewell": "Goodbye!",
    "thanks": "You're welcome.",
    "wellbeing": "I am well, thank you. What would you like to know?",
    "praise": "All right. Ask on whenever you like.",
    "blame": "I am sorry. Vote the answer down and I will look elsewhere in this conversation, or ask in other words.",
}


def reply(talk: Talk, past: Sequence[RememberedTurn], knowledge: Knowledge) -> Answer:
    """An answer without question, id and timings, which the caller adds.

    Args:
        past: the turns before, oldest first.
    """
    match talk:
        case "greeting":
            return talk_answer(f"Hello! Ask me something: I answer from {knowledge}, and name my sources.")
        case "identity":
            return talk_answer(
                f"I am qa-bot, a program and no person. I answer questions from {knowledge}, and say where each answer "
                "comes from."
            )
        case "abilities":
            return talk_answer(
                f"I answer questions from {knowledge}, and say where each answer comes from. You can go on with a "
                "question such as “and in winter?”, or say “shorter”, “repeat”, “why this answer?” or “more sources”."
            )
    return _about_previous(talk, past) if talk in ANSWERS_AGAIN else talk_answer(FIXED[talk])


def talk_answer(text: str, sources: Sequence[AnswerSource] = ()) -> Answer:
    """An answer of the kind `talk`."""
    return Answer(question="", text=text, kind="talk", answered=True, confidence=1.0, sources=tuple(sources))


def _about_previous(talk: Talk, past: Sequence[RememberedTurn]) -> Answer:
    """A reply about the last answer to a question; "repeat" and "shorter" may also refer to such a reply."""
    kinds = {"repeat": (None, *ANSWERS_AGAIN), "shorter": (None, "shorter")}.get(talk, (None,))
    former = next((turn for turn in reversed(past) if turn.talk in kinds), None)
    if former is None:
        return talk_answer(NOTHING[talk])
    answer = former.recall()
    if talk in ("repeat", "shorter") and not answer.answered and (answer.suggested or not answer.choices):
        return talk_answer(f"{refusals_of(answer.reason).unknown} {answer.reason}", answer.sources)
    match talk:
        case "repeat":
            return replace(answer, kind="talk" if answer.answered else "none", understood="", trace=None)
        case "shorter":
            return shortened(answer)
        case "why":
            return talk_answer(explained(answer), _whole(answer.sources))
    return _listed(answer)


# --- shorter --------------------------------------------------------------------------------------------------------


def shortened(answer: Answer) -> Answer:
    """The first sentence of the sourced text, verbatim."""
    text = sourced(answer)
    begins = len(answer.text) - len(text)
    end = next((end for _, end in sentences(text)), len(text))
    clipped = [_clipped(source, begins, begins + end) for source in answer.sources]
    used, rest = [s for s in clipped if s.span], [s for s in clipped if not s.span]
    kind: AnswerKind = "talk" if answer.answered else "none"
    shorter = replace(answer, text=text[:end].rstrip(), kind=kind, sources=(*used, *rest))
    return replace(
        shorter, lead=_clipped_span(answer.lead, begins, begins + end), styled=None, understood="", trace=None
    )


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


def explained(answer: Answer) -> str:
    """Sentences about an answer's sources and its confidence."""
    opening = [f"I understood the question as “{answer.understood}”."] if answer.understood else []
    if not answer.answered:
        return " ".join([*opening, "I gave no answer.", answer.reason])
    used = [source for source in answer.sources if source.span is not None]
    first = used[0]
    named = f"“{first.title or first.document}”"
    if first.collection == GRAPH:
        why = [f"The graph says so of {named}:", *(source.text for source in used)]
    else:
        why = [f"It is taken from {named} ({first.collection}), which fits the question best.", *_evidence(answer)]
        others = len(used) - 1
        why += [f"{others} further document{'s' if others > 1 else ''} added to it."] if others else []
    return " ".join([*opening, *why, f"How sure I am: {answer.confidence:.0%}."])


def _evidence(answer: Answer) -> list[str]:
    """A sentence about the first document's features in the trace, if there are any."""
    features: Any = (answer.trace or {}).get("confidence") or {}
    reasons = []
    if "title_similarity" in features:
        reasons.append(f"its title is {features['title_similarity']:.0%} like it in meaning")
    if "coverage" in features:
        reasons.append(f"it has {features['coverage']:.0%} of what the question's words weigh")
    return [f"{' and '.join(reasons).capitalize()}."] if reasons else []


# --- sources --------------------------------------------------------------------------------------------------------


def _listed(answer: Answer) -> Answer:
    """The names of the documents that an answer used, and of further ones."""
    if not answer.sources:
        return talk_answer("There are no documents about this.")
    used = [source for source in answer.sources if source.span is not None]
    rest = [source for source in answer.sources if source.span is None][: max(0, LISTED - len(used))]
    parts = []
    if used:
        parts.append("The answer comes from:\n" + _numbered(used, 1))
    if rest:
        heading = "Further documents about this:" if used else "The nearest documents:"
        parts.append(f"{heading}\n" + _numbered(rest, len(used) + 1))
    return talk_answer("\n\n".join(parts), _whole([*used, *rest]))


def _numbered(sources: Sequence[AnswerSource], first: int) -> str:
    return "\n".join(
        f"{number}. {source.title or source.document}{f' ({source.url})' if source.url else ''}"
        for number, source in enumerate(sources, first)
    )


def _whole(sources: Sequence[AnswerSource]) -> tuple[AnswerSource, ...]:
    """Sources without spans."""
    return tuple(replace(source, span=None, source_span=None) for source in sources)
