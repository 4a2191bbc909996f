from dataclasses import replace

import numpy as np
import pytest
import torch

from qa_core.training.loop import Training
from rankers.training.answer_pool import AnswerPool, AnswerSet
from rankers.training.distillation import DistilConfig, pair_answers, train_distilled
from rankers.training.pair_training import mean_average_precision

NAMES = [first + last for first in ("ba", "ce", "di") for last in ("lor", "min", "tes")]
ANSWERS = ("address of", "age of", "size of")
POOL = AnswerPool.of(AnswerSet(f"where does {name} live", ANSWERS, (True, False, False)) for name in NAMES)


def distil(student, teacher: np.ndarray, config: DistilConfig, pool: AnswerPool = POOL) -> None:
    training = Training(student.model, torch.optim.Adam(student.model.parameters(), lr=0.02), seed=1)
    for _ in train_distilled(training, student, pool, teacher, config):
        pass


@pytest.mark.parametrize("loss", ["mse", "margin"])
def test_a_student_scores_as_its_teacher_without_a_label(loss: str, word_pairs):
    score_of = {"address of": 2.0, "age of": -1.0, "size of": 0.5}
    teacher = np.array([score_of[answer] for _, answer in POOL.pairs()], dtype=np.float32)
    mislabelled = replace(POOL, label=~POOL.label)  # labels are ignored
    student = word_pairs("decomposable", hidden=16)
    before = mean_average_precision(student, POOL)
    distil(student, teacher, DistilConfig(loss=loss, batch=9, epochs=30), mislabelled)
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


def test_bad_scores_of_a_teacher_are_refused(word_pairs):
    student = word_pairs("siamese")
    with pytest.raises(ValueError, match=r"each of 27 pairs, but got shape \(3,\)"):
        distil(student, np.zeros(3, dtype=np.float32), DistilConfig())
    teacher = np.zeros(27, dtype=np.float32)
    teacher[2] = np.nan
    with pytest.raises(ValueError, match="1 that are not finite"):
        distil(student, teacher, DistilConfig())
    with pytest.raises(ValueError, match="a share from 0 to 1"):
        distil(student, np.zeros(27, dtype=np.float32), DistilConfig(labelled=2.0))
    lonely = AnswerPool.of([AnswerSet("a", ("b",), (True,))])
    with pytest.raises(ValueError, match="questions with two answers"):
        distil(student, np.zeros(1, dtype=np.float32), DistilConfig(), lonely)
