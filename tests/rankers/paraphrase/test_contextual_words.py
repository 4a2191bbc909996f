from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from qa_core.types import FloatArray
from rankers.paraphrase.contextual_words import Context, ContextEmbedding, ContextReader, pad_states
from rankers.paraphrase.word_pairs import WordPairs, WordSizes

SIZE = 24
SIZES = WordSizes(dimension=SIZE, hidden=16, dropout=0.0, max_tokens=12)


class Constant:
    """States of words are all equal."""

    dimension = SIZE

    def __init__(self, fingerprint: str = "hashed") -> None:
        self.fingerprint = fingerprint

    def states(self, texts: Sequence[str]) -> list[FloatArray]:
        return [np.ones((len(text.split()), SIZE), dtype=np.float32) for text in texts]


def test_another_encoder_than_in_training_is_refused(tmp_path: Path):
    WordPairs.in_context("siamese", ["a b"], SIZES, Constant(), name="some/encoder", scale=4.0).save(tmp_path, card="")
    with pytest.raises(ValueError, match="as it was in training"):
        WordPairs.load(tmp_path, opened=lambda _: Constant("changed"))
    with pytest.raises(ValueError, match="Expected the encoder 'some/encoder'"):
        WordPairs.load(tmp_path)


def test_axes_hold_what_states_differ_in():
    """All states lie in a plane: two axes lose nothing, and E_pre has the asked length."""
    rng = np.random.default_rng(0)
    plane = np.linalg.qr(rng.normal(size=(SIZE, 2)))[0]
    rows = [(rng.normal(size=(5, 2)) @ plane.T).astype(np.float16) for _ in range(9)]
    embedding = ContextEmbedding(Context(SIZE, scale=3.0), 2)
    embedding.set_axes(rows)
    states, mask = pad_states(rows)
    vectors = embedding(states)
    assert mask.all()
    torch.testing.assert_close(vectors.norm(dim=-1), torch.full((9, 5), 3.0))
    unit = torch.nn.functional.normalize(states, dim=-1)
    torch.testing.assert_close(vectors @ vectors.mT / 9, unit @ unit.mT, atol=2e-3, rtol=0)
    with pytest.raises(ValueError, match="a dimension of at most 24, as the states have, but got 30"):
        ContextEmbedding(Context(SIZE), 30).set_axes(rows)


def test_texts_are_cut_and_padded():
    rows = ContextReader(Constant(), 3).rows(["a b c d", "", "a"])
    assert [row.shape for row in rows] == [(3, SIZE), (0, SIZE), (1, SIZE)]
    assert {row.dtype for row in rows} == {np.dtype(np.float16)}
    states, mask = pad_states(rows)
    assert states.shape == (3, 3, SIZE)
    assert mask.tolist() == [[True] * 3, [False] * 3, [True, False, False]]
    assert not states[~mask].any()
    assert pad_states(rows[1:2])[0].shape == (1, 1, SIZE)


def test_the_sample_that_axes_come_from_may_be_smaller_than_the_dimension():
    scorer = WordPairs.in_context("siamese", ["a"], SIZES, Constant(), name="", scale=1.0)
    assert np.isfinite(scorer.score([("a", "b"), ("b", "c")])).all()
