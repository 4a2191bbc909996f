"""Losses of the shipped transformer, worked out by hand."""

import math

import numpy as np
import pytest
import torch

from qa_lab.fit.late_interaction_loss import (
    QuestionWords,
    contrastive,
    distillation,
    margin_error,
    refusal,
    soft_minimum,
)
from qa_lab.reference.refusal import soft_minimum as reference

TEACHER = torch.tensor([[0.8, 0.2, 0.79], [0.1, 0.6, 0.3]])


def test_a_passage_that_the_teacher_finds_as_good_is_no_negative() -> None:
    cosines = torch.tensor([[0.5, 0.5, 0.9], [0.5, 0.5, 0.5]])
    expected = (math.log(2) + math.log(3)) / 2  # the first question has one negative, the second two
    assert float(contrastive(cosines, TEACHER, scale=20, margin=0.05)) == pytest.approx(expected)


def test_distillation_is_zero_for_the_teachers_own_cosines() -> None:
    assert float(distillation(TEACHER, TEACHER, scale=20)) == pytest.approx(0, abs=1e-6)
    assert float(distillation(TEACHER + 0.3, TEACHER, scale=20)) == pytest.approx(0, abs=1e-5)  # a softmax's freedom


def test_distillation_by_hand() -> None:
    value = float(distillation(torch.tensor([[0.0, 0.0]]), torch.tensor([[math.log(3), 0.0]]), scale=1))
    assert value == pytest.approx(0.75 * math.log(0.75 / 0.5) + 0.25 * math.log(0.25 / 0.5))


def test_margin_error_by_hand() -> None:
    cosines = torch.tensor([[0.8, 0.4, 0.79], [0.1, 0.6, 0.3]])
    assert float(margin_error(cosines, TEACHER)) == pytest.approx(0.2**2 / 6)


def test_the_soft_minimum_is_that_of_the_gate() -> None:
    rng = np.random.default_rng(0)
    question, passage = rng.normal(size=(4, 8)).astype("f"), rng.normal(size=(5, 8)).astype("f")
    pieces = np.array([[0, 1, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 0, 0]], dtype="f")  # the third word is padding
    words = QuestionWords(torch.from_numpy(pieces)[None], torch.tensor([[0.3, 0.9, 0.0]]))
    mask = torch.tensor([[False, True, True, True, False]])
    value = soft_minimum(torch.from_numpy(question)[None], words, torch.from_numpy(passage)[None], mask)

    vectors = pieces[:2] @ question
    cosines = vectors @ passage[1:4].T / np.outer(*(np.linalg.norm(x, axis=1) for x in (vectors, passage[1:4])))
    assert float(value) == pytest.approx(reference(cosines.max(1), np.array([0.3, 0.9])), abs=1e-5)


def test_refusal_compares_with_the_teachers_best_wrong_passage() -> None:
    soft = torch.tensor([[0.9, 0.1, 0.5], [0.2, 0.8, 0.4]])
    scale, bias = torch.tensor(10.0), torch.tensor(-5.0)
    positives = [math.log1p(math.exp(-4)), math.log1p(math.exp(-3))]
    negatives = [math.log1p(math.exp(-4)), math.log1p(math.exp(-1))]  # passage 1 for the first: .79 is too near .8
    value = float(refusal(soft, TEACHER, scale=scale, bias=bias, margin=0.05))
    assert value == pytest.approx(sum(positives) / 2 + sum(negatives) / 2, rel=1e-5)


def test_refusal_without_a_wrong_passage_counts_positives_only() -> None:
    value = refusal(
        torch.tensor([[0.5]]), torch.tensor([[0.9]]), scale=torch.tensor(1.0), bias=torch.tensor(-0.5), margin=0.1
    )
    assert float(value) == pytest.approx(math.log(2))
