import numpy as np
import pytest

from qa_lab.evaluate.datasets import DatasetError
from qa_lab.studies.style_classifier import WORDS, StyleClassifier, balanced, cross_validated, features

RNG = np.random.default_rng(3)


def sentences(words: str, count: int) -> list[str]:
    """Random sentences of the words and of words that all speakers share."""
    style, shared = words.split(), ["the", "is", "here", "and", "now", "not"]
    return [" ".join([*RNG.choice(shared, 3), *RNG.choice(style, 2)]) for _ in range(count)]


@pytest.fixture(scope="module")
def sides() -> tuple[list[str], list[str]]:
    return sentences("sail mast anchor harbour rope", 40), sentences("invoice desk printer meeting stamp", 40)


def test_features_by_hand():
    assert features("The sea, the SEA!") == ["the", "sea", "the sea", "sea the"]
    assert features("don't") == ["do", "n't", "do n't"]
    assert len(features(" ".join(map(str, range(100))))) == 2 * WORDS - 1


def test_two_styles_are_distinguished(sides: tuple[list[str], list[str]]):
    score = cross_validated(*sides)
    assert score.mean > 0.9
    assert len(score.per_query) == 80
    classifier = StyleClassifier.of(*sides)
    first, second, unknown = classifier.probabilities(["a rope and a mast", "stamp the invoice", "xyzzy"])
    assert first > 0.8
    assert second < 0.2
    assert unknown == pytest.approx(0.5, abs=0.1)
    again = StyleClassifier.of(*sides).probabilities(["a rope and a mast"])
    assert again[0] == first


def test_one_style_is_not_distinguished_from_itself():
    texts = sentences("sail mast anchor harbour rope", 120)
    assert 0.3 < cross_validated(texts[::2], texts[1::2]).mean < 0.7


def test_training_reaches_the_minimum_of_the_loss(sides: tuple[list[str], list[str]]):
    """The gradient of the mean log loss and the penalty, computed independently, is zero."""
    classifier = StyleClassifier.of(*sides)
    rows = np.zeros((80, len(classifier.columns) + 1))
    for row, text in enumerate([*sides[0], *sides[1]]):
        known = [classifier.columns[feature] for feature in features(text) if feature in classifier.columns]
        rows[row, known] = len(known) ** -0.5
    labels = np.repeat([1.0, 0.0], 40)
    rows[:, -1] = 1
    p = 1 / (1 + np.exp(-(rows @ classifier.weights)))
    slope = rows.T @ (p - labels) / 80 + 2e-4 * classifier.weights
    assert np.abs(slope).max() < 1e-8


def test_balanced_sides_have_equal_size():
    left, right = balanced([str(n) for n in range(9)], ["a", "b", "c", "d", "e", "f"], np.random.default_rng(1))
    assert len(left) == len(set(left)) == len(right) == 6
    assert set(right) == set("abcdef")
    with pytest.raises(DatasetError, match=r"at least 5 sentences .* and 5 turns of dialogues, but got 9 and 2"):
        balanced(["x"] * 9, ["y"] * 2, np.random.default_rng(1))


def test_texts_without_known_words_get_the_bias(sides: tuple[list[str], list[str]]):
    classifier = StyleClassifier.of(*sides)
    probabilities = classifier.probabilities(["", "...", "unknown"])
    assert probabilities.tolist() == pytest.approx([1 / (1 + np.exp(-classifier.weights[-1]))] * 3)
