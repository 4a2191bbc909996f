import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from generators.topics.counting_grid import CountingGrid
from qa_lab.errors import RunError, SettingsError, TrainingDataError
from qa_lab.train.request import Request
from qa_lab.train.speech.grid import GRID

MODEL = "grid"


def test_a_run_leaves_a_grid_with_card_map_and_curve(request_: Request, tmp_path: Path):
    read, progress = [], []
    outcome = GRID.run(request_, on_read=read.append, on_progress=progress.append)
    assert read[0].count == outcome.texts + outcome.held_out
    assert outcome.words == 15
    assert outcome.perplexity < 11 < outcome.unigram  # five words of a topic and their location; fifteen words in all
    assert progress[0].dev == pytest.approx(outcome.unigram, rel=0.05)
    assert [report.step for report in progress] == list(range(len(progress)))
    assert len(progress) <= GRID.epochs(request_) == 9
    grid = CountingGrid.load(request_.out)
    assert grid.config.shape == (6, 8)
    assert grid.posterior("boat on a wave").steers
    shown = json.loads((request_.out / "grid.json").read_text())
    assert shown["cells"] == [list(words) for words in grid.map().words]
    card = (request_.out / "README.md").read_text()
    assert "| cells, window | 6 × 8, 3 × 3 |" in card
    assert f"| {outcome.perplexity:.0f}; without a grid {outcome.unigram:.0f} |" in card
    with (request_.out / "curve.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(progress)


def test_the_preset_of_the_thesis_has_no_background(request_: Request):
    assert request_.config is not None
    assert GRID.settings(request_).grid.background == 0.2
    request_.config.write_text('preset = "thesis"\n[grid]\nheight = 6\nwidth = 8\nwindow = 3\n')
    settings = GRID.settings(request_)
    assert (settings.grid.background, settings.grid.shape, settings.vocabulary) == (0.0, (6, 8), 8_000)


def test_pictures_are_drawn_where_they_are_asked_for(request_: Request):
    pytest.importorskip("matplotlib", reason="the plots extra is not installed")
    GRID.run(replace(request_, plots=True, limit=40))
    for name in ("grid.png", "curve.png"):
        assert (request_.out / name).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_a_run_that_was_not_saved_cannot_be_resumed(request_: Request, stop_after):
    with pytest.raises(InterruptedError):
        GRID.run(request_, on_progress=stop_after(1))
    with pytest.raises(RunError, match="Expected an unfinished run"):
        GRID.run(replace(request_, resume=True))
    assert (request_.out / "training").is_dir()


def test_held_out_texts_may_be_named_or_left_out(request_: Request, write_lines: Callable[..., Path]):
    named = GRID.run(replace(request_, dev=str(write_lines("dev.txt", "sea boat", "tank siege"))))
    assert (named.held_out, named.empty) == (2, 0)
    alone = GRID.run(replace(request_, dev="0"))
    assert alone.texts == named.texts
    assert (alone.held_out, alone.perplexity, alone.unigram) == (0, None, None)
    assert "held-out" not in alone.text(request_.out)


@pytest.mark.parametrize(
    ("text", "error", "match"),
    [
        ("minimum = 0", SettingsError, "minimum = 0"),
        ("[training]\nsteps = 0\npatience = -1", SettingsError, "training.steps = 0, training.patience = -1"),
        ("floor = -0.5", SettingsError, "floor = -0.5"),
        ("[training]\nwide_steps = -1", SettingsError, "training.wide_steps = -1"),
        ("[training]\ntolerance = nan", SettingsError, "tolerance"),
        ("[grid]\nwindow = 40", SettingsError, "Expected a window of at least 1 cell"),
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
