"""Lists whose entries dots lead to their values."""

import pytest

from qa_bot.documents.ingest.formats.markup.plain.leaders import write_leaders
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter


def markdown(*blocks: str) -> str:
    writer = MarkdownWriter()
    for block in blocks:
        if not write_leaders(writer, block.split("\n")):
            writer.paragraph(block)
    return writer.text


def test_heads_of_parts():
    assert markdown(
        "Breakfast\n  Porridge ..... 5.20\n  Egg . . . . . . 2.50",
        "Drinks\n  Tea ..... 2.00\n  Milk ..... 1.00",
        "Phones:\nPolice ..... 110\nFire ..... 112",
        "Ask us.",
    ) == (
        "**Breakfast**\n\n- Porridge: 5.20\n- Egg: 2.50\n\n**Drinks**\n\n- Tea: 2.00\n- Milk: 1.00\n\n"
        "######\n\nPhones:\n\n- Police: 110\n- Fire: 112\n\nAsk us."
    )


def test_entries_of_two_lines():
    assert markdown(
        "Tea ..... 2.00\nBig breakfast with egg,\n  cheese and fruit ..... 9.00\nMilk ..... 1.00\nwith VAT"
    ) == ("- Tea: 2.00\n- Big breakfast with egg, cheese and fruit: 9.00\n- Milk: 1.00\n- with VAT")


@pytest.mark.parametrize("block", ["Tea ..... 2.00\nall day", "- Tea ..... 2\n- Milk ..... 1", "And then ...\nhe left"])
def test_other_blocks_are_not_written(block):
    assert not write_leaders(MarkdownWriter(), block.split("\n"))
