from __future__ import annotations

import pytest

from qa_core.text.synonyms import TABLE, find_line, synonyms


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("aspirin", ("acetylsalicylic acid", "bayer", "empirin", "st. joseph")),
        ("ASPIRIN", ("acetylsalicylic acid", "bayer", "empirin", "st. joseph")),
        ("prescribing", ("order", "dictate")),
        ("bank", ()),  # several senses
        ("quickly", ()),
        ("motorcars", ("car", "auto", "automobile", "machine")),
        ("asprin", ()),
        ("", ()),
        ("a\nb", ()),
    ],
)
def test_synonyms_of_words_with_one_sense(word: str, expected: tuple[str, ...]) -> None:
    assert synonyms(word) == expected


def test_every_line_of_the_table_is_found() -> None:
    table = TABLE.read_bytes()
    lines = table.splitlines()
    assert lines == sorted(lines)
    for line in (lines[0], lines[-1], *lines[::1000]):
        assert find_line(table, line.partition(b"\t")[0] + b"\t") == line


@pytest.mark.parametrize("table", [b"", b"a\tx\n", b"a\tx\nb\ty\nba\tz\n"])
def test_lookup_equals_a_search_of_all_lines(table: bytes) -> None:
    for key in (b"", b"a", b"b", b"ba", b"bb", b"z"):
        expected = next((line for line in table.splitlines() if line.startswith(key + b"\t")), b"")
        assert find_line(table, key + b"\t") == expected
