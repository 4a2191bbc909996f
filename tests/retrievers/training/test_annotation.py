import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrievers.training.annotation import (
    Agreement,
    QuerySet,
    Retrieved,
    agreed_pairs,
    agreement,
    balanced,
    by_distance,
    candidates,
    families,
    human_pairs,
    known_matches,
    label_candidates,
    matched_pairs,
    query_sets,
    squared_distances,
    top_pairs,
)
from retrievers.training.examples import Examples, Pair

ANSWERS = ("mice", "grass", "fish")


def search(texts, k):
    """Answers that begin like the query come first; −1 pads the rest, as in an index."""
    scores = np.full((len(texts), k), -np.inf, dtype=np.float32)
    answers = np.full((len(texts), k), -1, dtype=np.int64)
    for row, text in enumerate(texts):
        alike = [(float(answer[0] == text[0]), -row_) for row_, answer in enumerate(ANSWERS)]
        for column, (score, negated) in enumerate(sorted(alike, reverse=True)[:k]):
            scores[row, column], answers[row, column] = score, -negated
    return scores, answers


def test_candidates_labels_and_the_four_kinds_of_pairs_by_hand():
    queries = {5: "gnus", 7: "frogs"}
    matches = candidates(search, queries, 2)
    assert matches == [
        Retrieved(5, 1, 1, 1.0),
        Retrieved(5, 0, 2, 0.0),
        Retrieved(7, 2, 1, 1.0),
        Retrieved(7, 0, 2, 0.0),
    ]
    right = [(), (), (), (), (), (1, 0), (), (0,)]
    assert known_matches(matches, right) == [True, True, False, True]
    probabilities = {("gnus", "grass"): 0.9, ("gnus", "mice"): 0.2, ("frogs", "fish"): 0.8, ("frogs", "mice"): 0.5}
    scored = []

    def score(pairs):
        scored.extend(pairs)
        return np.array([probabilities[pair] for pair in pairs])

    labels = label_candidates(matches, score, queries, ANSWERS, right=right)
    assert scored == [*probabilities]
    assert [label.probability for label in labels] == [0.9, 0.2, 0.8, 0.5]
    assert human_pairs(labels) == [matches[0], matches[1], matches[3]]
    assert top_pairs(labels) == [matches[0], matches[2]]
    assert matched_pairs(labels) == [matches[0], matches[2]]  # half is no match
    assert matched_pairs(labels, threshold=0.4) == [matches[0], matches[2], matches[3]]
    assert agreed_pairs(labels) == [matches[0]]
    without = label_candidates(matches, score, queries, ANSWERS)
    assert {label.human for label in without} == {None}
    assert human_pairs(without) == agreed_pairs(without) == []


def test_few_answers_and_no_queries():
    assert [match.answer for match in candidates(search, {0: "grass"}, 9)] == [1, 0, 2]
    assert candidates(search, {}, 9) == []
    assert label_candidates([], lambda pairs: np.zeros(len(pairs)), {}, ANSWERS) == []
    with pytest.raises(ValueError, match="at least one candidate per query, but got 0"):
        candidates(search, {0: "grass"}, 0)


def test_questions_that_share_an_answer_are_a_family():
    pairs = [("b", "1"), ("a", "1"), ("a", "2"), ("c", "2"), ("d", "3"), ("e", "4"), ("d", "5")]
    examples = Examples.of(Pair(*pair) for pair in pairs)
    assert dict(zip(examples.questions, families(examples), strict=True)) == {
        "b": "a",
        "a": "a",
        "c": "a",
        "d": "d",
        "e": "e",
    }


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("12345678")), min_size=4, max_size=20))
def test_families_are_connected_components(pairs):
    try:
        examples = Examples.of(Pair(*pair) for pair in pairs)
    except ValueError:
        return  # fewer than two questions or answers
    reach = {question: {question} for question in examples.questions}
    for _ in pairs:  # as many rounds as a chain can be long
        for one, answer in pairs:
            for other, same in pairs:
                if answer == same:
                    reach[one] |= reach[other]
    assert families(examples) == [min(reach[question]) for question in examples.questions]


