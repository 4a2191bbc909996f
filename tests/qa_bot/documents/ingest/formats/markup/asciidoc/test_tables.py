"""Tables of AsciiDoc whose cells are divided by commas, colons or tabs."""

import pytest

TEA = "| Tea | Price |\n| --- | --- |\n| Mint | 3 |"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("[%header,format=csv]\n|===\nTea,Price\nMint,3\n|===", TEA),
        (",===\nTea,Price\n\nMint, 3\n,===", TEA),
        ("[%header]\n|======\n|Tea |Price\n\n|Mint |3\n|======", TEA),
        ('[options="header",format="csv",separator=";"]\n|===\nTea;Price\n\n"Mint";3\n|===', TEA),
        ("[%header,format=tsv]\n|===\nTea\tPrice\nMint\t3\n|===", TEA),
        ("[%header,format=dsv]\n|===\nTea:Price\nMint:3\n|===", TEA),
        (":===\nTea:Price\n\nMint\\: *cold*:3\n:===", TEA.replace("Mint", "Mint: **cold**")),
        ('[%header]\n,===\nTea,Price\n"Mint,\nor ""sage""",3\n,===', TEA.replace("Mint", 'Mint, or "sage"')),
        (
            '[%header,cols="2*"]\n,===\nTea,Price\nMint\nSage,4\n,===',
            "| Tea | Price |\n| --- | --- |\n| Mint |  |\n| Sage | 4 |",
        ),
        (f'[%header]\n,===\nTea,Price\n"Mint,3{"x" * 140_000}\n,===', TEA.replace("Mint", '"Mint').replace("3", "3…")),
        (",===\n,===\na", "a"),
    ],
)
def test_divided_cells(reads, source, expected):
    (record,), _, _ = reads("a.adoc", source)
    assert record.text.replace("x" * 140_000, "…") == expected


@pytest.mark.parametrize("options", ["", '[cols="3*"]\n'])
def test_a_cell_of_several_rows_is_in_each_of_them(reads, options):
    rows = "|===\n|A |B |C\n\n.2+|span |1 |2\n|3 |4\n|x |y |z\n|==="
    (record,), _, _ = reads("a.adoc", options + rows)
    assert record.text == ("| A | B | C |\n| --- | --- | --- |\n| span | 1 | 2 |\n| span | 3 | 4 |\n| x | y | z |")


def test_cells_of_several_rows_and_columns_at_the_end_of_rows(reads):
    rows = "|===\n|A |B |C\n\n|1 2.2+|both\n|2\n|3 |4 .3+|deep\n|5 |6\n2+|last\n|==="
    (record,), _, _ = reads("a.adoc", rows)
    assert record.text.split("\n")[2:] == [
        "| 1 | both | both |",
        "| 2 | both | both |",
        "| 3 | 4 | deep |",
        "| 5 | 6 | deep |",
        "| last | last | deep |",
    ]


@pytest.mark.parametrize(
    ("options", "content", "expected"),
    [
        ('[cols="1,2a"]\n', "|\n* one\n* two", "one; two"),
        ("", "a|\n* one\n* two", "one; two"),
        ("", "a|Bake.\n\nNOTE: hot", "Bake. **Note:** hot"),
        ("", "a|\n!===\n!x !y\n\n!1 !2\n!===", "x: y; 1: 2"),
        ("", "|* one\n* two", "* one * two"),
    ],
)
def test_blocks_in_cells(reads, options, content, expected):
    (record,), _, _ = reads("a.adoc", f"{options}|===\n|Step |What\n\n|Mix {content}\n|===\n")
    assert record.text.split("\n")[2] == f"| Mix | {expected} |"
