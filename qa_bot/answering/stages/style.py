"""Style: a persona's sentence in front of the answer, which stays unchanged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from qa_bot.answering.ask import Ask
from qa_bot.answering.clock import Clock
from qa_bot.answering.models.personas import PersonaStore
from qa_bot.answering.stages.compose import TILED, Composed
from qa_bot.answering.stages.persona_line import HintSource, introduced, moved
from qa_bot.answering.stages.persona_line import style as persona_lines


def style(
    composed: Composed, ask: Ask, personas: Callable[[], PersonaStore], clock: Clock, *, hints: HintSource, top: int
) -> Composed:
    """The answer with a sentence of `ask.persona`; the plain answer if there is no time, or no sentence fits.

    Args:
        hints: of the persona, if `ask` has none.
        top: sentences to offer.
    """
    if not ask.question.title.strip():
        return composed
    make = partial(
        persona_lines,
        personas(),
        ask.persona,
        ask.question.title,
        composed.text,
        hint=ask.hint,
        cell=ask.cell,
        source=hints,
        sources=[source.text for source in composed.sources[:TILED]],
        top=top,
    )
    styled = clock.run("style", lambda share: make(check=share.check), None)
    if styled is None or not (composed.text and styled.lines):
        return replace(composed, styled=styled)
    styled, text, sources = introduced(styled, styled.lines[0], composed.text, composed.sources)
    return Composed(
        "styled", text, sources, styled, moved(composed.lead, len(text) - len(composed.text)), composed.former
    )
