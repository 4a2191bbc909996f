"""Consecutive turns of a conversation, with history from the bot's memory and from the client."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from qa_bot import Bot
from qa_bot.answering.ask import ClientTurn
from qa_bot.answering.events import Event, Understood
from qa_bot.conversation.answering import rewriter
from qa_bot.conversation.understanding import read
from qa_core.types import Answer
from retrievers.long_questions import BODY, TITLE

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
    answers = converse(bot)
    assert [answer.kind for answer in answers] == [
        "talk", "fact", "fact", "fact", "talk", "passage", "talk", "talk", "talk", "talk"
    ]  # fmt: skip
    assert [answer.understood for answer in answers if answer.understood] == [
        "What is Australia's population?",
        "What is New Zealand's population?",
    ]
    assert "26,000,000" in answers[2].text
    assert "New Zealand" in answers[4].text
    assert answers[6].text == answers[5].text[: len(answers[6].text)]
    assert answers[8].text == answers[7].text
    assert [answer.question for answer in answers] == list(TURNS)


def test_history_from_the_client_gives_the_same_answers(bot: Bot) -> None:
    exchanged: list[ClientTurn] = []
    for turn, remembered in zip(TURNS, converse(bot), strict=True):
        again = bot.ask(turn, history=exchanged)
        assert (again.text, again.understood) == (remembered.text, remembered.understood)
        exchanged.append(ClientTurn(turn, again.text))


def test_a_rewritten_question_that_may_be_no_sentence_is_shown_as_its_parts(bot: Bot) -> None:
    turns = ("What is the capital of Australia?", "and the others?", "and the mountains?")
    first, second, third = converse(bot, turns)
    assert (first.understood, first.searched) == ("", "")
    assert second.understood == "What is the capital of Australia? · and the others?"
    assert third.understood == "What is the capital of Australia? · and the mountains?"
    assert second.searched.startswith("What ")
    history = [ClientTurn(turn, answer.text) for turn, answer in zip(turns, (first, second), strict=False)]
    again = bot.ask(turns[2], history=history)
    assert (again.understood, again.searched) == (third.understood, third.searched)
    assert bot.store.turns("c")[-1].rewritten == third.understood


def test_history_survives_a_restart(home: Path) -> None:
    with Bot.open(home) as bot:
        first = converse(bot, TURNS[:3])[-1]
        assert bot.store.turns("c")[-1].rewritten == first.understood
    with Bot.open(home) as bot:
        assert bot.ask(TURNS[3], conversation="c").understood == "What is New Zealand's population?"


def test_the_topic_survives_a_restart_and_comes_back_with_the_reply_of_a_client(home: Path) -> None:
    with Bot.open(home) as bot:
        title = bot.ask(CATS, conversation="c").sources[0].title
        assert bot.memory.title(bot.ask(CATS, history=[]).text) == title
    with Bot.open(home) as bot:
        assert read("and at night?", bot.memory.recall("c"), rewriter()).readings.topic == title


def test_the_first_question_is_never_rewritten(bot: Bot) -> None:
    assert bot.ask("and its population?", conversation="c").understood == ""
    assert bot.ask("hello", conversation="d").kind == "talk"
    assert bot.ask("and its population?", conversation="d").understood == ""


def test_without_a_conversation_nothing_is_rewritten(bot: Bot) -> None:
    converse(bot, TURNS[1:2])
    assert bot.ask("thanks").kind != "talk"
    assert bot.ask("and its population?").understood == ""


def test_rewrite_is_reported_and_can_be_undone(bot: Bot) -> None:
    events: list[Event] = []
    converse(bot, TURNS[1:2])
    rewritten = bot.ask("and its population?", conversation="c", reference="q", listen=events.append)
    assert events[0] == Understood("What is Australia's population?")
    undone = bot.ask("and its population?", conversation="c", reference="q", understood="and its population?")
    assert undone.understood == ""
    assert undone.text != rewritten.text
    assert [turn.understood for turn in bot.memory.recall("c")] == [TURNS[1], "and its population?"]


def test_question_with_a_body_is_not_rewritten(bot: Bot) -> None:
    converse(bot, TURNS[1:2])
    assert bot.ask("and its population?", body="Of Canada, I mean.", conversation="c").understood == ""


def test_answer_voted_down_is_not_repeated_in_the_same_conversation(bot: Bot) -> None:
    first = bot.ask(CATS, conversation="c")
    bot.vote(first.id, "down")
    again, other = (bot.ask(CATS, conversation=name) for name in ("c", "d"))
    assert first.sources[0].document not in {source.document for source in again.sources if source.span}
    assert other.text == first.text
    if not again.answered:
        assert "voted down in this conversation" in again.reason
    bot.vote(first.id, "up")
    assert bot.ask(CATS, conversation="c").text == first.text


def test_fact_voted_down_is_not_repeated_in_the_same_conversation(bot: Bot) -> None:
    first = bot.ask(TURNS[1], conversation="c")
    assert first.kind == "fact"
    bot.vote(first.id, "down")
    assert bot.ask(TURNS[1], conversation="c").kind != "fact"
    assert bot.ask(TURNS[1], conversation="d").kind == "fact"


def test_votes_survive_a_restart(home: Path) -> None:
    with Bot.open(home) as bot:
        first = bot.ask(CATS, conversation="c")
        bot.vote(first.id, "down", "Dogs were meant.")
    with Bot.open(home) as bot:
        assert bot.ask(CATS, conversation="c").text != first.text


def test_vote_stores_the_trace(bot: Bot) -> None:
    answer = bot.ask(CATS, conversation="c")
    assert answer.trace is None
    assert "trace" not in bot.store.turn(answer.id).answer
    bot.vote(answer.id, "up")
    assert bot.store.turn(answer.id).answer["trace"]["candidates"][0]["document"] == answer.sources[0].document


def test_conversation_deleted_during_a_turn_stays_deleted(bot: Bot) -> None:
    converse(bot, TURNS[1:3])

    def delete(event: Event) -> None:
        if isinstance(event, Understood):
            bot.delete_conversation("c")

    bot.ask("What about Peru?", conversation="c", listen=delete)
    assert bot.store.conversations() == []
    assert bot.ask("What about Peru?", conversation="c").understood == ""
    assert [conversation.turns for conversation in bot.store.conversations()] == [1]


def test_small_talk_is_styled_by_a_persona(home: Path, tiny_voices: Path) -> None:
    shutil.copytree(tiny_voices / "cook", home / "personas" / "cook")
    with Bot.open(home, flags={"style.base": str(tiny_voices / "base"), "style.candidates": 20}) as bot:
        answer = bot.ask("Thank you!", conversation="c", persona="cook")
        assert answer.styled is not None
        assert (answer.kind, answer.styled.lines[0].persona) == ("styled", "cook")
        assert answer.text == f"{answer.styled.lines[0].text}\n\nYou're welcome."
        assert bot.ask("why this answer?", conversation="c", persona="cook").styled is None


def test_a_long_question_is_cut_at_sentences_and_says_so(bot: Bot) -> None:
    story = "My cat is nine years old. " * 900
    answer = bot.ask(CATS, body=story, trace=True)
    assert answer.question == CATS
    assert answer.trace is not None
    assert answer.trace["searched"]["title"] == CATS
    assert answer.trace["searched"]["body"] == ("My cat is nine years old. " * 900)[:BODY].rpartition(" My")[0]
    assert answer.skipped == ("rest of the body",)
    short = bot.ask(CATS, body=story[:520], trace=True)
    assert short.skipped == ()
    assert short.trace is not None
    assert "searched" not in short.trace


def test_a_long_title_is_understood_as_its_question(bot: Bot) -> None:
    answer = bot.ask(f"{'My cat is nine years old. ' * 700}{CATS}", conversation="c")
    assert answer.understood.endswith(CATS)
    assert len(answer.understood) <= TITLE
    (turn,) = bot.memory.recall("c")
    assert len(turn.question) <= TITLE
    assert bot.ask("and its population?", conversation="c").understood != answer.understood


@pytest.mark.parametrize("conversation", [None, "c"])
def test_a_question_whose_deadline_has_passed_is_not_run(
    bot: Bot, monkeypatch: pytest.MonkeyPatch, conversation: str | None
) -> None:
    """No stage is begun: neither queries nor vectors are made, and the graph is not asked."""
    corridor = bot.corridor()
    monkeypatch.setattr(type(corridor), "corrected", lambda *_: pytest.fail("the spelling was corrected"))
    monkeypatch.setattr("qa_bot.answering.stages.formulate.formulate", lambda *_, **__: pytest.fail("formulated"))
    monkeypatch.setattr(type(corridor.index), "keyword_hits", lambda *_, **__: pytest.fail("searched by words"))
    monkeypatch.setattr(type(corridor.index), "dense_hits", lambda *_, **__: pytest.fail("searched by vectors"))
    answer = bot.ask(CATS, deadline=0.0, conversation=conversation)
    assert not answer.answered
    assert {"formulate", "keyword", "dense"} <= set(answer.skipped)
    assert "no time" in answer.reason


def test_a_follow_up_after_a_choice_is_answered(bot: Bot) -> None:
    offered, chosen, why = converse(bot, ["dogs", "the second one", "why?"])
    assert chosen.understood == offered.choices[1].question
    assert chosen.answered
    assert why.answered
