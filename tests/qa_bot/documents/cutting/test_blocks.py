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


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("**Where is the key?**\n\nIn the drawer.", ["Where is the key?"]),
        ("__Keys:__\n\n- front\n- back", ["Keys"]),
        ("**Where is the key?**\nIn the drawer.", ["Where is the key?"]),
        ("*Where is the key?*\n\n> In the drawer.", ["Where is the key?"]),
        ("**Rooms**\n\n**Keys**\n\nIn the drawer.", ["Keys"]),
        ("**Do not open!**\n\nIt is hot.", []),
        ("**[Keys](https://a.org)**:\n\nIn the drawer.", ["[Keys](https://a.org)"]),
        ("**Keys** are in the drawer.\n\nAsk Ines.", []),
        ("*Emphasis*\n\nText.", []),
        ("Text.\n\n**The end**", []),
        ("**Keys**\n\n## Rooms\n\nText.", ["Rooms"]),
        (f"**{'long ' * 24}**\n\nText.", []),
        ("**Deposit 100 euros**\n\nAsk Ines.", []),
        ("**Deposit 100 euros**\nAsk Ines.", []),
        ("**§ 4 Deposit 100 euros**\n\nAsk Ines.", ["§ 4 Deposit 100 euros"]),
        ("**Rooms**\n\n**Keys**\n\n**Doors**\n\nAsk Ines.", []),
        ("### Keys\n\n**Rooms**\n\nAsk Ines.", ["Keys", "Rooms"]),
    ],
)
def test_lines_in_bold_type_and_questions_in_italics_are_headings(text: str, headings: list[str]) -> None:
    parsed = blocks(text)
    assert [block.words for block in parsed if block.type == "heading"] == headings
    assert " ".join(text[block.start : block.end] for block in parsed).split() == text.split(), "no word is lost"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Text.\n\n#### Ask Ines before you open the door.", "Ask Ines before you open the door."),
        ("#### Ask Ines before you open the door. ####\n\n## Keys\n\nText.", "Ask Ines before you open the door."),
        ("#### Ask Ines before you open the door.\n\nText.", "#### Ask Ines before you open the door."),
        ("#### 2. Ask Ines before you open the door.", "#### 2. Ask Ines before you open the door."),
        ("#### Before you open the front door...", "#### Before you open the front door..."),
        ("#### Ask Ines first.", "#### Ask Ines first."),
    ],
)
def test_a_sentence_that_heads_nothing_is_a_paragraph(text: str, shown: str) -> None:
    assert shown in [text[block.start : block.end] for block in blocks(text)]


def test_a_line_heading_is_below_all_others() -> None:
    text = "# Office\n\n###### Doors\n\n**Where is the key?**\n\nIn the drawer.\n\n**Who has it?**\n\nInes."
    passages = cut_markdown(text, "Office").passages
    assert [(passage.place.heading, passage.text) for passage in passages] == [
        (("Doors", "Where is the key?"), "In the drawer."),
        (("Doors", "Who has it?"), "Ines."),
    ]


def test_a_row_of_blanks_below_a_header_is_read_in_linear_time() -> None:
    """Were it quadratic, this would take minutes."""
    assert blocks(f"a | b\n-{' ' * 200_000}| x")
