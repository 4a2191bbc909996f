import numpy as np
import pytest

from qa_core.training.loop import seed_everything
from rankers.answer_selection.siamese_cosine import PeerShape, SiameseCosineRanker
from rankers.trainable import score_no_grad

KINDS = [("bilstm", False), ("cnn", False), ("bilstm", True), ("cnn", True)]
ODD = ["", "unheard of", "🙂", "bal", "bal lives at home where does live live live"]


def siamese(source, encoder, attentive, **shape) -> SiameseCosineRanker:
    seed_everything(1)
    return SiameseCosineRanker.of(source, PeerShape(encoder, attentive, hidden=8, filters=12, **shape))


def test_a_convolution_by_hand(source):
    """Filters over three words, padded by zeros; tanh; the maximum over time; cosine."""
    scorer = siamese(source, "cnn", False)
    weight = scorer.model.convolution.weight.detach().numpy()  # (C, D, 3)
    bias = scorer.model.convolution.bias.detach().numpy()

    def pooled(text):
        rows = np.pad(source.vectors(text.split()), ((1, 1), (0, 0)))
        states = [np.einsum("cdk,kd->c", weight, rows[i : i + 3]) + bias for i in range(len(rows) - 2)]
        return np.tanh(states).max(0)

    q, a = pooled("where does bal live"), pooled("bal lives")
    expected = q @ a / np.linalg.norm(q) / np.linalg.norm(a)
    np.testing.assert_allclose(scorer.score([("where does bal live", "bal lives")]), [expected], rtol=1e-5)


def test_attentive_pooling_by_hand(source):
    scorer = siamese(source, "cnn", True)
    U = scorer.model.U.detach().numpy()
    texts = scorer.read(["where does bal live"], ["bal lives"])
    Q, A = (scorer.model.states(*texts.padded(np.array([row]))).detach().numpy()[0] for row in (0, 1))
    G = np.tanh(Q @ U @ A.T)

    def softmax(x):
        return np.exp(x) / np.exp(x).sum()

    q, a = softmax(G.max(1)) @ Q, softmax(G.max(0)) @ A
    expected = q @ a / np.linalg.norm(q) / np.linalg.norm(a)
    np.testing.assert_allclose(scorer.score([("where does bal live", "bal lives")]), [expected], rtol=1e-5)


@pytest.mark.parametrize(("encoder", "attentive"), KINDS)
def test_groups_and_truncation_do_not_change_scores(source, pool, encoder, attentive, monkeypatch):
    scorer = siamese(source, encoder, attentive)
    pairs = [*pool.pairs(), *((one, other) for one in ODD for other in ODD)]
    scores = scorer.score(pairs)
    monkeypatch.setattr("rankers.answer_selection.siamese_cosine._POSITIONS", 9)  # many small groups
    np.testing.assert_allclose(scorer.score(pairs[::-1])[::-1], scores, rtol=1e-4, atol=1e-5)
    cut = siamese(source, encoder, attentive, max_words=2)
    np.testing.assert_array_equal(cut.score([("bal", "bal lives " * 50_000)]), cut.score([("bal", "bal lives")]))


def test_gradients_reach_all_trainable_weights(source, pool):
    for encoder, attentive in KINDS:
        scorer = siamese(source, encoder, attentive)
        texts = scorer.read(pool.questions, pool.answers)
        scorer.scores(texts, pool.question, pool.answer).square().sum().backward()
        assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in scorer.model.parameters())
        assert not texts.vectors.requires_grad
        assert score_no_grad(scorer, texts, pool.question, pool.answer).shape == (len(pool),)


def test_bad_shapes_are_refused(source):
    with pytest.raises(ValueError, match="hidden = 0, window = 2, dropout = 1"):
        SiameseCosineRanker.of(source, PeerShape(hidden=0, window=2, dropout=1))
