"""Blocks of texts that are parsed in portions."""

import pytest

from qa_bot.documents.cutting import blocks as module
from qa_bot.documents.cutting.blocks import Block, blocks
from qa_bot.documents.cutting.markdown_passages import cut_markdown

HEADER = "| Room | Floor |\n| --- | --- |"


@pytest.fixture(autouse=True)
def short_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PARSED_AT_ONCE", 200)


def table(rows: int) -> str:
    return HEADER + "".join(f"\n| Room {row} | {row % 7} |" for row in range(rows))


@pytest.mark.parametrize("after", ["", "\n", "\n\nThe end of it.", "\n\n| A | B |\n| --- | --- |\n| 1 | 2 |"])
@pytest.mark.parametrize("before", ["", "# Rooms\n\n", f"{'Words. ' * 20}\n\n"])
def test_a_table_longer_than_a_portion_is_one_table(before: str, after: str) -> None:
    text = f"{before}{table(60)}{after}"
    start = len(before)
    assert Block("table", start, start + len(table(60))) in blocks(text)


def test_each_passage_of_a_long_table_has_its_header() -> None:
    passages = cut_markdown(table(60), "Rooms", characters=150).passages
    assert len(passages) > 5
    assert all(passage.text.startswith(f"{HEADER}\n| Room ") for passage in passages)


def test_portions_divide_no_block_at_an_empty_line() -> None:
    text = "\n\n".join(f"Paragraph {number}: {'word ' * 10}".strip() for number in range(20))
    assert [text[block.start : block.end] for block in blocks(text)] == text.split("\n\n")
