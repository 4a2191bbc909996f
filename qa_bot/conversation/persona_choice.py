"""What a person makes of styled candidates: another line, or one of his own, before the same sourced answer.

Everything here is about answer objects as they were recorded (`qa_bot.answering.answer_json.as_dict`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from qa_bot.answering.stages.persona_line import BETWEEN

LONGEST = 400
"""Characters of a line that a person writes."""
EDITED = "edited"
_BLANK = re.compile(r"[\s\x00-\x1f\x7f]+")


class ChoiceError(ValueError):
    """A choice that cannot be made; the message says what to do."""


class ChoiceNotOfferedError(ChoiceError):
    """A choice that an answer does not offer."""


def choose(answer: Mapping[str, Any], choice: int | str) -> dict[str, Any]:
    """An answer object with another line taken, which stands first among its lines from now on.

    Where the answer has sources, its text is the line, a blank line and the sourced text, letter by letter as it was;
    an abstention stays one, with another remark. What a person writes is not checked against the sources.

    Args:
        choice: a place among the lines, from 0; or the text of one, or of a new one.

    Raises:
        ChoiceNotOfferedError: the answer was not styled, or there is no such place.
        ChoiceError: the text is empty or too long.
    """
    styled = answer.get("styled")
    if styled is None:
        name = answer.get("ask") or answer["id"]
        raise ChoiceNotOfferedError(f"Expected a question that offers a choice, but {name!r} offers none.")
    taken = _line(styled, choice)
    former = [line for line in styled["lines"] if line is not taken]
    if taken["kind"] == EDITED:  # one of a person's own is kept, the last
        former = [line for line in former if line["kind"] != EDITED]
    styled = {**styled, "lines": [taken, *former]}
    if not answer["answered"]:
        return {**answer, "styled": styled}
    return {**answer, **_introduced(answer, taken["text"]), "kind": "styled", "styled": styled | _span(taken["text"])}


def meant(answer: Mapping[str, Any], choice: int | str) -> str:
    """The question that one of the choices stands for which an answer object offers.

    Args:
        choice: its place, from 0, or its text.

    Raises:
        ChoiceNotOfferedError: there is no such choice.
    """
    offered = answer.get("choices") or []
    places = [place for place, each in enumerate(offered) if choice in (place, each["text"])]
    if not places:
        told = ", ".join(f"{place} ({each['text']})" for place, each in enumerate(offered))
        raise ChoiceNotOfferedError(
            f"Expected one of the choices {told or 'of an answer that offers some'}, but got {choice!r}."
        )
    return str(offered[places[0]]["question"])


def _line(styled: Mapping[str, Any], choice: int | str) -> dict[str, Any]:
    """The line that is meant; a new one where it is none of those offered."""
    lines: list[dict[str, Any]] = styled["lines"]
    if isinstance(choice, int):
        if not 0 <= choice < len(lines):
            offered = f"from 0 to {len(lines) - 1}" if lines else "of none, for no sentence fitted; write one"
            raise ChoiceNotOfferedError(f"Expected a choice {offered}, but got {choice}.")
        return lines[choice]
    text = _BLANK.sub(" ", choice).strip()
    if not text or len(text) > LONGEST:
        got = f"one of {len(text)}" if text else "an empty one"
        raise ChoiceError(f"Expected a text of at most {LONGEST} characters, but got {got}.")
    known = next((line for line in lines if line["text"] == text), None)
    return known or {"text": text, "kind": EDITED, "persona": styled["persona"], "score": 0.0}


def _introduced(answer: Mapping[str, Any], line: str) -> dict[str, Any]:
    """The answer's text and sources with another line in front."""
    span = answer["styled"]["span"]
    sourced = answer["answer"][span[1] + len(BETWEEN) :] if span else answer["answer"]
    text = f"{line}{BETWEEN}{sourced}"
    moved = len(text) - len(answer["answer"])
    return {"answer": text, "sources": [_moved(source, moved) for source in answer["sources"]]}


def _moved(source: Mapping[str, Any], by: int) -> dict[str, Any]:
    span = source["span"]
    return {**source, "span": span and [span[0] + by, span[1] + by]}


def _span(line: str) -> dict[str, list[int]]:
    return {"span": [0, len(line)]}
