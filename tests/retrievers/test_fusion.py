import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrievers.fusion import (
    ScoredDocuments,
    best_first,
    in_vocabulary_rule,
    normalised_mean,
    reciprocal_rank,
    stable_hash,
)

KEYWORD = ScoredDocuments.of([1, 2, 3], [8.0, 6.0, 4.0])
DENSE = ScoredDocuments.of([3, 1, 4], [0.9, 0.5, 0.4])


def sorted_list(scores):
    return best_first(np.array(list(scores), np.int64), np.array(list(scores.values()), np.float64))


ranked_lists = st.lists(
    st.dictionaries(st.integers(0, 9), st.floats(-5, 5, width=32), max_size=6).map(sorted_list), min_size=1, max_size=4
)


def scores_of(ranked):
    return dict(ranked.pairs())


def test_reciprocal_rank_by_hand():
    # 1: 1/61 + 1/62, 3: 1/63 + 1/61, 2: 1/62, 4: 1/63
    fused = reciprocal_rank([KEYWORD, DENSE])
    assert fused.documents.tolist() == [1, 3, 2, 4]
    assert fused.scores == pytest.approx([0.0325225, 0.0322665, 0.0161290, 0.0158730], abs=1e-7)


def test_reciprocal_rank_with_weights_and_a_small_constant():
    # k = 1: 1 → 3/2 + 1/3, 3 → 3/4 + 1/2, 2 → 3/3, 4 → 1/4
    fused = reciprocal_rank([KEYWORD, DENSE], weights=[3, 1], k=1)
    assert scores_of(fused) == pytest.approx({1: 11 / 6, 3: 5 / 4, 2: 1.0, 4: 1 / 4})


def test_normalised_mean_by_hand():
    # keyword 1, .5, 0; dense 3 → 1, 1 → .2, 4 → 0
    assert scores_of(normalised_mean([KEYWORD, DENSE])) == pytest.approx({1: 0.6, 3: 0.5, 2: 0.25, 4: 0.0})
    weighted = scores_of(normalised_mean([KEYWORD, DENSE], weights=[1, 3]))
    assert weighted == pytest.approx({1: 0.4, 3: 0.75, 2: 0.125, 4: 0.0})


def test_a_list_of_equal_scores_counts_one_each():
    equal = ScoredDocuments.of([5, 6], [2.0, 2.0])
    assert scores_of(normalised_mean([equal])) == {5: 1.0, 6: 1.0}
    assert scores_of(normalised_mean([equal, ScoredDocuments.of([6], [1.0])])) == {6: 1.0, 5: 0.5}


def test_in_vocabulary_half_comes_from_the_dense_list():
    assert in_vocabulary_rule(DENSE, KEYWORD, 4, in_vocabulary=True).documents.tolist() == [3, 1, 2]
    assert in_vocabulary_rule(DENSE, KEYWORD, 2, in_vocabulary=True).documents.tolist() == [3, 1]
    assert scores_of(in_vocabulary_rule(DENSE, KEYWORD, 3, in_vocabulary=True)) == {3: 1.0, 1: 1 / 2, 2: 1 / 3}


@pytest.mark.parametrize(
    ("k", "documents"),
    [(0, []), (1, [1]), (2, [1, 5]), (3, [1, 2, 5]), (4, [1, 2, 5, 6]), (5, [1, 2, 3, 5, 6]), (9, [1, 2, 3, 5, 6, 7])],
)
def test_the_half_of_the_dense_list_is_rounded_up(k, documents):
    dense, keyword = (ScoredDocuments.of(numbers, [3.0, 2.0, 1.0]) for numbers in ([1, 2, 3], [5, 6, 7]))
    assert in_vocabulary_rule(dense, keyword, k, in_vocabulary=True).documents.tolist() == documents


def test_out_of_vocabulary_all_comes_from_the_keyword_list():
    assert in_vocabulary_rule(DENSE, KEYWORD, 2, in_vocabulary=False).documents.tolist() == [1, 2]


def test_empty_lists_fuse_to_an_empty_list():
    empty = ScoredDocuments.of()
    for fused in (
        reciprocal_rank([]),
        normalised_mean([]),
        reciprocal_rank([empty, empty]),
        normalised_mean([empty]),
        in_vocabulary_rule(empty, empty, 5, in_vocabulary=True),
    ):
        assert fused.empty
        assert (fused.documents.dtype, fused.scores.dtype) == (np.int64, np.float64)


