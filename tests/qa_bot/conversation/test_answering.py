"""Turns answered one after another, by the bot that remembers and by a client that tells what was said."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from qa_bot import Bot
from qa_bot.answering.ask import ClientTurn
from qa_bot.answering.events import Event, Understood
from qa_core.types import Answer

CATS = "Why do cats sleep all day?"
TURNS = (
    "Hello!",
    "What is the capital of Australia?",
    "and its population?",
    "What about New Zealand?",
    "why this answer?",
    CATS,
    "shorter",
    "more sources",
    "repeat",
    "Thank you!",
)


@pytest.fixture
def bot(home: Path) -> Iterator[Bot]:
    with Bot.open(home) as bot:
        yield bot


def converse(bot: Bot, turns: Sequence[str] = TURNS, conversation: str = "c") -> list[Answer]:
    return [bot.ask(turn, conversation=conversation) for turn in turns]


def test_ten_turns(bot: Bot) -> None:
    told = converse(bot)
    assert [each.kind for each in told] == [
        "talk", "fact", "fact", "fact", "talk", "passage", "talk", "talk", "talk", "talk"
    ]  # fmt: skip
    assert [each.understood for each in told if each.understood] == [
        "What is Australia's population?",
        "What is New Zealand's population?",
    ]
    assert "26,000,000" in told[2].text
    assert "New Zealand" in told[4].text
    assert told[6].text == told[5].text[: len(told[6].text)]
    assert told[8].text == told[7].text
    assert [each.question for each in told] == list(TURNS)


def test_a_client_that_tells_what_was_said_gets_the_same(bot: Bot) -> None:
    exchanged: list[ClientTurn] = []
    for turn, told in zip(TURNS, converse(bot), strict=True):
        again = bot.ask(turn, history=exchanged)
        assert (again.text, again.understood) == (told.text, told.understood)
        exchanged.append(ClientTurn(turn, again.text))


def test_what_was_said_survives_a_restart(home: Path) -> None:
    with Bot.open(home) as bot:
        first = converse(bot, TURNS[:3])[-1]
        assert bot.store.turns("c")[-1].rewritten == first.understood
    with Bot.open(home) as bot:
        assert bot.ask(TURNS[3], conversation="c").understood == "What is New Zealand's population?"


def test_the_first_question_is_never_rewritten(bot: Bot) -> None:
    assert bot.ask("and its population?", conversation="c").understood == ""
    assert bot.ask("hello", conversation="d").kind == "talk"
    assert bot.ask("and its population?", conversation="d").understood == ""


def test_a_question_without_a_conversation_is_only_a_question(bot: Bot) -> None:
    converse(bot, TURNS[1:2])
    assert bot.ask("thanks").kind != "talk"
    assert bot.ask("and its population?").understood == ""


def test_a_rewrite_is_told_and_undone(bot: Bot) -> None:
    heard: list[Event] = []
    converse(bot, TURNS[1:2])
    told = bot.ask("and its population?", conversation="c", reference="q", listen=heard.append)
    assert heard[0] == Understood("What is Australia's population?")
    undone = bot.ask("and its population?", conversation="c", reference="q", understood="and its population?")
    assert undone.understood == ""
    assert undone.text != told.text
    assert [each.understood for each in bot.memory.recall("c")] == [TURNS[1], "and its population?"]


def test_a_long_body_says_what_is_meant(bot: Bot) -> None:
    converse(bot, TURNS[1:2])
    assert bot.ask("and its population?", body="Of Canada, I mean.", conversation="c").understood == ""


def test_a_disliked_answer_is_not_given_again_here_but_to_others(bot: Bot) -> None:
    first = bot.ask(CATS, conversation="c")
    bot.vote(first.id, "down")
    again, other = (bot.ask(CATS, conversation=each) for each in ("c", "d"))
    assert first.sources[0].document not in {each.document for each in again.sources if each.span}
    assert other.text == first.text
    if not again.answered:
        assert "voted down in this conversation" in again.reason
    bot.vote(first.id, "up")
    assert bot.ask(CATS, conversation="c").text == first.text


def test_a_disliked_fact_gives_way(bot: Bot) -> None:
    first = bot.ask(TURNS[1], conversation="c")
    assert first.kind == "fact"
    bot.vote(first.id, "down")
    assert bot.ask(TURNS[1], conversation="c").kind != "fact"
    assert bot.ask(TURNS[1], conversation="d").kind == "fact"


def test_a_vote_holds_after_a_restart(home: Path) -> None:
    with Bot.open(home) as bot:
        first = bot.ask(CATS, conversation="c")
        bot.vote(first.id, "down", "Dogs were meant.")
    with Bot.open(home) as bot:
        assert bot.ask(CATS, conversation="c").text != first.text


def test_a_vote_keeps_the_whole_trace(bot: Bot) -> None:
    told = bot.ask(CATS, conversation="c")
    assert told.trace is None
    assert "trace" not in bot.store.turn(told.id).answer
    bot.vote(told.id, "up")
    assert bot.store.turn(told.id).answer["trace"]["candidates"][0]["document"] == told.sources[0].document


def test_a_deleted_conversation_is_gone_with_what_is_under_way(bot: Bot) -> None:
    converse(bot, TURNS[1:3])

    def delete(event: Event) -> None:
        if isinstance(event, Understood):
            bot.delete_conversation("c")

    bot.ask("What about Peru?", conversation="c", listen=delete)
    assert bot.store.conversations() == []
    assert bot.ask("What about Peru?", conversation="c").understood == ""
    assert [each.turns for each in bot.store.conversations()] == [1]


def test_a_persona_talks_in_its_own_words(home: Path, tiny_voices: Path) -> None:
    shutil.copytree(tiny_voices / "cook", home / "personas" / "cook")
    with Bot.open(home, flags={"style.base": str(tiny_voices / "base"), "style.candidates": 20}) as bot:
        told = bot.ask("Thank you!", conversation="c", persona="cook")
        assert told.styled is not None
        assert (told.kind, told.styled.lines[0].persona) == ("styled", "cook")
        assert told.text == f"{told.styled.lines[0].text}\n\nYou're welcome."
        assert bot.ask("why this answer?", conversation="c", persona="cook").styled is None
