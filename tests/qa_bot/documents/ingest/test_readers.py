"""The contract of all readers, tested for every format of `READERS`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qa_bot.documents.ingest import Limits, Notice, Record, Reject
from qa_bot.documents.ingest.detect import FORMATS, READERS

Reads = Callable[..., tuple[list[Record], list[Reject], list[Notice]]]

LIMITS = Limits(record_bytes=100_000)
TEXTS = {
    "jsonl": ("a.jsonl", '{"id": "1", "title": "Cats", "text": "Cats sleep."}\n'),
    "json": ("a.json", json.dumps([{"id": "1", "title": "Cats", "text": "Cats sleep."}])),
    "json-object": ("a.json", '{\n"faq": {"question": "Cats", "answer": "Cats sleep."}}'),
    "csv": ("a.csv", "question,answer\nCats,Cats sleep.\n"),
    "yaml": ("a.yaml", "- question: Cats\n  answer: Cats sleep.\n"),
    "tsv": ("a.tsv", "1\tCats\tCats sleep.\n"),
    "squad": ("a.json", json.dumps({"data": [{"title": "Cats", "paragraphs": [{"context": "Cats sleep."}]}]})),
    "medquad": (
        "a.xml",
        "<Document><QAPairs><QAPair pid='1'><Question>Cats</Question><Answer>Cats sleep.</Answer></QAPair></QAPairs>"
        "</Document>",
    ),
    "stackexchange": (
        "Posts.xml",
        '<posts><row Id="1" PostTypeId="1" Title="Cats" Body="Cats" />'
        '<row Id="2" PostTypeId="2" ParentId="1" Body="Cats sleep." /></posts>',
    ),
    "markdown": ("a.md", "# Cats\n\nCats sleep.\n"),
    "html": ("a.html", "<html><title>Cats</title><body><p>Cats sleep.</p></body></html>"),
    "asciidoc": ("a.adoc", "= Cats\n\nCats sleep.\n"),
    "latex": ("a.tex", "\\title{Cats}\n\\begin{document}\nCats sleep.\n\\end{document}\n"),
    "typst": ("a.typ", '#show: page.with(title: "Cats")\n\nCats sleep.\n'),
    "docbook": ("a.docbook", "<article><title>Cats</title>\n\n<para>Cats sleep.</para></article>\n"),
    "mediawiki": (
        "a.xml",
        "<mediawiki><page><title>Cats</title><revision><text>Cats sleep.</text></revision></page></mediawiki>",
    ),
    "wordpress": (
        "a.xml",
        '<rss xmlns:wp="http://wordpress.org/export/1.2/" '
        'xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><item><title>Cats</title>'
        "<content:encoded>Cats sleep.</content:encoded></item></channel></rss>",
    ),
    "notebook": (
        "a.ipynb",
        json.dumps({"cells": [{"cell_type": "markdown", "source": ["# Cats\n", "\n", "Cats sleep."]}]}),
    ),
    "python": ("Cats.py", '"""Cats sleep."""\n'),
    "transcript": ("a.vtt", "WEBVTT - Cats\n\n00:00.000 --> 00:02.000\nCats sleep.\n"),
    "calendar": (
        "a.ics",
        "BEGIN:VCALENDAR\nX-WR-CALNAME:Cats\nBEGIN:VEVENT\nDESCRIPTION:Cats sleep.\nEND:VEVENT\nEND:VCALENDAR\n",
    ),
    "contacts": ("a.vcf", "BEGIN:VCARD\nFN:Cats\nNOTE:Cats sleep.\nEND:VCARD\n"),
    "confluence": (
        "a.html",
        '<html><title>Pets : Cats</title><body><div id="main-header">\n<div id="breadcrumb-section"><ol><li>Pets</li>'
        "</ol></div></div><p>Cats sleep.</p></body></html>",
    ),
    "text": ("a.txt", "Cats\n\nCats sleep.\n"),
}
"""A file with one document for each format that is read in this process; the others have their tests."""


def text_of(record: Record) -> str:
    """Without the time in transcripts, and the name in contacts."""
    return record.text.removeprefix("[00:00:00] ").removeprefix("## Cats\n\n- Note: ")


def rows(records: list[Record]) -> list[tuple[str, str, str]]:
    return [(record.id, record.title, text_of(record)) for record in records]


@pytest.fixture(params=TEXTS)
def example(request: pytest.FixtureRequest) -> Any:
    """Format, file name and content."""
    return request.param, *TEXTS[request.param]


def test_every_format_has_an_example_and_a_module() -> None:
    assert {name for name, reader in READERS.items() if not reader.is_isolated} == {*TEXTS}
    folder = Path(__file__).parents[4] / "qa_bot" / "documents" / "ingest" / "formats"
    assert all((folder / f"{reader.module.replace('.', '/')}.py").is_file() for reader in READERS.values())


def test_a_format_is_detected_and_its_document_read(reads: Reads, tmp_path: Path, example: Any) -> None:
    format_, name, content = example
    records, rejects, notices = reads(name, content)
    assert [(record.title, text_of(record)) for record in records] == [("Cats", "Cats sleep.")]
    assert (rejects, notices) == ([], [])
    assert records[0].id
    assert records[0].where.startswith(f"{tmp_path / name}:")
    if format_ in FORMATS:
        assert rows(reads(name, content, format=format_)[0]) == rows(records)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_encodings_and_compression_make_no_difference(reads: Reads, example: Any, encoding: str) -> None:
    _, name, content = example
    content = content.replace("sleep", "schläft 猫")
    plain = rows(reads(name, content)[0])
    assert plain[0][2] == "Cats schläft 猫."
    records, rejects, notices = reads(name, content.encode(encoding))
    assert (rows(records), rejects, notices) == (plain, [], [])
    assert rows(reads(f"{name}.gz", gzip.compress(content.encode()))[0]) == plain


def test_bytes_that_are_not_utf_8_are_replaced_with_a_notice(reads: Reads, example: Any) -> None:
    _, name, content = example
    records, _, notices = reads(name, content.encode().replace(b"sleep", b"sl\xffep"))
    assert [text_of(record) for record in records] == ["Cats sl\ufffdep."]
    assert "1 invalid UTF-8 bytes replaced" in notices[0].message


def test_a_document_over_the_limit_is_rejected(reads: Reads, example: Any) -> None:
    format_, name, content = example
    long = content.replace("Cats sleep.", "Cats sleep. " * 200_000)
    records, rejects, _ = reads(name, long, format=format_ if format_ in FORMATS else None, limits=LIMITS)
    assert records == []
    assert any("--max-record-bytes" in reject.reason for reject in rejects)


@pytest.mark.parametrize("content", ["", " \n"], ids=["empty", "blank"])
def test_a_file_without_a_document_yields_none(reads: Reads, example: Any, content: str) -> None:
    format_, name, _ = example
    records, _, _ = reads(name, content, format=format_ if format_ in FORMATS else None)
    assert records == []


def test_a_file_cut_anywhere_raises_nothing(reads: Reads, example: Any) -> None:
    format_, name, content = example
    for end in range(0, len(content), 7):
        records, rejects, _ = reads(name, content[:end], format=format_ if format_ in FORMATS else None)
        assert all(record.text for record in records)
        assert all(reject.where and reject.reason for reject in rejects)
