import builtins
import csv

import numpy as np
import pytest

from qa_core.measures.plots import (
    draw_bands,
    draw_curve,
    draw_differences,
    draw_histograms,
    draw_lines,
    draw_neighbours,
    draw_word_grid,
    write_curve,
)
from qa_core.training.loop import Progress

HISTORY = [Progress(1, 5, 0.5, 0.1, 100.0, None), Progress(1, 10, 0.25, 0.1, 100.0, 3.5, 0.75, True)]


def test_curve_as_table(tmp_path):
    write_curve(tmp_path / "curve.csv", HISTORY)
    with (tmp_path / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["step"], row["loss"], row["eta_seconds"], row["dev"]) for row in rows] == [
        ("5", "0.5", "", ""),
        ("10", "0.25", "3.5", "0.75"),
    ]


def test_curve_as_picture(tmp_path):
    pytest.importorskip("matplotlib", reason="the plots extra is not installed")
    draw_curve(tmp_path / "curve.png", HISTORY, measure="accuracy")
    assert (tmp_path / "curve.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    draw_curve(tmp_path / "short.png", HISTORY[:1])


def test_histograms_and_points(tmp_path):
    pytest.importorskip("matplotlib", reason="the plots extra is not installed")
    draw_histograms(tmp_path / "norms.png", {"a": np.array([1.0, 2.0]), "none": np.zeros(0)}, label="norm")
    pytest.importorskip("sklearn", reason="the plots extra is not installed")
    points = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    for dimensions in (2, 3):
        draw_neighbours(tmp_path / f"{dimensions}.png", {"a": points, "none": points[:0]}, dimensions=dimensions)
    draw_neighbours(tmp_path / "few.png", {"a": points[:3]})
    draw_histograms(tmp_path / "empty-norms.png", {}, label="norm")
    assert all(path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" for path in tmp_path.iterdir())


def test_lines_through_points(tmp_path):
    pytest.importorskip("matplotlib", reason="the plots extra is not installed")
    lines = {"a $": (np.array([0.0, 0.5]), np.array([0.25, 1.0])), "none": (np.zeros(0), np.zeros(0))}
    draw_lines(tmp_path / "lines.png", lines, x="coverage", y="risk")
    draw_lines(tmp_path / "dots.png", lines, x="coverage", y="risk", marked=True, diagonal=True)
    draw_lines(tmp_path / "nothing.png", {}, x="coverage", y="risk")
    pictures = {path.read_bytes() for path in tmp_path.iterdir()}
    assert {picture[:8] for picture in pictures} == {b"\x89PNG\r\n\x1a\n"}
    assert len(pictures) == 3


def test_words_in_a_grid(tmp_path):
    pytest.importorskip("matplotlib", reason="the plots extra is not installed")
    words = [("one", "$5"), (), ("three",), ("a_b^c", "{"), ("five",), ("six",)]
    draw_word_grid(tmp_path / "grid.png", words, width=3)
    draw_word_grid(tmp_path / "hint.png", words, width=3, shares=np.eye(6, dtype=np.float32)[2], title="a $hint")
    assert all(path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" for path in tmp_path.iterdir())
    assert (tmp_path / "grid.png").read_bytes() != (tmp_path / "hint.png").read_bytes()


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    load = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return load(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'qa-bot\[plots\]'"):
        draw_curve(tmp_path / "curve.png", HISTORY)


def test_bands(tmp_path):
    pytest.importorskip("matplotlib", reason="the plots extra is not installed")
    rounds = np.arange(3)
    draw_bands(tmp_path / "one.png", {"$a": (rounds, rounds / 2, np.ones(3))}, x="round", y="grade")
    draw_bands(tmp_path / "two.png", {"b": (rounds, rounds / 2, np.zeros(3))}, x="round", y="grade")
    draw_bands(tmp_path / "none.png", {}, x="round", y="grade")
    assert all(path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" for path in tmp_path.iterdir())
    assert (tmp_path / "one.png").read_bytes() != (tmp_path / "two.png").read_bytes()


def test_a_grid_of_differences(tmp_path):
    pytest.importorskip("matplotlib", reason="the plots extra is not installed")
    draw_differences(tmp_path / "grid.png", {"a $": [-0.5, float("nan")], "b": [0.25, 0.0]}, ["one", "two"])
    assert (tmp_path / "grid.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
