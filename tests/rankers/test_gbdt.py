from functools import partial

import numpy as np
import pytest

from qa_core.networks.checkpoints import load_weights, save_model, tensor_text, text_tensor
from rankers.gbdt import TEXT, BoostedTrees, GBDTConfig, GBDTModel, normalised

NAMES = ("signal", "noise", "missing")
SMALL = GBDTConfig(trees=20, least=2, examples=1.0, features=1.0)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, 3)).astype(np.float32)
    features[:, 2] = np.nan
    return features, features[:, 0] > 0.3, np.repeat(np.arange(20), 10)


def test_a_stump_by_hand():
    features = np.array([[0.0]] * 10 + [[1.0]] * 10, dtype=np.float32)
    labels = [0] * 10 + [1] * 10
    config = GBDTConfig(trees=1, leaves=2, learning_rate=1.0, least=1, features=1.0, examples=1.0, l2=0.0)
    trees = BoostedTrees.fit(features, labels, names=("x",), config=config)
    # prior log-odds 0; a Newton step is Σ(y − ½) / Σ¼ = ±5 / 2.5
    np.testing.assert_allclose(trees.score(np.array([[0.0], [1.0]], dtype=np.float32)), [-2.0, 2.0], rtol=1e-6)


def test_a_regression_stump_by_hand():
    features = np.array([[0.0]] * 10 + [[1.0]] * 10, dtype=np.float32)
    labels = [0] * 9 + [1] + [1] * 10
    config = GBDTConfig("regression", trees=1, leaves=2, learning_rate=0.5, least=1, features=1.0, examples=1.0, l2=0.0)
    trees = BoostedTrees.fit(features, labels, names=("x",), config=config)
    # from the mean .55 half of the way to the means of the leaves, .1 and 1
    np.testing.assert_allclose(trees.score(np.array([[0.0], [1.0]], dtype=np.float32)), [0.325, 0.775], rtol=1e-6)


def test_weights_by_hand():
    """Right at 1 with weight 3: the prior is log(3 / 2), p is 3/5, and a leaf Σ w(y − p) / Σ w p(1 − p)."""
    features = np.array([[0.0]] * 10 + [[1.0]] * 20, dtype=np.float32)
    labels, weights = [0] * 20 + [1] * 10, [1.0] * 20 + [3.0] * 10
    config = GBDTConfig(trees=1, leaves=2, learning_rate=1.0, least=1, features=1.0, examples=1.0, l2=0.0)
    trees = BoostedTrees.fit(features, labels, names=("x",), weights=weights, config=config)
    prior, left, right = np.log(1.5), -6 / 2.4, (3 * 10 * 0.4 - 10 * 0.6) / (40 * 0.24)
    scores = trees.score(np.array([[0.0], [1.0]], dtype=np.float32))
    np.testing.assert_allclose(scores, [prior + left, prior + right], rtol=1e-5)
    plain = BoostedTrees.fit(features, labels, names=("x",), config=config)
    same = BoostedTrees.fit(features, labels, names=("x",), weights=[1.0] * 30, config=config)
    assert plain.score(features).tolist() == same.score(features).tolist()


def test_trees_add_to_initial_scores_by_hand():
    """Shares of 1/4 and 3/4 from log-odds of log 3: p is 3/4, and a leaf Σ (y − p) / Σ p(1 − p)."""
    features = np.array([[0.0]] * 10 + [[1.0]] * 10, dtype=np.float32)
    shares = [0.25] * 10 + [0.75] * 10
    config = GBDTConfig(
        "cross_entropy", trees=1, leaves=2, learning_rate=1.0, least=1, features=1.0, examples=1.0, l2=0.0
    )
    trees = BoostedTrees.fit(features, shares, names=("x",), start=np.full(20, np.log(3)), config=config)
    scores = trees.score(np.array([[0.0], [1.0]], dtype=np.float32))
    np.testing.assert_allclose(scores, [-0.5 / (3 / 16), 0.0], atol=1e-6)


def test_initial_scores_follow_their_examples():
    """Lambdarank reorders examples; a right example that starts far ahead changes hardly anything."""
    features = np.array([[0.0], [1.0]] * 20, dtype=np.float32)
    labels, groups = [0, 1] * 20, np.repeat(np.arange(20), 2)
    config = GBDTConfig("lambdarank", trees=1, leaves=2, least=1, features=1.0, examples=1.0)
    fitted = partial(BoostedTrees.fit, features, labels, names=("x",), groups=groups, config=config)
    ahead, behind = (abs(np.diff(fitted(start=start).score(features[:2])))[0] for start in ([0, 3] * 20, [3, 0] * 20))
    assert ahead < behind / 10


@pytest.mark.parametrize("objective", ["binary", "lambdarank"])
def test_trees_find_the_informative_feature(data, objective):
    features, labels, groups = data
    config = GBDTConfig(objective=objective, trees=30, least=2)
    trees = BoostedTrees.fit(features, labels, names=NAMES, groups=groups, config=config)
    scores = trees.score(features)
    assert (scores[labels][:, None] > scores[~labels]).mean() > 0.97
    shares = trees.importances()
    assert next(iter(shares)) == "signal"
    assert shares["missing"] == 0.0
    assert sum(shares.values()) == pytest.approx(1.0)


