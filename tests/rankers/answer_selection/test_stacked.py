import numpy as np
import pytest
import torch

from rankers.answer_selection.blstm import POOLS, BLSTMConfig, BLSTMScorer
from rankers.answer_selection.keyword_features import COSINE, FEATURES, Keywords
from rankers.answer_selection.stacked import FAITHFUL, Inputs, StackedRanker, folds, network_pools
from rankers.gbdt import BoostedTrees, GBDTConfig
from rankers.training.answer_pool import AnswerPool, AnswerSet

NAMES = ["ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal"]
POOL = AnswerPool.of(
    AnswerSet(f"where is {n}", (f"{n} is in the house", f"{m} is in the house"), (True, False))
    for n, m in zip(NAMES, NAMES[1:] + NAMES[:1], strict=True)
)
TREES = GBDTConfig(trees=20, leaves=3, least=2, examples=1.0, features=1.0)


def encode(texts):
    rows = np.array([[1 + text.count(letter) for letter in "aehs"] for text in texts], dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def ranker(names, *, encoder=""):
    torch.manual_seed(0)
    network = BLSTMScorer.of(POOL.questions + POOL.answers, BLSTMConfig(dimension=6, hidden=5, layers=2))
    inputs = Inputs(
        Keywords.of(POOL.answers),
        network if set(names) & set(POOLS) else None,
        encode if COSINE in names else None,
    )
    table = inputs.table(POOL.pairs(), names)
    return StackedRanker(inputs, BoostedTrees.fit(table, POOL.label, names=names, config=TREES), encoder)


def test_a_table_has_the_named_columns():
    stacked = ranker(FAITHFUL)
    names = ("overlap", "blstm_max", "bm25")
    table = stacked.inputs.table(POOL.pairs(), names)
    np.testing.assert_array_equal(table[:, 1], network_pools(stacked.inputs.network, POOL.pairs())[:, 2])
    np.testing.assert_array_equal(table[:, 2], stacked.inputs.keywords.score(POOL.pairs()))


def test_importances_are_saved(tmp_path):
    stacked = ranker(FAITHFUL)
    stacked.save(tmp_path / "ranker", card="card")
    assert StackedRanker.load(tmp_path / "ranker").importances() == stacked.importances()


def test_another_encoder_is_refused(tmp_path):
    ranker((*FEATURES, COSINE), encoder="abc").save(tmp_path / "ranker", card="")
    with pytest.raises(ValueError, match="fingerprint abc"):
        StackedRanker.load(tmp_path / "ranker", encode=encode, encoder="other")
    with pytest.raises(ValueError, match="but got none"):
        StackedRanker.load(tmp_path / "ranker")


@pytest.mark.parametrize(
    ("names", "message"),
    [((), "got none"), (("bm26",), "bm26"), (("blstm_mean",), "a network"), ((COSINE,), "an encoder")],
)
def test_features_need_their_source(names, message):
    with pytest.raises(ValueError, match=message):
        Inputs(Keywords.of([])).table([("a", "b")], names)


def test_folds_do_not_depend_on_the_order():
    questions = [f"question {n}" for n in range(200)]
    parts = folds(questions, 3)
    assert set(parts) == {0, 1, 2}
    assert folds(questions[::-1], 3) == parts[::-1]
    assert folds(["Question 1"], 3) == folds(["question 1"], 3)
    with pytest.raises(ValueError, match="at least 2 folds"):
        folds(questions, 1)


def test_the_published_features_are_three_pools_and_bm25():
    assert FAITHFUL == ("blstm_mean", "blstm_sum", "blstm_max", "bm25")
