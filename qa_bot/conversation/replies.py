"""What the bot says to talk: of itself, and of the answer that it gave before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from qa_bot.answering.corridor import Knowledge
from qa_bot.conversation.memory import RememberedTurn, sourced
from qa_core.text.analysis import sentences
from qa_core.text.small_talk import Talk
from qa_core.types import Answer, AnswerKind, AnswerSource

LISTED = 10
"""Documents that are named when somebody asks for sources."""
GRAPH = "graph"
"""The collection of facts."""
ANSWERS_AGAIN: frozenset[Talk] = frozenset({"repeat", "shorter", "why", "sources"})
"""Talk that is about an answer given before; no persona adds to that."""
UNKNOWN = "I don't know."
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
    """An answer without question, id and timings, for its caller to add.

    Args:
        past: what was said before, oldest first.
    """
    match talk:
        case "greeting":
            return said(f"Hello! Ask me something: I answer from {knowledge}, and name my sources.")
        case "identity":
            return said(
                f"I am qa-bot, a program and no person. I answer questions from {knowledge}, and say where each answer "
                "comes from."
            )
        case "abilities":
            return said(
                f"I answer questions from {knowledge}, and say where each answer comes from. You can go on with a "
                "question such as “and in winter?”, or say “shorter”, “repeat”, “why this answer?” or “more sources”."
            )
    return _of_former(talk, past) if talk in ANSWERS_AGAIN else said(FIXED[talk])


def said(text: str, sources: Sequence[AnswerSource] = ()) -> Answer:
    """Words of the bot's own."""
    return Answer(question="", text=text, kind="talk", answered=True, confidence=1.0, sources=tuple(sources))


def _of_former(talk: Talk, past: Sequence[RememberedTurn]) -> Answer:
    """What is said of the last answer to a question, or of what was last said of one."""
    meant = {"repeat": (None, *ANSWERS_AGAIN), "shorter": (None, "shorter")}.get(talk, (None,))
    former = next((each for each in reversed(past) if each.talk in meant), None)
    if former is None:
        return said(NOTHING[talk])
    answer = former.recall()
    if talk in ("repeat", "shorter") and not answer.answered and not answer.choices:
        return said(f"{UNKNOWN} {answer.reason}", answer.sources)
    match talk:
        case "repeat":
            return replace(answer, kind="talk" if answer.answered else "none", understood="", trace=None)
        case "shorter":
            return shortened(answer)
        case "why":
            return said(explained(answer), _whole(answer.sources))
    return _listed(answer)


# --- shorter --------------------------------------------------------------------------------------------------------


def shortened(answer: Answer) -> Answer:
    """The first sentence of the sourced text, verbatim; what is no longer stays as it is."""
    text = sourced(answer)
    begins = len(answer.text) - len(text)
    end = next((end for _, end in sentences(text)), len(text))
    kept = [_clipped(each, begins, begins + end) for each in answer.sources]
    used, rest = [e for e in kept if e.span], [e for e in kept if not e.span]
    kind: AnswerKind = "talk" if answer.answered else "none"
    shorter = replace(answer, text=text[:end].rstrip(), kind=kind, sources=(*used, *rest))
    return replace(shorter, styled=None, understood="", trace=None)


def _clipped(source: AnswerSource, start: int, end: int) -> AnswerSource:
    """A source whose stretches are those that are left of `[start, end)` of the answer, counted from there."""
    if source.span is None or source.source_span is None:
        return source
    first, last = max(source.span[0], start), min(source.span[1], end)
    if first >= last:
        return replace(source, span=None, source_span=None)
    begins = source.source_span[0] + first - source.span[0]
    there = (begins, min(begins + last - first, source.source_span[1]))
    return replace(source, span=(first - start, last - start), source_span=there)


# --- why ------------------------------------------------------------------------------------------------------------


def explained(answer: Answer) -> str:
    """Where an answer comes from, and how sure it is, in sentences."""
    read = [f"I understood the question as “{answer.understood}”."] if answer.understood else []
    if not answer.answered:
        return " ".join([*read, "I gave no answer.", answer.reason])
    used = [each for each in answer.sources if each.span is not None]
    first = used[0]
    named = f"“{first.title or first.document}”"
    if first.collection == GRAPH:
        why = [f"The graph says so of {named}:", *(each.text for each in used)]
    else:
        why = [f"It is taken from {named} ({first.collection}), which fits the question best.", *_evidence(answer)]
        others = len(used) - 1
        why += [f"{others} further document{'s' if others > 1 else ''} added to it."] if others else []
    return " ".join([*read, *why, f"How sure I am: {answer.confidence:.0%}."])


def _evidence(answer: Answer) -> list[str]:
    """What the trace tells of the first document."""
    told: Any = (answer.trace or {}).get("confidence") or {}
    found = []
    if "title_similarity" in told:
        found.append(f"its title is {told['title_similarity']:.0%} like it in meaning")
    if "coverage" in told:
        found.append(f"it has {told['coverage']:.0%} of what the question's words weigh")
    return [f"{' and '.join(found).capitalize()}."] if found else []


# --- sources --------------------------------------------------------------------------------------------------------


def _listed(answer: Answer) -> Answer:
    """The documents behind an answer and beside it, by name."""
    if not answer.sources:
        return said("There are no documents about this.")
    used = [each for each in answer.sources if each.span is not None]
    rest = [each for each in answer.sources if each.span is None][: max(0, LISTED - len(used))]
    parts = []
    if used:
        parts.append("The answer comes from:\n" + _numbered(used, 1))
    if rest:
        heading = "Further documents about this:" if used else "The nearest documents:"
        parts.append(f"{heading}\n" + _numbered(rest, len(used) + 1))
    return said("\n\n".join(parts), _whole([*used, *rest]))


def _numbered(sources: Sequence[AnswerSource], first: int) -> str:
    return "\n".join(
        f"{number}. {each.title or each.document}{f' ({each.url})' if each.url else ''}"
        for number, each in enumerate(sources, first)
    )


def _whole(sources: Sequence[AnswerSource]) -> tuple[AnswerSource, ...]:
    """Sources that support no stretch of what is said of them."""
    return tuple(replace(each, span=None, source_span=None) for each in sources)
