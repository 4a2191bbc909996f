"""Tables that signs draw."""

import pytest

from qa_bot.documents.ingest.formats.markup.markdown import markdown_blocks
from qa_bot.documents.ingest.formats.markup.plain.drawn_tables import grid_rows

GRID = """+--------+-----------+
| Fruit  | Why       |
+========+===========+
| Banana | - cheap   |
|        | - sweet   |
+--------+-----------+
| Orange | cures     |
|        | scurvy    |
+--------+-----------+"""


def test_grids():
    assert grid_rows(GRID.split("\n")) == [["Fruit", "Why"], ["Banana", "cheap; sweet"], ["Orange", "cures scurvy"]]
    plain = "+---+---+\n| a | b |\n+---+---+\n| c | d |\n+---+---+\n| e | f |\n+---+---+"
    assert grid_rows(plain.split("\n")) == [["", ""], ["a", "b"], ["c", "d"], ["e", "f"]]


def test_listings_of_databases():
    listing = "+----+-----+\n| id | who |\n+----+-----+\n|  1 | Ann |\n|  2 | Bob |\n+----+-----+"
    assert grid_rows(listing.split("\n")) == [["id", "who"], ["1", "Ann"], ["2", "Bob"]]


@pytest.mark.parametrize(
    "lines",
    [
        "+-------+\n| a box |\n+-------+",
        "+---+---+\n| a     |\n+---+---+",  # merged cells
        "+---+---+\n| a | b |",
        "| a | b |\n|---|---|\n| c | d |",
    ],
)
def test_other_lines(lines):
    assert grid_rows(lines.split("\n")) == []


def test_grids_in_markdown():
    assert markdown_blocks(f"Text\n\n{GRID}\n\n: Fruit we sell\n\nMore").text == (
        "Text\n\nFruit we sell\n\n| Fruit | Why |\n| --- | --- |\n| Banana | cheap; sweet |\n"
        "| Orange | cures scurvy |\n\nMore"
    )


def test_simple_tables_in_markdown():
    table = "  Room   Exit\n------- ------\n  101    north\n  102    a|b\n\nTable: Exits {#tbl:exits}\n\nMore"
    assert markdown_blocks(table).text == (
        "Exits\n\n| Room | Exit |\n| --- | --- |\n| 101 | north |\n| 102 | a\\|b |\n\nMore"
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Title\n----------\nText", "## Title\n\nText"),
        ("One\n\n--- ---\n\nTwo", "One\n\nTwo"),
        (
            "```\n  Room   Exit\n------- ------\n  101    north\n```",
            "```\n  Room   Exit\n------- ------\n  101    north\n```",
        ),
        ("H~2~O, ~~old~~ and ~5~", "H2O, ~~old~~ and ~5~"),
    ],
)
def test_other_markdown(source, expected):
    assert markdown_blocks(source).text == expected
