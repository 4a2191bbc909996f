from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from qa_core.encoders.mapped_tensors import write_tensors
from qa_core.networks.checkpoints import save_model
from qa_core.training.loop import Training, seed_everything
from qa_core.vectors.word_vectors import WordVectors
from rankers.answer_selection.frozen_words import PieceWords, TableWords, read_texts
from rankers.answer_selection.hyperqa import HyperQA, HyperQAConfig, HyperShape, optimiser
from rankers.training.pair_training import PairwiseConfig, train_pairwise


def scorer_of(source, **shape) -> HyperQA:
    seed_everything(1)
    return HyperQA.of(source, HyperShape(**{"projection": 6, **shape}))


def weighted(scorer: HyperQA, weight, bias) -> HyperQA:
    with torch.no_grad():
        scorer.model.projection.weight.copy_(torch.tensor(weight))
        scorer.model.projection.bias.copy_(torch.tensor(bias))
    return scorer


def test_hand_worked_scores():
    words = TableWords.of(WordVectors(("a", "b", "c"), np.array([[1, 0], [0, 1], [-1, -1]], dtype=np.float32)))
    scorer = weighted(scorer_of(words, projection=2), [[0.25, 0.0], [0.0, 0.25]], [0.0, 0.0])
    # a a: (½, 0); b b: (0, ½); c is negative throughout and projects to the origin
    np.testing.assert_allclose(scorer.sums(["a a", "b b", "c", ""]), [[0.5, 0], [0, 0.5], [0, 0], [0, 0]], atol=1e-7)
    scores = scorer.score([("a a", "b b"), ("a a", "c"), ("a a", "a a"), ("", "c")])
    np.testing.assert_allclose(scores, [-np.arccosh(1 + 16 / 9), -np.log(3), 0, 0], rtol=1e-6, atol=1e-7)
    assert scores.dtype == np.float32
    # eight times a would stand at 2: it is kept just inside instead
    far = scorer.score([("a " * 8, "c")])
    np.testing.assert_allclose(far, [-2 * np.arctanh(1 - 1e-5)], rtol=1e-6)
    np.testing.assert_allclose(scorer.word_norms(["a", "c"]), [0.25, 0])
    with torch.no_grad():
        scorer.model.w_f.fill_(-2.0)
        scorer.model.b_f.fill_(0.5)
    np.testing.assert_allclose(scorer.score([("a a", "c")]), [0.5 - 2 * np.log(3)], rtol=1e-6)


def test_last_layers_and_cosine(source):
    words = TableWords.of(WordVectors(("a", "b"), np.array([[1, 0], [1, 1]], dtype=np.float32)))
    eye = ([[0.5, 0.0], [0.0, 0.5]], [0.0, 0.0])
    pair = [("a", "b")]
    apart = np.arccosh(1 + 2 * 0.25 / (0.75 * 0.5))
    for last, expected in (("raw", -apart), ("sigmoid", 1 / (1 + np.exp(apart))), ("linear", -apart)):
        scorer = weighted(scorer_of(words, projection=2, last=last), *eye)
        np.testing.assert_allclose(scorer.score(pair), [expected], rtol=1e-6)
    for last in ("linear", "raw"):
        cosine = weighted(scorer_of(words, projection=2, distance="cosine", last=last), *eye)
        np.testing.assert_allclose(cosine.score([*pair, ("", "a")]), [np.sqrt(0.5), 0], rtol=1e-6)
    beside = weighted(scorer_of(words, projection=2, concatenate=True), *eye)
    with torch.no_grad():
        beside.model.w_sums.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_allclose(beside.score(pair), [-apart + 0.5 + 1.5 + 2.0], rtol=1e-6)
    assert scorer_of(source, last="raw").parameters == 8 * 6 + 6
    assert scorer_of(source).parameters == 8 * 6 + 6 + 2
    starter = HyperShape()
    assert 256 * starter.projection + starter.projection + 2 <= 90_000


@pytest.mark.parametrize(
    "shape", [{"riemannian": "off"}, {"distance": "cosine"}, {"last": "sigmoid", "riemannian": "off"}]
)
def test_gradients_against_finite_differences(source, shape):
    scorer = scorer_of(source, initial=0.05, **shape)
    scorer.model.double()
    texts = scorer.read(["where does bal live", "home home"], ["bal lives at home", "", "cemin"])
    texts = replace(texts, vectors=texts.vectors.double())
    questions, answers = np.array([0, 0, 1, 0]), np.array([0, 1, 2, 2])
    weight = scorer.model.projection.weight

    def total(value):
        with torch.no_grad():
            weight.copy_(value)
        return scorer.scores(texts, questions, answers).double().sum()

    at = weight.detach().clone()
    total(at).backward()
    step = 1e-3  # scores are float32
    for row, column in ((0, 0), (2, 5), (5, 7), (3, 1)):
        moved = torch.zeros_like(at)
        moved[row, column] = step
        slope = (total(at + moved) - total(at - moved)).item() / (2 * step)
        assert weight.grad[row, column].item() == pytest.approx(slope, rel=2e-2, abs=2e-3)


