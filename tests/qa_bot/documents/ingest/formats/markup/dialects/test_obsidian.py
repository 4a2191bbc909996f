"""Marks of Obsidian."""

import pytest

from qa_bot.documents.ingest.formats.markup.dialects.obsidian import without_marks


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Tea %%ask Ann%% is ==very hot==.", "Tea  is very hot."),
        ("Tea\n\n%%\nask Ann\n\nor Bob\n%%\n\nMilk", "Tea\n\n\n\nMilk"),
        ("Tea is hot. ^ab12\n\n^tea-1\n\nMilk", "Tea is hot.\n\n\n\nMilk"),
        ("==Hot `a == b` tea==", "Hot `a == b` tea"),
    ],
)
def test_marks_are_left_out(source, expected):
    assert without_marks(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "`==a==` and ``%%b%%`` and `c ^d1`",
        "$==a==$, $$\n==b==\n$$ and a == b == c",
        "for %%i in (1 2) do echo %%i",
        "2 ^10 and x^2\nx ^2",
        "Title\n=====\n\na ==== b",
        "%%time\nrun\n%%bash",
        "100%% of 5%%",
    ],
)
def test_other_signs_stay(source):
    assert without_marks(source) == source


def test_many_signs_take_little_time():
    for text in ("%%" * 50_000, "== a" * 50_000, " " * 100_000 + "^", "$" * 100_000):
        assert len(without_marks(text)) <= len(text)
