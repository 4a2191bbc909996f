import math

import numpy as np
import pytest

from qa_core.encoders.transformer_encoder import TransformerEncoder
from qa_lab.reference.bm25 import BM25
from qa_lab.reference.refusal import Case, LateInteractionGate, Threshold, soft_minimum


def test_a_threshold_for_each_encoder():
    case = Case("text", ["q"], np.array([3.0, 1.0]))
    assert Threshold.of("starter").margin(case) == pytest.approx(0.24)
    assert Threshold.of("minilm").margin(case) == pytest.approx(-0.06)


def test_the_soft_minimum_lies_between_the_least_value_and_the_mean():
    assert soft_minimum(np.array([0.5, 0.5]), np.array([1.0, 3.0])) == pytest.approx(0.5)
    # −ln((e^−8 + e^0) / 2) / 8 of the values 1 and 0
    assert soft_minimum(np.array([1.0, 0.0]), np.ones(2)) == pytest.approx(-math.log((math.exp(-8) + 1) / 2) / 8)
    assert soft_minimum(np.array([]), np.array([])) == 0


def test_a_passage_with_the_words_of_the_question_has_the_greatest_soft_minimum(tiny_bert, tmp_path):
    gate = LateInteractionGate(
        TransformerEncoder.load(tiny_bert, cache=tmp_path / "cache"), BM25(["cats sleep"], str.split)
    )
    ranked = np.array([3.0, 2.0, 2.0])
    # two content words with cosine 1: soft = 1, n = 2 and F of the first passage less that of its neighbours is 1
    same = gate.margin(Case("cats sleep", ["cats sleep"], ranked))
    assert same == pytest.approx(7.5 + 1.1 + 0.15 * 2 - 4.65, abs=1e-4)
    assert gate.margin(Case("why do", ["cats sleep"], ranked)) < same
    assert gate.margin(Case("cats sleep", ["why do"], ranked)) == pytest.approx(1.1 - 4.65, abs=1e-4)


def test_one_passage_has_no_neighbours(tiny_bert, tmp_path):
    gate = LateInteractionGate(TransformerEncoder.load(tiny_bert, cache=tmp_path / "cache"), BM25(["cats"], str.split))
    assert gate.margin(Case("cats", ["cats"], np.array([3.0]))) == pytest.approx(7.5 + 0.15 - 4.65, abs=1e-4)
