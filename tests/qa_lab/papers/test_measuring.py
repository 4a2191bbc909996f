import json
import math
import shutil

import pytest

from qa_core.measures.metrics import Score
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.papers.declarations import TRANSFORMER, Computed, Evaluated, Joined, Reported, Setting, Trained
from qa_lab.papers.measuring import Laboratory, MissingError, definition
from tests.qa_lab.papers.conftest import FILE, bm25, trained


@pytest.fixture
def laboratory(data, tmp_path) -> Laboratory:
    return Laboratory(Setting(data, tmp_path / "models"))


def test_a_model_is_trained_once_and_measured(laboratory):
    evaluated = Evaluated("answers", FILE, "model", {"MAP": "AP"}, (trained(),))
    first = laboratory.measured(evaluated)["MAP"]
    assert 0.5 <= first.mean <= 1
    folder = laboratory.model(trained())
    saved = (folder / "model.safetensors").stat().st_mtime_ns
    reported = laboratory.measured(Reported(trained(), {"MAP": "after/AP", "size": "parameters", "none": "a/b"}))
    assert reported["MAP"].mean == pytest.approx(first.mean)
    assert reported["size"].mean == 256 * 4 + 4 + 2  # W_p, b_p and the last layer
    assert math.isnan(reported["none"].mean)
    assert (folder / "model.safetensors").stat().st_mtime_ns == saved
    assert laboratory.model(trained(l2=0.5)) != folder


def test_a_training_that_was_killed_before_its_first_save_begins_anew(laboratory):
    folder = laboratory.model(trained())
    whole = (folder / "model.safetensors").read_bytes()
    shutil.rmtree(folder)
    (folder / "training").mkdir(parents=True)
    assert (laboratory.model(trained()) / "model.safetensors").read_bytes() == whole


def test_reported_figures_have_their_standard_errors(laboratory):
    folder = laboratory.model(trained())
    rows = [{"name": "given", "Success@1": 0.75, "Success@1_se": 0.125}, {"name": "none", "Success@1": None}]
    (folder / "outcome.json").write_text(json.dumps({"rows": rows}))
    names = {"given": "rows/given/Success@1", "none": "rows/none/Success@1"}
    figures = laboratory.measured(Reported(trained(), names))
    assert (figures["given"].mean, figures["given"].standard_error) == (0.75, 0.125)
    assert math.isnan(figures["none"].mean)
    assert math.isnan(figures["none"].standard_error)


def test_functions_and_joined_measurements(laboratory):
    def answer(first, *, value):
        assert first is laboratory
        return {"answer": Score.of({"q": value})}

    computed = Computed(answer, (FILE,), {"value": 42.0})
    assert laboratory.measured(Joined((bm25(), computed))).keys() == {"MAP", "answer"}
    assert "test_functions_and_joined_measurements" in definition(computed)
    assert laboratory.once("x", lambda: 1) == laboratory.once("x", lambda: 2) == 1


def test_what_is_missing(laboratory):
    with pytest.raises(MissingError, match=r"toy/none\.tsv in the data folder"):
        laboratory.measured(bm25(path="toy/none.tsv"))
    with pytest.raises(MissingError, match="a transformer's folder by --model"):
        laboratory.model(Trained("annotate", (FILE,), base=TRANSFORMER))
    with pytest.raises(DatasetError, match="a row 'nothing' of answers"):
        laboratory.measured(bm25("nothing"))
