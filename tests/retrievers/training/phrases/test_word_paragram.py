from dataclasses import replace

import numpy as np
import pytest
import torch

from qa_core.training.loop import Training
from retrievers.training.phrases.forbidden_negatives import Constraints
from retrievers.training.phrases.word_paragram import (
    ParagramConfig,
    WordTable,
    adagrad,
    hinge,
    negatives,
    objective,
    principal,
    train_table,
)

TOY = np.array([[0, 1], [2, 3], [4, 5], [6, 7]])
CONFIG = ParagramConfig(sampling="max", batch=4, epochs=30, learning_rate=0.05, regularisation=0.0, constraints=False)


def start(words: int = 8, dimension: int = 6, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(words, dimension)).astype(np.float32)


def trained(config: ParagramConfig, *, vectors: np.ndarray | None = None, **options) -> WordTable:
    table = WordTable(start() if vectors is None else vectors, sparse=config.regularisation == 0)
    for _ in train_table(Training(table, adagrad(table, config), seed=1), TOY, config, **options):
        pass
    return table


def cosines(vectors: np.ndarray) -> np.ndarray:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T


def test_the_hinge_by_hand():
    # pair (1, 0)·(0.6, 0.8) = 0.6; negatives: (0.8, 0.6) with the first 0.8, (0, 1) with the second 0.8
    pairs = torch.tensor([[[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [1.0, 0.0]]])
    wrong = torch.tensor([[[0.8, 0.6], [0.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]]])
    there = torch.ones(2, 2, dtype=torch.bool)
    # pair 1: (1 − .6 + .8) + (1 − .6 + .8) = 2.4; pair 2: max(0, 1 − 1 − 1) + (1 − 1 + 0) = 0
    assert hinge(pairs, wrong, there, similarity="dot", margin=1.0).item() == pytest.approx(1.2)
    assert hinge(3 * pairs, 2 * wrong, there, similarity="cosine", margin=1.0).item() == pytest.approx(1.2)
    there[0, 1] = False
    assert hinge(pairs, wrong, there, similarity="dot", margin=1.0).item() == pytest.approx(0.6)


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_gradients_agree_with_finite_differences(similarity, assert_gradients):
    config = ParagramConfig(similarity=similarity, regularisation=0.3, margin=1.0)
    table = WordTable(start(6, 3)).double()
    with torch.no_grad():
        table.change += 0.1 * torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    pairs, wrong = torch.tensor([[0, 1], [2, 3]]), torch.tensor([[4, 2], [5, 0]])
    there = torch.tensor([[True, True], [True, False]])

    assert_gradients(table, lambda: objective(table, pairs, wrong, there, config))


def test_weight_decay_of_the_change_is_the_gradient_of_the_regulariser():
    config = replace(CONFIG, regularisation=0.05)
    pairs, wrong, there = torch.tensor([[0, 1]]), torch.tensor([[2, 3]]), torch.ones(1, 2, dtype=torch.bool)
    ours, plain = WordTable(start()), WordTable(start())
    fast, slow = adagrad(ours, config), torch.optim.Adagrad([plain.change], lr=config.learning_rate)
    for _ in range(5):
        fast.zero_grad()
        hinge(ours(pairs), ours(wrong), there, similarity="cosine", margin=1.0).backward()
        fast.step()
        slow.zero_grad()
        objective(plain, pairs, wrong, there, config).backward()
        slow.step()
    np.testing.assert_allclose(ours.vectors(), plain.vectors(), atol=1e-6)
    assert np.array_equal(ours.vectors()[4:], start()[4:])  # words outside all batches are unchanged


def test_sparse_and_dense_steps_are_the_same():
    sparse = trained(CONFIG)
    dense = WordTable(start())
    for _ in train_table(Training(dense, adagrad(dense, CONFIG), seed=1), TOY, CONFIG):
        pass
    np.testing.assert_allclose(sparse.vectors(), dense.vectors(), atol=1e-5)


def test_max_takes_the_most_similar_allowed_word_of_the_batch():
    rows = np.array([[1, 0], [0.9, 0.1], [0.8, 0.4], [0, 1]], dtype=np.float32)
    table, pairs = WordTable(rows), torch.tensor([[0, 1], [3, 2]])
    chosen, there = negatives(table, pairs, CONFIG)
    assert chosen.tolist() == [[2, 2], [1, 1]]  # never the other word of the pair, however similar
    assert there.all()
    constraints = Constraints.of("abcd", [(0, 2)], lambda _: ())
    chosen, there = negatives(table, pairs, CONFIG, constraints)
    assert chosen.tolist() == [[3, 2], [1, 1]]
    lonely = Constraints.of("abcd", [(0, 2), (0, 3)], lambda _: ())
    assert negatives(table, pairs, CONFIG, lonely)[1].tolist() == [[False, True], [True, True]]


def test_max_compares_by_the_similarity_of_the_objective():
    rows = np.array([[1, 0], [0, 1], [0.5, 0.1], [3, 3]], dtype=np.float32)
    table, pairs = WordTable(rows), torch.tensor([[0, 1], [2, 3]])
    assert negatives(table, pairs, CONFIG)[0][0, 0] == 2
    assert negatives(table, pairs, replace(CONFIG, similarity="dot"))[0][0, 0] == 3


@pytest.mark.parametrize("sampling", ["rand", "mix"])
def test_random_negatives_are_allowed_words(sampling):
    table, pairs = WordTable(start(20)), torch.arange(20).reshape(10, 2)
    drawn = {
        tuple(negatives(table, pairs, replace(CONFIG, sampling=sampling))[0].flatten().tolist()) for _ in range(20)
    }
    assert len(drawn) > 1
    for chosen in drawn:
        for word, other in enumerate(chosen):
            assert other // 2 != word // 2


@pytest.mark.parametrize("sampling", ["max", "rand", "mix"])
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_paraphrases_become_nearest_neighbours(sampling, similarity):
    config = replace(CONFIG, sampling=sampling, similarity=similarity, epochs=60, learning_rate=0.2)
    vectors = trained(config).vectors()
    similarities = cosines(vectors) if similarity == "cosine" else vectors @ vectors.T
    np.fill_diagonal(similarities, -np.inf)
    assert similarities.argmax(1).tolist() == [1, 0, 3, 2, 5, 4, 7, 6]
    assert cosines(start()).argsort(1)[:, -2].tolist() != similarities.argmax(1).tolist()


def test_the_regulariser_keeps_words_near_their_initial_vectors():
    free, held = (trained(replace(CONFIG, regularisation=much)) for much in (0.0, 1.0))
    away = [np.square(table.vectors() - start()).sum() for table in (free, held)]
    assert away[1] < 0.25 * away[0]


def test_training_ends_with_the_best_epoch():
    seen = []

    def evaluate(vectors: np.ndarray) -> float:
        seen.append(vectors.copy())
        return -abs(len(seen) - 3)

    table = trained(replace(CONFIG, patience=2), evaluate=evaluate)
    assert len(seen) == 5
    assert np.array_equal(table.vectors(), seen[2])


@pytest.mark.parametrize("sampling", ["max", "mix"])
@pytest.mark.parametrize("regularisation", [0.0, 1e-3])
def test_a_resumed_run_ends_with_the_same_vectors(assert_resumes, sampling, regularisation):
    config = replace(CONFIG, sampling=sampling, regularisation=regularisation, batch=2, epochs=6)

    def begin():
        table = WordTable(start(), sparse=regularisation == 0)
        return None, Training(table, adagrad(table, config), seed=1)

    assert_resumes(begin, lambda _, training: train_table(training, TOY, config, report_every=1), step=5)


def test_a_batch_is_at_most_all_of_the_data():
    assert np.array_equal(trained(replace(CONFIG, batch=1000)).vectors(), trained(CONFIG).vectors())


@pytest.mark.parametrize("pairs", [np.empty((0, 2), np.int64), np.array([[0, 1], [1, 0]])])
def test_pairs_without_a_negative_are_refused(pairs):
    table = WordTable(start())
    with pytest.raises(ValueError, match=f"three different words.*got {len(np.unique(pairs))}"):
        next(train_table(Training(table, adagrad(table, CONFIG), seed=1), pairs, CONFIG))


def test_principal_axes():
    line = np.outer(np.arange(5), [3.0, 4.0]).astype(np.float32)
    assert np.abs(principal(line, 1)[:, 0]).tolist() == pytest.approx([10, 5, 0, 5, 10])
    vectors = start(50, 6)
    whole = principal(vectors, 6)
    centred = vectors - vectors.mean(0)
    np.testing.assert_allclose(whole @ whole.T, centred @ centred.T, atol=1e-4)
    assert (np.diff(whole.var(0)) <= 0).all()
    with pytest.raises(ValueError, match=r"from 1 to 6.*got 7"):
        principal(vectors, 7)
