"""Lines of a name and its value in two columns."""

import pytest

from qa_bot.documents.ingest.formats.markup.plain.columns import write_columns
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter


def markdown(*blocks: str) -> str:
    writer = MarkdownWriter()
    for block in blocks:
        if not write_columns(writer, block.split("\n")):
            writer.paragraph(block)
    return writer.text


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (
            "Monday:    closed\nTuesday:   10 - 18\nFriday:    10 - 14",
            "- Monday: closed\n- Tuesday: 10 - 18\n- Friday: 10 - 14",
        ),
        ("Phone:  114\nMail:   a@b.example", "- Phone: 114\n- Mail: a@b.example"),
        (
            "  Width         59.8 cm\n  Weight          71 kg\n  Noise, max      72 dB",
            "- Width: 59.8 cm\n- Weight: 71 kg\n- Noise, max: 72 dB",
        ),
        ("README    - this file\nNEWS      - what is new\nTODO      - what is not", None),
        (
            "Time          Fee\n30 minutes    free\n1 hour        1.50\n1 day         9.00",
            "| Time | Fee |\n| --- | --- |\n| 30 minutes | free |\n| 1 hour | 1.50 |\n| 1 day | 9.00 |",
        ),
        (
            "Fees\nAdults      20.00 a year\nChildren    free\nReminders    1.50",
            "**Fees**\n\n- Adults: 20.00 a year\n- Children: free\n- Reminders: 1.50",
        ),
    ],
)
def test_items_and_tables(block, expected):
    assert markdown(block) == (expected or "- README: this file\n- NEWS: what is new\n- TODO: what is not")


def test_a_head_does_not_head_what_is_below():
    block = "Fees\nAdults      20.00\nChildren    free\nPupils      2.00"
    assert markdown(block, "Ask us.").endswith("- Pupils: 2.00\n\n######\n\nAsk us.")


@pytest.mark.parametrize(
    "block",
    [
        "That is it.  The next time you edit a file\nthe colour.  You do not have to restart\nit all.  Really.",
        "1.  The contents of the first\n2.  The contents of the second\n3.  The difference",
        "Ann Smith        Bob Jones\nann@a.example    bob@a.example",  # two persons
        "int width;   /* in pixels */\nint height;  /* in pixels */\nint depth;   /* in bits */",
        "Name    Room    Phone\nAnn     12      114\nBob     14      115",
        "Technical Note 03                                      S. Whitlock\n"
        "Category: Internal                                       June 2025\n"
        "Updates: 02                                           and B. Jones",
        "Room\tSeats\nCurie\t8\nHopper\t12",
    ],
)
def test_other_lines(block):
    assert not write_columns(MarkdownWriter(), block.split("\n"))
