from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_index.relations.template_rows import Row, TemplateCounts, added, read_rows, write_rows

WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=5)
ADDED = st.lists(st.tuples(WORDS, WORDS, st.sampled_from([1.0, 0.5, 0.25, 3.0])), max_size=30)


def test_counts_are_added_up() -> None:
    counts, more = TemplateCounts(), TemplateCounts()
    counts.add("b", "r", 0.5)
    counts.add("a", "s")
    more.add("b", "r", 0.25)
    more.add("b", "q")
    counts.merge(more)
    assert list(counts.rows()) == [Row("a", "s", 1), Row("b", "q", 1), Row("b", "r", 0.75)]
    assert counts.size == 3


def test_a_file_is_readable(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    write_rows(path, [Row("who wrote <m>", "http://g/author", 1 / 3), Row("who wrote <m>", "^http://g/wrote", 2.0)])
    assert path.read_text() == "who wrote <m>\thttp://g/author\t0.333333\nwho wrote <m>\t^http://g/wrote\t2\n"
    assert [path.name for path in tmp_path.iterdir()] == ["t.tsv"]


@given(ADDED)
def test_rows_are_read_back(tmp_path_factory: pytest.TempPathFactory, triples: list[tuple[str, str, float]]) -> None:
    counts = TemplateCounts()
    for triple in triples:
        counts.add(*triple)
    path = tmp_path_factory.mktemp("rows") / "t.tsv"
    write_rows(path, counts.rows())
    assert list(read_rows(path)) == list(counts.rows())


def test_the_same_mapping_twice_is_one() -> None:
    rows = [Row("a", "s", 1), Row("a", "r", 1), Row("a", "s", 2), Row("b", "s", 1)]
    assert list(added(rows)) == [[Row("a", "r", 1), Row("a", "s", 3)], [Row("b", "s", 1)]]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"a\tr", "between tabs"),
        (b"a\tr\t1\t2", "between tabs"),
        (b"\tr\t1", "between tabs"),
        (b"b\t\t1", "between tabs"),
        (b"b\tr\t0", "above 0"),
        (b"b\tr\t-1", "above 0"),
        (b"b\tr\tnan", "above 0"),
        (b"b\tr\t1e5", "above 0"),
        (b"b\tr\t" + b"9" * 40, "above 0"),
        (b"\xff\tr\t1", "utf-8"),
        (b"A\tr\t1", "in order"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: bytes, reason: str) -> None:
    path = tmp_path / "t.tsv"
    path.write_bytes(b"a\tr\t1\n" + line + b"\n")
    with pytest.raises(ValueError, match=f"t.tsv, line 2: .*{reason}"):
        list(read_rows(path))
