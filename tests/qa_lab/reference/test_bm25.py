import math

import numpy as np
import pytest

from qa_lab.reference.bm25 import BM25

TEXTS = ["cats cats sleep", "cats run", "boats float slowly home"]


def test_hand_worked_scores():
    # average length 3; "cats" in 2 of 3 texts: idf = ln(1 + 1.5 / 2.5); L = 3: 2 · 2.2 / (2 + 1.2); L = 2:
    # 1 · 2.2 / (1 + 1.2 (.25 + .75 · 2 / 3))
    idf = math.log(1 + 1.5 / 2.5)
    scores = BM25(TEXTS, str.split).scores("cats")
    assert scores == pytest.approx([idf * 4.4 / 3.2, idf * 2.2 / 1.9, 0])


def test_terms_count_as_often_as_they_occur():
    bm25 = BM25(TEXTS, str.split)
    assert bm25.scores("cats cats") == pytest.approx(2 * bm25.scores("cats"))
    assert bm25.scores("boats run") == pytest.approx(bm25.scores("boats") + bm25.scores("run"))
    assert not np.any(bm25.scores("unknown"))


def test_rarity():
    bm25 = BM25(TEXTS, str.split)
    assert bm25.rarity("unknown") == 1
    assert bm25.rarity("cats") == pytest.approx(math.log(1 + 1.5 / 2.5) / math.log(1 + 3.5 / 0.5))


def test_no_texts():
    assert BM25([], str.split).scores("cats").shape == (0,)
    assert BM25([""], str.split).scores("cats").tolist() == [0]
