import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from kg_index.building import loading
from kg_index.building.build import build
from kg_index.building.loading import load
from kg_index.building.rdf_parsing import Counts, MalformedTripleError, read_triples
from kg_index.triples.triple_index import TripleIndex

E = "http://example.org/"


@pytest.fixture
def files(tmp_path) -> list[Path]:
    """Lines of several blocks with two bad ones, a packed file that is cut off, quads with a blank node, and Turtle."""
    lines = [f'<{E}{i % 700}> <{E}p{i % 7}> "{i} {"x" * 150}"@{"de" if i % 10 == 0 else "en"} .' for i in range(9000)]
    lines[4] = "no triple"
    lines[8000] = f"<{E}a> <{E}p>"
    contents = {
        "a.nt": "\n".join(lines).encode(),
        "b.nt.gz": gzip.compress("\n".join(lines[:500]).encode())[:-20],
        "c.nq": f"_:x <{E}p> _:x <{E}g> .\n".encode(),
        "d.ttl": f"_:x <{E}p> 5 , <{E}a> .\n".encode(),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    return [tmp_path / name for name in contents]


def loaded(files, folder, **options):
    rejects = []
    result = load(files, folder, languages={"en"}, report=rejects.append, **options)
    return result, rejects, {path.name: path.read_bytes() for path in folder.iterdir()}


def test_workers_and_one_process_come_to_the_same(tmp_path, files):
    alone, together = loaded(files, tmp_path / "one", workers=1), loaded(files, tmp_path / "two", workers=2)
    assert alone == together
    result, rejects, _ = alone
    assert [(reject.path.name, reject.line) for reject in rejects][:3] == [("a.nt", 5), ("a.nt", 8001), ("b.nt.gz", 5)]
    assert "cut off" in rejects[-1].reason
    assert result.counts[0] == Counts(triples=8099, rejected=2, dropped=899)
    assert result.counts[2:] == (Counts(triples=1), Counts(triples=2))
    index = TripleIndex(tmp_path / "two")
    assert index.id_of("_:2-x") is not None
    assert index.id_of("_:3-x") is not None


def test_loading_is_reading_and_building(tmp_path, files):
    load(files[:1], tmp_path / "loaded")
    build(read_triples(files[0]), tmp_path / "built")
    assert TripleIndex(tmp_path / "loaded").stats() == TripleIndex(tmp_path / "built").stats()


@pytest.mark.parametrize("workers", [1, 2])
def test_strict_stops_and_leaves_nothing(tmp_path, files, workers):
    with pytest.raises(MalformedTripleError, match=r"a\.nt, line 5: Expected a triple"):
        load(files, tmp_path / "kg", strict=True, workers=workers)
    assert sorted(tmp_path.iterdir()) == sorted(files)


def test_a_worker_that_dies_is_told(tmp_path, files, monkeypatch):
    monkeypatch.setattr(loading, "_PROGRAM", "raise SystemExit(9)")
    with pytest.raises(RuntimeError, match="exit status 9"):
        load(files, tmp_path / "kg", workers=2)
    assert sorted(tmp_path.iterdir()) == sorted(files)


def test_only_the_first_of_very_many_bad_lines_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "REPORTED", 3)
    (tmp_path / "a.nt").write_text("bad\n" * 20)
    rejects = []
    result = load([tmp_path / "a.nt"], tmp_path / "kg", report=rejects.append, workers=1)
    assert [reject.line for reject in rejects] == [1, 2, 3]
    assert result.counts == (Counts(rejected=20),)


def test_an_unknown_kind_of_file_is_told_before_anything_is_read(tmp_path, files):
    with pytest.raises(ValueError, match="rename or convert"):
        load([*files, tmp_path / "e.json"], tmp_path / "kg")


def test_no_files_make_an_empty_graph(tmp_path):
    assert load([], tmp_path / "kg").stats.totals.triples == 0


def test_readers_end_with_the_process_that_feeds_them_and_write_nothing(tmp_path, files):
    program = (
        "import os, sys; from pathlib import Path; from kg_index.building.loading import load\n"
        "def stop(stage, done, total):\n    os.kill(os.getpid(), 9)\n"
        "load([Path(sys.argv[1])], Path(sys.argv[2]), workers=2, progress=stop)"
    )
    command = [sys.executable, "-c", program, str(files[0]), str(tmp_path / "kg")]
    killed = subprocess.run(command, stderr=subprocess.PIPE, check=False)  # the pipe is open until the last reader ends
    assert (killed.returncode, killed.stderr) == (-9, b"")
    (work,) = (tmp_path / ".kg.new").iterdir()
    assert list(work.iterdir()) == []
    load(files[:1], tmp_path / "kg")
    assert not (tmp_path / ".kg.new").exists()
