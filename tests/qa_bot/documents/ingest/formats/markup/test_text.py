"""Plain text files: titles and empty files."""

import pytest


@pytest.mark.parametrize(
    ("data", "title", "text"),
    [
        ("Eggs\n====\nBoil them.", "Eggs", "====\nBoil them."),
        ("Boil the eggs.\nThen eat.", "notes", "Boil the eggs.\nThen eat."),
        ("Only line", "notes", "Only line"),
        ("x" * 101 + "\nrest", "notes", "x" * 101 + "\nrest"),
        ("\n\n猫\n猫は眠る。", "猫", "猫は眠る。"),
    ],
)
def test_title(reads, data, title, text):
    (record,), _, _ = reads("notes.txt", data)
    assert (record.id, record.title, record.text) == ("notes.txt", title, text)


def test_white_space(reads):
    _, (reject,), _ = reads("notes.txt", " \n ")
    assert "got white space" in reject.reason
