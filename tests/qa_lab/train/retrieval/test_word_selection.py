from pathlib import Path

import numpy as np
import pytest

from qa_core.vectors.word_vectors import WordVectors
from qa_lab.errors import TrainingDataError
from qa_lab.train.retrieval.word_selection import held_out_pairs, lists_selection, pairs_selection

VECTORS = WordVectors(("sun", "sky", "sea", "mud"), np.array([[1, 0], [2, 0], [0.6, 0.8], [0, 3]], dtype=np.float32))


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    (tmp_path / "WS-353-SIM.txt").write_text("sun sky 9\nsun sea 5\nsun mud 1\n")
    (tmp_path / "WS-353-REL.txt").write_text("sun sky 3\nsun sea 1\nsun mud 2\n")
    return tmp_path


def test_sim_minus_rel(lists: Path):
    selection = lists_selection(lists, VECTORS, by="sim-rel")
    assert selection.measure(VECTORS) == pytest.approx(1 - 0.5)
    assert selection.figures(VECTORS) == {"WS-353-SIM": pytest.approx(1), "WS-353-REL": pytest.approx(0.5)}


def test_the_mean_of_lists(lists: Path):
    assert lists_selection(lists, VECTORS, by="spearman").measure(VECTORS) == pytest.approx(0.75)
    assert lists_selection(lists / "WS-353-REL.txt", VECTORS, by="spearman").measure(VECTORS) == pytest.approx(0.5)


def test_lists_that_do_not_do(lists: Path):
    with pytest.raises(TrainingDataError, match=r"one list with SIM in its name .* got 0"):
        lists_selection(lists / "WS-353-REL.txt", VECTORS, by="sim-rel")
    (lists / "other.txt").write_text("moon star 3\nrain snow 2\n")
    with pytest.raises(TrainingDataError, match="start vectors of the words of other"):
        lists_selection(lists, VECTORS, by="spearman")
    (lists / "other.txt").write_text("moon star\n")
    with pytest.raises(TrainingDataError, match=r"other.txt:1"):
        lists_selection(lists, VECTORS, by="spearman")


def test_a_share_of_pairs_is_the_same_in_every_order():
    pairs = [(f"a{n}", f"b{n}") for n in range(400)]
    train, held_out = held_out_pairs(pairs, 0.25)
    assert set(train) | set(held_out) == set(pairs)
    assert 60 < len(held_out) < 140
    turned = held_out_pairs([(right, left) for left, right in reversed(pairs)], 0.25)[1]
    assert {frozenset(pair) for pair in turned} == {frozenset(pair) for pair in held_out}
    with pytest.raises(TrainingDataError, match="got 400 and 0"):
        held_out_pairs(pairs, 1e-9)


def test_held_out_pairs_against_words_put_together_at_random():
    selection = pairs_selection([("sun", "sky"), ("mud", "sea")], seed=1)
    assert selection.measure(VECTORS) == 1.0  # cosines 1 and .8 against sun–sea .6 and mud–sky 0
    with pytest.raises(TrainingDataError, match="held-out pairs of different words"):
        pairs_selection([("sun", "sky"), ("sun", "sky")], seed=1)
