import orjson
import pytest

from qa_lab.papers import running
from qa_lab.papers.cells import read_cell
from qa_lab.papers.declarations import Evaluated, PaperRow, Table
from qa_lab.papers.running import run_tables
from tests.qa_lab.papers.conftest import FILE


def test_each_row_has_figures_or_a_reason(table, data):
    warnings = []
    cells = run_tables([table], data, warn=warnings.append)
    by_row = {(cell.row, cell.settings): cell for cell in cells}
    first = by_row["BM25", "default"]
    mean, error = first.figures["MAP"]
    assert mean == pytest.approx(0.875)  # the right answer is first in three of four, second in one
    assert error == pytest.approx(0.125)  # of .5, 1, 1, 1: s = .25, over √4
    assert first.command == ["qa-bot eval answers --data $QA_BOT_DATA/toy/answers.tsv"]
    assert by_row["another", "default"].reason == "not implemented"
    assert by_row["missing", "paper"].reason == "not implemented"
    assert by_row["missing", "default"].reason.startswith("not to be had: Expected toy/none.tsv")
    assert by_row["unknown row", "default"].reason.startswith("failed: Expected a row 'no such row' of answers")
    (warning,) = warnings
    assert warning.startswith("T 6.3, unknown row (default): failed")


def test_finished_rows_are_not_measured_again(table, data, tmp_path, monkeypatch):
    folder = tmp_path / "out"
    first = run_tables([table], data, folder=folder)
    (path,) = (folder / "cells").glob("*BM25*.json")
    assert read_cell(path) == first[0]
    assert "| BM25 | published | .637 |  |" in (folder / "papers.md").read_text()
    assert orjson.loads((folder / "papers.json").read_bytes())["tables"][0]["rows"][0]["default"]["MAP"] == 0.875
    measured = []
    real = running.Laboratory.measured

    def counted(laboratory, measurement):
        measured.append(measurement.row)
        return real(laboratory, measurement)

    monkeypatch.setattr(running.Laboratory, "measured", counted)
    assert run_tables([table], data, folder=folder)[0] == first[0]
    assert measured == ["BM25", "no such row"]  # missing data and failures are tried again
    run_tables([table], data, folder=folder, quick=True)
    assert measured[2:] == ["BM25", "BM25", "no such row"]
    path.write_text("{")
    run_tables([table], data, folder=folder, quick=True)
    assert measured[5:] == ["BM25", "BM25", "no such row"]


def test_small_samples_for_the_settings_of_the_paper_alone(data, tmp_path):
    row = Evaluated("answers", FILE, "BM25", {"MAP": "AP"}, quick_limit=2)
    table = Table("T 6.3", "Toy answers", "Toy data.", ("MAP",), (PaperRow("BM25", {}, row, row),))
    paper, default = run_tables([table], data, folder=tmp_path / "out", quick_paper=True)
    assert (paper.settings, paper.quick, default.quick) == ("paper", True, False)
    assert paper.command[-1].endswith("--limit 2")
    assert default.figures["MAP"][0] == pytest.approx(0.875)
    assert "| BM25 | ours, settings of the paper, small sample |" in (tmp_path / "out/papers.md").read_text()
    both = run_tables([table], data, folder=tmp_path / "out", quick=True, quick_paper=True)
    assert all(cell.quick for cell in both)


def test_changed_data_are_measured_again(table, data, tmp_path):
    run_tables([table], data, folder=tmp_path / "out")
    file = data / "toy/answers.tsv"
    file.write_text("\n".join(line for line in file.read_text().splitlines() if not line.startswith("2\t")))
    assert run_tables([table], data, folder=tmp_path / "out")[0].figures["MAP"][0] == 1
