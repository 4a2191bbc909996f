"""What every verb of `train` keeps: its folder, its reports, resumed runs and refusals."""

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qa_core.networks.checkpoints import read_tensors
from qa_lab.data.reading import TrainingData
from qa_lab.errors import RunError, SettingsError, TrainingDataError
from qa_lab.train.registry import MODELS, verb
from qa_lab.train.request import Request
from qa_lab.train.verb import Outcome

STOPS = {
    "dense": (2,),
    "expansion": (2,),
    "similar": (2,),
    "words": (2,),
    "paragram": (2,),
    "phrases": (2,),
    "hyperqa": (2,),
    "blstm": (1, 3, 5),  # in the networks of both parts, and in the last one
    "encoder-decoder": (2,),
    "cross-encoder": (1,),
    "entailment": (2,),
    "relations": (3,),
    "chat": (1, 4),  # in forward, and in backward when the others are done
    "persona": (6,),  # in the second part
    "grid": (5,),
}
"""Reports after which a run is interrupted. `fusion` is trained in one go; `annotate` has a test for itself."""
SMALL = [*STOPS, "fusion"]


@dataclass
class Finished:
    """A run, with everything that it reported."""

    model: str
    request: Request
    outcome: Outcome
    data: list[TrainingData[Any]] = field(default_factory=list)
    progress: list[Any] = field(default_factory=list)


@pytest.fixture(scope="module", autouse=True)
def _settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A home for encoders, and grids that are saved after every step."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QA_BOT_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setattr("qa_lab.train.speech.grid_run.EVERY", 0.0)
        yield


@pytest.fixture(scope="module", params=SMALL)
def finished(request: pytest.FixtureRequest, build_in, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    usual = build_in(request.param, tmp_path_factory.mktemp(request.param))
    data, progress = [], []
    outcome = verb(request.param).run(usual, on_read=data.append, on_progress=progress.append)
    return Finished(request.param, usual, outcome, data, progress)


def contents(folder: Path) -> dict[str, np.ndarray]:
    """All weights of a folder, by file and name."""
    files = sorted(folder.rglob("*.safetensors"))
    tensors = {
        f"{path.relative_to(folder)}:{key}": t.numpy() for path in files for key, t in read_tensors(path).items()
    }
    texts = {path.name: np.frombuffer(path.read_bytes(), np.uint8) for path in folder.glob("vectors.txt")}
    return tensors | texts


def test_a_run_leaves_a_model_with_its_card_and_curve(finished: Finished):
    folder, card = finished.request.out, (finished.request.out / "README.md").read_text()
    assert f"{finished.request.data[0].name}" in card
    assert f"| seed | {finished.request.seed} |" in card or finished.model == "persona"
    assert str(folder.parent) not in card
    assert contents(folder)
    assert json.loads((folder / "config.json").read_text())
    assert not (folder / "training").exists()
    if finished.model != "fusion":
        with (folder / "curve.csv").open() as file:
            assert [row for row in csv.DictReader(file) if row["dev"]]


def test_a_run_reports_data_progress_and_outcome(finished: Finished):
    (data,) = finished.data
    assert data.count > 0
    most = verb(finished.model).epochs(finished.request)
    assert max((progress.epoch for progress in finished.progress), default=1) <= most
    assert json.loads(json.dumps(finished.outcome.as_dict()))
    assert str(finished.request.out) in finished.outcome.text(finished.request.out)


@pytest.mark.parametrize(("model", "stop"), [(model, stop) for model, stops in STOPS.items() for stop in stops])
def test_a_resumed_run_ends_with_the_same_model(
    model: str, stop: int, build_request: Callable[[str], Request], stop_after, tmp_path: Path
):
    whole, train = build_request(model), verb(model).run
    cut = replace(whole, out=tmp_path / "cut" / whole.out.name)
    with pytest.raises(RunError, match="no saved run; leave --resume out"):
        train(replace(cut, resume=True))
    with pytest.raises(InterruptedError):
        train(cut, on_progress=stop_after(stop))
    assert not (cut.out / "config.json").exists()
    with pytest.raises(RunError, match=f"seed = 9 instead of {whole.seed}"):
        train(replace(cut, resume=True, seed=9))
    train(replace(cut, resume=True))
    train(whole)
    expected, resumed = contents(whole.out), contents(cut.out)
    assert expected.keys() == resumed.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(values, resumed[name], err_msg=name)
    with pytest.raises(RunError, match="got a finished run"):
        train(replace(cut, resume=True))


@pytest.mark.parametrize("model", SMALL)
def test_what_no_verb_accepts(model: str, build_request: Callable[[str], Request], tmp_path: Path):
    usual, train = build_request(model), verb(model).run
    assert usual.config is not None
    letters = tmp_path / "letters"
    letters.mkdir()
    (letters / "letter.txt").write_text("dear")
    empty = tmp_path / usual.data[0].with_stem("empty").name
    empty.write_text("")
    cases: list[tuple[Request, type[Exception], str]] = [
        (replace(usual, data=(tmp_path / "none.jsonl",)), (FileNotFoundError, ValueError), "none.jsonl"),
        (replace(usual, data=(empty,)), (TrainingDataError, ValueError), r"Expected .*(empty|got 0 and 0)"),
        (replace(usual, config=tmp_path / "none.toml"), SettingsError, "no such file; check --config"),
    ]
    if model != "fusion":  # which may be written beside other files, and has no share
        cases.append((replace(usual, out=letters), RunError, "got other files; name another"))
        cases.append((replace(usual, dev="2"), TrainingDataError, "share between 0 and"))
    for wrong, error, message in cases:
        with pytest.raises(error, match=message):
            train(wrong)
    usual.config.write_text("sede = 1\n")
    with pytest.raises(SettingsError, match=r"settings.toml: Expected a known key, but got sede; (known|the nearest) "):
        train(usual)
    assert not usual.out.exists()


def test_every_verb_is_covered():
    assert {*SMALL, "annotate"} == set(MODELS)
