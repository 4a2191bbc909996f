from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from qa_core.encoders.mapped_tensors import write_tensors
from qa_core.networks.checkpoints import save_model
from qa_core.networks.pair_classifier import LabelledPairs
from qa_core.training.loop import Training, seed_everything
from qa_core.vectors.word_vectors import WordVectors
from rankers.paraphrase.word_pairs import CONFIGS, WordPairs, WordSizes
from rankers.training.answer_pool import AnswerPool, AnswerSet
from rankers.training.distillation import DistilConfig, pair_answers, train_distilled
from rankers.training.pair_training import mean_average_precision
from rankers.training.paraphrase_training import (
    ParaphraseConfig,
    accuracy,
    read_pairs,
    refresh_batch_norm,
    train_paraphrase,
    with_identical,
)

NAMES = [first + last for first in ("ba", "ce", "di") for last in ("lor", "min", "tes")]
PAIRS = LabelledPairs(
    tuple((f"where does {name} live", f"{verb} {name}") for name in NAMES for verb in ("address of", "age of")),
    (True, False) * len(NAMES),
)
TEXTS = [*(text for pair in PAIRS.pairs for text in pair), "size of"]
SIZES = WordSizes(dimension=8, hidden=8, dropout=0.0, max_tokens=12)
TRAINING = ParaphraseConfig(batch=6, epochs=12, patience=12, learning_rate=0.02, identical=3)
MIXED = [
    ("where does balor live", "address of balor"),
    ("", ""),
    ("zzz qqq", "age"),
    ("😀", "מה נשמע"),
    ("age of cemin", "where " * 100_000),
]


def scorer_of(kind: str = "entailment", sizes: WordSizes = SIZES) -> WordPairs:
    seed_everything(1)
    return WordPairs.of(kind, TEXTS, sizes)


def trained(scorer: WordPairs, config: ParaphraseConfig = TRAINING, **options) -> Training:
    training = Training(scorer.model, torch.optim.Adam(scorer.model.parameters(), lr=config.learning_rate), seed=1)
    for _ in train_paraphrase(training, scorer, PAIRS, config, **options):
        pass
    return training


@pytest.mark.parametrize("kind", CONFIGS)
def test_a_toy_task_is_learned_saved_and_loaded(kind: str, assert_independent, tmp_path: Path):
    scorer = scorer_of(kind, replace(SIZES, dimension=16, hidden=16))
    trained(scorer, replace(TRAINING, epochs=16, patience=16), held_out=PAIRS)
    assert accuracy(scorer, PAIRS) == 1
    scorer.save(tmp_path / "model", card="# card\n")
    loaded = WordPairs.load(tmp_path / "model")
    scores = assert_independent(loaded, MIXED)
    assert np.array_equal(scores, scorer.score(MIXED))
    np.testing.assert_allclose(loaded.score([(b, a) for a, b in MIXED]), scores, atol=1e-5)


def test_a_resumed_run_ends_with_the_same_model(assert_resumes):
    config = replace(TRAINING, epochs=3, warm_up=0.1)

    def begin():
        scorer = scorer_of(sizes=replace(SIZES, dropout=0.2))
        return scorer, Training(scorer.model, torch.optim.Adam(scorer.model.parameters(), lr=0.02), seed=1)

    assert_resumes(
        begin, lambda scorer, training: train_paraphrase(training, scorer, PAIRS, config, report_every=1), step=5
    )


def test_identical_questions_are_further_positives():
    more = with_identical(PAIRS, 4, np.random.default_rng(0))
    assert len(more) == len(PAIRS) + 4
    assert more.pairs[: len(PAIRS)] == PAIRS.pairs
    same = more.pairs[len(PAIRS) :]
    assert all(first == second for first, second in same)
    assert len(set(same)) == 4
    assert all(more.labels[len(PAIRS) :])
    distinct = len({text for pair in PAIRS.pairs for text in pair})
    assert len(with_identical(PAIRS, 20_000, np.random.default_rng(0))) == len(PAIRS) + distinct


def test_pretrained_vectors_are_frozen():
    vectors = WordVectors(("balor", "nobody"), np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32))
    seed_everything(1)
    scorer = WordPairs.of("decomposable", TEXTS, SIZES, pretrained=vectors)
    trained(scorer, replace(TRAINING, epochs=1))
    table = scorer.model.embedding.E_pre
    row = scorer.reader.vocabulary.ids(["balor"])[0]
    assert table[row].tolist() == [1.0, 2.0]
    assert float(table.abs().sum()) == 3.0
    assert scorer.config.dimension == 2


