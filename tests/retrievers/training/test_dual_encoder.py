from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from qa_core.encoders.trained_encoder import TrainedEncoder
from qa_core.networks.losses import in_batch_cross_entropy, in_batch_softmax, pairwise_cross_entropy, triplet
from qa_core.networks.poolings import MeanEncoder
from qa_core.training.loop import Training, seed_everything
from qa_core.vectors.word_vectors import WordVectors
from retrievers.training.cached_gradients import encoded
from retrievers.training.dual_encoder import (
    PAPER,
    DualConfig,
    DualEncoder,
    Task,
    batches,
    largest,
    mean_tower,
    optimiser,
    precision,
    train_dual,
)
from retrievers.training.dual_encoder import _encoded as fast
from retrievers.training.dual_encoder import _loss as task_loss
from retrievers.training.encoders.static_tower import StaticConfig, StaticTower
from retrievers.training.encoders.trainable_encoders import Tower, vectors
from retrievers.training.encoders.word_tower import WordConfig
from retrievers.training.questions import Labelled, QuestionSet, texts_of

WORDS = WordConfig(minimum=1, dimension=16)
QUICK = DualConfig(batch=8, learning_rate=0.01, alpha=10.0, epochs=60, patience=20)
MEANINGS = [("car", "auto"), ("film", "movie"), ("doctor", "physician"), ("street", "road"), ("ship", "vessel")]


@pytest.fixture
def toy() -> QuestionSet:
    """Similar questions share only `the`, as do different ones."""
    pairs = [Labelled(f"the {a}", f"the {b}") for a, b in MEANINGS]
    wrong = [
        Labelled(f"the {MEANINGS[n][0]}", f"the {MEANINGS[(n + step) % 5][1]}", similar=False)
        for n in range(5)
        for step in (1, 2, 3)
    ]
    return QuestionSet.of([*pairs, *wrong])


def begun(questions: QuestionSet, config: DualConfig, *, seed: int = 1, tasks: int = 1) -> tuple[Training, Tower]:
    seed_everything(seed)
    tower = mean_tower(questions.texts, WORDS)
    model = DualEncoder(tower.model, tasks=tasks, alpha=config.alpha)
    return Training(model, optimiser(model, config), seed=seed), tower


@pytest.mark.parametrize("loss", ["softmax", "cross-entropy", "triplet", "pairwise"])
def test_every_loss_learns_the_toy_task(toy: QuestionSet, loss: str):
    config = replace(QUICK, loss=loss, epochs=100, patience=40)
    training, tower = begun(toy, config)
    assert precision(tower, [toy], batch=1000) < 1
    *_, last = train_dual(training, tower, [Task("toy", toy)], config, held_out=[toy])
    assert precision(tower, [toy], batch=1000) == 1
    assert last.epoch < 100  # patience ended it


def one_hot_rows(*, alpha: float) -> tuple[DualEncoder, list[np.ndarray]]:
    """An encoder whose word n has the n-th of three unit vectors, or a mixture of the first two as word 3."""

    class Table(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.E = nn.Parameter(torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.8, 0]]))

        def forward(self, tokens: torch.Tensor, mask: torch.Tensor, *, side: str) -> torch.Tensor:
            assert mask.all()
            assert side == "question"
            return self.E[tokens[:, 0]]

    model = DualEncoder(Table(), tasks=2, alpha=alpha)
    return model, [np.array([n]) for n in range(4)]


def test_the_triplet_loss_takes_cosines_and_the_others_logits():
    """Left: words 0, 1, 3; right: words 0, 3, 2, so that the cosines are the matrix below, by hand."""
    cosines = torch.tensor([[1.0, 0.6, 0.0], [0.0, 0.8, 0.0], [0.6, 1.0, 0.0]])
    model, rows = one_hot_rows(alpha=2.0)
    with torch.no_grad():
        model.affines[1].beta.fill_(-0.5)
    config = DualConfig(batch=3)
    questions = QuestionSet.of([Labelled("a", "a b"), Labelled("b", "c"), Labelled("d", "e")])
    batch = next(batches([Task("", questions)], [0], np.random.default_rng(0), config))[0]
    batch = replace(batch, task=1, left=np.array([0, 1, 3]), right=np.array([0, 3, 2]))
    logits = 2 * cosines - 0.5
    expected = {
        "softmax": in_batch_softmax(logits),
        "cross-entropy": in_batch_cross_entropy(logits),
        "triplet": triplet(cosines),
    }
    for loss, value in expected.items():
        loss_value = task_loss(model, batch, rows, replace(config, loss=loss), 100)
        torch.testing.assert_close(loss_value, value)
    labels = np.array([True, False, True])
    pairwise = task_loss(
        model, replace(batch, allowed=None, labels=labels), rows, replace(config, loss="pairwise"), 100
    )
    torch.testing.assert_close(pairwise, pairwise_cross_entropy(logits.diagonal(), torch.from_numpy(labels)))
    # row by row: max(0, .5 − 1 + .6), max(0, .5 − .8 + 0), max(0, .5 − 0 + 1)
    assert expected["triplet"].item() == pytest.approx((0.1 + 0 + 1.5) / 3)


