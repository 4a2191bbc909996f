"""Wrong arguments of `Bot`: each error says what was expected and what came."""

from __future__ import annotations

import asyncio

import pytest

from qa_bot import Bot
from qa_bot.answering.ask import Ask
from qa_bot.conversation.persona_choice import ChoiceError, choose
from qa_bot.home.config import ConfigError
from qa_core.arguments import ArgumentError
from qa_core.types import Question

CATS = "Why do cats sleep all day?"


@pytest.fixture
def bot(home):
    with Bot.open(home) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "options", "message"),
    [
        (None, {}, "Expected a text (str) as `question`, but got None."),
        (b"cats", {}, "Expected a text (str) as `question`, but got b'cats'."),
        (CATS, {"body": None}, "Expected a text (str) as `body`, but got None."),
        (CATS, {"colour": "red"}, "but got colour."),
        (Question(CATS), {"body": "more"}, "in the `Question`"),
        (Ask(Question(CATS)), {"top": 3}, "in the `Ask`, but got them beside it: top."),
        (CATS, {"top": 0}, "Expected a whole number of at least 1 as `top`, but got 0."),
        (CATS, {"top": "3"}, "Expected a whole number of at least 1 as `top`, but got '3'."),
        (CATS, {"deadline": "soon"}, "Expected a number of at least 0 as `deadline`, but got 'soon'."),
        (CATS, {"deadline": float("nan")}, "as `deadline`, but got nan."),
        (CATS, {"seconds": -1}, "as `seconds`, but got -1."),
        (CATS, {"precision": 7}, "Expected a number from 0 to 1 as `precision`, but got 7."),
        (CATS, {"persona": 5}, "Expected a text (str) as `persona`, but got 5."),
        (CATS, {"cell": "left"}, "Expected a whole number of at least 0 as `cell`, but got 'left'."),
        (CATS, {"scope": "handbook"}, "Expected a Scope as `scope`, but got 'handbook'."),
        (CATS, {"history": ["earlier"]}, "Expected a ClientTurn as `history`, but got 'earlier'."),
    ],
)
def test_questions(bot, question, options, message) -> None:
    with pytest.raises(ArgumentError) as caught:
        bot.ask(question, **options)
    assert message in str(caught.value)


def test_an_asynchronous_question(bot) -> None:
    with pytest.raises(ArgumentError, match="`question`, but got 5"):
        asyncio.run(bot.ask_async(5))


def test_a_wrong_conversation_does_not_reach_the_journal(bot) -> None:
    with pytest.raises(ArgumentError, match="`conversation`, but got 5"):
        bot.ask(CATS, conversation=5)
    answer = bot.ask(CATS)
    bot.vote(answer.id, "up")
    assert [vote.vote for vote in bot.store.feedback(answer.id)] == ["up"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "foo"}, "Expected one of keyword, dense, hybrid, facts as `engine`, but got 'foo'."),
        ({"query": None}, "Expected a text (str) as `query`, but got None."),
        ({"top": -1}, "Expected a whole number of at least 1 as `top`, but got -1."),
        ({"top": 2.5}, "Expected a whole number of at least 1 as `top`, but got 2.5."),
        ({"deadline": "soon"}, "as `deadline`, but got 'soon'."),
        ({"scope": "handbook"}, "Expected a Scope as `scope`, but got 'handbook'."),
    ],
)
def test_searches(bot, options, message) -> None:
    with pytest.raises(ArgumentError) as caught:
        bot.search(**{"query": CATS, **options})
    assert message in str(caught.value)


def test_a_search_takes_seconds_and_any_text(bot) -> None:
    assert bot.search("cats \ud800", deadline=5)[0].passage.source.collection == "starter"


def test_questions_to_the_graph(bot) -> None:
    with pytest.raises(ArgumentError, match="`question`, but got None"):
        bot.ask_graph(None)
    with pytest.raises(ArgumentError, match="`deadline`, but got 'soon'"):
        bot.ask_graph("Which currency is used in Japan?", deadline="soon")


def test_votes(bot) -> None:
    answer = bot.ask(CATS)
    with pytest.raises(ArgumentError, match="Expected one of up, down as `vote`, but got 'sideways'"):
        bot.vote(answer.id, "sideways")
    with pytest.raises(ArgumentError, match="`comment`, but got 5"):
        bot.vote(answer.id, "up", 5)
    assert bot.store.feedback(answer.id) == []


def test_choices() -> None:
    styled = {"lines": [{"text": "Ahoy.", "kind": "generated"}], "persona": "captain"}
    with pytest.raises(ChoiceError, match="Expected the index of a sentence, or a text, but got None"):
        choose({"id": "1", "styled": styled}, None)


def test_flags_are_named_values(home) -> None:
    with pytest.raises(ConfigError, match=r"Expected flags by `section.key`.* but got \['answer.limit'\]"):
        Bot.open(home, flags=["answer.limit"])
