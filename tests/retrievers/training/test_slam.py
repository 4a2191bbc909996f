from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from qa_core.encoders.sentence_layout import SentenceLayout
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.encoders.trained_encoder import TrainedEncoder
from qa_core.training.loop import Training, seed_everything
from qa_core.training.resume import load_training, save_training
from qa_core.vectors.word_vectors import WordVectors
from retrievers.training.encoders.static_tower import StaticConfig, StaticTower
from retrievers.training.encoders.trainable_encoders import vectors
from retrievers.training.encoders.word_tower import PAPER, WordConfig, WordTower
from retrievers.training.examples import Examples, Pair
from retrievers.training.slam import SlamConfig, loss_of, measured, optimiser, train_slam, with_hard_negatives

CONFIG = SlamConfig(batch=8, epochs=25, learning_rate=0.05, scale=10.0)
SLOW = replace(CONFIG, epochs=120, learning_rate=0.01, clip=1.0)  # for a recurrent network
FAST = replace(CONFIG, learning_rate=0.1, epochs=60)  # for rows of length 4
SMALL = WordConfig(minimum=1, dimension=16, hidden=32, output=16, dropout=0.0)


def texts(examples: Examples) -> list[str]:
    return [*examples.questions, *examples.answers]


def word_tower(kind, examples, config=SMALL, **options) -> WordTower:
    seed_everything(1)
    return WordTower.of(kind, texts(examples), config, **options)


def trained(tower, examples, config=CONFIG, **options) -> Training:
    training = Training(tower.model, optimiser(tower, config), seed=1)
    for _ in train_slam(training, tower, examples, config, **options):
        pass
    return training


def same_after_saving(tower, folder: Path, load, examples: Examples, *, cosine: float = 1 - 1e-5) -> None:
    tower.save(folder, card="# card\n", made_with={"seed": 1})
    encoder = load(folder)
    for side in ("question", "answer"):
        ours, theirs = vectors(tower, texts(examples), side=side), encoder.encode(texts(examples), side=side)
        assert (ours * theirs).sum(1).min() > cosine


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("mean", CONFIG),
        ("mean", replace(CONFIG, loss="softmax")),
        ("mean", replace(CONFIG, loss="triplet")),
        ("bilstm", SLOW),
    ],
    ids=["mean slam", "mean softmax", "mean triplet", "bilstm slam"],
)
def test_word_encoders_overfit_the_toy_task(toy: Examples, tmp_path: Path, kind: str, config: SlamConfig):
    tower = word_tower(kind, toy)
    before = measured(tower, toy)
    trained(tower, toy, config)
    assert measured(tower, toy).success == 1.0 > before.success
    same_after_saving(tower, tmp_path / "out", TrainedEncoder.load, toy)


def test_the_static_table_overfits_the_toy_task(toy: Examples, tiny_static: Path):
    tower = StaticTower.of(tiny_static, texts(toy), StaticConfig(dropout=0.1))
    start = StaticEncoder.load(tiny_static)
    np.testing.assert_allclose(vectors(tower, toy.questions, side="question"), start.encode(toy.questions), atol=1e-6)
    before = measured(tower, toy)
    trained(tower, toy, FAST)
    assert measured(tower, toy).success >= 7 / 8 > before.success  # `bamboo` is not a token and not frequent


def test_a_frequent_word_becomes_a_token(toy: Examples, tiny_static: Path, tmp_path: Path):
    often = [*texts(toy), *["bamboo zq 4711"] * 5]
    tower = StaticTower.of(tiny_static, often, StaticConfig())
    assert [len(row) for row in tower.rows(["bamboo like", "zq", ""], side="answer")] == [2, 0, 0]
    assert set(tower.known) == {"do", "eat", "they", "like", "bamboo", "zq", "4711"}
    trained(tower, toy, FAST)
    assert measured(tower, toy).success == 1.0
    same_after_saving(tower, tmp_path / "out", StaticEncoder.load, toy, cosine=0.999)  # eight bits a number
    assert StaticEncoder.load(tmp_path / "out").knows("bamboo")
    assert len(StaticTower.of(tiny_static, often, StaticConfig(new_words=0)).rows(["bamboo"], side="answer")[0]) == 0


@pytest.mark.slow
def test_a_transformer_overfits_a_toy_task(tiny_bert_source: Path, tmp_path: Path):
    pytest.importorskip("transformers", reason="training a transformer needs the extra 'minilm'")
    from qa_core.encoders.transformer_encoder import TransformerEncoder
    from retrievers.training.encoders.transformer_tower import TransformerConfig, TransformerTower

    toy = Examples.of([Pair("cats", "sleep"), Pair("un", "day"), Pair("why", "do"), Pair("unhappy", "?")])
    tower = TransformerTower.of(tiny_bert_source, TransformerConfig(max_tokens=8))
    trained(tower, toy, replace(SLOW, epochs=60))
    assert measured(tower, toy).success == 1.0
    same_after_saving(
        tower, tmp_path / "out", lambda folder: TransformerEncoder.load(folder, cache=tmp_path / "cache"), toy
    )
    assert SentenceLayout.read(tmp_path / "out").max_length == 16  # the limit of the encoder, not of training


