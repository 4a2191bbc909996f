"""Conditions of Sphinx."""

import pytest

from qa_bot.documents.ingest.formats.markup.sphinx_conditions import for_web_pages, holds


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("html", True),
        ("man", False),
        ("not latex", True),
        ("latex or html", True),
        ("html and draft", False),
        ("not (html or man)", False),
        ("html and", True),
        ("1 < 2", True),
        ("(" * 500, True),
    ],
)
def test_holds(condition, expected):
    assert holds(condition) is expected


def test_blocks_are_moved_out():
    source = "One\n\n.. only:: html\n\n   Two\n   ---\n\n   .. only:: man\n\n      Three\n\n   Four\nFive"
    assert for_web_pages(source).split() == ["One", "Two", "---", "Four", "Five"]
    assert "\nTwo\n---\n" in for_web_pages(source)
    assert for_web_pages("- a\n\n  .. only:: html\n\n     b\n") == "- a\n\n\n\n  b\n\n"
