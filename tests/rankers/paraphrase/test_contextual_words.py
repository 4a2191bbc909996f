from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest
import torch

from qa_core.networks.pair_classifier import LabelledPairs
from qa_core.training.loop import Training, seed_everything
from qa_core.types import FloatArray
from rankers.paraphrase.contextual_words import Context, ContextEmbedding, ContextReader, pad_states
from rankers.paraphrase.word_pairs import CONFIGS, WordPairs, WordSizes
from rankers.training.paraphrase_training import ParaphraseConfig, accuracy, train_paraphrase

SIZE = 24
SIZES = WordSizes(dimension=16, hidden=16, dropout=0.0, max_tokens=12)
NAMES = [first + last for first in ("ba", "ce", "di") for last in ("lor", "min", "tes")]
PAIRS = LabelledPairs(
    tuple((f"where does {name} live", f"{verb} {name}") for name in NAMES for verb in ("address of", "age of")),
    (True, False) * len(NAMES),
)
MIXED = [
    ("where does balor live", "address of balor"),
    ("", ""),
    ("", "age"),
    ("😀", "מה נשמע"),
    ("age", "so " * 9_000),
]


class Hashed:
    """States of words by their letters, each shifted towards the state of the word before."""

    dimension = SIZE

    def __init__(self, fingerprint: str = "hashed") -> None:
        self.fingerprint = fingerprint

    def states(self, texts: Sequence[str]) -> list[FloatArray]:
        return [self._of(text.split()) for text in texts]

    def _of(self, words: list[str]) -> FloatArray:
        by_word = [np.random.default_rng(blake2b(w.encode()).digest()[0]).normal(size=SIZE) for w in words]
        moved = [state + 0.1 * before for state, before in zip(by_word, [np.zeros(SIZE), *by_word], strict=False)]
        return np.array(moved, dtype=np.float32).reshape(-1, SIZE)


def scorer_of(kind: str, encoder: Hashed | None = None) -> WordPairs:
    seed_everything(1)
    texts = [text for pair in PAIRS.pairs for text in pair]
    return WordPairs.in_context(kind, texts, SIZES, encoder or Hashed(), name="some/encoder", scale=4.0)


@pytest.mark.parametrize("kind", CONFIGS)
def test_a_toy_task_is_learnt_in_context_saved_and_loaded(kind: str, tmp_path: Path):
    scorer = scorer_of(kind)
    training = Training(scorer.model, torch.optim.Adam(scorer.model.parameters(), lr=0.02), seed=1)
    config = ParaphraseConfig(batch=6, epochs=16, patience=16, identical=3)
    for _ in train_paraphrase(training, scorer, PAIRS, config, held_out=PAIRS):
        pass
    assert accuracy(scorer, PAIRS) == 1
    scorer.save(tmp_path / "model", card="# card\n")
    names: list[str] = []
    loaded = WordPairs.load(tmp_path / "model", opened=lambda name: names.append(name) or Hashed())
    assert names == ["some/encoder"]
    scores = loaded.score(MIXED)
    assert np.array_equal(scores, scorer.score(MIXED))
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(scores, [loaded.score([pair])[0] for pair in MIXED], atol=1e-5)
    np.testing.assert_allclose(loaded.score([(b, a) for a, b in MIXED]), scores, atol=1e-5)
    assert loaded.score([]).shape == (0,)


def test_another_encoder_than_in_training_is_refused(tmp_path: Path):
    scorer_of("siamese").save(tmp_path, card="# card\n")
    with pytest.raises(ValueError, match="as it was in training"):
        WordPairs.load(tmp_path, opened=lambda _: Hashed("changed"))
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
    rows = ContextReader(Hashed(), 3).rows(["a b c d", "", "a"])
    assert [row.shape for row in rows] == [(3, SIZE), (0, SIZE), (1, SIZE)]
    assert {row.dtype for row in rows} == {np.dtype(np.float16)}
    states, mask = pad_states(rows)
    assert states.shape == (3, 3, SIZE)
    assert mask.tolist() == [[True] * 3, [False] * 3, [True, False, False]]
    assert not states[~mask].any()
    assert pad_states(rows[1:2])[0].shape == (1, 1, SIZE)


def test_the_sample_that_axes_come_from_may_be_smaller_than_the_dimension():
    sizes = replace(SIZES, dimension=SIZE)
    scorer = WordPairs.in_context("siamese", ["a"], sizes, Hashed(), name="", scale=1.0)
    assert np.isfinite(scorer.score([("a", "b"), ("b", "c")])).all()
