from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_index.linking.mention_files import WORDS
from kg_index.linking.mentions import (
    LONGEST_NAME,
    CorruptMentionsError,
    Mention,
    Mentions,
    MentionWriter,
    resolve,
    write_mentions,
)
from kg_index.linking.name_folding import is_function_name, key_of, name_words

ROWS = [
    ("New York", 1, 3),
    ("new york", 3, 2),
    ("New York City", 2, 1),
    ("NEW-YORK", 3, 4),
    ("Straße", 4, 1),
    ("İzmir", 5, 1),
    ("Beyoncé", 6, 1),
    ("東京", 7, 1),
    ("שלום", 8, 1),
    ("It", 9, 1),
    ("The Who", 10, 1),
    ("!!!", 11, 1),
]


@pytest.fixture
def table(tmp_path: Path) -> Mentions:
    return write_mentions(ROWS, tmp_path / "mentions")


def test_rows_of_a_name_are_added_up_and_ordered(table: Mentions) -> None:
    assert (len(table), table.rows) == (9, 10)
    key = table.key("new YORK")
    assert key is not None
    assert table.name(key) == "new york"
    entities, counts = table.entities(key)
    assert (entities.tolist(), counts.tolist()) == ([3, 1], [6, 3])
    assert entities.dtype == counts.dtype == np.int64
    assert table.entities(key, most=1)[0].tolist() == [3]
    assert table.key("York") is None


def matches(table: Mentions, text: str) -> list[tuple[str, str]]:
    mentions = table.find(text)
    assert all(text[m.start : m.end] == m.text and key_of(m.text) == table.name(m.key) for m in mentions)
    return [(m.text, table.name(m.key)) for m in mentions]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("is new york city big?", ["new york", "new york city"]),
        ("in New\n York's parks", ["New\n York"]),
        ("newyork, New Yorker", []),
        ("STRASSE, strasse, Straße", ["STRASSE", "strasse", "Straße"]),
        ("ßß İ IZMIR", ["IZMIR"]),
        ("🍎🍎 beyonce\u0301 🍎", ["beyonce\u0301"]),
        ("東京都に", ["東京"]),
        ("מה זה שלום עולם", ["שלום"]),
        ("what is it and who is the who", []),
        ("Who wrote It for The Who?", ["It", "The Who"]),
        ("!!!", []),
        ("", []),
        (" \n", []),
    ],
)
def test_mentions_are_found_at_word_bounds(table: Mentions, text: str, names: list[str]) -> None:
    assert [name for name, _ in matches(table, text)] == names


WORD = st.sampled_from(["a", "ab", "b", "Ba", "ß", "ss", "é", "e\u0301", "京", "c++", "k2"])
NAME = st.lists(WORD, min_size=1, max_size=3).map(" ".join)


@settings(max_examples=60)
@given(names=st.lists(NAME, min_size=1, max_size=8), text=st.lists(WORD, max_size=12).map("-".join))
def test_all_spans_are_those_of_brute_force(tmp_path: Path, names: list[str], text: str) -> None:
    table = write_mentions(((name, i, 1) for i, name in enumerate(names)), tmp_path)
    keys, words = {key_of(name) for name in names}, name_words(text)
    expected = {
        (words[i].start, words[j].end)
        for i in range(len(words))
        for j in range(i, len(words))
        if (key := " ".join(word.folded for word in words[i : j + 1])) in keys and not is_function_name(key)
    }
    spans = [(mention.start, mention.end) for mention in table.find(text) if not is_function_name(key_of(mention.text))]
    assert set(spans) == expected
    assert len(spans) == len(expected)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 3), st.integers(1, 9))))
def test_counts_are_those_of_a_dictionary(tmp_path: Path, rows: list[tuple[str, int, int]]) -> None:
    table = write_mentions(((f"name {text}", entity, count) for text, entity, count in rows), tmp_path)
    expected: Counter[tuple[str, int]] = Counter()
    for text, entity, count in rows:
        expected[f"name {text}", entity] += count
    stored = {
        (table.name(key), entity): count
        for key in range(len(table))
        for entity, count in zip(*(part.tolist() for part in table.entities(key)), strict=True)
    }
    assert stored == expected
    table.verify()


def test_a_name_of_a_thousand_entities_is_bounded_and_the_salient_come_first(tmp_path: Path) -> None:
    rows = (("John Smith", entity, 1) for entity in range(1500))
    table = write_mentions(rows, tmp_path, salience=lambda entities: entities % 100)
    entities, _ = table.entities(table.find("who is john smith")[0].key)
    assert entities.size == 1000
    assert entities[:3].tolist() == [99, 199, 299]


def test_ten_thousand_words_give_as_many_mentions_as_they_hold(table: Mentions) -> None:
    assert len(table.find("new york city " * 3334)) == 2 * 3334
    assert len(table.find("x" * 1_000_000)) == 0


