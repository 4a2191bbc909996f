"""Plain text files: titles, and structure by shape."""

import pytest


@pytest.mark.parametrize(
    ("data", "title", "text"),
    [
        ("Eggs\n====\nBoil them.", "Eggs", "Boil them."),
        ("****\nEggs\n****\n\nBoil them.", "Eggs", "Boil them."),
        ("Boil the eggs.\nThen eat.", "notes", "Boil the eggs.\nThen eat."),
        ("Only line", "notes", "Only line"),
        ("x" * 101 + "\nrest", "notes", "x" * 101 + " rest"),
        ("\n\n猫\n猫は眠る。", "猫", "猫は眠る。"),
        ("- one\n- two", "notes", "- one\n- two"),
        ("This first line of a text is wrapped by the editor that\nwrote it down.", "notes", None),
    ],
)
def test_title(reads, data, title, text):
    (record,), _, _ = reads("notes.txt", data)
    assert (record.id, record.title) == ("notes.txt", title)
    assert text in {None, record.text}


def test_white_space(reads):
    _, (reject,), _ = reads("notes.txt", " \n ")
    assert "got white space" in reject.reason


LONG = "The quick brown fox jumps over the lazy dog, and the lazy dog does not mind it at all."


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("Parking\n-------\nFree.", "## Parking\n\nFree."),
        ("OPENING HOURS\n\nAlways.", "## OPENING HOURS\n\nAlways."),
        ("OPENING HOURS\nAlways.", "## OPENING HOURS\n\nAlways."),
        ("WE SHOUT ALL DAY\n\nAND ALL NIGHT\n\nAND ALWAYS", "WE SHOUT ALL DAY\n\nAND ALL NIGHT\n\nAND ALWAYS"),
        (f"1 Scope\n\n1.2 Limits of it\n\n{LONG}", f"## 1 Scope\n\n### 1.2 Limits of it\n\n{LONG}"),
        ("1. Open the lid\n\n2. Pour water", "1. Open the lid\n2. Pour water"),
        (f"How do I pay?\n\n{LONG}", f"### How do I pay?\n\n{LONG}"),
        (f"It is late.\n\n{LONG}", f"It is late.\n\n{LONG}"),
        ("Roses are red\n\nViolets are blue", "Roses are red\n\nViolets are blue"),
        ("Steps:\n1. Open the lid\n2) Pour\n   water", "Steps:\n\n1. Open the lid\n2. Pour water"),
        ("* a\n  - b\n  - c\n* d", "- a\n    - b\n    - c\n- d"),
        ("• a\n• b\n\na) first\nb) second", "- a\n- b\n- a) first\n- b) second"),
        ("Room    Seats\nCurie   8\nHopper  12", "```\nRoom    Seats\nCurie   8\nHopper  12\n```"),
        ("Room\tSeats\nCurie\t8", "| Room | Seats |\n| --- | --- |\n| Curie | 8 |"),
        ("+---+---+\n| a | b |\n+---+---+\n| 1 | 2 |", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("Type this:\n\n    sudo reboot\n      now", "Type this:\n\n```\nsudo reboot\n  now\n```"),
        ("A: one\nB: two\nC: three", "- A: one\n- B: two\n- C: three"),
        ("Northwind Labs\nMain Street 5\nBerlin", "Northwind Labs\nMain Street 5\nBerlin"),
        ("-----\n\nafter a rule", "after a rule"),
        ("page one\fpage two", "page one\n\npage two"),
    ],
)
def test_structure(reads, data, expected):
    (record,), _, _ = reads("notes.txt", f"First of all.\n\n{data}")
    assert record.text == f"First of all.\n\n{expected}"


def test_wrapped_lines_are_joined(reads):
    wrapped = (
        "First of all, a paragraph that an editor wrapped at sixty\ncharacters or so; lines begin with words, signs –\n"
        "– as here – and numbers, which are not items of a list.\n"
    )
    (record,), _, _ = reads("notes.txt", wrapped)
    assert record.text == " ".join(wrapped.split())


def test_a_long_file_takes_no_long_time(reads):
    (record,), _, _ = reads("notes.txt", "A line of it.\n\n1. x\n   y\n" * 20_000)
    assert record.text.count("1. x y") == 20_000
