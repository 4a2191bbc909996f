import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("transformers", reason="a classifier over a transformer needs the extra 'minilm'")

from qa_core.encoders.mapped_tensors import write_tensors
from qa_core.networks import pair_classifier
from qa_core.networks.checkpoints import save_model
from qa_core.networks.losses import pairwise_cross_entropy
from qa_core.networks.pair_classifier import (
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
from qa_core.training.loop import Training, seed_everything
from qa_core.training.resume import load_training, save_training

WORDS = ("cats", "sleep", "day", "why")
PAIRS = tuple((first, f"do {second} ?") for first in WORDS for second in WORDS)
TOY = LabelledPairs(PAIRS, tuple(first == "why" or "cats" in second for first, second in PAIRS))
CONFIG = PairConfig(max_length=16, dropout=0.0)
TUNING = PairTuning(batch=16, epochs=200, learning_rate=0.01)
MIXED = [("why do cats sleep ?", "day"), ("", "cats"), ("un unhappy cats", ""), ("day", "cats sleep day " * 9)]


@pytest.fixture(scope="module")
def bert(tiny_bert_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model with a tokeniser that joins two texts as BERT's does."""
    folder = Path(shutil.copytree(tiny_bert_source, tmp_path_factory.mktemp("pairs") / "bert"))
    join_as_bert(folder / "tokenizer.json")
    return folder


def join_as_bert(path: Path) -> None:
    content = json.loads(path.read_text())
    first, second = ({"Sequence": {"id": name, "type_id": index}} for index, name in enumerate("AB"))
    marks = (("[CLS]", 0), ("[SEP]", 0), ("[SEP]", 1))
    opened, middle, closed = ({"SpecialToken": {"id": name, "type_id": segment}} for name, segment in marks)
    content["post_processor"]["pair"] = [opened, first, middle, second, closed]
    path.write_text(json.dumps(content))


def classifier(folder: Path, config: PairConfig = CONFIG) -> PairClassifier:
    seed_everything(1)
    return PairClassifier.of(folder, config)


def trained(made: PairClassifier, tuning: PairTuning = TUNING, **options) -> Training:
    training = Training(made.model, optimiser(made, tuning), seed=1)
    for _ in train_pairs(training, made, TOY, tuning, **options):
        pass
    return training


def test_a_pair_is_read_as_bert_reads_it(bert: Path):
    (row, long) = classifier(bert).rows([("why cats", "sleep"), ("day " * 9, "do " * 20)])
    assert row.tokens.tolist() == [2, 9, 4, 3, 5, 3]  # [CLS] why cats [SEP] sleep [SEP]
    assert row.segments.tolist() == [0, 0, 0, 0, 1, 1]
    assert len(long.tokens) == 16
    assert long.tokens.tolist().count(8) == 6  # nine of day and twenty of do share thirteen places
    assert long.tokens.tolist().count(10) == 7


def test_the_logit_is_the_linear_layer_over_the_first_state(bert: Path):
    made = classifier(bert)
    row = made.rows([MIXED[0]])[0]
    tokens, segments = (torch.from_numpy(item)[None] for item in row)
    with torch.no_grad():
        states = made.model.transformer.eval()(
            input_ids=tokens, attention_mask=torch.ones_like(tokens), token_type_ids=segments
        )[0]
        expected = states[0, 0] @ made.model.output.weight[0] + made.model.output.bias[0]
    assert made.score([MIXED[0]])[0] == pytest.approx(float(expected), abs=1e-5)


def test_neither_order_nor_padding_nor_chunks_change_a_score(bert: Path, monkeypatch: pytest.MonkeyPatch):
    made = classifier(bert, PairConfig(max_length=24))  # with dropout, which scoring must not apply
    together = made.score(MIXED)
    one_by_one = np.concatenate([made.score([pair]) for pair in MIXED])
    np.testing.assert_allclose(together, one_by_one, atol=1e-5)
    np.testing.assert_allclose(made.score(MIXED[::-1])[::-1], together, atol=1e-5)
    monkeypatch.setattr(pair_classifier, "_CHUNK", 8)
    np.testing.assert_allclose(made.score(MIXED), together, atol=1e-5)
    assert made.model.training
    assert made.score([]).shape == (0,)
    assert np.ptp(together) > 1e-3


def test_chunks_have_the_gradient_of_the_whole_batch(bert: Path, monkeypatch: pytest.MonkeyPatch):
    gradients = []
    for chunk in (1 << 13, 40):
        monkeypatch.setattr(pair_classifier, "_CHUNK", chunk)
        made = classifier(bert)
        logits = pair_classifier.pair_logits(made.model, made.rows(PAIRS))
        pairwise_cross_entropy(logits, torch.tensor(TOY.labels)).backward()
        gradients.append([p.grad for p in made.model.parameters() if p.grad is not None])
    assert len(gradients[0]) > 10
    for whole, cut in zip(*gradients, strict=True):
        torch.testing.assert_close(cut, whole, atol=1e-6, rtol=1e-4)


def test_a_toy_task_is_learnt_saved_and_loaded(bert: Path, tmp_path: Path):
    made = classifier(bert)
    before = mean_loss(made, TOY)
    trained(made)
    assert mean_loss(made, TOY) < 0.2 < before
    chances = probabilities(made.score(PAIRS))
    assert [bool(chance > 0.5) for chance in chances] == list(TOY.labels)
    made.save(tmp_path / "model", card="# card\n")
    loaded = PairClassifier.load(tmp_path / "model")
    np.testing.assert_allclose(loaded.score(MIXED), made.score(MIXED), atol=1e-6)
    loaded.save(tmp_path / "model", card="# again\n")  # over what it was read from
    np.testing.assert_allclose(PairClassifier.load(tmp_path / "model").score(MIXED), made.score(MIXED), atol=1e-6)
    assert (tmp_path / "model" / "README.md").read_text() == "# again\n"


def test_the_weights_of_the_lowest_development_loss_are_kept(bert: Path):
    made = classifier(bert)
    turned = LabelledPairs(PAIRS, tuple(not label for label in TOY.labels))  # what is learnt makes this worse
    training = trained(made, replace(TUNING, epochs=12), held_out=turned)
    losses = [progress.dev for progress in training.history if progress.dev is not None]
    assert training.best is not None
    assert training.best.dev == min(losses) < losses[-1]
    assert mean_loss(made, turned) == pytest.approx(min(losses), abs=1e-6)


def test_interrupted_and_resumed_it_is_the_same_model(bert: Path, tmp_path: Path):
    tuning = replace(TUNING, batch=8, epochs=4)
    whole = classifier(bert, replace(CONFIG, dropout=0.1))
    trained(whole, tuning)
    cut = classifier(bert, replace(CONFIG, dropout=0.1))
    training = Training(cut.model, optimiser(cut, tuning), seed=1)
    for progress in train_pairs(training, cut, TOY, tuning, report_every=1):
        if progress.step == 3:
            save_training(tmp_path / "run", training)
            break
    resumed = classifier(bert, replace(CONFIG, dropout=0.1))
    training = Training(resumed.model, optimiser(resumed, tuning), seed=1)
    load_training(tmp_path / "run", training)
    for _ in train_pairs(training, resumed, TOY, tuning, report_every=1):
        pass
    for ours, theirs in zip(resumed.model.state_dict().values(), whole.model.state_dict().values(), strict=True):
        assert torch.equal(ours, theirs)


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


def test_a_batch_larger_than_the_data_is_all_of_it(bert: Path):
    made = classifier(bert)
    assert trained(made, replace(TUNING, batch=1000, epochs=2)).step == 2


def test_what_cannot_be(bert: Path, tiny_bert_source: Path, tmp_path: Path):
    with pytest.raises(ValueError, match="a label for each pair and at least one"):
        LabelledPairs((), ())
    with pytest.raises(ValueError, match="2 pairs and 1 labels"):
        LabelledPairs((("a", "b"), ("c", "d")), (True,))
    made = classifier(bert)
    training = Training(made.model, optimiser(made, TUNING), seed=1)
    with pytest.raises(ValueError, match="all 2 have the label True"):
        next(train_pairs(training, made, LabelledPairs((("a", "b"), ("c", "d")), (True, True)), TUNING))
    with pytest.raises(ValueError, match=r"from 8 to 32, the positions of .*but got 33"):
        PairClassifier.of(bert, PairConfig(max_length=33))
    with pytest.raises(ValueError, match="special tokens around two texts"):
        PairClassifier.of(tiny_bert_source, CONFIG)
    with pytest.raises(FileNotFoundError, match=r"config.json"):
        PairClassifier.of(tmp_path, CONFIG)
    with pytest.raises(FileNotFoundError, match=r"config.json"):
        PairClassifier.load(tmp_path / "none")


def test_a_checkpoint_of_another_kind_is_refused(bert: Path, tmp_path: Path):
    save_model(tmp_path / "other", config=TUNING, weights={"a": np.zeros(2)}, card="")
    with pytest.raises(ValueError, match="Expected a model of kind PairConfig, but got 'PairTuning'"):
        PairClassifier.load(tmp_path / "other")
    made = classifier(bert)
    made.save(tmp_path / "model", card="")
    write_tensors(tmp_path / "model" / "model.safetensors", {"weight": np.zeros((1, 5), np.float32)})
    with pytest.raises(ValueError, match=r"weight: expected \(1, 8\), got \(1, 5\)"):
        PairClassifier.load(tmp_path / "model")
    made.save(tmp_path / "model", card="")
    (tmp_path / "model" / "transformer" / "model.safetensors").write_bytes(b"cut")
    with pytest.raises(ValueError, match=r"model\.safetensors"):
        PairClassifier.load(tmp_path / "model")


def test_nonsense_is_not_saved_and_other_peoples_files_are_left_alone(bert: Path, tmp_path: Path):
    made = classifier(bert)
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "config.json").write_text("{}")
    with pytest.raises(ValueError, match="nothing of yours is overwritten"):
        made.save(tmp_path / "theirs", card="")
    with torch.no_grad():
        made.model.output.bias.fill_(float("nan"))
    with pytest.raises(ValueError, match=r"finite weights, but got NaN or infinity in 'output.bias'"):
        made.save(tmp_path / "model", card="")
    assert not (tmp_path / "model").exists()
