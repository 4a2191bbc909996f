from dataclasses import replace

import numpy as np
import pytest
import torch

from qa_core.vectors.word_vectors import WordVectors
from rankers.answer_selection.blstm import (
    SEPARATOR_ID,
    BLSTMConfig,
    BLSTMScorer,
    StackedLSTM,
    parameters,
)

TINY = BLSTMConfig(dimension=6, hidden=5, layers=2, max_question=6, max_answer=8)
TEXTS = ["who wrote the book", "it was written by ann", "where is the house"]
PAIRS = [(TEXTS[0], TEXTS[1]), (TEXTS[0], TEXTS[2]), (TEXTS[2], "the house is by the book"), ("who", "ann")]


@pytest.fixture
def scorer():
    torch.manual_seed(0)
    return BLSTMScorer.of(TEXTS, TINY)


def test_the_sequence_is_question_separator_answer(scorer):
    texts = scorer.read(["who"], ["ann by"])
    steps, mask = scorer._steps(texts, np.array([0]), np.array([0]))
    who, ann, by = (scorer.vocabulary.ids([w])[0] for w in ("who", "ann", "by"))
    expected = scorer.model(torch.tensor([[who, SEPARATOR_ID, ann, by]]), torch.ones(1, 4, dtype=torch.bool))
    torch.testing.assert_close(steps, expected)
    assert mask.tolist() == [[True] * 4]


def test_pools_are_mean_sum_and_maximum_of_the_steps(scorer):
    texts = scorer.read(TEXTS[:1], TEXTS[1:2])
    zero = np.array([0])
    steps = scorer._steps(texts, zero, zero)[0][0].detach().numpy()
    np.testing.assert_allclose(
        scorer.pools(texts, zero, zero)[0], [steps.mean(), steps.sum(), steps.max()], rtol=1e-5, atol=1e-6
    )
    np.testing.assert_allclose(scorer.score(PAIRS[:1]), [steps.mean()], rtol=1e-5)


def test_states_equal_those_of_torch():
    torch.manual_seed(1)
    model = StackedLSTM(replace(TINY, vocabulary=9, layers=3))
    tokens = torch.tensor([[3, 4, 2, 5]])
    oracle, _ = model.lstm.lstm(model.embedding(tokens))
    torch.testing.assert_close(
        model(tokens, torch.ones(1, 4, dtype=torch.bool)), model.label(oracle).squeeze(-1), rtol=1e-4, atol=1e-5
    )


def test_gradients_agree_with_finite_differences(assert_gradients):
    torch.manual_seed(2)
    model = StackedLSTM(BLSTMConfig(vocabulary=7, dimension=3, hidden=2, layers=2)).double()
    tokens, mask = torch.tensor([[3, 2, 4], [5, 2, 0]]), torch.tensor([[True, True, True], [True, True, False]])
    assert_gradients(model, lambda: (model(tokens, mask).sum(1) / mask.sum(1)).square().sum())


def test_initial_weights_are_gaussian_and_vectors_are_scaled():
    torch.manual_seed(3)
    vectors = WordVectors(("who", "ann", "extra"), np.eye(3, 40, dtype=np.float32) * 7)
    scorer = BLSTMScorer.of(["who ann other"], replace(TINY, hidden=40, length=2.0), pretrained=vectors)
    weights = torch.cat([p.detach().view(-1) for p in scorer.model.lstm.parameters()])
    assert weights.mean().abs() < 0.01
    assert weights.std().item() == pytest.approx(0.1, rel=0.05)
    table = scorer.model.embedding.E_pre
    assert scorer.vocabulary.tokens == ("<pad>", "<unk>", "<S>", "ann", "other", "who", "extra")
    np.testing.assert_allclose(table.norm(dim=1), [0, 0, 2, 2, 0, 2, 2], rtol=1e-5)
    assert parameters(scorer) == sum(p.numel() for p in scorer.model.lstm.parameters()) + 2 * 40 + 1


def test_overlap_marks_words_of_both_sides():
    torch.manual_seed(0)
    scorer = BLSTMScorer.of(TEXTS, replace(TINY, overlap=True))
    seen = []
    scorer.model.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[2].tolist()))
    scorer.score([("who wrote zzz", "zzz wrote it")])
    assert seen == [[[0, 1, 0, 0, 0, 1, 0]]]  # unknown words share a number and are ignored


def test_texts_are_truncated(scorer):
    texts = scorer.read(["the " * 50], ["the " * 50])
    assert (len(texts.questions[0]), len(texts.answers[0])) == (6, 8)


def test_texts_without_a_frequent_word_are_refused():
    with pytest.raises(ValueError, match="Expected a word that occurs 9 times"):
        BLSTMScorer.of(TEXTS, TINY, minimum=9)
