"""A persona's sentence before a sourced answer, whose text stays unchanged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from generators.writer.faithfulness import contradiction, lost
from qa_bot.answering.models.personas import PersonaStore
from qa_core.types import AnswerSource, Span, Styled, StyledLine

HintSource = Literal["answer", "sources", "dialogues", "scan"]
"""See `style.hints`."""
ROOM = 200
"""Characters that an answer leaves for the sentence before it."""
BETWEEN = "\n\n"


def style(
    voices: PersonaStore,
    persona: str,
    question: str,
    answer: str,
    *,
    hint: str = "",
    cell: int | None = None,
    source: HintSource = "answer",
    sources: Sequence[str] = (),
    top: int = 10,
    check: Callable[[], None] = lambda: None,
) -> Styled:
    """Up to `top` sentences of a persona that may introduce an answer.

    Args:
        answer: "" if there is none; then the sentences reply to the question.
        hint: text whose topics the sentences should have.
        cell: place on the topic map that they should have instead, δ_k.
        source: hints if neither is given; several share the sentences.
        sources: texts of the answer's sources, for the source "sources".

    Raises:
        PersonaError: unknown persona, or models or lines that cannot be opened.
    """

    def refuse(sentence: str) -> str:
        if not answer:
            return ""
        if len(sentence) + len(BETWEEN) > ROOM:
            return "too many letters"
        if missing := lost(f"{sentence}{BETWEEN}{answer}", answer):
            return f"no {missing[0]}"
        return contradiction(sentence, question, answer)

    hints: Sequence[str | int] = [hint.strip()] if hint.strip() else []
    if cell is not None:
        hints = [cell]
    elif not hints:
        hints = _hints(voices, source, question, answer, sources)
    replies = voices.say(persona, [question], top, hints=hints, refuse=refuse, check=check)
    notice = replies.notice if hint.strip() or cell is not None or not replies.lines else ""
    return Styled(persona, hint.strip(), replies.lines, notice=notice)


def _hints(
    voices: PersonaStore, source: HintSource, question: str, answer: str, sources: Sequence[str]
) -> Sequence[str | int]:
    """Hints when the user gives none; the answer if the source has nothing."""
    if source == "scan" and (cells := voices.scanned()):
        return cells
    retrieved = voices.retrieved(question) if source == "dialogues" else sources if source == "sources" else ()
    return [text.strip() for text in retrieved or [answer] if text.strip()]


def introduced(
    styled: Styled, line: StyledLine, answer: str, sources: Sequence[AnswerSource]
) -> tuple[Styled, str, tuple[AnswerSource, ...]]:
    """The styled sentence, the answer's text after it, and the sources with their spans moved accordingly."""
    text = f"{line.text}{BETWEEN}{answer}"
    added = len(text) - len(answer)
    shifted = tuple(replace(source, span=moved(source.span, added)) for source in sources)
    return replace(styled, span=(0, len(line.text))), text, shifted


def moved(span: Span | None, by: int) -> Span | None:
    """A span of a text that `by` characters were put in front of."""
    return None if span is None else (span[0] + by, span[1] + by)
