"""Marks of Obsidian."""

import pytest

from qa_bot.documents.ingest.formats.markup.dialects.notes.obsidian import without_marks, without_queries


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Tea %%ask Ann%% is ==very hot==.", "Tea  is very hot."),
        ("Tea\n\n%%\nask Ann\n\nor Bob\n%%\n\nMilk", "Tea\n\n\n\nMilk"),
        ("Tea is hot. ^ab12\n\n^tea-1\n\nMilk", "Tea is hot.\n\n\n\nMilk"),
        ("==Hot `a == b` tea==", "Hot `a == b` tea"),
        ("It is due [cost:: 180 euros] in May (by:: Ann).", "It is due cost: 180 euros in May by: Ann."),
        ("Oil it.^[With 5 W 30.] Or ^[if wet] not.", "Oil it. (With 5 W 30.) Or (if wet) not."),
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
    for text in ("%%" * 50_000, "^[" * 50_000, "[a:: " * 20_000, "== a" * 50_000, " " * 100_000 + "^", "$" * 100_000):
        assert len(without_marks(text)) <= len(text)


def test_queries_are_left_out():
    source = "Tea\n\n```dataview\nTABLE date\nFROM #tea\n```\nMilk\n```sql\nSELECT 1\n```\n"
    assert without_queries(source) == "Tea\n\nMilk\n```sql\nSELECT 1\n```\n"
