import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrievers.fusion import best_first, in_vocabulary_rule, normalised_mean, reciprocal_rank, stable_hash

KEYWORD = [(1, 8.0), (2, 6.0), (3, 4.0)]
DENSE = [(3, 0.9), (1, 0.5), (4, 0.4)]

ranked_lists = st.lists(
    st.dictionaries(st.integers(0, 9), st.floats(-5, 5, width=32), max_size=6).map(best_first), min_size=1, max_size=4
)


def test_reciprocal_rank_by_hand():
    # 1: 1/61 + 1/62, 3: 1/63 + 1/61, 2: 1/62, 4: 1/63
    fused = reciprocal_rank([KEYWORD, DENSE])
    assert [document for document, _ in fused] == [1, 3, 2, 4]
    assert [score for _, score in fused] == pytest.approx([0.0325225, 0.0322665, 0.0161290, 0.0158730], abs=1e-7)


def test_reciprocal_rank_with_weights_and_a_small_constant():
    # k = 1: 1 → 3/2 + 1/3, 3 → 3/4 + 1/2, 2 → 3/3, 4 → 1/4
    fused = dict(reciprocal_rank([KEYWORD, DENSE], weights=[3, 1], k=1))
    assert fused == pytest.approx({1: 11 / 6, 3: 5 / 4, 2: 1.0, 4: 1 / 4})


def test_normalised_mean_by_hand():
    # keyword 1, .5, 0; dense 3 → 1, 1 → .2, 4 → 0
    assert dict(normalised_mean([KEYWORD, DENSE])) == pytest.approx({1: 0.6, 3: 0.5, 2: 0.25, 4: 0.0})
    weighted = dict(normalised_mean([KEYWORD, DENSE], weights=[1, 3]))
    assert weighted == pytest.approx({1: 0.4, 3: 0.75, 2: 0.125, 4: 0.0})


def test_a_list_of_equal_scores_counts_one_each():
    assert dict(normalised_mean([[(5, 2.0), (6, 2.0)]])) == {5: 1.0, 6: 1.0}
    assert dict(normalised_mean([[(5, 2.0), (6, 2.0)], [(6, 1.0)]])) == {6: 1.0, 5: 0.5}


def test_known_words_take_half_from_the_dense_list():
    assert [d for d, _ in in_vocabulary_rule(DENSE, KEYWORD, 4, in_vocabulary=True)] == [3, 1, 2]
    assert [d for d, _ in in_vocabulary_rule(DENSE, KEYWORD, 2, in_vocabulary=True)] == [3, 1]
    assert in_vocabulary_rule(DENSE, KEYWORD, 3, in_vocabulary=True) == [(3, 1.0), (1, 1 / 2), (2, 1 / 3)]


def test_an_unknown_word_leaves_the_keyword_list_alone():
    assert [d for d, _ in in_vocabulary_rule(DENSE, KEYWORD, 2, in_vocabulary=False)] == [1, 2]


def test_nothing_in_nothing_out():
    assert reciprocal_rank([]) == normalised_mean([]) == reciprocal_rank([[], []]) == normalised_mean([[]]) == []
    assert in_vocabulary_rule([], [], 5, in_vocabulary=True) == []


def test_equal_scores_are_ordered_by_the_hash_of_the_id():
    tied = reciprocal_rank([[(document, 1.0)] for document in range(50)])
    assert [document for document, _ in tied] == sorted(range(50), key=stable_hash)
    assert [document for document, _ in tied] != list(range(50))


@given(st.dictionaries(st.integers(0, 99), st.sampled_from([0.0, 0.25, 0.5, 1.0])))
def test_runs_of_equal_scores_anywhere_are_ordered_by_the_hash(scores):
    assert best_first(scores) == sorted(scores.items(), key=lambda item: (-item[1], stable_hash(item[0])))


@given(ranked_lists, st.lists(st.none() | st.floats(-6, 0), min_size=4, max_size=4))
def test_a_normalised_mean_is_the_mean_of_normalised_lists(lists, floors):
    expected = {}
    for ranked, floor in zip(lists, floors, strict=False):
        low = floor if floor is not None else min((score for _, score in ranked), default=0.0)
        width = max((score for _, score in ranked), default=low) - low
        for document, score in ranked:
            share = (score - low) / width if width > 0 else 1.0
            expected[document] = expected.get(document, 0) + share / len(lists)
    assert dict(normalised_mean(lists, floors=floors[: len(lists)])) == pytest.approx(expected)


def test_the_hash_is_the_published_one():
    # First outputs of SplitMix64 seeded with 0, whose state advances by the golden gamma.
    assert stable_hash(0) == 0xE220A8397B1DCDAF
    assert stable_hash(0x9E3779B97F4A7C15) == 0x6E789E6AA1B965F4
    assert 0 <= stable_hash(-1) < 2**64


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [0.0, 0.0]])
def test_wrong_weights_are_named(weights):
    with pytest.raises(ValueError, match="Expected 2 weights, none below 0"):
        reciprocal_rank([KEYWORD, DENSE], weights=weights)


@given(ranked_lists)
def test_the_order_of_lists_does_not_matter(lists):
    forward, backward = dict(reciprocal_rank(lists)), dict(reciprocal_rank(lists[::-1]))
    assert forward == pytest.approx(backward)


@given(ranked_lists)
def test_normalised_means_stay_between_0_and_1_best_first(lists):
    scores = [score for _, score in normalised_mean(lists)]
    assert scores == sorted(scores, reverse=True)
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in scores)
    assert len(scores) == len({document for ranked in lists for document, _ in ranked})


def test_a_floor_stands_for_the_lowest_score():
    ranked = [(1, 10.0), (2, 9.0), (3, 5.0)]
    assert normalised_mean([ranked], floors=[0.0]) == [(1, 1.0), (2, 0.9), (3, 0.5)]
    fused = dict(normalised_mean([ranked, [(3, 4.0), (1, 2.0)]], floors=[0.0, None]))
    assert fused == pytest.approx({1: 0.5, 2: 0.45, 3: 0.75})
