import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_lab.data.phrases.string_similarity import edit_distance, effective_size, length_ratio, nearly, overlap

TEXT = st.text("abc", max_size=7)


@pytest.mark.parametrize(
    ("left", "right", "distance"), [("kitten", "sitting", 3), ("", "ab", 2), ("colour", "color", 1)]
)
def test_edits(left: str, right: str, distance: int):
    assert edit_distance(left, right) == distance


@given(TEXT, TEXT, TEXT)
def test_edits_are_a_metric(a: str, b: str, c: str):
    assert (edit_distance(a, b) == 0) == (a == b)
    assert edit_distance(a, b) == edit_distance(b, a)
    assert edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c)


def test_overlap_counts_the_shorter_phrase():
    assert overlap(["my", "dad", "had"], ["my", "father", "had"]) == pytest.approx(2 / 3)
    assert overlap(["ballistic", "missiles"], ["of", "ballistic", "missiles"]) == 1
    assert overlap([], ["a"]) == 0
    assert overlap(["colour"], ["color", "scheme"]) == 0
    assert overlap(["colour"], ["color", "scheme"], nearly) == 1


def test_sizes():
    assert length_ratio(["may", "influence"], ["could", "have", "an", "impact", "on"]) == 0.4
    assert length_ratio([], []) == 0
    assert effective_size(["a", "big", "house"], ["mansion"]) == 2


def test_nearly_the_same_token():
    assert nearly("dads", "dad")
    assert not nearly("had", "made")
