from dataclasses import replace

import numpy as np
import pytest
import torch

from qa_core.networks.checkpoints import load_weights, save_model
from qa_core.training.loop import Training, seed_everything
from qa_core.vectors.word_vectors import WordVectors
from rankers.answer_selection.blstm import (
    SEPARATOR_ID,
    BLSTMConfig,
    BLSTMScorer,
    BLSTMTraining,
    StackedLSTM,
    optimiser,
    parameters,
    train_blstm,
)
from rankers.training.answer_pool import AnswerPool, AnswerSet
from rankers.training.pair_training import PointwiseConfig, mean_average_precision

TINY = BLSTMConfig(dimension=6, hidden=5, layers=2, max_question=6, max_answer=8)
TEXTS = ["who wrote the book", "it was written by ann", "where is the house"]
PAIRS = [(TEXTS[0], TEXTS[1]), (TEXTS[0], TEXTS[2]), (TEXTS[2], "the house is by the book"), ("who", "ann")]
ODD = ["", "zzz qqq", "😀 😀", "مرحبا بالعالم", "the " * 100_000]


@pytest.fixture
def scorer():
    torch.manual_seed(0)
    return BLSTMScorer.of(TEXTS, TINY)


def sets():
    """Right answers name the person of the question, wrong ones another."""
    names = ["ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal"]
    return [
        AnswerSet(f"where is {n}", (f"{n} is in the house", f"{m} is in the house"), (True, False))
        for n, m in zip(names, names[1:] + names[:1], strict=True)
    ]


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


def test_gradients_agree_with_finite_differences():
    torch.manual_seed(2)
    model = StackedLSTM(BLSTMConfig(vocabulary=7, dimension=3, hidden=2, layers=2)).double()
    tokens, mask = torch.tensor([[3, 2, 4], [5, 2, 0]]), torch.tensor([[True, True, True], [True, True, False]])

    def score() -> torch.Tensor:
        return (model(tokens, mask).sum(1) / mask.sum(1)).square().sum()

    score().backward()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            flat, gradient = weight.view(-1), weight.grad.view(-1)
            for i in range(0, len(flat), max(1, len(flat) // 4)):
                before = flat[i].item()
                flat[i] = before + 1e-6
                above = score().item()
                flat[i] = before - 1e-6
                below = score().item()
                flat[i] = before
                assert gradient[i].item() == pytest.approx((above - below) / 2e-6, rel=1e-4, abs=1e-8), name


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


@pytest.mark.parametrize("change", [{}, {"bidirectional": False}, {"overlap": True}])
def test_scores_do_not_depend_on_batch_order_or_padding(change, assert_independent):
    torch.manual_seed(0)
    scorer = BLSTMScorer.of(TEXTS, replace(TINY, **change))
    pairs = [*PAIRS, *((question, text) for question in ("", TEXTS[0]) for text in ODD)]
    assert_independent(scorer, pairs, rtol=1e-5, atol=1e-6)


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


@pytest.mark.parametrize("kind", ["adam", "sgd"])
def test_it_learns_a_toy_task(kind):
    seed_everything(0)
    pool = AnswerPool.of(sets())
    config = BLSTMConfig(dimension=16, hidden=12, layers=1, overlap=True)
    scorer = BLSTMScorer.of(pool.questions + pool.answers, config)
    settings = BLSTMTraining(
        PointwiseConfig(batch=16, epochs=60, balanced=True),
        optimiser=kind,
        learning_rate={"adam": 0.02, "sgd": 0.3}[kind],
    )
    reports = list(train_blstm(Training(scorer.model, optimiser(scorer, settings), seed=0), scorer, pool, settings))
    assert reports[-1].loss < 0.2 < reports[0].loss
    assert mean_average_precision(scorer, pool) == 1.0


def test_a_saved_one_scores_the_same(scorer, tmp_path):
    scorer.save(tmp_path / "model", card="")
    loaded = BLSTMScorer.load(tmp_path / "model")
    assert loaded.config == scorer.config
    np.testing.assert_array_equal(loaded.score(PAIRS), scorer.score(PAIRS))


def test_nan_other_words_and_other_shapes_are_refused(scorer, tmp_path):
    folder = tmp_path / "model"
    scorer.save(folder, card="")
    weights, words = load_weights(folder), scorer.vocabulary.tokens
    (folder / "vocabulary.txt").write_text("".join(f"{word}\n" for word in words[:-1]))
    with pytest.raises(ValueError, match=f"Expected {len(words)} words"):
        BLSTMScorer.load(folder)
    save_model(folder, config=scorer.config, weights={"label.bias": weights["label.bias"]}, vocabulary=words, card="")
    with pytest.raises(ValueError, match="weights of this network"):
        BLSTMScorer.load(folder)
    from safetensors.numpy import save_file

    weights["label.bias"][0] = np.nan
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(ValueError, match=r"NaN or infinity in .label\.bias"):
        BLSTMScorer.load(folder)


def test_texts_without_a_frequent_word_are_refused():
    with pytest.raises(ValueError, match="Expected a word that occurs 9 times"):
        BLSTMScorer.of(TEXTS, TINY, minimum=9)
