import json

import pytest

from qa_lab.evaluate.suites import cells as module
from qa_lab.evaluate.suites.cells import read_cell, run_suite
from qa_lab.evaluate.suites.suite import read_suite


def test_cells_of_every_collection_that_is_there(suite_file):
    skipped = []
    cells = list(run_suite(read_suite(suite_file), skip=skipped.append))
    assert [(cell.collection, cell.configuration) for cell in cells] == [
        ("policies", "default"),
        ("policies", "simple"),
        ("search", "default"),
        ("search", "simple"),
    ]
    assert [set(cell.values) for cell in cells[1:3]] == [{"score", "wrong"}, {"AP", "nDCG@10"}]
    assert cells[1].values["score"] == {"q1": 1.0}
    (line,) = skipped
    assert line.startswith("absent is skipped: there is no ")


def test_finished_cells_are_not_measured_again(suite_file, tmp_path, monkeypatch):
    suite = read_suite(suite_file)
    first = list(run_suite(suite, folder=tmp_path / "cells"))
    path = tmp_path / "cells" / "policies--simple.json"
    assert read_cell(path) == first[1]
    calls = []
    monkeypatch.setattr(module, "measured", lambda collection, *_, **__: calls.append(collection.name))
    assert list(run_suite(suite, folder=tmp_path / "cells")) == first
    assert calls == []
    path.write_text("{")
    assert len(list(run_suite(suite, folder=tmp_path / "cells"))) == 3
    assert calls == ["policies"]


@pytest.mark.parametrize("change", ["questions", "configuration", "limit"])
def test_a_change_measures_again(suite_file, tmp_path, monkeypatch, change):
    list(run_suite(read_suite(suite_file), folder=tmp_path / "cells"))
    calls = []
    monkeypatch.setattr(module, "measured", lambda _, configuration, **__: calls.append(configuration.name))
    if change == "questions":
        (tmp_path / "data" / "questions.jsonl").write_text(json.dumps({"_id": "q2", "title": "?", "gold": []}))
        expected = ["default", "simple"]
    elif change == "configuration":
        suite_file.write_text(suite_file.read_text().replace('"plain-hybrid"', '"recipe"'))
        expected = ["simple", "simple"]
    else:
        expected = ["default", "simple", "default", "simple"]
    list(run_suite(read_suite(suite_file), folder=tmp_path / "cells", limit=1 if change == "limit" else None))
    assert calls == expected
