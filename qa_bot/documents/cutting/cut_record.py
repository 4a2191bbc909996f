"""From a record to the title, passages and details of its document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from qa_bot.documents.cutting.cut_passage import CutPassage
from qa_bot.documents.cutting.plain_passages import cut, cut_plain
from qa_bot.documents.cutting.tidying import tidy_markdown
from qa_bot.documents.ingest.records import Record
from qa_core.text.analysis import normalise
from qa_core.types import Details

MARKDOWN_CUTTING = 1
"""Part of the hash of each Markdown document. Raise it when their cutting changes; the next `add` then replaces all."""


@dataclass(frozen=True, slots=True)
class CutRecord:
    """What is stored of a record."""

    title: str
    passages: Sequence[CutPassage]
    details: Details


def cut_record(record: Record, *, characters: int, overlap: int) -> CutRecord:
    """Cut a record; plain text is normalised and cut with overlap, Markdown is tidied and cut without.

    Passages of an export are kept if the text is unchanged. A Markdown document without a title has that of its
    heading of level 1, or the name of its file.
    """
    details = Details(
        kind=record.kind,
        date=record.date,
        language=record.language,
        archived=record.archived,
        draft=record.draft,
        tags=record.tags,
    )
    if record.markdown:
        title, passages = _cut_markdown(record, characters)
    else:
        title, passages = normalise(record.title), _cut_plain(record, characters, overlap)
    return CutRecord(title, passages, details)


def _cut_plain(record: Record, characters: int, overlap: int) -> list[CutPassage]:
    text, exported = normalise(record.text), record.exported
    if exported and exported.spans and text == record.text:
        return cut_plain(text, exported.spans)
    return cut_plain(text, cut(text, characters=characters, overlap=overlap))


def _cut_markdown(record: Record, characters: int) -> tuple[str, list[CutPassage]]:
    from qa_bot.documents.cutting.markdown_passages import titled_passages  # late: plain text needs no parser

    text, positions = tidy_markdown(record.text, record.positions)
    stem = PurePosixPath(record.id.partition("#")[0]).stem
    title = normalise(record.title)
    stated = "" if title == stem else title  # a reader names a document without a title by its file
    title, passages = titled_passages(text, stated, positions, characters=characters, language=record.language)
    return title or stem, passages
