"""A persona's sentence before a sourced answer, whose text stays unchanged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from generators.writer.faithfulness import contradiction, lost
from qa_bot.answering.models.personas import PersonaStore
from qa_core.types import AnswerSource, Span, Styled, StyledLine

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
    retrieved: Sequence[str] = (),
    top: int = 10,
    check: Callable[[], None] = lambda: None,
) -> Styled:
    """Up to `top` sentences of a persona that may introduce an answer; without a hint the answer is the hint.

    Args:
        answer: "" if there is none; then the sentences reply to the question.
        retrieved: texts that are the hints instead of the answer and share the sentences (cg-ir in Wang 2018).

    Raises:
        PersonaError: unknown persona, or models that cannot be opened.
    """

    def refuse(sentence: str) -> str:
        if not answer:
            return ""
        if len(sentence) + len(BETWEEN) > ROOM:
            return "too many letters"
        if missing := lost(f"{sentence}{BETWEEN}{answer}", answer):
            return f"no {missing[0]}"
        return contradiction(sentence, question, answer)

    texts = [hint] if hint.strip() else retrieved or [answer]
    hints = [text.strip() for text in texts if text.strip()]
    replies = voices.say(persona, [question], top, hints=hints, refuse=refuse, check=check)
    notice = replies.notice if hint.strip() or not replies.lines else ""
    return Styled(persona, hint.strip(), replies.lines, notice=notice)


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
