from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("transformers", reason="a classifier over a transformer needs the extra 'minilm'")

from qa_core.networks.losses import pairwise_cross_entropy
from qa_core.training import pair_classifier
from qa_core.training.loop import Training, seed_everything
from qa_core.training.pair_classifier import (
    LabelledPairs,
    PairClassifier,
    PairConfig,
    PairTuning,
    mean_loss,
    optimiser,
    probabilities,
    similar_length_batches,
    train_pairs,
)

WORDS = ("cats", "sleep", "day", "why")
PAIRS = tuple((first, f"do {second} ?") for first in WORDS for second in WORDS)
TOY = LabelledPairs(PAIRS, tuple(first == "why" or "cats" in second for first, second in PAIRS))
CONFIG = PairConfig(max_length=16, dropout=0.0)
TUNING = PairTuning(batch=16, epochs=200, learning_rate=0.01)
MIXED = [("why do cats sleep ?", "day"), ("", "cats"), ("un unhappy cats", ""), ("day", "cats sleep day " * 9)]


def classifier(folder: Path, config: PairConfig = CONFIG) -> PairClassifier:
    seed_everything(1)
    return PairClassifier.of(folder, config)


def trained(made: PairClassifier, tuning: PairTuning = TUNING, **options) -> Training:
    training = Training(made.model, optimiser(made, tuning), seed=1)
    for _ in train_pairs(training, made, TOY, tuning, **options):
        pass
    return training


def test_a_pair_is_read_as_bert_reads_it(pair_bert: Path):
    (row, long) = classifier(pair_bert).rows([("why cats", "sleep"), ("day " * 9, "do " * 20)])
    assert row.tokens.tolist() == [2, 9, 4, 3, 5, 3]  # [CLS] why cats [SEP] sleep [SEP]
    assert row.segments.tolist() == [0, 0, 0, 0, 1, 1]
    assert len(long.tokens) == 16
    assert long.tokens.tolist().count(8) == 6  # nine of day and twenty of do share thirteen places
    assert long.tokens.tolist().count(10) == 7


def test_the_logit_is_the_linear_layer_over_the_first_state(pair_bert: Path):
    made = classifier(pair_bert)
    row = made.rows([MIXED[0]])[0]
    tokens, segments = (torch.from_numpy(item)[None] for item in row)
    with torch.no_grad():
        states = made.model.transformer.eval()(
            input_ids=tokens, attention_mask=torch.ones_like(tokens), token_type_ids=segments
        )[0]
        expected = states[0, 0] @ made.model.output.weight[0] + made.model.output.bias[0]
    assert made.score([MIXED[0]])[0] == pytest.approx(float(expected), abs=1e-5)


def test_chunks_and_training_mode_do_not_change_a_score(pair_bert: Path, monkeypatch: pytest.MonkeyPatch):
    made = classifier(pair_bert, PairConfig(max_length=24))  # with dropout, which scoring must not apply
    together = made.score(MIXED)
    monkeypatch.setattr(pair_classifier, "_CHUNK", 8)
    np.testing.assert_allclose(made.score(MIXED), together, atol=1e-5)
    assert made.model.training


def test_chunks_have_the_gradient_of_the_whole_batch(pair_bert: Path, monkeypatch: pytest.MonkeyPatch):
    gradients = []
    for chunk in (1 << 13, 40):
        monkeypatch.setattr(pair_classifier, "_CHUNK", chunk)
        made = classifier(pair_bert)
        logits = pair_classifier.pair_logits(made.model, made.rows(PAIRS))
        pairwise_cross_entropy(logits, torch.tensor(TOY.labels)).backward()
        gradients.append([p.grad for p in made.model.parameters() if p.grad is not None])
    assert len(gradients[0]) > 10
    for whole, cut in zip(*gradients, strict=True):
        torch.testing.assert_close(cut, whole, atol=1e-6, rtol=1e-4)


