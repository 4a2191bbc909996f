"""Short texts for a counting grid: turns of dialogues, pairs of question and answer, lines of text files, and sentences
of whatever else `qa-bot add` reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.data import jsonl
from qa_bot.documents.ingest.records import Item, Record
from qa_core.text.sentences import sentences
from qa_lab.data.reading import Reading, TrainingData, by_line, read_records, string_list
from qa_lab.data.splitting import normalised, split_by_hash

SHORT = 400
"""Characters of a record that is one text; a longer one is split into sentences."""
_TURNS = ("turns", "context", "positive_responses")
"""Fields with the turns of a dialogue."""


def read_texts(paths: Sequence[Path], *, limit: int | None = None) -> TrainingData[tuple[str, ...]]:
    """The distinct texts of files and folders, the first `limit` of them.

    Raises:
        TrainingDataError: there are no texts.
        FileNotFoundError: a path does not exist.
    """
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"Expected a file or a folder, but got {path}, which does not exist; check --data.")
    reading, texts, count = Reading(paths), dict[str, None](), 0
    for record in reading.readable(read_records(paths, {"jsonl": by_line(_json_texts), "text": by_line(_line)})):
        for text in _texts(record):
            count += 1
            texts[text] = None
        if limit is not None and len(texts) >= limit:
            break
    examples = tuple(texts)[:limit]
    return reading.result(examples, len(examples), "texts", units=("text", "texts"), repeated=count - len(texts))


def split_texts(texts: Iterable[str], share: float) -> tuple[list[str], list[str]]:
    """Texts for training, and about `share` of them held out."""
    return split_by_hash(texts, share, normalised)


def _texts(record: Record) -> Iterator[str]:
    """The whole record, or its sentences if it is long."""
    parts = dict.fromkeys(part.strip() for part in (record.title, record.body, record.text) if part.strip())
    whole = " ".join(parts)
    if 0 < len(whole) <= SHORT:
        yield whole
        return
    for part in parts:
        yield from (text for start, end in sentences(part) if (text := part[start:end].strip()))


def _json_texts(line: bytes, where: str, leaf: SourceFile) -> list[Item]:
    """The turns of a dialogue, each a record; else the record that the line holds."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    names = [name for name in _TURNS if name in fields] if isinstance(fields, Mapping) else []
    if not names:
        return [jsonl.parse(line, where=where, default_id=f"{leaf.name}#{where.rpartition(':')[2]}", file=leaf)]
    turns = [turn for name in names for turn in string_list(fields, name) if turn]
    if not turns:
        raise ValueError(f"Expected texts in the fields {', '.join(names)}, but got none; drop the line.")
    return [Record("", "", turn, where=where) for turn in turns]


def _line(line: bytes, where: str, _leaf: SourceFile) -> list[Item]:
    text = line.decode().strip("\ufeff\t ")
    return [Record("", "", text, where=where)] if text else []
