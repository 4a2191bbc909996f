import numpy as np
import pytest

from qa_lab.evaluate.datasets import DatasetError
from qa_lab.studies.style_classifier import WORDS, StyleClassifier, alike_many, cross_validated, features

RNG = np.random.default_rng(3)


def said(words: str, count: int) -> list[str]:
    """Each with words that both sides have."""
    own, shared = words.split(), ["the", "is", "here", "and", "now", "not"]
    return [" ".join([*RNG.choice(shared, 3), *RNG.choice(own, 2)]) for _ in range(count)]


@pytest.fixture(scope="module")
def sides() -> tuple[list[str], list[str]]:
    return said("sail mast anchor harbour rope", 40), said("invoice desk printer meeting stamp", 40)


def test_features_by_hand():
    assert features("The sea, the SEA!") == ["the", "sea", "the sea", "sea the"]
    assert features("don't") == ["do", "n't", "do n't"]
    assert len(features(" ".join(map(str, range(100))))) == 2 * WORDS - 1


def test_two_styles_are_told_apart(sides: tuple[list[str], list[str]]):
    score = cross_validated(*sides)
    assert score.mean > 0.9
    assert len(score.per_query) == 80
    classifier = StyleClassifier.of(*sides)
    told = classifier.probabilities(["a rope and a mast", "stamp the invoice", "xyzzy"])
    assert told[0] > 0.8
    assert told[1] < 0.2
    assert told[2] == pytest.approx(0.5, abs=0.1)
    again = StyleClassifier.of(*sides).probabilities(["a rope and a mast"])
    assert again[0] == told[0]


def test_one_style_is_not_told_apart_from_itself():
    texts = said("sail mast anchor harbour rope", 120)
    assert 0.3 < cross_validated(texts[::2], texts[1::2]).mean < 0.7


def test_its_loss_is_at_the_minimum(sides: tuple[list[str], list[str]]):
    """The gradient of the mean log loss and the penalty is zero, computed anew from the texts."""
    classifier = StyleClassifier.of(*sides)
    rows = np.zeros((80, len(classifier.places) + 1))
    for row, text in enumerate([*sides[0], *sides[1]]):
        known = [classifier.places[each] for each in features(text) if each in classifier.places]
        rows[row, known] = len(known) ** -0.5
    right = np.repeat([1.0, 0.0], 40)
    rows[:, -1] = 1
    p = 1 / (1 + np.exp(-(rows @ classifier.weights)))
    slope = rows.T @ (p - right) / 80 + 2e-4 * classifier.weights
    assert np.abs(slope).max() < 1e-8


def test_as_many_of_both_sides():
    left, right = alike_many([str(n) for n in range(9)], ["a", "b", "c", "d", "e", "f"], np.random.default_rng(1))
    assert len(left) == len(set(left)) == len(right) == 6
    assert set(right) == set("abcdef")
    with pytest.raises(DatasetError, match=r"Expected 5 sentences of a speaker and 5 turns .* but got 9 and 2"):
        alike_many(["x"] * 9, ["y"] * 2, np.random.default_rng(1))


def test_texts_without_a_known_word(sides: tuple[list[str], list[str]]):
    classifier = StyleClassifier.of(*sides)
    told = classifier.probabilities(["", "...", "unknown"])
    assert told.tolist() == pytest.approx([1 / (1 + np.exp(-classifier.weights[-1]))] * 3)
