"""Numbers of columns that sheets keep without their last zeros."""

import pytest

from qa_bot.documents.ingest.formats.sheets.decimals import add_cents


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("Price", "12.95 9.9 2.25 4 free", "12.95 9.90 2.25 4 free"),
        ("Price (€)", "9.9 12 1,200 free", "9.90 12.00 1,200.00 free"),
        ("Preis in EUR", "2.5 3", "2.50 3.00"),
        ("Price (€)", "9 12", "9 12"),
        ("Price (€)", "0.125 9.9", "0.125 9.9"),
        ("Price (€)", "9,9 12,95 1.2.", "9,9 12,95 1.2."),
        ("Litres", "2.5 3.25 1.5", "2.5 3.25 1.5"),
        ("Litres", "2.5 3.25", "2.5 3.25"),
    ],
)
def test_a_column_of_prices_has_cents(name: str, cells: str, expected: str) -> None:
    rows = [["x", cell] for cell in cells.split()]
    add_cents(["Item", name], [*rows, ["short"]])
    assert " ".join(row[1] for row in rows) == expected
    add_cents([], [])


def test_prices_of_a_file(reads):
    (record,), _, _ = reads("prices.csv", "Item,Price\nTea,12.95\nCake,9.9\nPie,2.25\n")
    assert "| Cake | 9.90 |" in record.text