def test_bad_data_and_models_are_refused(tmp_path: Path):
    scorer = scorer_of()
    same = LabelledPairs((("a", "b"),), (True,))
    training = Training(scorer.model, torch.optim.Adam(scorer.model.parameters()), seed=1)
    with pytest.raises(ValueError, match="all 1 have the label True"):
        next(train_paraphrase(training, scorer, same, TRAINING))
    with pytest.raises(FileNotFoundError, match=r"config\.json"):
        WordPairs.load(tmp_path / "none")
    save_model(tmp_path / "other", config=TRAINING, weights={"a": np.zeros(2)}, card="")
    with pytest.raises(ValueError, match="kind EntailmentConfig, but got 'ParaphraseConfig'"):
        WordPairs.load(tmp_path / "other")
    folder = tmp_path / "model"
    scorer.save(folder, card="")
    words = (folder / "vocabulary.txt").read_text()
    (folder / "vocabulary.txt").write_text(words + "more\n")
    with pytest.raises(ValueError, match=r"Expected \d+ words, as config\.json says"):
        WordPairs.load(folder)
    (folder / "vocabulary.txt").write_text(words)
    weights = {name: weight.numpy() for name, weight in scorer.model.state_dict().items()}
    weights["match.0.bias"] = np.full_like(weights["match.0.bias"], np.nan)
    write_tensors(folder / "model.safetensors", weights)
    with pytest.raises(ValueError, match=r"NaN or infinity in 'match\.0\.bias'"):
        WordPairs.load(folder)
    with torch.no_grad():
        scorer.model.match[0].bias.fill_(float("nan"))
    with pytest.raises(ValueError, match="finite weights"):
        scorer.save(folder, card="")


# --- distillation ---------------------------------------------------------------------------------------------------

ANSWERS = ("address of", "age of", "size of")
SETS = [AnswerSet(f"where does {name} live", ANSWERS, (True, False, False)) for name in NAMES]
POOL = AnswerPool.of(SETS)


def distilled(student: WordPairs, teacher: np.ndarray, config: DistilConfig, pool: AnswerPool = POOL) -> None:
    training = Training(student.model, torch.optim.Adam(student.model.parameters(), lr=0.02), seed=1)
    for _ in train_distilled(training, student, pool, teacher, config):
        pass


@pytest.mark.parametrize("loss", ["mse", "margin"])
def test_a_student_scores_as_its_teacher_without_a_label(loss: str):
    score_of = {"address of": 2.0, "age of": -1.0, "size of": 0.5}
    teacher = np.array([score_of[answer] for _, answer in POOL.pairs()], dtype=np.float32)
    mislabelled = AnswerPool(
        POOL.questions, POOL.answers, POOL.question, POOL.answer, ~POOL.label
    )  # labels are ignored
    student = scorer_of("decomposable", replace(SIZES, hidden=16))
    before = mean_average_precision(student, POOL)
    distilled(student, teacher, DistilConfig(loss=loss, batch=9, epochs=30), mislabelled)
    assert mean_average_precision(student, POOL) == 1 > before
    scores, targets = student.score(POOL.pairs()).reshape(-1, 3), teacher.reshape(-1, 3)
    if loss == "mse":
        np.testing.assert_allclose(scores, targets, atol=0.1)
    else:
        assert abs(float(scores[0, 0]) - 2.0) > 0.5  # only differences are learned
    np.testing.assert_allclose(scores - scores[:, :1], targets - targets[:, :1], atol=0.1)


def test_compared_answers_belong_to_one_question():
    sets = [AnswerSet("a", ("1", "2", "3"), (True, False, False)), AnswerSet("b", ("4",), (True,))]
    pool = AnswerPool.of([*sets, AnswerSet("c", ("5", "6"), (True, False))])
    pairs = pair_answers(pool, np.random.default_rng(0))
    assert pairs.shape == (5, 2)
    assert sorted(pairs[:, 0].tolist()) == [0, 1, 2, 4, 5]
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert (pool.question[pairs[:, 0]] == pool.question[pairs[:, 1]]).all()


def test_bad_scores_of_a_teacher_are_refused():
    student = scorer_of("siamese")
    with pytest.raises(ValueError, match=r"each of 27 pairs, but got shape \(3,\)"):
        distilled(student, np.zeros(3, dtype=np.float32), DistilConfig())
    teacher = np.zeros(27, dtype=np.float32)
    teacher[2] = np.nan
    with pytest.raises(ValueError, match="1 that are not finite"):
        distilled(student, teacher, DistilConfig())
    with pytest.raises(ValueError, match="a share from 0 to 1"):
        distilled(student, np.zeros(27, dtype=np.float32), DistilConfig(labelled=2.0))
    lonely = AnswerPool.of([AnswerSet("a", ("b",), (True,))])
    with pytest.raises(ValueError, match="questions with two answers"):
        distilled(student, np.zeros(1, dtype=np.float32), DistilConfig(), lonely)


def test_batch_norm_takes_the_statistics_of_evaluation():
    scorer = scorer_of(sizes=replace(SIZES, dropout=0.5))
    texts, rows = read_pairs(scorer, PAIRS)
    norms = [layer for layer in scorer.model.modules() if isinstance(layer, torch.nn.BatchNorm1d)]
    seen = []
    hook = norms[0].register_forward_hook(lambda _layer, inputs, _outputs: seen.append(inputs[0]))
    refresh_batch_norm(scorer, texts, rows, np.random.default_rng(0))
    hook.remove()
    (states,) = seen  # (2B, H), of a single batch
    torch.testing.assert_close(norms[0].running_mean, states.mean(0))
    torch.testing.assert_close(norms[0].running_var, states.var(0))
    assert {layer.momentum for layer in norms} == {0.1}
    before = {name: value.clone() for name, value in scorer.model.state_dict().items()}
    refresh_batch_norm(scorer, texts, rows, np.random.default_rng(1))
    for name, value in scorer.model.state_dict().items():
        torch.testing.assert_close(value, before[name])
