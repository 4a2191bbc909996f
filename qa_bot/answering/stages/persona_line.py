"""A persona's sentence before a sourced answer, which stays as it is, letter by letter."""

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
    """Up to `top` sentences of a persona that may introduce an answer; where no hint is given the answer is the hint.

    Args:
        answer: "" where there is none; then they are what the persona has to say to the question.
        retrieved: texts that are hints in the answer's place, each for its share of sentences (the thesis' cg-ir).

    Raises:
        PersonaError: a persona that nobody knows, or models that cannot be opened.
    """

    def refuse(sentence: str) -> str:
        if not answer:
            return ""
        if len(sentence) + len(BETWEEN) > ROOM:
            return "too many letters"
        if missing := lost(f"{sentence}{BETWEEN}{answer}", answer):
            return f"no {missing[0]}"
        return contradiction(sentence, question, answer)

    given = [hint] if hint.strip() else retrieved or [answer]
    hints = [each.strip() for each in given if each.strip()]
    said = voices.say(persona, [question], top, hints=hints, refuse=refuse, check=check)
    notice = said.notice if hint.strip() or not said.lines else ""
    return Styled(persona, hint.strip(), said.lines, notice=notice)


def introduced(
    styled: Styled, line: StyledLine, answer: str, sources: Sequence[AnswerSource]
) -> tuple[Styled, str, tuple[AnswerSource, ...]]:
    """The styled sentence, the answer's text with it in front, and the sources with the stretches they support."""
    text = f"{line.text}{BETWEEN}{answer}"
    moved = len(text) - len(answer)
    shifted = tuple(replace(each, span=_moved(each.span, moved)) for each in sources)
    return replace(styled, span=(0, len(line.text))), text, shifted


def _moved(span: Span | None, by: int) -> Span | None:
    return None if span is None else (span[0] + by, span[1] + by)
