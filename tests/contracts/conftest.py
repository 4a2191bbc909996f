"""Helpers of the contracts: finite scores that depend on nothing else, and model folders that are damaged."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

ODD_TEXTS = ("", "unheard of", "zzz", "🙂 🙂", "שלום عالم \x00", "where does live cats " * 5_000)


def _edit_head(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def _change_weights(folder: Path, change: Callable[[dict[str, NDArray[Any]]], object]) -> None:
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors")


def _last_real(weights: dict[str, NDArray[Any]]) -> str:
    """The name of weights that are real numbers."""
    names = sorted(name for name, value in weights.items() if value.dtype.kind == "f")
    if not names:
        pytest.skip("this model has no real weights")
    return names[-1]


def _set_nan(weights: dict[str, NDArray[Any]]) -> None:
    weights[_last_real(weights)].flat[0] = np.nan


def _reshape(weights: dict[str, NDArray[Any]]) -> None:
    name = _last_real(weights)
    weights[name] = np.stack([weights[name]] * 2)


def _rename_first(weights: dict[str, NDArray[Any]]) -> None:
    weights["foreign"] = weights.pop(min(weights))


def _reword(folder: Path, change: Callable[[list[str]], list[str]]) -> None:
    path = folder / "vocabulary.txt"
    if not path.exists():
        pytest.skip("this model has no vocabulary")
    path.write_text("".join(f"{word}\n" for word in change(path.read_text().splitlines())))


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "another version": (lambda folder: _edit_head(folder, format=99), "Expected format 1, but got 99"),
    "another kind": (lambda folder: _edit_head(folder, kind="Other"), "got 'Other'"),
    "unknown setting": (lambda folder: _edit_head(folder, config={"colour": 1}), "got 'colour'"),
    "cut weights": (lambda folder: (folder / "model.safetensors").write_bytes(b"cut"), r"model\.safetensors"),
    "NaN": (lambda folder: _change_weights(folder, _set_nan), r"NaN|finite"),
    "other weights": (lambda folder: _change_weights(folder, _rename_first), "Expected"),
    "another shape": (lambda folder: _change_weights(folder, _reshape), "Expected"),
    "a word too many": (lambda folder: _reword(folder, lambda words: [*words, "more"]), r"Expected .*\d+ words"),
    "a word missing": (lambda folder: _reword(folder, lambda words: words[:-1]), r"Expected .*\d+ words"),
}
"""Name → what happens to a model folder, and what the error says beside the name of the folder."""


@dataclass(frozen=True)
class Damage:
    apply: Callable[[Path], object]
    message: str


@pytest.fixture(params=DAMAGES.values(), ids=list(DAMAGES))
def damage(request: pytest.FixtureRequest) -> Damage:
    return Damage(*request.param)


@pytest.fixture(scope="session")
def odd_texts() -> tuple[str, ...]:
    """Texts that a user may send: empty, unknown words, no words, other scripts, very long."""
    return ODD_TEXTS


@pytest.fixture
def copy_model(tmp_path: Path) -> Callable[[Path], Path]:
    """Copies a saved model to a folder that a test may damage."""
    return lambda folder: Path(shutil.copytree(folder, tmp_path / "copy"))
