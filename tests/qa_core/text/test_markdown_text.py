"""Plain text of Markdown, of units, and the context of a passage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.text.markdown_text import context, header_above, plain_line, plain_text, unit_text, without_block_signs


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("plain words", "plain words"),
        ("a **bold** and *slanted* and ***both*** word", "a bold and slanted and both word"),
        ("a __bold__ and _slanted_ word", "a bold and slanted word"),
        ("snake_case_name and 2 * 3 * 4 and 5*6", "snake_case_name and 2 * 3 * 4 and 5*6"),
        ("**a *nested* word**", "a nested word"),
        ("~~gone~~", "gone"),
        ('see [the **guide**](http://x.y/a_(b) "Title"), please', "see the guide, please"),
        ("![a cat](cat.png) sleeps", "a cat sleeps"),
        ("[text][1] and [text][]", "text and text"),
        ("write to <mailto:a@b.c> or <https://x.y/z>", "write to a@b.c or https://x.y/z"),
        ("run `a *b* _c_` now", "run a *b* _c_ now"),
        ("`` a ` b ``", "a ` b"),
        ("``` a `b`", "``` a b"),
        (r"\``a`", "`a"),
        (r"1\. no list, \*no\* emphasis, C:\dir", r"1. no list, *no* emphasis, C:\dir"),
        ("Tom &amp; Jerry &lt; x", "Tom & Jerry < x"),
        ("[ ] open task, [x] done", "[ ] open task, [x] done"),
        ("an [odd bracket and *odd star", "an [odd bracket and *odd star"),
        ("two\nlines", "two lines"),
    ],
)
def test_signs_inside_a_line_are_left_out(markdown: str, plain: str) -> None:
    assert plain_line(markdown) == plain


def test_plain_text_keeps_lines_list_signs_and_code() -> None:
    markdown = (
        "# Guide #\n\n> *quoted*\n> words\n\n1. **one**\n    - two\n\n| A | B |\n| --- | --- |\n| `a` | x \\| y |\n\n"
        "```python\nx = '*a*'\n```"
    )
    assert plain_text(markdown) == ("Guide\n\nquoted\nwords\n\n1. one\n    - two\n\nA | B\na | x | y\n\nx = '*a*'")


TABLE = "Rates:\n\n| City | Hotel | Meal |\n| --- | --- | --- |\n| **Berlin** | 120 | 30 |\n| Rome |  | 35 |"


@pytest.mark.parametrize(
    ("row", "words"),
    [("| **Berlin** | 120 | 30 |", "Berlin | Hotel: 120; Meal: 30"), ("| Rome |  | 35 |", "Rome | Meal: 35")],
)
def test_a_row_is_read_with_its_header(row: str, words: str) -> None:
    start = TABLE.index(row)
    assert unit_text(TABLE, (start, start + len(row))) == words


def test_a_row_is_read_with_the_header_given() -> None:
    assert unit_text("| a | b | c |", (0, 13), ["X", "Y"]) == "a | Y: b; c"
    assert unit_text("| a | b |", (0, 9)) == "a | b"


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("- an *item*\n    - nested\n    10. more", "an item nested more"),
        ("3) a step", "a step"),
        ("> a quotation\n> goes on", "a quotation goes on"),
        ("a -- b - c. 1. d", "a -- b - c. 1. d"),
        ("```sh\nls -l\n\ncd\n```", "ls -l\n\ncd"),
        ("**Text**: words", "Text: words"),
    ],
)
def test_a_unit_is_read_without_its_sign(markdown: str, words: str) -> None:
    assert unit_text(f"x\n{markdown}\ny", (2, 2 + len(markdown))) == words


def test_context_names_each_heading_once() -> None:
    assert context("Travel guide", ["travel  Guide", "Rail", "Tickets"]) == "Travel guide › Rail › Tickets"
    assert context("", []) == ""


@given(st.text(st.sampled_from("ab *_`~[]()<>!\\&|#\n-1."), max_size=60))
def test_letters_are_kept(markdown: str) -> None:
    """Except for link targets, info strings of code, and names of characters."""
    if not {"(", "[", "`", "~", "&"} & set(markdown):
        assert [c for c in plain_text(markdown) if c in "ab"] == [c for c in markdown if c in "ab"]
    assert plain_line(markdown) == " ".join(plain_line(markdown).split())


@pytest.mark.parametrize("sign", ["`", "``", "` ``", "`a``", "*", "**a", "_a ", "~~", "[", "![", "](", "<a", "\\"])
def test_a_long_run_of_signs_is_read_in_linear_time(sign: str) -> None:
    """2,000 backticks took 14 s. Quadratic code would run into the suite's timeout."""
    text = "a " + sign * 20_000
    assert len(plain_line(text)) <= len(text)


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("3\\. May 2025\n- 4\\) d\n> 5\\.", "3. May 2025\n- 4) d\n> 5."),
        ("a 3\\. b\n\\_c\n3\\.5\n`1\\.`", "a 3\\. b\n\\_c\n3\\.5\n`1\\.`"),
        ("\\# c\n- \\> d\n\\*.md", "# c\n- > d\n*.md"),
        ("### Dogs?\n\n## Cats ##\n\nText #5.", "Dogs?\n\nCats\n\nText #5."),
        ("```sh\n# a\n\\# b\n```\n# c", "```sh\n# a\n\\# b\n```\nc"),
    ],
)
def test_lines_without_the_signs_of_blocks(markdown: str, shown: str) -> None:
    assert without_block_signs(markdown) == shown


TEXT = """These are our tools.

| Tool | Login |
| --- | --- |
| Desk | none. Ask. |
| Mail | your key |

Ask if you need more."""


@pytest.mark.parametrize(
    ("line", "has_header"),
    [("| Mail", True), ("| Desk", True), ("| ---", False), ("| Tool", False), ("These", False), ("Ask if", False)],
)
def test_the_header_above_a_row(line: str, has_header: bool) -> None:
    above = header_above(TEXT, TEXT.index(line))
    assert (above is not None) == has_header
    if above is not None:
        assert TEXT[slice(*above)] == "| Tool | Login |\n| --- | --- |\n"


def test_rows_without_a_header_have_none() -> None:
    rows = "| a | b |\n| c | d |\n| e | f |"
    assert header_above(rows, rows.index("| e")) is None
