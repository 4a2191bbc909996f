from pathlib import Path

import numpy as np
import pytest
import torch

from kg_index.relations.pools import PoolQuestion
from kg_index.relations.relation_scorers import CosineScorer
from qa_core.encoders.sentence_layout import SentenceLayout
from qa_core.encoders.transformer_encoder import TransformerEncoder
from qa_core.types import IntArray

pytest.importorskip("transformers", reason="training a transformer needs the extra 'minilm'")

from kg_index.relations.tuned_scorer import tuned_scorer
from kg_index.training.question_tuning import (
    QuestionNetwork,
    TuningConfig,
    TuningData,
    batch_loss,
    network_vectors,
    tune,
    tuning_of,
)
from qa_core.training.transformer_tuning import TransformerReader, load_tunable

POOL = ("http://g/cats", "http://g/sleep", "http://g/unhappyDay")
ASKED = {"why <m>": 0, "do <m> sleep": 1, "why do <m> sleep": 2, "day of <m>": 0, "<m>": 1}
QUESTIONS = [PoolQuestion(template, POOL, POOL[gold]) for template, gold in ASKED.items()]
QUESTIONS += [PoolQuestion("cats <m> ?", POOL[:2], POOL[1]), PoolQuestion("why <m>", POOL[::-1], POOL[0])]
TOY = TuningConfig(epochs=60, batch=2, learning_rate=0.02, frozen=0)


@pytest.fixture
def encoder(tiny_bert: Path, tmp_path: Path) -> TransformerEncoder:
    return TransformerEncoder.load(tiny_bert, cache=tmp_path / "cache")


@pytest.fixture
def module(tiny_bert: Path) -> QuestionNetwork:
    return QuestionNetwork(load_tunable(SentenceLayout.read(tiny_bert))).eval()


@pytest.fixture
def reader(tiny_bert: Path) -> TransformerReader:
    return TransformerReader(SentenceLayout.read(tiny_bert))


@pytest.fixture
def data(encoder: TransformerEncoder, reader: TransformerReader) -> TuningData:
    return TuningData.of(QUESTIONS, rows_of(reader), CosineScorer(encoder.encode).relations)


def rows_of(reader: TransformerReader):
    def rows(texts) -> list[IntArray]:
        return reader.rows(texts, side="question")

    return rows


def words(texts) -> np.ndarray:
    """A vector of length 1 a text, the same every time."""
    rows = [np.random.default_rng(list(text.encode())).normal(size=8) for text in texts]
    return (np.array(rows) / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_the_loss_is_that_of_the_scores_an_encoder_gives(
    module: QuestionNetwork, encoder: TransformerEncoder, data: TuningData
) -> None:
    members = [0, 2, 5, 6]
    chosen = [QUESTIONS[item] for item in members]
    scorer = tuned_scorer(encoder.encode, encoder.encode, scale=20.0, keywords=5.0)
    scores = scorer.score([item.template for item in chosen], [item.pool for item in chosen])
    within = [
        np.log(np.exp(scored).sum()) - scored[item.gold_index] for scored, item in zip(scores, chosen, strict=True)
    ]
    cosines = CosineScorer(encoder.encode).score([item.template for item in chosen], [POOL] * len(chosen))
    over = [
        np.log(np.exp(20 * scored).sum()) - 20 * scored[POOL.index(item.gold)]
        for scored, item in zip(cosines, chosen, strict=True)
    ]
    loss = batch_loss(module, data, np.array(members), every=0.5)
    assert loss.item() == pytest.approx(np.mean(within) + 0.5 * np.mean(over), abs=1e-4)


def test_it_learns_the_toy_task_and_leaves_word_vectors(module: QuestionNetwork, reader: TransformerReader) -> None:
    data = TuningData.of(QUESTIONS, rows_of(reader), CosineScorer(words).relations)
    before = {name: item.detach().clone() for name, item in module.named_parameters()}
    reports = list(tune(tuning_of(module, TOY, seed=1), data, TOY))
    assert reports[-1].loss < 0.2 * reports[0].loss
    factors = {"scale": module.scale.item(), "keywords": module.keywords.item()}
    scorer = tuned_scorer(network_vectors(module, rows_of(reader), 8), words, **factors)
    *scores, blank = scorer.score([*ASKED], [POOL] * len(ASKED))
    assert [int(scored.argmax()) for scored in scores] == [*ASKED.values()][:-1]
    assert not blank.any()  # nothing is left of it without its slot, and no encoder reads that
    changed = {name for name, item in module.named_parameters() if not torch.equal(item, before[name])}
    assert "encoder.model.embeddings.word_embeddings.weight" not in changed
    assert {"scale", "keywords", "encoder.model.encoder.layer.0.output.dense.weight"} <= changed


def test_the_same_seed_gives_the_same_weights(tiny_bert: Path, data: TuningData) -> None:
    states = []
    for _ in range(2):
        torch.manual_seed(3)  # the tiny model has no pooler, and draws an unused one
        again = QuestionNetwork(load_tunable(SentenceLayout.read(tiny_bert)))
        list(tune(tuning_of(again, TOY, seed=3), data, TuningConfig(epochs=2, batch=2, frozen=0)))
        states.append(again.state_dict())
    assert all(torch.equal(item, states[1][name]) for name, item in states[0].items())


def test_the_best_epoch_stays(module: QuestionNetwork, data: TuningData) -> None:
    figures = iter([0.5, 0.9, 0.7])
    steps: list[torch.Tensor] = []

    def measured(network: QuestionNetwork) -> float:
        steps.append(network.scale.detach().clone())
        return next(figures)

    training = tuning_of(module, TOY, seed=1)
    list(tune(training, data, TuningConfig(epochs=3, batch=2, learning_rate=0.01), evaluate=measured))
    assert training.best is not None
    assert training.best.epoch == 2
    assert torch.equal(module.scale, steps[1])
    assert not torch.equal(module.scale, steps[2])


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_each_question_stands_in_one_batch_beside_those_that_read_the_same(data: TuningData, size: int) -> None:
    batches = data.batches(size, np.random.default_rng(1))
    assert sorted(np.concatenate(batches)) == [*range(len(QUESTIONS))]
    assert all((0 in batch) == (6 in batch) for batch in batches)
    texts = [len(set(data.which[batch])) for batch in batches]
    assert min(texts) >= min(size, len(data.tokens))


def test_vectors_are_those_of_the_encoder(
    module: QuestionNetwork, encoder: TransformerEncoder, reader: TransformerReader
) -> None:
    texts = ["why do cats sleep", "", "day", " "]
    scored = network_vectors(module, rows_of(reader), 8)
    np.testing.assert_allclose(scored(texts), encoder.encode(texts), atol=1e-5)
    assert scored([]).shape == (0, 8)


def test_frozen_layers_stay(tiny_bert: Path) -> None:
    """The tiny model has one layer: it cannot be frozen, since nothing would be left to train."""
    encoder = load_tunable(SentenceLayout.read(tiny_bert))
    encoder.model.encoder.layer.append(torch.nn.Linear(2, 2))
    below, above = (
        {item.requires_grad for item in layer.parameters()}
        for layer in QuestionNetwork(encoder, frozen=1).encoder.model.encoder.layer
    )
    assert (below, above) == ({False}, {True})
    with pytest.raises(ValueError, match="fewer than 2 frozen layers, but got 2"):
        QuestionNetwork(encoder, frozen=2)


def test_no_questions_are_refused(encoder: TransformerEncoder, reader: TransformerReader) -> None:
    with pytest.raises(ValueError, match="but got none"):
        TuningData.of([], rows_of(reader), CosineScorer(encoder.encode).relations)
