"""YAML files with questions and answers, as websites and bots have them: a record for each pair, at any depth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.data.fields import record_of
from qa_bot.documents.ingest.formats.markup.front_matter import yaml_values
from qa_bot.documents.ingest.formats.markup.text import text_blocks
from qa_bot.documents.ingest.formats.pair_names import ANSWERS, QUESTIONS
from qa_bot.documents.ingest.records import Item, Record, Reject

DEEPEST = 20


def read(file: SourceFile) -> Iterator[Item]:
    """A record for each pair, `NAME#NUMBER` unless it has an id; without a pair one document with the text."""
    source = file.text()
    pairs = [*_pairs(yaml_values(source), set())]
    for number, pair in enumerate(pairs, 1):
        yield record_of(pair, where=f"{file.where}:{number}", default_id=f"{file.name}#{number}", repairs=file.repairs)
    if pairs:
        return
    if text := text_blocks(source):
        yield Record(file.name, file.stem, file.repairs.clean(text), where=f"{file.where}:1", markdown=True)
    else:
        yield Reject(
            f"{file.where}:1", "Expected questions with answers, but got an empty file; fill it or leave it out."
        )


def _pairs(value: object, seen: set[int], depth: int = 0) -> Iterator[Mapping[str, object]]:
    """The mappings below a value that have a question and an answer.

    Args:
        seen: what was read: aliases make a file of a few lines a value without bounds.
    """
    if id(value) in seen or not isinstance(value, Mapping | list):
        return
    seen.add(id(value))
    if isinstance(value, Mapping):
        names = {str(name).strip().lower() for name in value}
        if not names.isdisjoint(QUESTIONS) and not names.isdisjoint(ANSWERS):
            yield {str(name).strip(): _plain(inner) for name, inner in value.items()}
            return
    for inner in (value.values() if isinstance(value, Mapping) else value) if depth < DEEPEST else ():
        yield from _pairs(inner, seen, depth + 1)


def _plain(value: object) -> object:
    """Numbers and other words of YAML, such as a `yes` for an answer, as texts."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return [str(_plain(inner)) for inner in value]
    return value if value is None or isinstance(value, Mapping) else str(value)
