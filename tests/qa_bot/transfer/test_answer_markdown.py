"""Answers in transcripts keep their structure and lose everything else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from qa_bot.transfer.answer_markdown import structured

PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")

KEPT = [
    "| Item | Limit |\n| --- | --- |\n| Hotel \\| inn | 140 EUR |",
    "1. Take a photo.\n2. Choose a category:\n   - travel\n   - meals",
    "3. Third.\n4. Fourth.",
    "- a\n\n  more of a\n\n- b",
    "```\nx = `1` # no heading\n```",
    "Use `` a`b `` **now** or *later*.",
    "See [the form](<https://example.org/a?b=1>).",
    "> quoted\\\n> again",
    "First line\\\nsecond line",
    "2024\\. was a year\\\n\\- not a list",
]


@pytest.mark.parametrize("text", KEPT)
def test_structure_is_kept(text: str) -> None:
    assert PARSER.render(structured(text)) == PARSER.render(text)


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("# Costs *now*", "**Costs *now***"),
        ("<b>bold</b> &amp; so on", "\\<b\\>bold\\</b\\> \\& so on"),
        ("![a cat](https://x.org/cat.png)", "a cat"),
        ("[click](javascript:alert(1))", "\\[click\\](javascript:alert(1))"),
        ("[mail](mailto:a@b.org)", "mail"),
        ("| a |\n| - |\n| `x \\| y` |", "| a |\n| --- |\n| `x \\| y` |"),
        ("bell \x07", "bell \ufffd"),
        ("", ""),
    ],
)
def test_what_is_no_structure_becomes_text(text: str, safe: str) -> None:
    assert structured(text) == safe


@given(st.lists(st.sampled_from(KEPT) | st.text(max_size=20), max_size=4).map("\n\n".join))
def test_it_is_stable(text: str) -> None:
    once = structured(text)
    assert PARSER.render(structured(once)) == PARSER.render(once)
