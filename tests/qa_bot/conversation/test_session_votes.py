"""Votes of a conversation move documents away or nearer; all numbers worked out by hand."""

from collections import Counter

import pytest

from qa_bot.conversation.memory import RememberedTurn
from qa_bot.conversation.session_votes import DISLIKED, ELSEWHERE, LIKED, SessionVotes, bag_cosine
from qa_core.types import Answer, AnswerSource, Candidate, Clue, Passage, Source


def candidate(name: str, score: float, text: str = "") -> Candidate:
    return Candidate(Passage(f"{name}#0", text or name, Clue(name), Source(name, name, "", "c")), score)


def source(name: str, text: str = "", span: tuple[int, int] | None = (0, 3)) -> AnswerSource:
    return AnswerSource(f"{name}#0", name, "c", name, "", 1.0, text or name, span, span)


def past(question: str, vote: str | None, *sources: AnswerSource) -> RememberedTurn:
    answer = Answer(question, "yes", "passage", True, 0.9, sources=sources)
    return RememberedTurn.of(question, answer, vote=vote)  # type: ignore[arg-type]


def names(candidates: list[Candidate]) -> list[str]:
    return [each.passage.source.document for each in candidates]


FOUND = [candidate("oak", 1.0), candidate("elm", 0.6), candidate("fir", 0.0)]


def test_without_votes_there_is_no_taste() -> None:
    assert SessionVotes.of([past("Which tree?", None, source("oak"))]) is None
    assert SessionVotes.of([past("Which tree?", "down", source("oak", span=None))]) is None


def test_what_was_disliked_comes_later_when_the_same_is_asked() -> None:
    taste = SessionVotes.of([past("Which tree is tall?", "down", source("oak"))])
    assert taste is not None
    moved = taste.rerank("Which tree is tall?", FOUND)
    assert names(moved) == ["elm", "oak", "fir"]
    assert [each.score for each in moved] == pytest.approx([0.6, 1.0 - DISLIKED, 0.0])
    assert moved[1].signals.session_votes == pytest.approx(0.1)


def test_elsewhere_a_vote_weighs_little() -> None:
    taste = SessionVotes.of([past("Which tree is tall?", "down", source("oak"))])
    assert taste is not None
    moved = taste.rerank("How deep are lakes?", FOUND)
    assert names(moved) == ["oak", "elm", "fir"]
    assert moved[0].score == pytest.approx(1.0 - DISLIKED * ELSEWHERE)


def test_what_was_liked_comes_first() -> None:
    taste = SessionVotes.of([past("Which tree is tall?", "up", source("elm"))])
    assert taste is not None
    near = [candidate("oak", 1.0), candidate("elm", 0.8), candidate("fir", 0.0)]
    moved = taste.rerank("Which tree is tall?", near)
    assert names(moved) == ["elm", "oak", "fir"]
    assert moved[0].score == pytest.approx(0.8 + LIKED)


def test_a_twin_of_what_was_disliked_is_avoided_too() -> None:
    text = "oaks grow forty metres tall"
    taste = SessionVotes.of([past("Which tree is tall?", "down", source("oak", text))])
    assert taste is not None
    moved = taste.rerank("Which tree is tall?", [candidate("copy", 1.0, text), *FOUND[1:]])
    assert names(moved) == ["elm", "copy", "fir"]


def test_the_last_vote_counts_and_one_candidate_is_kept() -> None:
    taste = SessionVotes.of([past("Which tree is tall?", "down", source("oak"))])
    assert taste is not None
    assert names(taste.rerank("Which tree is tall?", [FOUND[0]])) == ["oak"]
    assert taste.rerank("Which tree is tall?", []) == []


def test_a_fact_that_was_voted_down_is_refused_for_that_question_only() -> None:
    taste = SessionVotes.of([past("What is the capital of Peru?", "down", source("lima"))])
    assert taste is not None
    assert taste.rejects_fact("what is Peru's capital", [source("lima")])
    assert not taste.rejects_fact("How many people live there?", [source("lima")])
    assert not taste.rejects_fact("What is the capital of Peru?", [source("quito")])


def test_likeness_is_a_cosine() -> None:
    assert bag_cosine(Counter("ab"), Counter("ab")) == pytest.approx(1)
    assert bag_cosine(Counter("ab"), Counter("bc")) == pytest.approx(0.5)
    assert bag_cosine(Counter("a"), Counter()) == 0
