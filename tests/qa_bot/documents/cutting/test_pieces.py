"""Pieces that belong together: a colon and what it leads to, the rows of a table and the name of their group."""

from __future__ import annotations

import pytest

from qa_bot.documents.cutting.markdown_passages import cut_markdown

TABLE = "| City | Rate |\n| --- | --- |\n| City 0 | 0 euros |\n| City 1 | 1 euros |"


def texts(text: str, characters: int) -> list[str]:
    return [passage.text for passage in cut_markdown(text, "t", characters=characters).passages]


def test_a_short_paragraph_stays_with_the_colon_before_it() -> None:
    """The passage before has room for the line with the colon."""
    text = f"{'Filler words. ' * 4}\n\n(2) The fee is:\n\nA. 30 euros for a pass, and more.\n\nB. 20 euros for a copy."
    passages = texts(text, 75)
    assert passages[1].startswith("(2) The fee is:\n\nA. 30 euros")


@pytest.mark.parametrize(
    ("between", "together"),
    [
        ("Of these:", f"Of these:\n\n{TABLE}"),  # the last colon stays with the table
        ("Table 3. Rates", f"Table 3. Rates\n\n{TABLE}"),  # the caption stays with its table
        ("Long words. " * 8, "Long words. " * 8),
    ],
)
def test_what_leads_on_or_is_long_is_not_joined_to_a_colon(between: str, together: str) -> None:
    text = f"{'Filler words. ' * 4}\n\nThe fees:\n\n{between.strip()}\n\n{TABLE}"
    assert any(together.strip() in passage for passage in texts(text, 100))


def test_the_row_that_names_a_group_is_repeated_below_the_header() -> None:
    header = "| Item | Fee |\n| --- | --- |"
    rows = ["| a) Bus | |", "| Day | 3 euros |", "| Month | 30 euros |", "| b) Train | |", "| Night | 9 euros |"]
    passages = texts("\n".join([header, *rows]), 70)
    for row, group in ((rows[2], rows[0]), (rows[4], rows[3])):
        (text,) = (text for text in passages if row in text)
        assert text.startswith(header)
        assert text.index(group) < text.index(row)
    assert all(rows[0] not in text for text in passages if rows[3] in text)
