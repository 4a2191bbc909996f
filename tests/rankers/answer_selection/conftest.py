"""A toy task and word vectors of rankers over frozen words."""

import numpy as np
import pytest

from qa_core.vectors.word_vectors import WordVectors
from rankers.answer_selection.frozen_words import TableWords
from rankers.training.answer_pool import AnswerPool, AnswerSet

NAMES = ["bal", "cemin", "dites", "fovon", "guzar", "kalor", "malin"]


@pytest.fixture(scope="module")
def source() -> TableWords:
    words = ("where", "does", "live", "lives", "at", "home", *NAMES)
    return TableWords.of(WordVectors(words, np.random.default_rng(0).normal(size=(len(words), 8)).astype(np.float32)))


@pytest.fixture
def pool() -> AnswerPool:
    """Right answers contain the name of the question."""
    return AnswerPool.of(
        AnswerSet(
            f"where does {name} live",
            tuple(f"{other} lives at home" for other in NAMES),
            tuple(other == name for other in NAMES),
        )
        for name in NAMES
    )