def test_pretrained_vectors_are_frozen(toy: Examples):
    pretrained = WordVectors(("cats", "mice", "unseen"), np.arange(9, dtype=np.float32).reshape(3, 3))
    tower = word_tower("bilstm", toy, pretrained=pretrained)
    table = tower.model.embedding.E_pre
    number = tower.reader.vocabulary.ids(["cats", "mice", "grass"])
    assert table[number].tolist() == [[0, 1, 2], [3, 4, 5], [0, 0, 0]]
    start = table.clone()
    trained(tower, toy, replace(CONFIG, epochs=2))
    assert torch.equal(tower.model.embedding.E_pre, start)


def test_a_saved_word_encoder_can_be_trained_further(toy: Examples, tmp_path: Path):
    tower = word_tower("bilstm", toy)
    tower.save(tmp_path / "out", card="", made_with={})
    again = WordTower.load(tmp_path / "out")
    np.testing.assert_allclose(
        vectors(again, toy.answers, side="answer"), vectors(tower, toy.answers, side="answer"), atol=1e-6
    )
    before = measured(again, toy).rr
    trained(again, toy, replace(SLOW, epochs=20))
    assert measured(again, toy).rr > before


def test_a_resumed_run_is_the_same_bit_for_bit(toy: Examples, assert_resumes):
    config = replace(CONFIG, epochs=4, batch=3, learning_rate=0.01)

    def begin():
        tower = word_tower("bilstm", toy, replace(SMALL, dropout=0.5))
        return tower, Training(tower.model, optimiser(tower, config), seed=1)

    def run(tower, training):
        return train_slam(training, tower, toy, config, held_out=toy, report_every=1)

    assert assert_resumes(begin, run, step=5).step == 12


def test_hard_negatives_come_from_keywords_and_from_the_encoder(toy: Examples):
    examples = Examples.of(
        [*(Pair(toy.questions[q], toy.answers[a]) for q, a in toy.pairs), Pair("what is tax", "do they eat cats")]
    )
    tower = word_tower("mean", examples)
    wide = replace(CONFIG, mined="keywords", filter_margin=2.0)
    mined = with_hard_negatives(tower, examples, wide).negatives
    assert mined[0][0] == examples.answers.index("do they eat cats")
    both = with_hard_negatives(tower, examples, replace(wide, mined="both", mined_depth=3)).negatives
    assert all(len(answers) >= 3 for answers in both)
    assert with_hard_negatives(tower, examples, CONFIG) is examples
    nothing = with_hard_negatives(tower, examples, replace(wide, mined="both", filter_margin=-2.0)).negatives
    assert not any(nothing)
    before = measured(tower, examples).rr
    trained(tower, with_hard_negatives(tower, examples, wide), replace(wide, hard=2))
    assert measured(tower, examples).rr > before


def test_a_batch_is_at_most_all_of_the_data(toy: Examples):
    tower = word_tower("mean", toy)
    assert trained(tower, toy, replace(CONFIG, batch=2000, epochs=3)).step == 3


def test_a_vocabulary_of_one_word_is_refused():
    with pytest.raises(ValueError, match=r"at least two words that occur 2 times .* got \['same'\] of 3"):
        WordTower.of("mean", ["same same", "other word"], WordConfig(minimum=2))


def test_a_run_of_another_architecture_is_refused(toy: Examples, tmp_path: Path):
    mean, bilstm = word_tower("mean", toy), word_tower("bilstm", toy)
    save_training(tmp_path / "run", Training(mean.model, optimiser(mean, CONFIG), seed=1))
    with pytest.raises(ValueError, match="a run of this model and optimiser"):
        load_training(tmp_path / "run", Training(bilstm.model, optimiser(bilstm, CONFIG), seed=1))


def test_the_paper_s_settings_are_the_defaults():
    config = SlamConfig()
    assert (config.batch, config.scale, config.margin, config.filter_margin) == (2000, 40.0, 0.1, 0.05)
    assert (PAPER.vocabulary, PAPER.dimension, PAPER.hidden, PAPER.output) == (60_000, 300, 500, 1000)


def test_the_configured_loss_takes_its_settings():
    scores = torch.tensor([[0.5, 0.25], [0.75, 0.25]])
    everything = torch.ones(2, 2, dtype=torch.bool)
    hinge = loss_of(SlamConfig(loss="triplet", triplet_margin=0.25))(scores, everything)
    assert hinge.item() == pytest.approx((0 + 0.75) / 2)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (SlamConfig(batch=1), "two pairs or more, but got 1"),
        (SlamConfig(loss="softmax", negatives=0), "at least one negative per question, but got 0"),
    ],
)
def test_a_loss_without_negatives_is_refused(config: SlamConfig, message: str):
    with pytest.raises(ValueError, match=message):
        loss_of(config)


def test_a_batch_of_one_pair_with_mined_negatives():
    loss_of(SlamConfig(batch=1, mined="keywords"))