@pytest.mark.parametrize("loss", ["softmax", "cross-entropy", "triplet", "pairwise"])
def test_gradients_are_those_of_finite_differences(toy: QuestionSet, loss: str, assert_gradients):
    config = replace(QUICK, loss=loss, alpha=3.0)
    training, tower = begun(toy, config)
    model = training.model.double()
    rows = tower.rows(toy.texts, side="question")
    (batch,) = next(batches([Task("toy", toy)], [0], np.random.default_rng(0), config))
    names = assert_gradients(model, lambda: task_loss(model, batch, rows, config, 1000))
    unused = {name for name, _ in model.named_parameters()} - names
    assert bool(unused) == (loss == "triplet")  # which does not use the affine map


def test_a_mean_without_padding_is_the_mean(toy: QuestionSet):
    tower = mean_tower(toy.texts, WORDS)
    two_tables = MeanEncoder(replace(tower.model.config, pretrained=True))
    two_tables.embedding.set_pretrained(torch.randn(tower.model.config.vocabulary, 16))
    for model in (tower.model, two_tables):
        rows = [*tower.rows([*toy.texts, "the the car"], side="question"), np.array([], dtype=np.int64)]
        torch.testing.assert_close(fast(model, rows, 100), encoded(model, rows, side="question", tokens=100))


def test_batches_hold_every_pair_once_and_mask_similar_questions(toy: QuestionSet):
    chain = QuestionSet.of([Labelled("a", "b"), Labelled("b", "c"), Labelled("d", "e")])
    config = DualConfig(batch=3)
    rng = np.random.default_rng(2)
    tasks = [Task("chain", chain), Task("toy", toy)]
    steps = list(batches(tasks, [0, 1], rng, config))
    assert [[len(part) for part in step] for step in steps] == [[3, 3], [3, 2]]
    seen = {tuple(sorted(pair)) for step in steps for pair in zip(step[1].left, step[1].right, strict=True)}
    assert seen == set(map(tuple, toy.similar.tolist()))
    first = steps[0][0]
    component = chain.closure()
    for i, left in enumerate(first.left):
        assert first.allowed[i].tolist() == [component[left] != component[right] for right in first.right]
    alone = list(batches(tasks, [0], rng, replace(config, batch=1000)))  # larger than the data
    assert [[len(part) for part in step] for step in alone] == [[3]]
    labelled = [part for (part,) in batches([Task("toy", toy)], [0], rng, replace(config, loss="pairwise"))]
    assert sum(int(part.labels.sum()) for part in labelled) == 5
    assert sum(map(len, labelled)) == 20


def test_precision_by_hand():
    """Words x and y are orthogonal, and the last question has no known word."""
    questions = QuestionSet.of(
        [Labelled("x", "x x"), Labelled("y", "x y"), Labelled("y", "y x x"), Labelled("none", "nil")]
    )
    tower = mean_tower(["x y", "x y"], WordConfig(minimum=1), pretrained=WordVectors(("x", "y"), np.eye(2, dtype="f4")))
    # x matches `x x`; y matches `x y` and the similar `y x x`; a zero vector matches nothing
    assert precision(tower, [questions], batch=10) == 3 / 4
    assert precision(tower, [questions, questions], batch=10) == 3 / 4
    assert precision(tower, [questions], batch=1) == 1  # a single pair per batch is always right


