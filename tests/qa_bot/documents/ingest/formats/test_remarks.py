"""Remarks below a table are no rows of it."""

import pytest

from qa_bot.documents.ingest.formats.remarks import divided

ROWS = [["Card", "5 €"], ["Pool*", "7 €"]]


@pytest.mark.parametrize(
    "remarks",
    [
        ["* prices without VAT"],
        ["1) Children under 6 years", "2) On request"],
        ["All prices are valid from May."],
        ["Source: the desk", "We reserve changes of these prices"],
    ],
)
def test_rows_of_one_cell_with_a_remark(remarks: list[str]) -> None:
    assert divided([*ROWS, *([remark, ""] for remark in remarks)]) == (ROWS, remarks)


@pytest.mark.parametrize(
    "row", [["Sauna", ""], ["", "9 €"], ["12)", ""], ["All that is in the pool", "7 €"], ["Total sum", ""]]
)
def test_other_rows(row: list[str]) -> None:
    assert divided([*ROWS, row]) == ([*ROWS, row], [])


def test_rows_with_a_category_are_not_divided_from_the_remark() -> None:
    rows = [*ROWS, ["Closed", ""], ["* prices without VAT", ""]]
    assert divided(rows) == (rows[:3], ["* prices without VAT"])


def test_remarks_are_paragraphs_below_the_table(reads) -> None:
    text = "Item,Price\nCard,5 €\nPool*,7 €\n* prices without VAT,\n\n* a note\n** a second\n*** a third\n"
    (record,), rejects, _ = reads("a.csv", text.encode())
    assert rejects == []
    assert record.text == (
        "| Item | Price |\n| --- | --- |\n| Card | 5 € |\n| Pool* | 7 € |\n\n\\* prices without VAT\n\n"
        "\\* a note\n\n** a second\n\n*** a third"
    )
