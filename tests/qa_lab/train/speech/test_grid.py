import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from generators.topics.counting_grid import CountingGrid
from qa_lab.train.errors import RunError, SettingsError, TrainingDataError
from qa_lab.train.registry import verb
from qa_lab.train.request import Request
from qa_lab.train.speech.grid import GRID

TOPICS = ("sea sand wave boat shell", "war tank army siege truce", "cake bread flour oven yeast")
SETTINGS = """minimum = 2
[grid]
height = 6
width = 8
window = 3
[training]
steps = 6
wide = [5]
wide_steps = 2
"""


class StoppedError(Exception):
    """An interruption at a place of our choice."""


@pytest.fixture
def request_(write_lines: Callable[..., Path], tmp_path: Path) -> Request:
    rng = np.random.default_rng(0)
    said = [" ".join(rng.choice(TOPICS[number % 3].split(), size=4)) for number in range(240)]
    data = write_lines("said.jsonl", *({"turns": said[place : place + 4]} for place in range(0, 240, 4)))
    settings = tmp_path / "settings.toml"
    settings.write_text(SETTINGS)
    return Request((data,), tmp_path / "out", config=settings, seed=1)


def test_a_run_leaves_a_grid_with_card_map_and_curve(request_: Request, tmp_path: Path):
    read, progress = [], []
    outcome = GRID.run(request_, on_read=read.append, on_progress=progress.append)
    assert read[0].count == outcome.texts + outcome.held_out
    assert outcome.words == 15
    assert outcome.perplexity < 11 < outcome.unigram  # five words of a topic, and where it is; fifteen words in all
    assert progress[0].dev == pytest.approx(outcome.unigram, rel=0.05)
    assert [each.step for each in progress] == list(range(len(progress)))
    assert len(progress) <= GRID.epochs(request_) == 9
    grid = CountingGrid.load(request_.out)
    assert grid.config.shape == (6, 8)
    assert grid.posterior("boat on a wave").steers
    shown = json.loads((request_.out / "grid.json").read_text())
    assert shown["cells"] == [list(words) for words in grid.map().words]
    card = (request_.out / "README.md").read_text()
    assert "| cells, window | 6 × 8, 3 × 3 |" in card
    assert f"| {outcome.perplexity:.0f}; without a grid {outcome.unigram:.0f} |" in card
    assert str(tmp_path) not in card
    with (request_.out / "curve.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(progress)
    assert not (request_.out / "training").exists()
    assert str(request_.out) in outcome.text(request_.out)
    assert json.loads(json.dumps(outcome.as_dict()))["rejected"] == 0


def test_pictures_are_drawn_where_they_are_asked_for(request_: Request):
    pytest.importorskip("matplotlib", reason="the plots extra is not installed")
    GRID.run(replace(request_, plots=True, limit=40))
    for name in ("grid.png", "curve.png"):
        assert (request_.out / name).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_interrupted_and_resumed_it_ends_with_the_same_grid(request_: Request, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("qa_lab.train.speech.grid_run.EVERY", 0.0)
    GRID.run(request_)

    def stop(progress) -> None:
        if progress.step == 4:
            raise StoppedError

    cut = replace(request_, out=request_.out.parent / "cut")
    with pytest.raises(RunError, match="leave --resume out"):
        GRID.run(replace(cut, resume=True))
    with pytest.raises(StoppedError):
        GRID.run(cut, on_progress=stop)
    with pytest.raises(RunError, match="seed = 4 instead of 1"):
        GRID.run(replace(cut, resume=True, seed=4))
    GRID.run(replace(cut, resume=True))
    whole, parts = CountingGrid.load(request_.out), CountingGrid.load(cut.out)
    np.testing.assert_array_equal(whole.cells, parts.cells)
    curves = [(each / "curve.csv").read_text().count("\n") for each in (request_.out, cut.out)]
    assert curves[0] == curves[1]


def test_a_damaged_state_is_told(request_: Request):
    state = request_.out / "training"

    def stop(_) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        GRID.run(request_, on_progress=stop)
    with pytest.raises(RunError, match="Expected an unfinished run"):  # not saved yet
        GRID.run(replace(request_, resume=True))
    assert state.is_dir()


def test_held_out_texts_may_be_named_or_left_out(request_: Request, write_lines: Callable[..., Path]):
    named = GRID.run(replace(request_, dev=str(write_lines("dev.txt", "sea boat", "tank siege"))))
    assert (named.held_out, named.empty) == (2, 0)
    alone = GRID.run(replace(request_, dev="0"))
    assert alone.texts == named.texts
    assert (alone.held_out, alone.perplexity, alone.unigram) == (0, None, None)
    assert "held-out" not in alone.text(request_.out)
    with pytest.raises(TrainingDataError, match="Expected a share between 0 and 1, or a path, for --dev, but got 2"):
        GRID.run(replace(request_, dev="2"))


@pytest.mark.parametrize(
    ("text", "error", "match"),
    [
        ("minimum = 0", SettingsError, "minimum = 0"),
        ("[training]\nsteps = 0\npatience = -1", SettingsError, "training.steps = 0, training.patience = -1"),
        ("floor = -0.5", SettingsError, "floor = -0.5"),
        ("[training]\nwide_steps = -1", SettingsError, "training.wide_steps = -1"),
        ("[training]\ntolerance = nan", SettingsError, "tolerance"),
        ("[grid]\nwindow = 40", SettingsError, "Expected a window of at least 1 cell"),
        ("[grid]\nheigth = 40", SettingsError, "the nearest is grid.height"),
        ("minimum = 300", TrainingDataError, "Expected words that occur in 300 of the texts"),
    ],
)
def test_settings_that_do_not_do_are_told(request_: Request, tmp_path: Path, text: str, error, match: str):
    (tmp_path / "settings.toml").write_text(text)
    with pytest.raises(error, match=match):
        GRID.run(request_)


def test_other_bad_requests_are_told(request_: Request, tmp_path: Path):
    with pytest.raises(SettingsError, match="Expected no base"):
        GRID.settings(replace(request_, base=tmp_path))
    with pytest.raises(RunError, match="other files"):
        GRID.run(replace(request_, out=tmp_path))
    with pytest.raises(FileNotFoundError, match="check --data"):
        GRID.run(replace(request_, data=(tmp_path / "none",)))


def test_it_is_a_model_that_train_knows():
    assert verb("grid").measure == "perplexity"