def test_riemannian_gradients_of_embeddings(source):
    """Of one pair whose answer is empty: only the question's embedding has a gradient, and it is scaled."""
    gradients = []
    for kind in ("off", "embeddings"):
        scorer = scorer_of(source, initial=0.05, riemannian=kind)
        texts = scorer.read(["where does bal live"], [""])
        scorer.scores(texts, np.array([0]), np.array([0])).sum().backward()
        gradients.append(scorer.model.projection.weight.grad)
    norm = np.linalg.norm(scorer.sums(["where does bal live"]))
    assert 0 < norm < 1
    torch.testing.assert_close(gradients[1], gradients[0] * (1 - norm**2) ** 2 / 4, rtol=1e-4, atol=1e-7)


def test_long_texts_are_truncated(source):
    scorer = scorer_of(source, max_words=10)
    long = "bal lives " * 50_000
    assert scorer.score([("where", long)]) == scorer.score([("where", "bal lives " * 5)])
    texts = read_texts(source, ["unheard of bal where"], ["at bal"], limit=1)
    assert texts.lengths(np.arange(2)).tolist() == [1, 1]
    assert texts.vectors.shape == (2, 8)


def test_training_keeps_rows_in_the_ball(source, pool):
    scorer = scorer_of(source, projection=16, riemannian="rows")
    training = Training(scorer.model, optimiser(scorer, learning_rate=0.1, l2=1e-6), seed=1)
    list(train_pairwise(training, scorer, pool, PairwiseConfig(batch=20, epochs=25, negatives=3, drawn=4)))
    assert (scorer.model.projection.weight.norm(dim=-1) < 1).all()


@pytest.fixture
def pieces(word_pieces: Path) -> PieceWords:
    vectors = np.random.default_rng(0).normal(size=(12, 8)).astype(np.float16)
    write_tensors(word_pieces / "model.safetensors", {"vectors": vectors})
    (word_pieces / "config.json").write_text('{"kind": "static"}', encoding="utf-8")
    return PieceWords.load(word_pieces)


def test_a_model_contains_its_static_encoder(pieces, tmp_path: Path):
    np.testing.assert_array_equal(pieces.vectors(["unhappy", "cats"]), pieces.encoder.encode(["unhappy", "cats"]))
    scorer = scorer_of(pieces)
    pairs = [("why do unhappy cats sleep", "cats sleep day"), ("🙂", "unknown")]
    folder = tmp_path / "model"
    for _ in range(2):  # to a new folder, then to its own folder
        scorer.save(folder, card="")
        again = HyperQA.load(folder)
        np.testing.assert_array_equal(again.score(pairs), scorer.score(pairs))
        scorer = again
    write_tensors(folder / "words" / "model.safetensors", {"vectors": np.ones((12, 8), dtype=np.float16)})
    with pytest.raises(ValueError, match="Expected the word vectors that the model was trained on"):
        HyperQA.load(folder)


def test_bad_models_are_refused(source, tmp_path: Path):
    scorer = scorer_of(source)
    folder = tmp_path / "model"

    def saved(config=scorer.config, vocabulary=source.vocabulary):
        weights = {**scorer.model.state_dict(), **source.tensors}
        save_model(folder, config=config, weights=weights, vocabulary=vocabulary, card="")

    saved(vocabulary=source.vocabulary[::-1])
    with pytest.raises(ValueError, match="Expected the word vectors that the model was trained on"):
        HyperQA.load(folder)
    saved(config=HyperQAConfig(source.config, HyperShape(projection=7)))
    with pytest.raises(ValueError, match=r"projection.weight: expected \(7, 8\), got \(6, 8\)"):
        HyperQA.load(folder)
    with pytest.raises(ValueError, match=r"projection = 0, max_words = 0, edge = 1, dropout = 1, initial = -1"):
        HyperQA.of(source, HyperShape(projection=0, max_words=0, edge=1, dropout=1, initial=-1))
    with pytest.raises(ValueError, match="below 65,504"):
        TableWords.of(WordVectors(("a",), np.array([[1e6]], dtype=np.float32)))
