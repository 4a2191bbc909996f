"""Small training data, and one thread: for tensors of a few numbers, threads do little but wait for each other."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from qa_core.encoders.mapped_tensors import write_tensors

NAMES = [first + last for first in ("ba", "ce", "di", "fo", "gu", "ka") for last in ("lor", "min", "tes", "von", "zar")]


@pytest.fixture
def pairs_file(write_lines: Callable[..., Path]) -> Path:
    """Thirty questions, each answered by the name it asks for."""
    rows = [
        {"question": f"where does {name} live", "answer": f"the house of {name} is number {number}"}
        for number, name in enumerate(NAMES)
    ]
    return write_lines("pairs.jsonl", *rows)


@pytest.fixture
def settings_file(tmp_path: Path) -> Path:
    """A mean of word vectors that trains in a moment."""
    path = tmp_path / "settings.toml"
    path.write_text(
        'model = "mean"\n[words]\nminimum = 1\ndimension = 16\n[slam]\nepochs = 4\nbatch = 16\nlearning_rate = 0.05\n'
    )
    return path


@pytest.fixture
def static_folder(word_pieces: Path) -> Path:
    """A static encoder over the tiny word pieces."""
    vectors = np.random.default_rng(0).normal(size=(12, 8)).astype(np.float16)
    write_tensors(word_pieces / "model.safetensors", {"vectors": vectors})
    (word_pieces / "config.json").write_text(json.dumps({"kind": "static"}), encoding="utf-8")
    return word_pieces