def test_tasks_share_only_the_encoder(toy: QuestionSet):
    other = QuestionSet.of([Labelled("the car", "the road"), Labelled("the film", "the vessel")])
    both = [Task("toy", toy), Task("other", other)]
    assert largest(both) == 0
    training, tower = begun(QuestionSet.of([], texts_of([toy, other])), QUICK, tasks=2)
    before = vectors(tower, toy.texts, side="question")
    list(train_dual(training, tower, both, replace(QUICK, epochs=3), only=0))
    alphas = [affine.alpha.item() for affine in training.model.affines]
    assert alphas[0] != 10
    assert alphas[1] == 10
    assert not np.allclose(before, vectors(tower, toy.texts, side="question"))
    list(train_dual(training, tower, both, replace(QUICK, epochs=6)))
    assert training.model.affines[1].alpha.item() != 10


def test_a_resumed_run_ends_with_the_same_model(toy: QuestionSet, assert_resumes):
    config = replace(QUICK, batch=2, epochs=4)  # three steps per epoch, interrupted in the second

    def run(tower, training):
        return train_dual(training, tower, [Task("toy", toy)], config, held_out=[toy], report_every=1)

    assert_resumes(lambda: begun(toy, config)[::-1], run, step=4)


def test_a_saved_encoder_gives_the_same_vectors(toy: QuestionSet, tmp_path: Path):
    training, tower = begun(toy, QUICK)
    list(train_dual(training, tower, [Task("toy", toy)], QUICK, held_out=[toy]))
    tower.save(tmp_path / "out", card="# card", made_with={})
    encoder = TrainedEncoder.load(tmp_path / "out")
    expected = vectors(tower, toy.texts, side="question")
    np.testing.assert_allclose(encoder.encode(toy.texts), expected, atol=1e-6)


def test_a_static_encoder_learns(tiny_static: Path):
    questions = QuestionSet.of(
        Labelled(f"what do {a} eat", f"{b} like") for a, b in [("cats", "mice"), ("cows", "grass")]
    )
    tower = StaticTower.of(tiny_static, questions.texts, StaticConfig(dropout=0.0))
    model = DualEncoder(tower.model, tasks=1, alpha=10.0)
    training = Training(model, optimiser(model, QUICK), seed=0)
    list(train_dual(training, tower, [Task("toy", questions)], QUICK))
    assert precision(tower, [questions], batch=10) == 1


def test_initial_vectors_bring_their_words():
    vectors_ = WordVectors(("the", "car", "boat"), np.eye(3, dtype=np.float32))
    tower = mean_tower(["the car", "the auto"], WORDS, pretrained=vectors_)
    tokens = tower.reader.vocabulary.tokens
    assert tokens == ("<pad>", "<unk>", "the", "auto", "car", "boat")
    table = tower.model.embedding.E_tune
    assert table is not None
    assert table[2:].tolist() == [[1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert tower.known == ("auto", "boat", "car", "the")
    often = mean_tower(["the car", "the auto"], replace(WORDS, known=2), pretrained=vectors_)
    assert often.known == ("boat", "car", "the")  # those with a vector
    assert mean_tower(["the car"], replace(WORDS, vocabulary=2)).reader.vocabulary.tokens[2:] == ("car", "the")


def test_bad_input_is_refused(toy: QuestionSet):
    with pytest.raises(ValueError, match=r"at least two words that occur 1 times.*lower `minimum`"):
        mean_tower(["same", "same same"], WORDS)
    training, tower = begun(toy, QUICK)
    empty = QuestionSet.of([], others=["the car"])
    with pytest.raises(ValueError, match="got none in empty"):
        list(train_dual(training, tower, [Task("empty", empty)], QUICK))
    positive = QuestionSet.of([Labelled("the car", "the auto")])
    with pytest.raises(ValueError, match="labelled 0 for the pairwise loss, but got none in half"):
        list(train_dual(training, tower, [Task("half", positive)], replace(QUICK, loss="pairwise")))


def test_in_the_paper_known_similar_questions_are_negatives():
    """All pairs of one batch are of one component."""
    questions = QuestionSet.of([Labelled("a", "b"), Labelled("b", "c")])
    for config, masked in ((DualConfig(batch=2), True), (PAPER, False)):
        batch = next(batches([Task("", questions)], [0], np.random.default_rng(0), config))[0]
        assert batch.allowed.all() != masked
        assert batch.allowed.any() != masked
    assert (PAPER.learning_rate, PAPER.batch, PAPER.momentum, PAPER.loss) == (0.01, 1000, 0.9, "softmax")
