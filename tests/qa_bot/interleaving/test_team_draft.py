"""Team drafts worked out by hand, and their credit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.interleaving.team_draft import CHALLENGER, PRESENT, Interleaved, interleaved, margin, team_draft

LISTS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


def of(present: str, challenger: str, credit: dict[str, float], **options: int) -> float:
    return margin([*present], [*challenger], credit, drafts=5, rng=np.random.default_rng(0), **options)


def test_a_draft_by_hand():
    # the present ranking picks a, the challenger b; then the challenger goes first and takes d, c is left
    drafted = team_draft("abc", "bda", [PRESENT, CHALLENGER, PRESENT])
    assert drafted == [("a", PRESENT), ("b", CHALLENGER), ("d", CHALLENGER), ("c", PRESENT)]
    # the challenger picks b; a is still the best of the present ranking
    assert team_draft("abc", "bda", [CHALLENGER, PRESENT], length=3) == [
        ("b", CHALLENGER),
        ("a", PRESENT),
        ("c", PRESENT),
    ]


def test_an_exhausted_ranking_leaves_the_rest_to_the_other():
    assert team_draft("a", "bcd", [PRESENT] * 3) == [("a", 0), ("b", 1), ("c", 1), ("d", 1)]
    assert team_draft("", "", [PRESENT]) == []


@given(LISTS, LISTS, st.lists(st.integers(0, 1), min_size=10, max_size=10))
def test_a_draft_has_each_document_once(present, challenger, first):
    documents = [document for document, _ in team_draft(present, challenger, first)]
    assert sorted(documents) == sorted({*present, *challenger})


def test_credit_by_hand():
    assert of("ab", "ba", {"a": 1.0}) == -1  # whoever begins, the present ranking picks a
    assert of("ab", "ba", {"b": 1.0}) == 1
    assert of("ab", "ba", {"a": -0.5}) == 0.5  # a debit for a down vote
    assert of("ab", "ba", {"a": 1.0, "b": 1.0}) == 0
    assert of("xa", "xb", {"x": 1.0}) == 0  # first in both
    assert of("xa", "xb", {"a": 1.0}) == -1
    assert of("abc", "abd", {"d": 1.0}, length=2) == 0  # below the shown documents


@given(LISTS, LISTS, st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-1, 1)))
def test_swapped_rankings_have_the_opposite_margin(present, challenger, credit):
    assert of("".join(present), "".join(present), credit) == 0
    forth, back = of("".join(present), "".join(challenger), credit), of("".join(challenger), "".join(present), credit)
    assert forth == pytest.approx(-back, abs=1e-9)


def test_questions_are_won_and_lost():
    result = interleaved(
        ["ab", "ab", "ab", "ab"], ["ba", "ba", "ba", "ab"], [{"b": 1.0}, {"b": 0.5}, {"a": 0.5}, {"a": 1.0}],
        drafts=3, seed=0,
    )  # fmt: skip
    # two of three decided questions are won: 2 · (C(3, 0) + C(3, 1)) / 8 = 1
    assert result == Interleaved(wins=2, losses=1, ties=1, p=1.0, margin=0.25)
    assert Interleaved.of([1.0] * 6).p == 2 / 64
    assert Interleaved.of([]) == Interleaved(0, 0, 0, 1.0, 0.0)


def test_the_seed_decides_the_drafts():
    lists = (["abcdef"] * 3, ["fbdeca"] * 3, [{"c": 1.0, "e": -1.0}] * 3)
    one, again = (interleaved(*lists, drafts=2, seed=4) for _ in range(2))
    assert one == again
