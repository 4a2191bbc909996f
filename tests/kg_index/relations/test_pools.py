import os
from pathlib import Path

import pytest

from kg_index.relations.pools import PoolQuestion, as_iri, read_pools, read_relations

RELATIONS = ("/a/b", "/a/c", "/d/e")


@pytest.fixture
def write(tmp_path: Path):
    def call(content: str | bytes) -> Path:
        path = tmp_path / "pools.tsv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return call


def test_numbers_count_from_one(write) -> None:
    path = write("1\t3 1\twho made #head_entity# 's engine ?\r\n2\t2\t#head_entity#\n")
    assert read_pools(path, RELATIONS) == [
        PoolQuestion("who made <m> engine", ("/d/e", "/a/b"), "/a/b"),
        PoolQuestion("<m>", ("/a/c",), "/a/c"),
    ]
    assert [question.gold_index for question in read_pools(path, RELATIONS)] == [1, 0]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1\t1", "2 columns"),
        ("", "1 columns"),
        ("1\t1\t#head_entity#\tmore", "4 columns"),
        ("0\t0\t#head_entity#", "from 1 to 3, but got '0'"),
        ("4\t4\t#head_entity#", "got '4'"),
        ("²\t1\t#head_entity#", "got '²'"),
        ("1\t-1\t#head_entity#", "got '-1'"),
        ("1\t2 3\t#head_entity#", "right relation in its pool"),
        ("1\t\t#head_entity#", "right relation in its pool"),
        ("1\t1 1\t#head_entity#", "distinct"),
        ("1\t1\twho", "one #head_entity#"),
        ("1\t1\t#head_entity# or #head_entity#", "one #head_entity#"),
    ],
)
def test_a_bad_line_is_named(write, line: str, reason: str) -> None:
    with pytest.raises(ValueError, match=f"pools.tsv, line 2: .*{reason}"):
        read_pools(write(f"1\t1\t#head_entity#\n{line}\n"), RELATIONS)


def test_bad_bytes_are_named(write) -> None:
    with pytest.raises(ValueError, match="line 1: Expected UTF-8"):
        read_pools(write(b"1\t1\t\xff #head_entity#\n"), RELATIONS)


def test_names_of_relations(write) -> None:
    assert read_relations(write("/a/b\nhttp://g/c\n")) == ("http://rdf.freebase.com/ns/a.b", "http://g/c")
    with pytest.raises(ValueError, match="line 2: Expected distinct"):
        read_relations(write("/a/b/c\n/a/b/c/\n"))
    with pytest.raises(ValueError, match="line 2: Expected the name"):
        read_relations(write("/a/b\n\n"))
    with pytest.raises(ValueError, match=r"line 3: Expected distinct relations, but got http://\S+/a\.b of line 1"):
        read_relations(write("/a/b\n/a/c\n/a/b\n"))


def test_the_published_pools() -> None:
    data = Path(os.environ.get("QA_BOT_DATA", "../shared/data")) / "relations"
    if not data.is_dir():
        pytest.skip(f"no {data}; set QA_BOT_DATA to the folder with the data sets")
    relations = read_relations(data / "sq.relations.txt")
    questions = read_pools(data / "sq.valid.withpool.tsv", relations)
    assert (len(relations), len(questions)) == (6701, 10309)
    assert sum(1 / len(question.pool) for question in questions) / len(questions) == pytest.approx(0.248, abs=0.001)


def test_names_as_the_graph_has_them() -> None:
    assert as_iri("/people/person/gender") == "http://rdf.freebase.com/ns/people.person.gender"
    assert [as_iri(name) for name in ("P19", "http://g/a/b", "/", "")] == ["P19", "http://g/a/b", "/", ""]
