"""Questions and answers at any depth of the values of a YAML or JSON file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qa_bot.documents.ingest.formats.pair_names import ANSWERS, QUESTIONS

DEEPEST = 20
QUESTION_MARKS = ("?", "？")


def nested_pairs(value: object) -> Iterator[Mapping[str, object]]:
    """The mappings below a value that have a question and an answer, and keys that are questions with their values."""
    return _pairs(value, set(), 0)


def _pairs(value: object, seen: set[int], depth: int) -> Iterator[Mapping[str, object]]:
    """The pairs below a value.

    Args:
        seen: what was read: aliases make a YAML file of a few lines a value without bounds.
    """
    if id(value) in seen or not isinstance(value, Mapping | list):
        return
    seen.add(id(value))
    if isinstance(value, Mapping):
        names = {str(name).strip().lower() for name in value}
        if not names.isdisjoint(QUESTIONS) and not names.isdisjoint(ANSWERS):
            yield {str(name).strip(): _plain(inner) for name, inner in value.items()}
            return
        for name, inner in value.items():
            if str(name).strip().endswith(QUESTION_MARKS) and not isinstance(inner, Mapping):
                yield {"question": str(name), ("answers" if isinstance(inner, list) else "answer"): _plain(inner)}
    for inner in (value.values() if isinstance(value, Mapping) else value) if depth < DEEPEST else ():
        yield from _pairs(inner, seen, depth + 1)


def _plain(value: object) -> object:
    """Numbers and other words of YAML, such as a `yes` for an answer, as texts."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return [str(_plain(inner)) for inner in value]
    return value if value is None or isinstance(value, Mapping) else str(value)
