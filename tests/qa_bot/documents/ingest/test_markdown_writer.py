"""The Markdown that readers write, checked with markdown-it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from qa_bot.documents.ingest.markdown_writer import MarkdownWriter, clauses, escape_line, item_sign
from qa_bot.documents.ingest.records import Position


def test_blocks_are_divided_by_empty_lines_and_items_are_not() -> None:
    writer = MarkdownWriter()
    writer.heading(2, "Leave\n policy ")
    writer.paragraph("First line\nsecond.\n\n# no heading")
    writer.item("Ask\nfirst")
    writer.item("nested", depth=1)
    writer.item("Go", number=10)
    writer.code("a ``` b", "sh")
    writer.quote("said\n\nso")
    assert writer.text == (
        "## Leave policy\n\nFirst line\nsecond.\n\n\\# no heading\n\n"
        "- Ask\n  first\n    - nested\n10. Go\n\n````sh\na ``` b\n````\n\n> said\n> so"
    )
    assert len(writer) == len(writer.text)


def test_a_heading_of_sentences_is_a_paragraph() -> None:
    writer = MarkdownWriter()
    writer.heading(2, "Fees")
    writer.heading(4, "*The fees apply to guests. Whoever comes with a member pays half of them.")
    writer.heading(1, "The kiln is in the cellar. It has been there since the house was built, they say.")
    assert writer.text == (
        "## Fees\n\nThe fees apply to guests. Whoever comes with a member pays half of them.\n\n"
        "# The kiln is in the cellar. It has been there since the house was built, they say."
    )
    assert [level for level, _ in writer.headings] == [2, 1]


def test_a_label_is_part_of_a_paragraph_and_stands_above_other_blocks() -> None:
    writer = MarkdownWriter()
    for write in (lambda notes: notes.paragraph("Smile.\n\n1. no step"), lambda notes: notes.item("Go", number=1)):
        notes = MarkdownWriter()
        write(notes)
        writer.labelled("Notes:", notes)
    writer.labelled("Notes:", MarkdownWriter())
    assert writer.text == "Notes: Smile.\n\n1\\. no step\n\nNotes:\n\n1. Go"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "(1) The fee is 4. (2) Pay; see § 3 (3) here. (3) Late.",
            ["(1) The fee is 4.", "(2) Pay; see § 3 (3) here.", "(3) Late."],
        ),
        ("(3) No noise\n(4) No dogs\n(6) No cats", ["(3) No noise", "(4) No dogs\n(6) No cats"]),  # five is missing
        ("As in (1) above. (2) Below", ["As in (1) above. (2) Below"]),  # begins with none
        ("(1) Alone.", ["(1) Alone."]),
        ("(1)", ["(1)"]),
        ("", [""]),
    ],
)
def test_clauses_are_paragraphs(text: str, expected: list[str]) -> None:
    assert [clause.strip() for clause in clauses(text)] == expected
    writer = MarkdownWriter()
    writer.paragraph(text)
    assert writer.text == "\n\n".join(filter(None, expected))


@given(st.text(alphabet="(12) ab.\n", max_size=60))
def test_clauses_are_the_whole_text(text: str) -> None:
    assert "".join(clauses(text)) == text


def test_a_table_has_one_line_a_row_and_knows_the_row_of_its_sheet() -> None:
    writer = MarkdownWriter()
    writer.page(3)
    writer.heading(2, "Rooms")
    writer.table([["Room", "Seats | chairs"], ["Curie", "8\nor 9"], ["Hopper"]], first_row=5)
    assert writer.text == "## Rooms\n\n| Room | Seats \\| chairs |\n| --- | --- |\n| Curie | 8 or 9 |\n| Hopper |  |"
    assert writer.positions == [Position(0, page=3), Position(writer.text.index("| Curie"), row=5)]


def test_a_table_without_a_header_gets_an_empty_one() -> None:
    writer = MarkdownWriter()
    writer.table([["a", "b"]], header=False)
    writer.table([[]])
    assert writer.text == "|  |  |\n| --- | --- |\n| a | b |"


@given(st.text("#-*+>|`~=1).( ab", max_size=12))
def test_an_escaped_line_is_a_paragraph(line: str) -> None:
    text = escape_line(f"{line.strip()}x".strip())
    assert next(token.type for token in MarkdownIt("commonmark").enable("table").parse(text)) == "paragraph_open"


def test_blocks_inside_an_item_are_indented_and_the_list_goes_on() -> None:
    writer = MarkdownWriter()
    writer.item("one", number=1)
    writer.paragraph("more", depth=1)
    writer.table([["a", "b"], ["1", "2"]], depth=1, first_row=2)
    writer.code("x\n\ny", depth=1)
    writer.item("two", number=2)
    assert writer.text == (
        "1. one\n\n    more\n\n"
        "    | a | b |\n    | --- | --- |\n    | 1 | 2 |\n\n    ```\n    x\n\n    y\n    ```\n2. two"
    )
    assert writer.positions == [Position(writer.text.index("    | 1"), row=2)]
    types = [token.type for token in MarkdownIt("commonmark").enable("table").parse(writer.text)]
    assert types.count("ordered_list_open") == types.count("table_open") == types.count("fence") == 1


def test_an_ended_section_ends_if_anything_but_a_heading_follows() -> None:
    writer = MarkdownWriter()
    for level, text in ((2, "A"), (3, "B")):
        above = writer.headed
        writer.heading(level, text)
        writer.paragraph("a")
    writer.end_headings(above)
    writer.table([["c"], ["1"]], first_row=2)
    assert writer.text == "## A\n\na\n\n### B\n\na\n\n###\n\n| c |\n| --- |\n| 1 |"
    assert writer.text[writer.positions[0].offset :] == "| 1 |"
    assert writer.headings == [(2, "A"), (3, "B")]
    writer.end_headings(above)
    writer.heading(3, "C")
    assert writer.text.endswith("| 1 |\n\n### C")


def test_a_quotation_of_blocks_and_the_headings_so_far() -> None:
    inner, writer = MarkdownWriter(), MarkdownWriter()
    inner.paragraph("a")
    inner.item("b")
    writer.heading(9, "T")
    writer.quoted(inner)
    writer.quoted(MarkdownWriter())
    assert writer.text == "###### T\n\n> a\n>\n> - b"
    assert writer.headings == [(6, "T")]


@pytest.mark.parametrize(
    ("number", "label", "sign"),
    [
        (None, "", "-"),
        (2, "2.", "2."),
        (2, "Step 2:", "2."),
        (2, "b)", "- b)"),
        (2, "(2)", "- (2)"),
        (1, "1.2.1", "- 1.2.1"),
    ],
)
def test_the_sign_of_an_item(number: int | None, label: str, sign: str) -> None:
    assert item_sign(number, label) == sign
