"""Votes of a conversation rerank documents; all numbers are worked out by hand."""

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
    return [item.passage.source.document for item in candidates]


FOUND = [candidate("oak", 1.0), candidate("elm", 0.6), candidate("fir", 0.0)]


def test_without_votes_there_is_nothing_to_rerank() -> None:
    assert SessionVotes.of([past("Which tree?", None, source("oak"))]) is None
    assert SessionVotes.of([past("Which tree?", "down", source("oak", span=None))]) is None


def test_disliked_document_falls_for_the_same_question() -> None:
    votes = SessionVotes.of([past("Which tree is tall?", "down", source("oak"))])
    assert votes is not None
    moved = votes.rerank("Which tree is tall?", FOUND)
    assert names(moved) == ["elm", "oak", "fir"]
    assert [item.score for item in moved] == pytest.approx([0.6, 1.0 - DISLIKED, 0.0])
    assert moved[1].signals.session_votes == pytest.approx(0.1)


def test_votes_count_little_for_other_questions() -> None:
    votes = SessionVotes.of([past("Which tree is tall?", "down", source("oak"))])
    assert votes is not None
    moved = votes.rerank("How deep are lakes?", FOUND)
    assert names(moved) == ["oak", "elm", "fir"]
    assert moved[0].score == pytest.approx(1.0 - DISLIKED * ELSEWHERE)


def test_liked_document_rises() -> None:
    votes = SessionVotes.of([past("Which tree is tall?", "up", source("elm"))])
    assert votes is not None
    near = [candidate("oak", 1.0), candidate("elm", 0.8), candidate("fir", 0.0)]
    moved = votes.rerank("Which tree is tall?", near)
    assert names(moved) == ["elm", "oak", "fir"]
    assert moved[0].score == pytest.approx(0.8 + LIKED)


def test_copy_of_a_disliked_document_falls() -> None:
    text = "oaks grow forty metres tall"
    votes = SessionVotes.of([past("Which tree is tall?", "down", source("oak", text))])
    assert votes is not None
    moved = votes.rerank("Which tree is tall?", [candidate("copy", 1.0, text), *FOUND[1:]])
    assert names(moved) == ["elm", "copy", "fir"]


def test_single_candidate_is_kept() -> None:
    votes = SessionVotes.of([past("Which tree is tall?", "down", source("oak"))])
    assert votes is not None
    assert names(votes.rerank("Which tree is tall?", [FOUND[0]])) == ["oak"]
    assert votes.rerank("Which tree is tall?", []) == []


def test_disliked_fact_is_rejected_for_that_question_only() -> None:
    votes = SessionVotes.of([past("What is the capital of Peru?", "down", source("lima"))])
    assert votes is not None
    assert votes.rejects_fact("what is Peru's capital", [source("lima")])
    assert not votes.rejects_fact("How many people live there?", [source("lima")])
    assert not votes.rejects_fact("What is the capital of Peru?", [source("quito")])


def test_bag_cosine() -> None:
    assert bag_cosine(Counter("ab"), Counter("ab")) == pytest.approx(1)
    assert bag_cosine(Counter("ab"), Counter("bc")) == pytest.approx(0.5)
    assert bag_cosine(Counter("a"), Counter()) == 0
