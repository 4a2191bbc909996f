"""Rows of tables in answers: whole, and below their header."""

from __future__ import annotations

import pytest

from qa_bot.answering.tiling.answer_text import tile_leads
from qa_bot.answering.tiling.table_rows import at_end_of_row, lacks_key, named_by_rows, row_names
from qa_core.text.sentences import sentences
from qa_core.types import Candidate, Clue, Passage, Signals, Source

TABLE = "| Tool | Login |\n| --- | --- |\n| Desk | none. Ask. |\n| Mail | your key |\n"
TEXT = f"These are our tools.\n\n{TABLE}\nAsk if you need more."


def test_an_end_inside_a_row_moves_to_the_row_before() -> None:
    desk, mail = TEXT.index("| Desk"), TEXT.index("| Mail")
    assert at_end_of_row(TEXT, 0, mail + 14) == mail - 1
    assert at_end_of_row(TEXT, desk + 10, desk + 14) == desk + 10, "not before the least"
    assert at_end_of_row(TEXT, 0, mail - 1) == mail - 1, "the end of a row"
    assert at_end_of_row(TEXT, 0, 10) == 10, "not in a table"


@pytest.mark.parametrize("part", ["| Desk", "sk | none", "| ---", "-- |\n| Desk", "ogin |"])
def test_a_header_without_rows_is_left_out(part: str) -> None:
    for end in (TEXT.index(part), TEXT.index(part) - 1):
        assert TEXT[: at_end_of_row(TEXT, 0, end)].strip() == "These are our tools."
    assert at_end_of_row(TEXT, 30, TEXT.index("| Desk") - 1) == 30, "not before the least"


def test_a_row_in_the_middle_of_a_text_has_its_header() -> None:
    text = f"{'Words before it. ' * 20}\n\n{TABLE}"
    start = text.index("| Mail")
    passage = Passage("p", text, Clue(), Source("tools"))
    best = Candidate(passage, 3.0, Signals(lead=(start, len(text) - 1)))
    tiling = tile_leads([best], limit=1000, sentences=sentences)
    desk = TABLE.split("\n")[2]
    assert (
        tiling.text
        == f"| Tool | Login |\n| --- | --- |\n{desk}\n| Mail | your key |\n\n{'Words before it. ' * 20}".strip()
    )
    assert tiling.lead is not None
    assert tiling.text[slice(*tiling.lead)].startswith("| Mail | your key")
    alone = tile_leads([best], limit=100, sentences=sentences)
    (tile,) = alone.tiles
    assert alone.text == "| Tool | Login |\n| --- | --- |\n| Mail | your key |"
    assert text[slice(*tile.source_span)] == alone.text[slice(*tile.span)] == "| Mail | your key |"


SCALES = "| Grade | Days |\n| --- | --- |\n| 1 – 3 | 20 |\n| 4 to 8 | 24 |\n| 9 and above | 30 |\n"


@pytest.mark.parametrize(
    ("text", "question", "named"),
    [
        (SCALES, ["day", "grade", "grade5"], {"grade5": "| 4 to 8 | 24 |"}),
        (SCALES, ["room", "room5"], {}),  # the rows are not about rooms
        (SCALES, ["grade", "12"], {}),
        ("| Release | Needs |\n| --- | --- |\n| 3.9 | A |\n| 4.1 | B 3.9 |", ["4.1"], {"4.1": "| 4.1 | B 3.9 |"}),
        ("| Age | Price |\n| --- | --- |\n| 6-17 years | 4 |", ["12", "year"], {"12": "| 6-17 years | 4 |"}),
        ("| Age | Price |\n| --- | --- |\n| 6-17 years | 4 |", ["12", "room"], {}),
        ("- 4.1: a list", ["4.1"], {}),
    ],
)
def test_a_number_of_the_question_names_a_row(text, question, named):
    lines = [line for line in text.split("\n") if line.startswith("|")]
    spans = {line: (text.index(line), text.index(line) + len(line)) for line in lines}
    rows = {term: line for line, span in spans.items() for term in row_names(text, span, question, "en")}
    assert rows == named
    assert named_by_rows(text, question, "en") == named.keys()


CODES = "| Code | Meaning |\n| --- | --- |\n| 0 | fine |\n| 1 | broken |\n| 10 | late |"


@pytest.mark.parametrize(
    ("question", "table", "expected"),
    [
        ("What does code 7 mean?", CODES, True),
        ("What does code 10 mean?", CODES, False),
        ("What does part 7 mean?", CODES, False),  # no column of parts
        ("What does code 7 mean?", CODES.replace("| 10 |", "| 2 – 10 |"), False),
        ("What does code 7 mean?", CODES.replace("| 10 |", "| 2+ |"), False),
        ("What does code 7 mean?", f"Code 7 is new.\n\n{CODES}", False),
        ("What does code 7 mean?", "| Code | Meaning |\n| --- | --- |\n| 0 | fine |", False),  # one row is no series
        ("What does code 7 mean?", f"Code | Meaning\n3 | a row of another text\n{CODES}", True),
    ],
)
def test_a_number_that_is_no_key_of_a_table_is_not_answered_by_its_rows(question, table, expected):
    assert lacks_key(table, question, "en") is expected


def test_numbers_of_sections_are_no_keys():
    assert not lacks_key(CODES, "What does code 7 mean?", "en", sections={"7"})