def test_the_weights_of_the_lowest_development_loss_are_kept(pair_bert: Path):
    made = classifier(pair_bert)
    turned = LabelledPairs(PAIRS, tuple(not label for label in TOY.labels))  # what is learnt makes this worse
    training = trained(made, replace(TUNING, epochs=12), held_out=turned)
    losses = [progress.dev for progress in training.history if progress.dev is not None]
    assert training.best is not None
    assert training.best.dev == min(losses) < losses[-1]
    assert mean_loss(made, turned) == pytest.approx(min(losses), abs=1e-6)


def test_a_resumed_run_is_the_same_bit_for_bit(pair_bert: Path, assert_resumes):
    tuning = replace(TUNING, batch=8, epochs=4)

    def begin():
        made = classifier(pair_bert, replace(CONFIG, dropout=0.1))
        return made, Training(made.model, optimiser(made, tuning), seed=1)

    assert_resumes(begin, lambda made, training: train_pairs(training, made, TOY, tuning, report_every=1), step=3)


def test_probabilities_worked_by_hand():
    chances = probabilities(np.array([0.0, np.log(3), -200.0, 200.0], dtype=np.float32))
    np.testing.assert_allclose(chances, [0.5, 0.75, 0.0, 1.0], atol=1e-6)


def test_batches_hold_every_pair_once_and_pairs_of_like_length():
    lengths = [int(length) for length in np.random.default_rng(0).integers(3, 60, size=103)]
    drawn = list(similar_length_batches(lengths, np.random.default_rng(1), size=8))
    assert sorted(np.concatenate(drawn).tolist()) == list(range(103))
    assert max(map(len, drawn)) == 8
    spread = np.mean([np.ptp([lengths[index] for index in batch]) for batch in drawn])
    assert spread < 15  # of 57 where batches are drawn at random
    again = list(similar_length_batches(lengths, np.random.default_rng(1), size=8))
    assert all(np.array_equal(one, other) for one, other in zip(drawn, again, strict=True))


def test_a_batch_larger_than_the_data_is_all_of_it(pair_bert: Path):
    made = classifier(pair_bert)
    assert trained(made, replace(TUNING, batch=1000, epochs=2)).step == 2


def test_what_cannot_be(pair_bert: Path, tiny_bert_source: Path, tmp_path: Path):
    with pytest.raises(ValueError, match="a label for each pair and at least one"):
        LabelledPairs((), ())
    with pytest.raises(ValueError, match="2 pairs and 1 labels"):
        LabelledPairs((("a", "b"), ("c", "d")), (True,))
    made = classifier(pair_bert)
    training = Training(made.model, optimiser(made, TUNING), seed=1)
    with pytest.raises(ValueError, match="all 2 have the label True"):
        next(train_pairs(training, made, LabelledPairs((("a", "b"), ("c", "d")), (True, True)), TUNING))
    with pytest.raises(ValueError, match=r"from 8 to 32, the positions of .*but got 33"):
        PairClassifier.of(pair_bert, PairConfig(max_length=33))
    with pytest.raises(ValueError, match="special tokens around two texts"):
        PairClassifier.of(tiny_bert_source, CONFIG)
    with pytest.raises(FileNotFoundError, match=r"config.json"):
        PairClassifier.of(tmp_path, CONFIG)


def test_a_damaged_transformer_is_refused(pair_bert: Path, tmp_path: Path):
    classifier(pair_bert).save(tmp_path / "model", card="")
    (tmp_path / "model" / "transformer" / "model.safetensors").write_bytes(b"cut")
    with pytest.raises(ValueError, match=r"model\.safetensors"):
        PairClassifier.load(tmp_path / "model")


def test_files_of_other_programs_are_not_overwritten(pair_bert: Path, tmp_path: Path):
    made = classifier(pair_bert)
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "config.json").write_text("{}")
    with pytest.raises(ValueError, match="nothing of yours is overwritten"):
        made.save(tmp_path / "theirs", card="")
