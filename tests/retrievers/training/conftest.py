"""A toy task whose questions and answers share no word, and a static encoder over its words."""

import json
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from qa_core.encoders.mapped_tensors import write_tensors
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