def test_names_inside_names_without_end_are_bounded_by_their_length(tmp_path: Path) -> None:
    table = write_mentions(((" ".join(["word"] * n), n, 1) for n in range(1, 50)), tmp_path)
    assert len(table) == LONGEST_NAME
    assert max(mention.words for mention in table.find("word " * 100)) == LONGEST_NAME


def test_the_writer_counts_what_it_leaves_out_and_names_what_it_cannot_take(tmp_path: Path) -> None:
    with MentionWriter(tmp_path) as writer:
        for text in ("", "…", "\ud800", "word " * 40, "x " * 100_000):
            writer.add(text, 1)
        writer.add("kept \ud800 here", 1)
        assert writer.skipped == 5
        with pytest.raises(ValueError, match="Expected a count of 1 or more, but got 0 for 'a'"):
            writer.add("a", 1, 0)
        with pytest.raises(ValueError, match="Expected an entity's id from 0 to 4294967295, but got -1"):
            writer.add("a", -1)
    assert Mentions(tmp_path).key("Kept here") == 0


def test_an_empty_table_opens(tmp_path: Path) -> None:
    table = write_mentions([], tmp_path)
    assert (len(table), table.rows, table.find("new york")) == (0, 0, [])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk without space, as on Linux")
def test_a_full_disk_is_an_operating_system_error(tmp_path: Path) -> None:
    writer = MentionWriter(tmp_path)
    writer.add("Ann Lee", 1, 1)
    (tmp_path / WORDS).symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        writer.finish()


def test_a_table_is_there_once_it_is_whole(tmp_path: Path) -> None:
    def rows() -> Iterable[tuple[str, int, int]]:
        yield "a name", 1, 1
        raise KeyboardInterrupt

    write_mentions(ROWS, tmp_path)
    with pytest.raises(KeyboardInterrupt):
        write_mentions(rows(), tmp_path)
    with pytest.raises(FileNotFoundError, match=r"Expected a table of mentions in .*; build it first"):
        Mentions(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["words.marisa", "offsets.npy", "entities.npy", "counts.npy"])
def test_damaged_files_are_refused(tmp_path: Path, name: str) -> None:
    write_mentions(ROWS, tmp_path)
    file, whole = tmp_path / name, (tmp_path / name).read_bytes()
    file.write_bytes(whole[:-4])
    with pytest.raises(
        CorruptMentionsError, match=f"{len(whole) - 4} bytes instead of {len(whole)} in .*{name}; build"
    ):
        Mentions(tmp_path)
    file.write_bytes(bytes(len(whole)))
    with pytest.raises(CorruptMentionsError, match=name):
        Mentions(tmp_path)
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(CorruptMentionsError, match=name):
        Mentions(tmp_path).verify()
    file.unlink()
    with pytest.raises(CorruptMentionsError, match=f"no such file in .*{name}"):
        Mentions(tmp_path)


@pytest.mark.parametrize("head", ["", "[]", "{}", '{"format": 1, "names": 1, "rows": 1, "files": []}'])
def test_a_damaged_head_is_refused(tmp_path: Path, head: str) -> None:
    write_mentions(ROWS, tmp_path)
    (tmp_path / "mentions.json").write_text(head)
    with pytest.raises(CorruptMentionsError, match=r"mentions\.json"):
        Mentions(tmp_path)


def test_files_of_two_tables_do_not_fit(tmp_path: Path) -> None:
    write_mentions(ROWS, tmp_path / "a")
    write_mentions([(f"{text} too", entity + 1, 1) for text, entity, _ in ROWS[2:]], tmp_path / "b")
    for name in ("words.marisa", "entities.npy"):
        shutil.copy(tmp_path / "b" / name, tmp_path / "a" / name)
    with pytest.raises(CorruptMentionsError, match=r"words\.marisa"):
        Mentions(tmp_path / "a")


def mention(start: int, end: int, words: int, key: int = 0) -> Mention:
    return Mention(start, end, "x" * (end - start), key, words)


def test_resolving_keeps_the_longest_then_the_most_salient() -> None:
    long, short, apart = mention(0, 9, 3), mention(6, 12, 2), mention(13, 15, 1)
    assert resolve([apart, short, long]) == [long, apart]
    left, right = mention(0, 5, 2, key=1), mention(3, 8, 2, key=2)
    assert resolve([left, right], salience=lambda m: float(m.key)) == [right]
    assert resolve([left, right]) == [left]
    assert resolve([]) == []


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6), st.integers(1, 4))))
def test_resolved_mentions_do_not_overlap_and_leave_no_room(spans: list[tuple[int, int, int]]) -> None:
    mentions = [mention(start, start + length, words) for start, length, words in spans]
    resolved = resolve(mentions)
    assert all(a.end <= b.start for a, b in pairwise(resolved))
    assert all(any(k.start < m.end and m.start < k.end for k in resolved) for m in mentions)
