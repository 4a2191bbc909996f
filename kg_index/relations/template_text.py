"""The text form of templates, questions with a slot for the mention, and of relations, paths of predicates.

A path is `p`, `^p` for the inverse direction, or `p / q` for two steps. Predicates are IRIs without spaces and carets,
so the text is unambiguous.
"""

from __future__ import annotations

from collections.abc import Iterable

from qa_core.text.analysis import words

SLOT = "<m>"
"""Replaces the mention; `qa_core.text.analysis.words` never returns it."""
NO_PATH = "no path found"
"""The relation of two mentions without a path between them."""
_THEN = " / "
_INVERSE = "^"


def template_words(text: str) -> list[str]:
    """Case-folded words without punctuation and possessive endings."""
    return [word for word in (word.removesuffix("'s") for word in words(text)) if word != "s"]


def template_of(question: str, start: int, end: int) -> str:
    """The question with `[start, end)` replaced by the slot: "Who wrote Dune?" gives `who wrote <m>`."""
    return " ".join([*template_words(question[:start]), SLOT, *template_words(question[end:])])


def path_text(steps: Iterable[tuple[str, bool]]) -> str:
    """The text of a path of steps (predicate, inverse).

    Raises ValueError for a path without steps, and for a predicate with a space or leading caret.
    """
    parts = []
    for predicate, inverse in steps:
        if not predicate or predicate.startswith(_INVERSE) or predicate.split() != [predicate]:
            raise ValueError(f"Expected an IRI as a predicate, but got {predicate!r}.")
        parts.append(f"{_INVERSE}{predicate}" if inverse else predicate)
    if not parts:
        raise ValueError("Expected a path of at least one step, but got none.")
    return _THEN.join(parts)


def path_steps(text: str) -> tuple[tuple[str, bool], ...]:
    """The steps of `path_text`."""
    return tuple((part.removeprefix(_INVERSE), part.startswith(_INVERSE)) for part in text.split(_THEN))
