from collections.abc import Callable
from typing import Any

import pytest

from qa_core.training.loop import seed_everything
from qa_core.training.pair_classifier import LabelledPairs
from rankers.paraphrase.word_pairs import WordPairs, WordSizes


@pytest.fixture(scope="session")
def toy_pairs() -> LabelledPairs:
    """Questions about nine names, which are similar if both are about the address."""
    names = [first + last for first in ("ba", "ce", "di") for last in ("lor", "min", "tes")]
    pairs = ((f"where does {name} live", f"{verb} {name}") for name in names for verb in ("address of", "age of"))
    return LabelledPairs(tuple(pairs), (True, False) * len(names))


@pytest.fixture
def word_pairs(toy_pairs: LabelledPairs) -> Callable[..., WordPairs]:
    """Makes an untrained scorer over the words of the toy task; options are sizes, and `pretrained` vectors."""

    def make(kind: str = "entailment", *, pretrained: Any = None, **sizes: float) -> WordPairs:
        seed_everything(1)
        texts = [*(text for pair in toy_pairs.pairs for text in pair), "size of"]
        defaults = {"dimension": 8, "hidden": 8, "dropout": 0.0, "max_tokens": 12}
        return WordPairs.of(kind, texts, WordSizes(**{**defaults, **sizes}), pretrained=pretrained)

    return make
