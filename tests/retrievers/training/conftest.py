"""A toy task whose questions and answers share no word, a static encoder over its words, and a check of resuming."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from qa_core.encoders.mapped_tensors import write_tensors
from qa_core.training.loop import Progress, Training
from qa_core.training.resume import load_training, save_training
from retrievers.training.examples import Examples, Pair

EATEN = {
    "cats": "mice",
    "cows": "grass",
    "bees": "nectar",
    "pandas": "bamboo",
    "koalas": "leaves",
    "bears": "honey",
    "otters": "fish",
    "robins": "worms",
}


@pytest.fixture
def toy() -> Examples:
    return Examples.of(Pair(f"do {animal} eat", f"they like {food}") for animal, food in EATEN.items())


@pytest.fixture
def tiny_static(tmp_path: Path) -> Path:
    """Random vectors for all words of the toy task but `bamboo`."""
    words = [
        "[UNK]",
        "what",
        "do",
        "eat",
        "they",
        "like",
        *EATEN,
        *(food for food in EATEN.values() if food != "bamboo"),
    ]
    tokenizer = Tokenizer(WordLevel({word: row for row, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    folder = tmp_path / "tiny-static"
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    vectors = np.random.default_rng(0).normal(size=(len(words), 16)).astype(np.float16)
    write_tensors(folder / "model.safetensors", {"vectors": vectors})
    (folder / "config.json").write_text(json.dumps({"kind": "static"}), encoding="utf-8")
    return folder


@pytest.fixture
def assert_resumes(tmp_path: Path) -> Callable[..., Training]:
    """Compares a whole run with one that is interrupted, saved and resumed in a new model, bit for bit."""

    def check(
        begin: Callable[[], tuple[Any, Training]], run: Callable[..., Iterator[Progress]], *, step: int
    ) -> Training:
        """`begin()` gives a tower (or None) and its training, which `run(tower, training)` advances."""
        tower, whole = begin()
        list(run(tower, whole))
        tower, interrupted = begin()
        for progress in run(tower, interrupted):
            if progress.step >= step:
                save_training(tmp_path / "run", interrupted)
                break
        torch.rand(7)  # the state of another process
        tower, resumed = begin()
        load_training(tmp_path / "run", resumed)
        list(run(tower, resumed))
        for name, weight in whole.model.state_dict().items():
            assert torch.equal(weight, resumed.model.state_dict()[name]), name
        return resumed

    return check
