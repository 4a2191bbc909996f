from __future__ import annotations

from pathlib import Path

import pytest

from qa_core.text.synonyms import GERMAN_TABLE, TABLE, find_line, german_synonyms, synonyms


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


@pytest.mark.parametrize("path", [TABLE, GERMAN_TABLE])
def test_every_line_of_the_table_is_found(path: Path) -> None:
    table = path.read_bytes()
    lines = table.splitlines()
    assert lines == sorted(lines)
    for line in (lines[0], lines[-1], *lines[::1000]):
        assert find_line(table, line.partition(b"\t")[0] + b"\t") == line


@pytest.mark.parametrize("table", [b"", b"a\tx\n", b"a\tx\nb\ty\nba\tz\n"])
def test_lookup_equals_a_search_of_all_lines(table: bytes) -> None:
    for key in (b"", b"a", b"b", b"ba", b"bb", b"z"):
        expected = next((line for line in table.splitlines() if line.startswith(key + b"\t")), b"")
        assert find_line(table, key + b"\t") == expected


def test_german_words_have_the_synonyms_of_all_their_senses() -> None:
    assert "Hund" in german_synonyms("Vierbeiner")
    assert {"erhalten", "fangen"} <= set(german_synonyms("kriegen"))
    assert german_synonyms("Qwzx") == ()
