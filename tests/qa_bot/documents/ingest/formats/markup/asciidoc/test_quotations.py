"""Whom a quotation or a verse of AsciiDoc is from."""

import pytest

from qa_bot.documents.ingest.formats.markup.asciidoc.quotations import attribution


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("[quote, Anna Miller]\nBread is life.", "> Bread is life.\n>\n> — Anna Miller"),
        ('[quote#id, Anna Miller, "On Bread, 2"]\n____\na\n____', "> a\n>\n> — Anna Miller, On Bread, 2"),
        ("[quote,attribution=Bob,citetitle=Book]\na", "> a\n>\n> — Bob, Book"),
        ("[verse, Carl]\n____\nOne\n\ntwo\n____", "> One\n>\n> two\n>\n> — Carl"),
        ("[verse, Carl]\nOne\ntwo", "One\ntwo\n\n— Carl"),
        ("[verse]\n____\n____\na", "a"),
        ("[quote]\na", "> a"),
    ],
)
def test_the_name_is_below_the_text(reads, source, expected):
    (record,), _, _ = reads("a.adoc", source)
    assert record.text == expected


def test_long_options_are_cut():
    assert attribution(f"quote, Anna, {'x' * 200_000}").startswith("Anna, xxx")
