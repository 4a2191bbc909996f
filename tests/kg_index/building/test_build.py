import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_index.building.build import build
from kg_index.building.sorting import RowKeys, Sorter
from kg_index.building.term_ids import RunWriter
from kg_index.triples.triple_index import TripleIndex

E = "http://example.org/"


def random_triples(count: int, seed: int = 0) -> list[tuple[str, str, str]]:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, [count // 4, 12, count // 2], (count, 3)).tolist()
    return [(f"{E}{s}", f"{E}p{p}", f'"{o}"' if o % 3 == 0 else f"{E}{o}") for s, p, o in rows]


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("size", "memory"),
    [(7, 1), (7, 40_000), (7, 1 << 30), pytest.param(500, 1, marks=pytest.mark.slow), (500, 40_000), (500, 1 << 30)],
)
def test_result_is_the_same_whatever_the_memory_and_the_batches(tmp_path, monkeypatch, memory, size):
    triples = random_triples(800)
    build([triples], tmp_path / "whole")
    monkeypatch.setattr("kg_index.building.build.MIN_MEMORY", memory)
    monkeypatch.setattr("kg_index.building.build._EMPTY", 3)
    pieces = [triples[start : start + size] for start in range(0, len(triples), size)]
    build(pieces[::-1] + pieces[:3], tmp_path / "pieces", memory=memory)
    assert content(tmp_path / "whole") == content(tmp_path / "pieces")
    assert len(TripleIndex(tmp_path / "whole")) == len(set(triples))


def test_keys_of_64_bits_and_of_12_bytes_sort_alike(tmp_path, monkeypatch):
    triples = random_triples(2000)
    build([triples], tmp_path / "narrow")
    monkeypatch.setattr(RowKeys, "dtype", np.dtype("S12"))
    build([triples], tmp_path / "wide")
    monkeypatch.setattr("kg_index.building.build.MIN_MEMORY", 1)
    build([triples], tmp_path / "wide-runs", memory=100_000)
    assert content(tmp_path / "narrow") == content(tmp_path / "wide") == content(tmp_path / "wide-runs")


def test_rebuild_replaces_and_readers_keep_what_they_have(tmp_path):
    build([[(f"{E}a", f"{E}p", f"{E}b")]], tmp_path / "kg")
    old = TripleIndex(tmp_path / "kg")
    build([[(f"{E}c", f"{E}p", f"{E}d"), (f"{E}c", f"{E}p", f"{E}e")]], tmp_path / "kg")
    assert [old.term(n) for n in range(3)] == [f"{E}a", f"{E}b", f"{E}p"]
    assert old.objects(0, 2).tolist() == [1]
    assert len(TripleIndex(tmp_path / "kg")) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["kg"]


def test_a_build_that_fails_leaves_the_old_index_and_nothing_else(tmp_path):
    build([[(f"{E}a", f"{E}p", f"{E}b")]], tmp_path / "kg")
    before = content(tmp_path / "kg")

    def broken():
        yield [(f"{E}c", f"{E}p", f"{E}d")]
        raise OSError("the disk fails")

    with pytest.raises(OSError, match="the disk fails"):
        build(broken(), tmp_path / "kg", memory=1)
    assert content(tmp_path / "kg") == before
    assert [path.name for path in tmp_path.iterdir()] == ["kg"]


def test_what_a_killed_build_left_is_removed(tmp_path):
    (tmp_path / ".kg.new" / "work").mkdir(parents=True)
    (tmp_path / ".kg.new" / "work" / "run0.terms").write_text("half")
    build([[(f"{E}a", f"{E}p", f"{E}b")]], tmp_path / "kg")
    assert [path.name for path in tmp_path.iterdir()] == ["kg"]


def test_a_build_that_was_killed_between_its_renames_gives_the_old_index_back(tmp_path):
    build([[(f"{E}a", f"{E}p", f"{E}b")]], tmp_path / "kg")
    before = content(tmp_path / "kg")
    (tmp_path / "kg").rename(tmp_path / ".kg.old")
    with pytest.raises(ValueError, match="Expected terms"):
        build([[(f"{E}a", f"{E}p", "")]], tmp_path / "kg")
    assert content(tmp_path / "kg") == before


def test_a_killed_build_leaves_the_old_index(tmp_path):
    build([[(f"{E}a", f"{E}p", f"{E}b")]], tmp_path / "kg")
    before = content(tmp_path / "kg")
    program = (
        "import os, sys; from pathlib import Path; from kg_index.building.build import build\n"
        "def stop(stage, done, total):\n    if stage == 'write': os.kill(os.getpid(), 9)\n"
        "build([[('a', 'p', 'b')]], Path(sys.argv[1]), progress=stop)"
    )
    killed = subprocess.run([sys.executable, "-c", program, str(tmp_path / "kg")], check=False)
    assert killed.returncode == -9
    assert content(tmp_path / "kg") == before
    assert (tmp_path / ".kg.new").exists()
    build([[(f"{E}c", f"{E}p", f"{E}b")]], tmp_path / "kg")
    assert [path.name for path in tmp_path.iterdir()] == ["kg"]


@pytest.mark.parametrize("term", ["", "two\nlines", '"tab\t"', "!x"])
def test_terms_in_another_form_are_refused(tmp_path, term):
    with pytest.raises(ValueError, match="Expected terms as IRIs"):
        build([[(f"{E}a", f"{E}p", term)]], tmp_path / "kg")


def test_progress_tells_each_stage(tmp_path):
    stages = []
    build([random_triples(50)], tmp_path / "kg", progress=lambda *state: stages.append(state))
    assert [stage for stage, _, _ in stages] == ["read", "name", "sort", "write", "write", "write"]
    assert stages[0] == ("read", 50, None)
    assert stages[-1][1] == stages[-1][2]


def test_a_run_holds_distinct_terms_in_order(tmp_path):
    writer = RunWriter(tmp_path, memory=1)
    writer.add([("b", "p", "a"), ("b", "p", '"é"')])
    (run,) = writer.runs
    assert run.path("terms").read_text("utf-8") == '"é"\na\nb\np\n'
    assert run.read("triples").reshape(-1, 3).tolist() == [[2, 3, 1], [2, 3, 0]]
    assert run.read("predicates").tolist() == [3]


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, 40), max_size=12), max_size=8), st.integers(1, 9), st.booleans())
def test_sorter_gives_distinct_keys_in_order(tmp_path_factory, pieces, rows, wide):
    keys = RowKeys((32, 32, 32) if wide else (8, 8, 8))
    sorter = Sorter(tmp_path_factory.mktemp("runs"), "a", keys.dtype, rows=rows)
    for piece in pieces:
        low = np.array(piece, np.uint32)
        sorter.add(keys.pack(low // 7, low % 7, low))
    columns = [keys.unpack(block) for block in sorter.blocks()]
    values = [value for block in columns for value in zip(*(column.tolist() for column in block), strict=True)]
    assert values == sorted({(v // 7, v % 7, v) for piece in pieces for v in piece})