def test_sets_are_disjoint_and_complete_with_the_given_shares():
    names = [f"family {number // 2}" for number in range(4000)]
    sets = query_sets(names, [0.1, 0.3, 0.3, 0.3], dev=0.2)
    everything = [query for part in sets for query in (*part.train, *part.dev)]
    assert sorted(everything) == list(range(4000))
    families_ = [{names[query] for query in part} for set_ in sets for part in (set_.train, set_.dev)]
    assert sum(map(len, families_)) == len(set.union(*families_)) == 2000
    for part, share in zip(sets, (400, 1200, 1200, 1200), strict=True):
        assert len(part.train) + len(part.dev) == pytest.approx(share, abs=120)
        assert len(part.dev) == pytest.approx(share / 5, abs=70)
    turned = query_sets(names[::-1], [0.1, 0.3, 0.3, 0.3], dev=0.2)
    assert {names[q] for q in sets[1].train} == {names[::-1][q] for q in turned[1].train}
    assert query_sets(["A  b", "a b"], [0.5, 0.5], dev=0.5).count(QuerySet((), ())) == 1  # case and space are ignored


@pytest.mark.parametrize(("shares", "dev"), [([0.0, 1.0], 0.1), ([0.6, 0.6], 0.1), ([0.5], 1.0), ([0.5], -0.1)])
def test_impossible_shares_are_refused(shares, dev):
    with pytest.raises(ValueError, match="Expected positive shares"):
        query_sets(["a", "b"], shares, dev=dev)


def test_a_smaller_set_keeps_the_share_of_development():
    whole = QuerySet(tuple(range(100)), tuple(range(100, 110)))
    assert whole.first(50) == QuerySet(tuple(range(50)), tuple(range(100, 105)))
    assert whole.first(1000) == whole
    assert QuerySet((1,), (0,)).numbered("xy") == QuerySet(("y",), ("x",))


def test_balancing_drops_negatives():
    labels = [True, True, *[False] * 18]
    sample = balanced(labels, np.random.default_rng(0), minimum_positives=0.25)
    assert sample[:2] == [0, 1]
    assert len(sample) == len(set(sample)) == 8  # two of eight are a quarter
    assert balanced(labels, np.random.default_rng(0)) == list(range(20))
    sample = balanced(labels, np.random.default_rng(0), most=10)
    assert len(sample) == 10
    assert sum(labels[i] for i in sample) == 1  # a tenth, as of all
    assert balanced(labels, np.random.default_rng(0), minimum_positives=1.0) == [0, 1]
    assert balanced([False] * 3, np.random.default_rng(0), minimum_positives=0.5) == []
    assert balanced([True] * 3, np.random.default_rng(0), minimum_positives=0.5) == [0, 1, 2]
    with pytest.raises(ValueError, match=r"from 0 to 1, but got 1\.5"):
        balanced(labels, np.random.default_rng(0), minimum_positives=1.5)


@given(st.lists(st.booleans(), max_size=60), st.floats(0.05, 1.0), st.integers(0, 40))
def test_the_share_of_positives_is_reached(labels, share, most):
    sample = balanced(labels, np.random.default_rng(0), most=most, minimum_positives=share)
    chosen = [labels[i] for i in sample]
    assert sample == sorted(set(sample))
    assert not most or len(sample) <= most
    if not most and chosen:
        assert sum(chosen) == sum(labels)
        assert sum(chosen) / len(chosen) >= share - 1e-6


def test_agreement_by_hand():
    first = [True, True, False, False, True, False]
    second = [True, False, True, False, True, True]
    assert agreement(first, second) == Agreement(neither=1, only_first=1, only_second=2, both=2)
    near, far = by_distance(first, second, [0.3, 0.9, 0.8, 0.7, 0.1, 0.2], ranges=2)
    assert near == Agreement(neither=0, only_first=0, only_second=1, both=2)
    assert far == Agreement(neither=1, only_first=1, only_second=1, both=0)
    assert by_distance([], [], []) == [Agreement(0, 0, 0, 0)] * 5
    with pytest.raises(ValueError, match="for the same queries, but got 1 and 2"):
        agreement([True], [True, False])
    with pytest.raises(ValueError, match="a distance for each of 1 queries, but got 2"):
        by_distance([True], [True], [0.1, 0.2])


def test_squared_distances_are_those_of_the_vectors():
    vectors = np.random.default_rng(0).normal(size=(2, 5)).astype(np.float32)
    one, other = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = ((one - other) ** 2).sum()
    assert squared_distances(np.array([one @ other]))[0] == pytest.approx(expected, abs=1e-6)
