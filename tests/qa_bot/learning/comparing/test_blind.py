"""A judge's view does not reveal the sides."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from qa_bot.learning.comparing.blind import PREFERENCES, blind_pair, chosen_side, next_pair, order_of
from qa_bot.learning.comparing.comparison import Comparison, Pair

PAIRS = tuple(Pair(f"q{n}", f"Question {n}?", "", f"one {n}", f"other {n}", 0, 3) for n in range(8))
MADE = Comparison("n", "secret-a.jsonl", "secret-b.jsonl", 5, PAIRS)
NAMES = st.text(min_size=1, max_size=20)


@given(st.integers(0, 2**32), NAMES, NAMES)
def test_the_order_is_deterministic(seed: int, judge: str, qid: str) -> None:
    assert order_of(seed, judge, qid) == order_of(seed, judge, qid)
    assert chosen_side("AB", "first") == chosen_side("BA", "second") == "A"
    assert chosen_side("AB", "second") == chosen_side("BA", "first") == "B"
    assert chosen_side("AB", "tie") == chosen_side("BA", "tie") == "tie"


@given(st.integers(0, 2**32), NAMES)
def test_the_order_is_balanced(seed: int, judge: str) -> None:
    """Over questions for one judge, over judges for one question, and over seeds."""
    for orders in (
        [order_of(seed, judge, str(n)) for n in range(400)],
        [order_of(seed, f"{judge}{n}", "q") for n in range(400)],
        [order_of(seed + n, judge, "q") for n in range(400)],
    ):
        assert binomtest(orders.count("AB"), 400).pvalue > 1e-9


def test_two_judges_see_different_orders() -> None:
    both = [(order_of(0, "ann", str(n)), order_of(0, "ben", str(n))) for n in range(400)]
    assert binomtest(sum(one == other for one, other in both), 400).pvalue > 1e-3


@given(st.integers(0, 2**32), NAMES)
def test_only_question_and_texts_are_shown(seed: int, judge: str) -> None:
    made = Comparison("n", MADE.a, MADE.b, seed, PAIRS)
    swapped = Comparison("n", MADE.b, MADE.a, seed, tuple(Pair(p.qid, p.question, "", p.b, p.a, 3, 0) for p in PAIRS))
    for position, pair in enumerate(PAIRS):
        shown = blind_pair(made, pair, judge, position).as_dict()
        texts = {shown.pop("first"), shown.pop("second")}
        assert texts == {pair.a, pair.b}
        assert shown == {"qid": pair.qid, "question": pair.question, "body": "", "place": position}
        other = blind_pair(swapped, swapped.pairs[position], judge, position).as_dict()
        assert {other.pop("first"), other.pop("second")} == texts
        assert other == shown


def test_pairs_are_shown_in_order_without_identical_ones() -> None:
    pairs = (PAIRS[0], Pair("same", "Same?", "", "yes", "yes"), *PAIRS[1:3])
    made = Comparison("n", "a", "b", 0, pairs)

    def next_id(*done: str, start: int = 0) -> str | None:
        shown = next_pair(made, "ann", done, start=start)
        return None if shown is None else f"{shown.position}:{shown.qid}"

    assert next_id() == "0:q0"
    assert next_id("q0") == "1:q1"
    assert next_id(start=1) == "1:q1"
    assert next_id("q1", start=1) == "2:q2"
    assert next_id("q0", "q1", "q2") is None
    assert next_id(start=3) is None


def test_preferences_cover_both_sides_and_ties() -> None:
    assert {chosen_side("BA", choice) for choice in PREFERENCES} == {"A", "B", "tie"}