def test_equal_scores_are_ordered_by_the_hash_of_the_key():
    tied = reciprocal_rank([ScoredDocuments.of([document], [1.0]) for document in range(50)]).documents
    assert tied.tolist() == sorted(range(50), key=hash_of)
    assert tied.tolist() != list(range(50))


def hash_of(number):
    return int(stable_hash(np.array([number]))[0])


@given(st.dictionaries(st.integers(0, 99), st.sampled_from([0.0, 0.25, 0.5, 1.0])))
def test_runs_of_equal_scores_anywhere_are_ordered_by_the_hash(scores):
    assert [*sorted_list(scores).pairs()] == sorted(scores.items(), key=lambda item: (-item[1], hash_of(item[0])))


@given(ranked_lists, st.lists(st.none() | st.floats(-6, 0), min_size=4, max_size=4))
def test_a_normalised_mean_is_the_mean_of_normalised_lists(lists, floors):
    expected = {}
    for ranked, floor in zip(lists, floors, strict=False):
        low = floor if floor is not None else min(ranked.scores, default=0.0)
        width = max(ranked.scores, default=low) - low
        for document, score in ranked.pairs():
            share = (score - low) / width if width > 0 else 1.0
            expected[document] = expected.get(document, 0) + share / len(lists)
    assert scores_of(normalised_mean(lists, floors=floors[: len(lists)])) == pytest.approx(expected)


def test_the_hash_is_the_published_one():
    # First outputs of SplitMix64 seeded with 0, whose state advances by the golden gamma.
    assert hash_of(0) == 0xE220A8397B1DCDAF
    assert hash_of(0x9E3779B97F4A7C15 - 2**64) == 0x6E789E6AA1B965F4
    assert 0 <= hash_of(-1) < 2**64


def test_weights_need_not_sum_to_1():
    # by reciprocal rank with k = 1: 1 → .1/2 + .3/3, 3 → .1/4 + .3/2, 2 → .1/3, 4 → .3/4
    expected = {1: 0.15, 3: 0.175, 2: 0.1 / 3, 4: 0.075}
    assert scores_of(reciprocal_rank([KEYWORD, DENSE], weights=[0.1, 0.3], k=1)) == pytest.approx(expected)
    weighted = scores_of(normalised_mean([KEYWORD, DENSE], weights=[0.1, 0.3]))
    assert weighted == pytest.approx({1: 0.4, 3: 0.75, 2: 0.125, 4: 0.0})


def test_a_list_of_weight_0_adds_documents_but_no_score():
    assert scores_of(reciprocal_rank([KEYWORD, DENSE], weights=[2, 0], k=1)) == {1: 1.0, 2: 2 / 3, 3: 0.5, 4: 0.0}


@pytest.mark.parametrize("weights", [[1.0], [1.0, 1.0, 1.0], [1.0, -1.0], [2.0, -1.0], [0.0, 0.0]])
def test_wrong_weights_are_refused(weights):
    with pytest.raises(ValueError, match="Expected 2 weights, none below 0"):
        reciprocal_rank([KEYWORD, DENSE], weights=weights)


@given(ranked_lists)
def test_the_order_of_lists_does_not_matter(lists):
    forward, backward = scores_of(reciprocal_rank(lists)), scores_of(reciprocal_rank(lists[::-1]))
    assert forward == pytest.approx(backward)


@given(ranked_lists)
def test_normalised_means_stay_between_0_and_1_best_first(lists):
    fused = normalised_mean(lists)
    assert (np.diff(fused.scores) <= 0).all()
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in fused.scores)
    assert set(fused.documents.tolist()) == {document for ranked in lists for document, _ in ranked.pairs()}


def test_a_floor_replaces_the_lowest_score():
    ranked = ScoredDocuments.of([1, 2, 3], [10.0, 9.0, 5.0])
    assert scores_of(normalised_mean([ranked], floors=[0.0])) == {1: 1.0, 2: 0.9, 3: 0.5}
    fused = scores_of(normalised_mean([ranked, ScoredDocuments.of([3, 1], [4.0, 2.0])], floors=[0.0, None]))
    assert fused == pytest.approx({1: 0.5, 2: 0.45, 3: 0.75})


@given(ranked_lists, st.integers(0, 8))
def test_the_first_of_a_list(lists, count):
    assert [*lists[0].first(count).pairs()] == [*lists[0].pairs()][:count]
