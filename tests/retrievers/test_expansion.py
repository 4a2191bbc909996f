import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrievers.expansion import relevance_model, rm3, translated

FEEDBACK = [(["cat", "cat", "sleep", "purr"], 3.0), (["cat", "dog"], 1.0)]

words = st.lists(st.sampled_from(["cat", "dog", "sleep", "purr", "egg"]), max_size=8)


def test_relevance_model_by_hand():
    # cat: 3/4 · 2/4 + 1/4 · 1/2, sleep and purr: 3/4 · 1/4, dog: 1/4 · 1/2
    model = relevance_model(FEEDBACK)
    assert model == pytest.approx({"cat": 0.5, "sleep": 0.1875, "purr": 0.1875, "dog": 0.125})


def test_rm3_by_hand():
    # The two likeliest, cat .5 and purr .1875 (before sleep by name), scaled to 8/11 and 3/11.
    weighted = rm3(["why", "cat"], FEEDBACK, terms=2, weight=0.5)
    assert [term for term, _ in weighted] == ["cat", "why", "purr"]
    assert [share for _, share in weighted] == pytest.approx([0.25 + 4 / 11, 0.25, 1.5 / 11])


def test_full_weight_on_the_query_leaves_it_unchanged():
    assert rm3(["why", "why", "cat"], FEEDBACK, weight=1.0) == (
        ("why", pytest.approx(2 / 3)),
        ("cat", pytest.approx(1 / 3)),
    )


def test_without_useful_feedback_the_query_is_unchanged():
    assert rm3(["cat"], []) == rm3(["cat"], [([], 2.0), (["dog"], 0.0)]) == (("cat", 1.0),)
    assert rm3([], []) == ()


def test_a_tiny_score_beside_an_empty_document_counts():
    assert rm3([], [([], 2.0), (["cat"], 5e-324)]) == (("cat", 1.0),)


def test_a_weight_outside_0_to_1_is_refused():
    with pytest.raises(ValueError, match=r"between 0 and 1, but got 1\.5"):
        rm3(["cat"], FEEDBACK, weight=1.5)


@given(words.filter(bool), st.lists(st.tuples(words, st.floats(0, 10)), max_size=4), st.integers(1, 4))
def test_weights_are_a_distribution_with_a_limit_of_new_terms(query, feedback, terms):
    weighted = rm3(query, feedback, terms=terms)
    assert sum(share for _, share in weighted) == pytest.approx(1)
    assert len({term for term, _ in weighted} - set(query)) <= terms


def test_translated_by_hand():
    # p(a|q) are 3 to 1, as in the relevance model above, for answers whose p would underflow.
    generated = [(words, math.log(share) - 2_000) for words, share in FEEDBACK]
    assert translated(["why", "cat"], generated, terms=2) == tuple(
        (term, pytest.approx(share)) for term, share in rm3(["why", "cat"], FEEDBACK, terms=2)
    )


def test_a_question_without_generated_answers_is_unchanged():
    assert translated(["cat"], []) == translated(["cat"], [([], -3.0)]) == (("cat", 1.0),)


def test_a_question_without_terms_takes_those_of_the_answers():
    assert translated([], [(["dog", "dog", "cat"], -7.0)]) == (
        ("dog", pytest.approx(2 / 3)),
        ("cat", pytest.approx(1 / 3)),
    )
