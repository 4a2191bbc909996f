from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from qa_core.training.loop import Training
from retrievers.training.phrases.corpus import Corpus
from retrievers.training.phrases.skip_gram import (
    Batch,
    SkipGram,
    SkipGramConfig,
    adagrad,
    batches,
    keeping,
    likelihood,
    nearby,
    objective,
    train_words,
)

CONFIG = SkipGramConfig(
    dimension=8, window=2, negatives=2, shared=4, subsample=1.0, batch=16, epochs=30, learning_rate=0.1
)
TEXTS = ["the cat purrs", "the cat sleeps", "a ship sails", "a ship sinks", "nothing"] * 8


def corpus_of(texts: list[str] | None = None, **changes: int) -> Corpus:
    return Corpus.of(texts or TEXTS, **{"most": 100, "minimum": 1} | changes)


def batch_of(words: list[int], contexts: list[int], negatives: list[int]) -> Batch:
    return Batch(torch.tensor(words), torch.tensor(contexts), torch.tensor(negatives))


def hand_made(words: list[list[float]], contexts: list[list[float]]) -> SkipGram:
    model = SkipGram(len(words), len(words[0]))
    with torch.no_grad():
        model.words.copy_(torch.tensor(words))
        model.contexts.copy_(torch.tensor(contexts))
    return model


def test_pairs_of_words_near_each_other() -> None:
    """Words 10 to 13, the last in another text: 10 reaches one word, 11 two, 12 none to the right of it."""
    pairs = nearby(np.array([10, 11, 12, 13]), np.array([0, 0, 0, 1]), np.array([1, 2, 1, 2]))
    assert sorted(map(tuple, pairs.tolist())) == [(10, 11), (11, 10), (11, 12), (12, 11)]
    far = nearby(np.array([10, 11, 12]), np.array([0, 0, 0]), np.array([2, 1, 1]))
    assert sorted(map(tuple, far.tolist())) == [(10, 11), (10, 12), (11, 10), (11, 12), (12, 11)]
    assert nearby(np.array([1]), np.array([0]), np.array([5])).shape == (0, 2)


def test_frequent_words_are_left_out_more_often() -> None:
    """Shares .64, .35 and .01 with t = .04: √(.04 / .64) = .25, √(.04 / .35) = .338, and 1."""
    assert keeping(np.array([64, 35, 1]), 0.04).tolist() == pytest.approx([0.25, 0.3380617, 1.0])


def test_the_objective_by_hand() -> None:
    """u·v = ln 3 gives σ = 3/4; u·n = −ln 3 gives σ(−u·n) = 3/4; the other negative is the context and is left out.

    With k = 4 and M = 2: −(ln ¾ + 4/2 · ln ¾) = −3 ln ¾.
    """
    model = hand_made([[1.0, 0.0]] * 3, [[np.log(3), 5.0], [-np.log(3), 7.0], [0.0, 0.0]])
    value = objective(model, batch_of([2], [0], [0, 1]), 4)
    assert value.item() == pytest.approx(-3 * np.log(0.75), rel=1e-6)


def test_gradients_by_finite_differences() -> None:
    torch.manual_seed(0)
    model = SkipGram(5, 3).double()
    with torch.no_grad():
        model.contexts.normal_()
    batch = batch_of([0, 1, 0], [2, 3, 1], [3, 4])
    objective(model, batch, 2).backward()  # type: ignore[no-untyped-call]
    for weights in (model.words, model.contexts):
        gradient = weights.grad.to_dense()
        assert torch.allclose(gradient, differences(model, weights, batch), atol=1e-7)


def differences(model: SkipGram, weights: Tensor, batch: Batch, step: float = 1e-6) -> Tensor:
    result = torch.zeros_like(weights)
    with torch.no_grad():
        for index in np.ndindex(*weights.shape):
            values = []
            for sign in (1, -1):
                weights[index] += sign * step
                values.append(objective(model, batch, 2).item())
                weights[index] -= sign * step
            result[index] = (values[0] - values[1]) / (2 * step)
    return result


def test_every_pair_is_in_a_batch_once_and_negatives_follow_the_frequencies() -> None:
    corpus = corpus_of()
    config = replace(CONFIG, window=1, batch=7, shared=1_000)
    drawn = list(batches(corpus, config, np.random.default_rng(0)))
    pairs = [pair for batch in drawn for pair in zip(batch.words.tolist(), batch.contexts.tolist(), strict=True)]
    expected = nearby(corpus.tokens, corpus.texts, np.ones(len(corpus.tokens), dtype=np.int64))
    assert sorted(pairs) == sorted(map(tuple, expected.tolist()))
    assert pairs != [tuple(pair) for pair in expected.tolist()]
    shares = np.bincount(np.concatenate([batch.negatives for batch in drawn]), minlength=len(corpus.words))
    weights = corpus.counts**0.75
    np.testing.assert_allclose(shares / shares.sum(), weights / weights.sum(), atol=0.01)


def trained(seed: int = 1) -> tuple[SkipGram, Corpus]:
    corpus = corpus_of()
    torch.manual_seed(seed)
    model = SkipGram(len(corpus.words), CONFIG.dimension)
    training = Training(model, adagrad(model, CONFIG.learning_rate), seed=seed)
    list(train_words(training, corpus, CONFIG, evaluate=lambda: likelihood(model, corpus, CONFIG, seed=0)))
    return model, corpus


def test_words_of_the_same_contexts_come_together() -> None:
    model, corpus = trained()
    rows = dict(zip(corpus.words, model.vectors(), strict=True))

    def cosine(a: str, b: str) -> float:
        return float(rows[a] @ rows[b] / np.linalg.norm(rows[a]) / np.linalg.norm(rows[b]))

    assert cosine("purrs", "sleeps") > 0.8 > cosine("purrs", "sinks")
    assert cosine("sails", "sinks") > 0.8 > cosine("sails", "sleeps")
    untrained = SkipGram(len(corpus.words), CONFIG.dimension)
    assert likelihood(model, corpus, CONFIG, seed=5) > likelihood(untrained, corpus, CONFIG, seed=5)
    assert np.array_equal(trained()[0].vectors(), model.vectors())


def test_held_out_texts_need_two_words() -> None:
    corpus = corpus_of()
    with pytest.raises(ValueError, match="held-out texts with two known words, but got none"):
        likelihood(SkipGram(len(corpus.words), 8), corpus.others(["cat", "unheard"]), CONFIG, seed=0)


def test_few_texts_of_which_subsampling_keeps_hardly_a_word_are_told() -> None:
    corpus, config = corpus_of(), replace(CONFIG, subsample=1e-4)
    model = SkipGram(len(corpus.counts), config.dimension)
    training = Training(model, adagrad(model, config.learning_rate), seed=1)
    with pytest.raises(ValueError, match=r"0\.0001 keeps 3\.0% of these \d+; raise it, for example to 0\.01"):
        next(train_words(training, corpus, config, evaluate=lambda: 0.0))
