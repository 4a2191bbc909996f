"""Answers of the owner are served for the next question, and close gaps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from qa_bot.bot import Bot
from qa_bot.documents.index_update import ChangeError
from qa_bot.home.folder import WriterBusyError
from qa_bot.home.question_key import question_key
from qa_bot.learning.owner import ANSWER, QUESTION, OwnerError, add_answer, dismiss, gaps

CATS = "Why do cats sleep all day?"
NONSENSE = "Who is the king of Narnia quantum?"


@pytest.fixture
def bot(home: Path) -> Iterator[Bot]:
    with Bot.open(home) as opened:
        yield opened


def open_gaps(bot: Bot) -> list[tuple[str, int]]:
    return [(gap.question, gap.asked) for gap in gaps(bot)[0]]


def test_an_answer_closes_its_gap_and_is_served(bot: Bot) -> None:
    for question in (NONSENSE, NONSENSE.upper(), CATS):
        bot.ask(question)
    assert open_gaps(bot) == [(NONSENSE.upper(), 2)]
    document = add_answer(bot, f" {NONSENSE} ", "Nobody,\nfor it has none.", url="https://example.org/kings")
    answer = bot.ask(NONSENSE.lower())
    (source,) = [item for item in answer.sources if item.span]
    assert (answer.text, answer.confidence, answer.answered) == ("Nobody,\nfor it has none.", 1.0, True)
    assert (source.collection, source.document, source.url) == ("answers", document, "https://example.org/kings")
    assert source.title == NONSENSE
    assert open_gaps(bot) == []


def test_a_new_answer_replaces_the_previous_one(bot: Bot) -> None:
    for text in ("Nobody.", "Nobody at all.", "Nobody at all."):
        add_answer(bot, NONSENSE, text)
        assert bot.ask(NONSENSE).text == text
    assert len(bot.store.of_collection("answers")) == 1


def test_a_reworded_answer_closes_the_gap_of_its_key(bot: Bot) -> None:
    bot.ask("quantum king Narnia zxqv who")
    (gap,) = gaps(bot)[0]
    add_answer(bot, NONSENSE, "Nobody.", gap=gap.key)
    assert open_gaps(bot) == []


def test_it_precedes_documents_of_the_same_title_and_facts(bot: Bot) -> None:
    """Without precedence, the existing document would win half of the questions."""
    for question in (CATS, "What is the capital of Peru?"):
        assert bot.ask(question).answered
        add_answer(bot, question, "Ask Mrs. Miller at the counter.")
        answer = bot.ask(question, trace=True)
        assert (answer.text, answer.kind) == ("Ask Mrs. Miller at the counter.", "passage")
        assert answer.trace["candidates"][0]["owned"] == 1.0


def test_other_questions_are_answered_as_before(bot: Bot) -> None:
    before = bot.ask("Why do cats purr?").text
    add_answer(bot, CATS, "They are tired.")
    assert bot.ask("Why do cats purr?").text == before


def test_a_dismissed_gap_returns_when_the_question_is_asked_again(bot: Bot) -> None:
    bot.ask(NONSENSE)
    assert dismiss(bot, question_key(NONSENSE)) == 1
    assert dismiss(bot, question_key(NONSENSE)) == 0
    assert open_gaps(bot) == []
    bot.ask(NONSENSE)
    assert open_gaps(bot) == [(NONSENSE, 1)]


@pytest.mark.parametrize(
    ("question", "answer", "url", "result"),
    [
        ("", "a", "", "a question with letters or digits, but got none"),
        ("?!\x00\u200b", "a", "", "a question with letters or digits"),
        ("q", " \n", "", "an answer with letters or digits"),
        ("q" * (QUESTION + 1), "a", "", "a question of at most 2000 characters, but got 2001"),
        ("q", "a" * (ANSWER + 1), "", "an answer of at most 20000 characters, but got 20001"),
        ("q", "a", "javascript:alert(1)", "a link https"),
        ("q", "a", "https://x y", "a link https"),
        ("q", "a", f"https://{'x' * 2_000}", "of at most 2000 characters"),
    ],
)
def test_invalid_answers_are_refused(bot: Bot, question: str, answer: str, url: str, result: str) -> None:
    with pytest.raises(OwnerError, match=result):
        add_answer(bot, question, answer, url=url)
    assert bot.store.of_collection("answers") == []


def test_hostile_text_is_stored_as_text(bot: Bot) -> None:
    text = "<script>alert(1)</script> '); DROP TABLE turns; -- \ud800 end"
    add_answer(bot, "Robert'); DROP TABLE documents; --", text)
    assert bot.ask("Robert'); DROP TABLE documents; --").text.startswith("<script>alert(1)</script> '); DROP")


def test_another_writer_is_reported_and_the_gap_remains(bot: Bot) -> None:
    bot.ask(NONSENSE)
    with bot.home.lock("add"), pytest.raises(WriterBusyError, match="add by process"):
        add_answer(bot, NONSENSE, "Nobody.")
    assert open_gaps(bot) == [(NONSENSE, 1)]
    add_answer(bot, NONSENSE, "Nobody.")


def test_an_answer_does_not_reencode_the_home(home: Path, other_encoder_folder: Path) -> None:
    with Bot.open(home, flags={"dense.encoder": str(other_encoder_folder)}) as bot:
        with pytest.raises(ChangeError, match="run `qa-bot use"):
            add_answer(bot, NONSENSE, "Nobody.")
        assert bot.store.generation().number == 1


def test_an_answer_is_live_at_once(bot: Bot) -> None:
    """benchmarks/live_answers.py measures the delay."""
    for number in range(2):
        add_answer(bot, f"{NONSENSE} {number}", f"Number {number}.")
        assert bot.ask(f"{NONSENSE} {number}").text == f"Number {number}."
