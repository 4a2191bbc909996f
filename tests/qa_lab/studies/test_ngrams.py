import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.networks.vocabulary import END, START
from qa_lab.studies.ngrams import Ngrams

TEXTS = [["a", "b"], ["a", "c"]]


def test_bigrams_by_hand():
    """Pairs: <s> a twice; a b, b </s>, a c, c </s> once: D = 4 / (4 + 2).

    Words by their contexts: </s> two, others one: D = 3 / (3 + 2); a fifth word is for all unknown ones.
    """
    model = Ngrams.of(TEXTS, order=2)
    assert model.words == 5
    a, end, unknown = 0.4 / 5 + 0.48 / 5, 1.4 / 5 + 0.48 / 5, 0.48 / 5
    expected = {
        ("a", (START,)): (2 - 2 / 3) / 2 + 1 / 3 * a,
        ("b", ("a",)): (1 - 2 / 3) / 2 + 2 / 3 * a,
        (END, ("b",)): (1 - 2 / 3) / 1 + 2 / 3 * end,
        ("x", ("b",)): 2 / 3 * unknown,
        ("a", ("x",)): a,
    }
    for (word, before), p in expected.items():
        assert math.exp(model.log_p(word, before)) == pytest.approx(p)
    three = expected["a", (START,)] * expected["b", ("a",)] * expected[END, ("b",)]
    assert math.exp(model.surprise(["a", "b"])) == pytest.approx(three ** (-1 / 3))


def test_known_words_share_the_remaining_probability():
    more = Ngrams.of(TEXTS, known=["a", "d", "e"], order=2)
    assert more.words == 7
    assert more.log_p("d", ("a",)) == more.log_p("e", ("a",)) < Ngrams.of(TEXTS, order=2).log_p("d", ("a",))


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=6), min_size=1, max_size=8), st.integers(1, 4))
def test_probabilities_of_all_words_are_one(texts: list[list[str]], order: int):
    model = Ngrams.of(texts, known="abcde", order=order)
    assert model.words == 7
    words = [*"abcde", END, "never seen"]
    for before in ([START] * 3, ["a", "b", "a"], ["x", "y", "z"], [START, START, "b"]):
        total = sum(math.exp(model.log_p(word, tuple(before))) for word in words)
        assert total == pytest.approx(1)


def test_a_likely_order_has_less_surprise():
    model = Ngrams.of([list("ABCDAE"), list("AFCDAB")] * 2)
    assert model.surprise(list("ABCDAF")) < model.surprise(list("FDCBAE"))


def test_no_text_is_an_error():
    with pytest.raises(ValueError, match="Expected texts to count words in, but got none"):
        Ngrams.of([])
