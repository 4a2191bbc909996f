"""Voices, their bounds and what they say together; numbers by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.home.question_key import question_key
from qa_bot.home.store import Feedback, Turn
from qa_lab.train.fusion.dawid_skene import STRANGER
from qa_lab.train.fusion.votes import (
    Opinion,
    VoterOpinion,
    bounded,
    first_rank_share,
    joint_opinions,
    shrinkage,
    voter_opinions,
)

ONE = math.log(STRANGER / (1 - STRANGER))
ITEM = ("q", "d")


def turn(
    name: str,
    spans: Sequence[tuple[str, tuple[int, int] | None]],
    *,
    conversation: str | None = "c",
    question: str = "Why?",
    kind: str = "passage",
    rewritten: str = "",
) -> Turn:
    sources: list[dict[str, Any]] = [{"document": document, "span": span} for document, span in spans]
    return Turn(name, question, {"kind": kind, "sources": sources}, rewritten, conversation)


def vote(name: str, up: bool = True, *, at: float = 0.0) -> Feedback:
    return Feedback(name, "up" if up else "down", "", at)


def test_a_conversation_has_one_voice_on_a_question_and_document_its_last():
    turns = [turn("a", [("d", (0, 10))]), turn("b", [("d", (0, 10))], question="WHY  ")]
    (voice,) = voter_opinions([(turns[1], vote("b", True, at=1)), (turns[0], vote("a", False, at=2))])
    assert voice == VoterOpinion("c", (question_key("why"), "d"), up=False)


def test_conversations_and_nameless_turns_are_voters_of_their_own():
    turns = [turn("a", [("d", (0, 9))], conversation=None), turn("b", [("d", (0, 9))], conversation=None)]
    known = voter_opinions([(turns[0], vote("a")), (turns[1], vote("b")), (turn("c", [("d", (0, 9))]), vote("c"))])
    assert [(item.voter, item.known) for item in known] == [("a", False), ("b", False), ("c", True)]


def test_documents_share_a_itemby_the_text_they_gave():
    turns = turn("a", [("long", (0, 30)), ("short", (35, 45)), ("unused", None)])
    assert [(item.item[1], item.weight) for item in voter_opinions([(turns, vote("a"))])] == [
        ("long", 0.75),
        ("short", 0.25),
    ]


@pytest.mark.parametrize("kind", ["fact", "talk", "none"])
def test_votes_on_what_was_not_made_from_documents_say_nothing_of_them(kind):
    assert voter_opinions([(turn("a", [("d", (0, 9))], kind=kind), vote("a"))]) == []


def test_a_follow_up_is_the_question_as_it_was_understood():
    turns = turn("a", [("d", (0, 9))], question="and dogs?", rewritten="Why do dogs bark?")
    assert voter_opinions([(turns, vote("a"))])[0].item[0] == question_key("Why do dogs bark?")


def test_a_thousand_votes_of_one_conversation_are_ten_voices():
    many = [VoterOpinion("loud", (str(number), "d"), up=True) for number in range(1000)]
    weighed = bounded([*many, VoterOpinion("quiet", ITEM, up=True)], per_voter=10)
    assert sum(item.weight for item in weighed[:-1]) == pytest.approx(10)
    assert weighed[-1].weight == 1


def test_nameless_votes_on_one_document_are_never_more_than_one_conversation():
    def weights(count: int) -> list[float]:
        return [
            item.weight
            for item in bounded([VoterOpinion(str(n), ITEM, True, known=False) for n in range(count)], per_voter=10)
        ]

    assert weights(1) == [0.5]
    assert weights(2) == [0.5, 0.5]
    assert sum(weights(1000)) == pytest.approx(1)


def test_opinions_by_hand():
    joint = joint_opinions([VoterOpinion("one", ITEM, True), VoterOpinion("one", ("q", "e"), False)], per_voter=10)
    assert joint[ITEM] == Opinion(pytest.approx(ONE), 1.0)
    assert joint["q", "e"] == Opinion(pytest.approx(-ONE), 1.0)
    assert joint_opinions([], per_voter=10) == {}
    agreed = joint_opinions([VoterOpinion("one", ITEM, True), VoterOpinion("other", ITEM, True)], per_voter=10)
    assert agreed[ITEM] == Opinion(pytest.approx(2 * ONE), 2.0)
    against = joint_opinions([VoterOpinion("one", ITEM, True), VoterOpinion("other", ITEM, False)], per_voter=10)
    assert against[ITEM].evidence == pytest.approx(0)


def test_a_single_voice_counts_half_of_what_many_come_to():
    assert shrinkage(Opinion(ONE, 1), agree=2) == 1 / 2
    assert shrinkage(Opinion(ONE, 2), agree=2) == 2 / 3
    assert shrinkage(Opinion(ONE, 1), agree=1) == 1
    assert shrinkage(Opinion(ONE, 1), agree=5) == 1 / 5


def test_the_first_rank_share_is_as_good_as_votes_say():
    assert first_rank_share([]) == 1 / 2
    assert first_rank_share([VoterOpinion(str(n), ITEM, n < 3) for n in range(4)]) == 4 / 6


@given(
    st.lists(
        st.builds(
            VoterOpinion,
            st.sampled_from("abcd"),
            st.tuples(st.sampled_from("qrs"), st.sampled_from("de")),
            st.booleans(),
            st.floats(0.01, 1),
            st.booleans(),
        ),
        max_size=30,
    ),
    st.integers(1, 5),
)
def test_whoever_votes_what_weights_stay_bounded(sample, per_voter):
    weighed = bounded(sample, per_voter=per_voter)
    for voter in {item.voter for item in weighed}:
        assert sum(item.weight for item in weighed if item.voter == voter) <= per_voter + 1e-9
    assert all(new.weight <= old.weight for new, old in zip(weighed, sample, strict=True))
    assert all(math.isfinite(item.evidence) for item in joint_opinions(sample, per_voter=per_voter).values())
