from pathlib import Path

import pytest

from qa_lab.evaluate.suites.cells import Cell
from qa_lab.evaluate.suites.suite import Collection, Configuration, Suite
from qa_lab.evaluate.suites.tables import ablation_text, as_json, draw_ablation, text

SUITE = Suite(
    "tiny",
    (Collection("policies", "workplace", Path("p"), Path("q")), Collection("turns", "rewrite", Path("t"))),
    (Configuration("first"), Configuration("second")),
)
CELLS = [
    Cell("policies", "first", {"score": {"a": 0.0, "b": 1.0}}, 2.0, ""),
    Cell("policies", "second", {"score": {"a": 1.0, "b": 1.0}}, 3.0, ""),
    Cell("turns", "first", {"F1": {"x": 0.5}}, 4.0, ""),
]


def test_a_row_for_each_measure_and_a_column_for_each_configuration():
    table = text(SUITE, CELLS).splitlines()
    assert table[2].split() == ["collection", "measure", "questions", "first", "second"]
    assert table[3].split() == ["policies", "score", "2", "0.500", "±", "0.500", "1.000", "±", "0.000", "+0.500"]
    assert table[4].split() == ["turns", "F1", "1", "0.500", "–"]
    assert table[5].split() == ["seconds", "6", "3"]


def test_json():
    payload = as_json(SUITE, CELLS)
    first, second = payload["rows"]
    assert first["configurations"]["second"]["versus_first"]["difference"] == 0.5
    assert first["configurations"]["first"] == {"questions": 2, "mean": 0.5, "se": 0.5, "seconds": 2.0}
    assert second["configurations"] == {"first": {"questions": 1, "mean": 0.5, "se": None, "seconds": 4.0}}


def test_other_questions_are_not_compared():
    other = [CELLS[0], Cell("policies", "second", {"score": {"c": 1.0}}, 3.0, "")]
    assert "versus_first" not in as_json(SUITE, other)["rows"][0]["configurations"]["second"]


def test_an_ablation_has_a_row_for_each_part():
    table = ablation_text(SUITE, CELLS).splitlines()
    assert table[2].split() == ["policies", "turns", "mean"]
    assert table[3].split() == ["first", "0.500", "0.500", "0.500"]
    assert table[4].split() == ["second", "+0.500", "–", "+0.500"]


def test_the_picture_of_an_ablation(tmp_path):
    pytest.importorskip("matplotlib", reason="the plots extra is not installed")
    draw_ablation(tmp_path / "ablation.png", SUITE, CELLS)
    assert (tmp_path / "ablation.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
