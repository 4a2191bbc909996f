"""Templates and relations as text: a question with a slot in place of a mention, a path of predicates.

A path is written `p`, `^p` for the inverse direction, and `p / q` for one after the other. Predicates are IRIs, which
hold neither blanks nor carets, so that a path is read back without doubt.
"""

from __future__ import annotations

from collections.abc import Iterable

from qa_core.text.analysis import words

SLOT = "<m>"
"""Stands for the mention; `qa_core.text.analysis.words` finds no such word."""
NO_PATH = "no path found"
"""The class of pairs of mentions that no path joins."""
_THEN = " / "
_INVERSE = "^"


def template_words(text: str) -> list[str]:
    """Words of a template: case-folded, punctuation and possessive endings left out, so that wordings meet."""
    return [word for word in (each.removesuffix("'s") for each in words(text)) if word != "s"]


def template_of(question: str, start: int, end: int) -> str:
    """The question with `[start, end)` replaced by the slot: "Who wrote Dune?" gives `who wrote <m>`."""
    return " ".join([*template_words(question[:start]), SLOT, *template_words(question[end:])])


def path_text(steps: Iterable[tuple[str, bool]]) -> str:
    """A path of steps (predicate, whether backwards) as text.

    Raises ValueError for a predicate with a blank or a leading caret, which no IRI has, and for a path without steps.
    """
    parts = []
    for predicate, inverse in steps:
        if not predicate or predicate.startswith(_INVERSE) or predicate.split() != [predicate]:
            raise ValueError(f"Expected an IRI as a predicate, but got {predicate!r}.")
        parts.append(f"{_INVERSE}{predicate}" if inverse else predicate)
    if not parts:
        raise ValueError("Expected a path of one step at least, but got none.")
    return _THEN.join(parts)


def path_steps(text: str) -> tuple[tuple[str, bool], ...]:
    """The steps of `path_text`."""
    return tuple((part.removeprefix(_INVERSE), part.startswith(_INVERSE)) for part in text.split(_THEN))