def test_groups_may_be_interleaved(data):
    features, labels, groups = data
    config = GBDTConfig(objective="lambdarank", trees=10, least=2)
    order = np.arange(200).reshape(20, 10).T.ravel()  # one example of each group in turn
    grouped = BoostedTrees.fit(features, labels, names=NAMES, groups=groups, config=config)
    interleaved = BoostedTrees.fit(features[order], labels[order], names=NAMES, groups=groups[order], config=config)
    np.testing.assert_array_equal(grouped.score(features), interleaved.score(features))


def test_scores_are_the_same_again_alone_and_after_saving(data, tmp_path):
    features, labels, _ = data
    trees = BoostedTrees.fit(features, labels, names=NAMES, config=SMALL)
    again = BoostedTrees.fit(features, labels, names=NAMES, config=SMALL)
    trees.save(tmp_path / "trees", card="")
    loaded = BoostedTrees.load(tmp_path / "trees")
    assert (loaded.names, loaded.config) == (NAMES, SMALL)
    for other in (again, loaded):
        np.testing.assert_array_equal(trees.score(features), other.score(features))
    np.testing.assert_array_equal(trees.score(features)[7:8], trees.score(features[7:8]))
    assert loaded.importances() == trees.importances()
    assert trees.score(features[:0]).shape == (0,)


def test_a_missing_feature_has_a_score(data):
    features, labels, _ = data
    trees = BoostedTrees.fit(features, labels, names=NAMES, config=SMALL)
    assert np.isfinite(trees.score(np.full((1, 3), np.nan, dtype=np.float32))).all()


def test_missing_values_can_be_informative(tmp_path):
    """LightGBM writes such a split with an infinite threshold."""
    labels = np.arange(200) % 2
    features = np.where(labels > 0, np.nan, np.arange(200) % 7)[:, None].astype(np.float32)
    trees = BoostedTrees.fit(features, labels, names=("there",), config=GBDTConfig(trees=5, least=2))
    assert "threshold=inf" in trees.text
    assert (trees.score(features) > 0).tolist() == (labels > 0).tolist()
    trees.save(tmp_path / "trees", card="")
    np.testing.assert_array_equal(BoostedTrees.load(tmp_path / "trees").score(features), trees.score(features))


def test_damaged_trees_are_refused(data, tmp_path):
    features, labels, _ = data
    trees = BoostedTrees.fit(features, labels, names=NAMES, config=SMALL)
    trees.save(tmp_path / "trees", card="")
    text = tensor_text(load_weights(tmp_path / "trees")[TEXT], tmp_path)
    start = text.index("leaf_value=") + len("leaf_value=")
    damaged = {
        "NaN or infinity": text[:start] + "nan " + text[start:].split(" ", 1)[1],
        "damaged": text[:100],
        "Expected trees over": text.replace("feature_names=signal", "feature_names=other"),
    }
    for message, content in damaged.items():
        save_model(tmp_path / "trees", config=GBDTModel(NAMES, SMALL), weights={TEXT: text_tensor(content)}, card="")
        with pytest.raises(ValueError, match=message):
            BoostedTrees.load(tmp_path / "trees")
    save_model(tmp_path / "trees", config=GBDTModel(NAMES, SMALL), weights={"other": text_tensor("x")}, card="")
    with pytest.raises(ValueError, match="Expected a text"):
        BoostedTrees.load(tmp_path / "trees")
    with pytest.raises(ValueError, match="Expected a text in UTF-8"):
        tensor_text(np.array([255, 255], dtype=np.uint8), tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": np.ones(200)}, "of one label"),
        ({"labels": np.ones(3)}, "Expected 200 labels"),
        ({"names": ("signal",)}, r"shape \(N, 1\)"),
        ({"config": GBDTConfig(objective="lambdarank")}, "Expected groups"),
        ({"config": GBDTConfig(objective="lambdarank"), "groups": [1]}, "Expected 200 groups"),
    ],
)
def test_bad_training_data_is_refused(data, change, message):
    features, labels, _ = data
    with pytest.raises(ValueError, match=message):
        BoostedTrees.fit(features, **{"labels": labels, "names": NAMES, **change})


def test_infinity_is_refused(data):
    features, labels, _ = data
    damaged = features.copy()
    damaged[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity in noise"):
        BoostedTrees.fit(damaged, labels, names=NAMES)


@pytest.mark.parametrize(
    "wrong", [{"trees": 0}, {"leaves": 1}, {"features": 1.5}, {"l2": -1.0}, {"learning_rate": 0.0}]
)
def test_impossible_sizes_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        GBDTConfig(**wrong)


def test_normalised_within_a_group():
    features = np.array([[1.0, 5.0], [3.0, 5.0], [10.0, np.nan], [np.nan, 2.0]], dtype=np.float32)
    scores = normalised(features, ["a", "a", "b", "b"])
    np.testing.assert_allclose(scores, [[-1, 0], [1, 0], [0, np.nan], [np.nan, 0]])
    shifted = normalised(features * 7 + 2, ["a", "a", "b", "b"])
    np.testing.assert_allclose(scores, shifted, atol=1e-6)
