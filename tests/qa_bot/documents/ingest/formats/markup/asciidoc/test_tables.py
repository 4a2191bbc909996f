"""Tables of AsciiDoc whose cells are divided by commas, colons or tabs."""

import pytest

TEA = "| Tea | Price |\n| --- | --- |\n| Mint | 3 |"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("[%header,format=csv]\n|===\nTea,Price\nMint,3\n|===", TEA),
        (",===\nTea,Price\n\nMint, 3\n,===", TEA),
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
