"""From a record to the title, passages and details of its document."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from qa_bot.documents.cutting.archived_notice import is_archived
from qa_bot.documents.cutting.cut_passage import CutPassage
from qa_bot.documents.cutting.plain_passages import cut, cut_plain
from qa_bot.documents.cutting.repeated_blocks import digest_of
from qa_bot.documents.cutting.tidying import tidy_markdown
from qa_bot.documents.ingest.files.source_file import MEMBER, stem_of
from qa_bot.documents.ingest.formats.stated_date import named_date, stated_date
from qa_bot.documents.ingest.records import Record
from qa_core.text.analysis import fold, normalise, words
from qa_core.text.language_detection import language_of
from qa_core.text.languages import language_code
from qa_core.text.stop_words import word_set
from qa_core.types import NO_PLACE, Details, Place

MARKDOWN_CUTTING = 1
"""Part of the hash of each Markdown document. Raise it when their cutting changes; the next `add` then replaces all."""

FIRST_CHARACTERS, FIRST_LINES = 3000, 12
LAST_CHARACTERS, LAST_LINES = 1500, 5
"""Where a document's date and notices are looked for."""
MAILBOXES = (".mbox", ".mbx")
TITLE_MARK = "Title of a document: "
"""Titles are counted with the blocks: one that repeats names the site, and the text's own heading is the title."""
PLAIN_FOLDERS = word_set(
    "assets content contents data dateien doc docs document documents dokumente download downloads file files html "
    "page pages public source sources src static text texts"
)
"""Names of folders that say nothing about what is in them."""
FIRST_PASSAGES = 2
"""Passages of which one has the first heading; a heading further down is that of one part."""


@dataclass(frozen=True, slots=True)
class CutRecord:
    """What is stored of a record; `blocks` are digests of the blocks and title of Markdown, for `RepeatedBlocks`."""

    title: str
    passages: Sequence[CutPassage]
    details: Details
    blocks: frozenset[str] = frozenset()


def in_its_language(record: Record) -> Record:
    """The record with the language of its text; a declared one counts only if the text does not decide.

    Templates declare English for texts in any language.
    """
    text = f"{record.title}\n{record.body}\n{record.text}"
    return replace(record, language=language_of(text, language_code(record.language)))


def cut_record(record: Record, *, characters: int, overlap: int, boilerplate: Collection[str] = ()) -> CutRecord:
    """Cut a record; plain text is normalised and cut with overlap, Markdown is tidied and cut without.

    Passages of an export are kept if they have structure or an unchanged text. A Markdown document without a title, or
    with one that is boilerplate, has that of its heading of level 1 if it has only one; several are its sections, and
    its title is the names of its folder and file, unless the reader of Markdown took the first heading as the title.
    Its date is that of the reader, else the one that its text states, else the one in its title, first heading or name,
    else that of its file: a copy of a file is as new as the copying.
    """
    if record.exported and record.exported.passages:
        structured = [CutPassage(*passage) for passage in record.exported.passages]
        return CutRecord(normalise(record.title), structured, _details(record, record.date, archived=record.archived))
    if record.markdown:
        return _cut_markdown(record, characters, boilerplate)
    passages = _cut_plain(record, characters, overlap)
    return CutRecord(normalise(record.title), passages, _details(record, record.date, archived=record.archived))


def _details(record: Record, date: str, *, archived: bool) -> Details:
    return Details(
        kind=record.kind,
        date=date,
        language=record.language,
        archived=archived,
        draft=record.draft,
        tags=record.tags,
    )


def _cut_plain(record: Record, characters: int, overlap: int) -> list[CutPassage]:
    text, exported = normalise(record.text), record.exported
    place = Place(row=record.positions[0].row) if record.positions else NO_PLACE  # a row of an FAQ sheet
    is_same = exported is not None and exported.spans and text == record.text
    spans = exported.spans if exported and is_same else cut(text, characters=characters, overlap=overlap)
    return cut_plain(text, spans, record.language, place=place)


def _cut_markdown(record: Record, characters: int, boilerplate: Collection[str]) -> CutRecord:
    from qa_bot.documents.cutting.markdown_passages import cut_markdown  # late: plain text needs no parser

    text, positions = tidy_markdown(record.text, record.positions)
    path = record.id.partition("#")[0]
    title = normalise(record.title)
    stated = "" if title == stem_of(record.id) else title  # a reader names a document without a title by its file
    document = cut_markdown(
        text, stated, positions, characters=characters, language=record.language, boilerplate=boilerplate
    )
    repeated = digest_of(f"{TITLE_MARK}{stated}") if stated else ""
    if repeated in boilerplate:
        untitled = cut_markdown(
            text, "", positions, characters=characters, language=record.language, boilerplate=boilerplate
        )
        document = untitled if untitled.title else document
    lines = _outer_lines(text)
    archived = record.archived or is_archived(document.title, lines, _path_with_notice(path))
    headings = [one.place.heading for one in document.passages[:FIRST_PASSAGES] if one.place.heading]
    named = named_date(document.title, " – ".join(headings[0]) if headings else "", stem_of(record.id))
    details = _details(record, record.date or stated_date(lines) or named or record.modified, archived=archived)
    counted = document.blocks | {repeated} if repeated else document.blocks
    return CutRecord(document.title or _named_by_its_file(path), document.passages, details, counted)


def _named_by_its_file(path: str) -> str:
    """The title of a document that has none: the stem of its file, and of a folder that says more ("kiln – prices")."""
    stem = stem_of(path)
    folder = "" if "://" in path else PurePosixPath(MEMBER.split(path)[-1]).parent.name
    says_more = folder.casefold() not in PLAIN_FOLDERS and not set(words(fold(folder))) <= set(words(fold(stem)))
    return f"{folder} – {stem}" if says_more else stem


def _path_with_notice(path: str) -> str:
    """The path without the name of a mailbox: one called an archive has mails of all ages."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}mail" if name.casefold().endswith(MAILBOXES) else path


def _outer_lines(text: str) -> list[str]:
    """The first and last lines that are not empty, where documents speak of themselves."""
    first = [line for line in text[:FIRST_CHARACTERS].split("\n") if line.strip()][:FIRST_LINES]
    last = [line for line in text[FIRST_CHARACTERS:][-LAST_CHARACTERS:].split("\n") if line.strip()][-LAST_LINES:]
    return first + last
