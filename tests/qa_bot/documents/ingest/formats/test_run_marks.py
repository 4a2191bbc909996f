"""Raised and struck text within lines."""

import pytest

from qa_bot.documents.ingest.formats.run_marks import marked, resolved, unmarked


def up(text):
    return marked(text, is_raised=True)


def struck(text):
    return marked(text, is_struck=True)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (f"10{up('3')} tiles on 5 m{up('2')}", "10³ tiles on 5 m²"),
        (f"10{up('-')}{up('3')} W/(cm{up('2')})", "10⁻³ W/(cm²)"),
        (f"SO4{up('2-')}", "SO4²⁻"),
        (
            f"water{up('1')} is wet.{up('2, 3')} It fell by 12 %{up('4')}",
            "water [1] is wet. [2, 3] It fell by 12 % [4]",
        ),
        (f"{up('1')} See page 4.", "1 See page 4."),
        (f"Prices {up('1)')} of 2026", "Prices [1] of 2026"),
        (f"3{up('1')}/2 cups, 10{up('3')}/mm", "3 1/2 cups, 10³/mm"),
        (f"the 5{up('th')} floor", "the 5th floor"),
        (f"{struck('old ')}{struck('price')} new", "~~old price~~ new"),
        (f"{struck('old 10')}{struck(up('3'))}, 5 m{up(' ')}x", "~~old 10³~~, 5 m x"),
        ("plain 10 3", "plain 10 3"),
    ],
)
def test_exponents_notes_and_struck_text(line, text):
    assert resolved(line) == text


def test_marks_can_be_removed():
    assert unmarked(f"10{struck(up('3'))}") == "103"
