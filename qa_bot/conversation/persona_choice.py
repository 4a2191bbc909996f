"""Applies the user's choice to a recorded answer object: another persona line, a new one, or a clarification.

Answer objects are those of `qa_bot.answering.answer_json.as_dict`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from qa_bot.answering.stages.persona_line import BETWEEN

LONGEST = 400
"""Characters of a line that the user writes."""
EDITED = "edited"
_BLANK = re.compile(r"[\s\x00-\x1f\x7f]+")


class ChoiceError(ValueError):
    """The choice is not possible; the message says what to do."""


class ChoiceNotOfferedError(ChoiceError):
    """The answer does not offer this choice."""


def choose(answer: Mapping[str, Any], choice: int | str) -> dict[str, Any]:
    """Return the answer object with another persona line, which is then the first of its lines.

    The text becomes the line, a blank line and the unchanged sourced text; an abstention keeps its text. A line that
    the user writes is not checked against the sources.

    Args:
        choice: the index of a line, the text of one, or a new text.

    Raises:
        ChoiceNotOfferedError: the answer has no persona lines, or the index is out of range.
        ChoiceError: the text is empty or too long.
    """
    styled = answer.get("styled")
    if styled is None:
        name = answer.get("ask") or answer["id"]
        raise ChoiceNotOfferedError(f"Expected a question that offers a choice, but {name!r} offers none.")
    taken = _line(styled, choice)
    others = [line for line in styled["lines"] if line is not taken]
    if taken["kind"] == EDITED:  # only the last line of the user is kept
        others = [line for line in others if line["kind"] != EDITED]
    styled = {**styled, "lines": [taken, *others]}
    if not answer["answered"]:
        return {**answer, "styled": styled}
    return {**answer, **_introduced(answer, taken["text"]), "kind": "styled", "styled": styled | _span(taken["text"])}


def meant(answer: Mapping[str, Any], choice: int | str) -> str:
    """The question of a clarification choice.

    Args:
        choice: the index of a choice, or its text.

    Raises:
        ChoiceNotOfferedError: the answer does not offer this choice.
    """
    offered = answer.get("choices") or []
    questions = [entry["question"] for i, entry in enumerate(offered) if choice in (i, entry["text"])]
    if not questions:
        options = ", ".join(f"{i} ({entry['text']})" for i, entry in enumerate(offered))
        raise ChoiceNotOfferedError(
            f"Expected one of the choices {options or 'of an answer that offers some'}, but got {choice!r}."
        )
    return str(questions[0])


def _line(styled: Mapping[str, Any], choice: int | str) -> dict[str, Any]:
    """The chosen line, or a new one with this text."""
    lines: list[dict[str, Any]] = styled["lines"]
    if isinstance(choice, int):
        if not 0 <= choice < len(lines):
            offered = f"from 0 to {len(lines) - 1}" if lines else "of none, since no sentence fitted; write one"
            raise ChoiceNotOfferedError(f"Expected a choice {offered}, but got {choice}.")
        return lines[choice]
    if not isinstance(choice, str):
        raise ChoiceError(f"Expected the index of a sentence, or a text, but got {choice!r}.")
    text = _BLANK.sub(" ", choice).strip()
    if not text or len(text) > LONGEST:
        got = f"one of {len(text)}" if text else "an empty one"
        raise ChoiceError(f"Expected a text of at most {LONGEST} characters, but got {got}.")
    known = next((line for line in lines if line["text"] == text), None)
    return known or {"text": text, "kind": EDITED, "persona": styled["persona"], "score": 0.0}


def _introduced(answer: Mapping[str, Any], line: str) -> dict[str, Any]:
    """The answer's text with another line in front, and the sources with moved spans."""
    span = answer["styled"]["span"]
    sourced = answer["answer"][span[1] + len(BETWEEN) :] if span else answer["answer"]
    text = f"{line}{BETWEEN}{sourced}"
    moved = len(text) - len(answer["answer"])
    sources = [{**source, "span": _moved(source["span"], moved)} for source in answer["sources"]]
    lead = {"lead": _moved(answer["lead"], moved)} if "lead" in answer else {}  # older answers have none
    return {"answer": text, "sources": sources, **lead}


def _moved(span: Sequence[int] | None, by: int) -> list[int] | None:
    return None if span is None else [span[0] + by, span[1] + by]


def _span(line: str) -> dict[str, list[int]]:
    return {"span": [0, len(line)]}
