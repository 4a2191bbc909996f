import math
from dataclasses import replace

from qa_lab.papers.cells import Cell
from qa_lab.papers.declarations import PaperRow, Table
from qa_lab.papers.report import as_json, listed, markdown

TABLE = Table(
    "H 2",
    "WikiQA",
    "Development questions.",
    ("MAP", "pairs"),
    (PaperRow("BM25", {"MAP": 0.6}, "not to be had", "not implemented"), PaperRow("ours")),
    "A note.",
)
CELLS = (
    Cell("H 2", "BM25", "paper", {"MAP": (0.625, 0.0312)}, command=["qa-bot eval answers"], seconds=2.4),
    Cell("H 2", "BM25", "default", {"MAP": (math.nan, None), "pairs": (1234.0, None)}, command=["qa-bot eval answers"]),
    Cell("H 2", "ours", "default", reason="not implemented"),
)
PAGE = """## H 2: WikiQA

Tay et al. (2018), table 2. Development questions.

|  |  | MAP | pairs | seconds |
| --- | --- | --- | --- | --- |
| BM25 | published | .600 |  |  |
|  | ours, settings of the paper | .625 ± .031 |  | 2 |
|  | ours | – | 1,234 | 0 |
| ours | ours | not implemented |  |  |

A note.

Commands:

```
qa-bot eval answers
```"""


def test_the_page():
    assert markdown([TABLE], CELLS) == PAGE
    assert "|  | ours |" not in markdown([TABLE], CELLS[:1])


def test_small_samples_are_named():
    paper, default, missing = CELLS
    small = [replace(cell, quick=True) for cell in CELLS]
    page = markdown([TABLE], small)
    assert ("Development questions. Small samples (`--quick`)." in page, "small sample" in page) == (True, False)
    mixed = markdown([TABLE], [small[0], default, missing])
    assert "Rows named “small sample” have small samples (`--quick`); the others are whole." in mixed
    assert "|  | ours, settings of the paper, small sample | .625 ± .031 |  | 2 |\n|  | ours | – |" in mixed
    without = markdown([TABLE], [paper, default, small[2]])
    assert without == PAGE  # a row without figures has no sample


def test_commands_of_rows_are_whole_and_not_repeated():
    """A model that the second row trains by other settings is trained again; the third row needs no further command."""
    table = Table("H 2", "WikiQA", "", ("MAP",), tuple(PaperRow(name, {"MAP": 0.6}) for name in "abc"))
    train = "qa-bot train hyperqa --config m.toml"
    blocks = (["printf a > m.toml", train], ["printf b > m.toml", train], ["printf b > m.toml", train])
    cells = [Cell("H 2", name, "default", command=block) for name, block in zip("abc", blocks, strict=True)]
    assert "\n".join(["```", *blocks[0], *blocks[1], "```"]) in markdown([table], cells)


def test_figures_as_json():
    (table,) = as_json([TABLE], CELLS, quick=True)["tables"]
    first, second = table["rows"]
    assert first["paper"] == {
        "MAP": 0.625,
        "MAP_se": 0.0312,
        "seconds": 2.4,
        "seed": 1,
        "quick": False,
        "command": ["qa-bot eval answers"],
    }
    assert first["default"]["MAP"] is None
    assert second == {"row": "ours", "published": {}, "default": {"reason": "not implemented"}}


def test_the_list_of_tables():
    assert listed([TABLE]) == "H 2    WikiQA (0 of 3 rows can be measured)"
