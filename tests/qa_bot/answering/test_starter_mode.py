"""`[starter] mode`: the owner's documents come first, and the starter collection says that it answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qa_bot.answering.ask import Ask
from qa_bot.answering.corridor import Corridor
from qa_bot.answering.scope import Scope
from qa_bot.answering.stages.rank import Ranking
from qa_bot.answering.wording.refusals import ENGLISH
from qa_bot.bot import Bot
from qa_bot.documents.sync import add
from qa_core.types import Question

ROWS = [
    {"id": "leave", "title": "How many days of leave do I get?", "text": "You get thirty days of leave a year."},
    {"id": "steep", "title": "How long should I steep green tea?", "text": "Steep our house tea for nine minutes."},
    {"id": "rules", "title": "Rules of the house", "text": "Doors are locked at ten, on every floor. \n\n" * 90},
    {"id": "capital", "title": "What is the capital of Australia?", "text": "Here we call Perth the capital."},
    {"id": "gate", "question": "Who locks the gate?", "answer": "Tilda locks the gate until March."},
    {"id": "gate 2", "question": "Who locks the gate?", "answer": "Since April it is Jonas who locks the gate."},
    {"id": "lunch", "question": "When is lunch served on Fridays?", "answer": "On Fridays lunch is served at noon."},
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The starter collection with its graph, and seven documents of the owner."""
    folder = tmp_path_factory.mktemp("starter-mode")
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    with Bot.open(folder / "home", record=False) as bot:
        add(bot.home, bot.config, bot.encoder, [folder / "rows.jsonl"], collection="own")
    return folder / "home"


def _opened(home: Path, mode: str) -> Bot:
    return Bot.open(home, flags={"starter.mode": mode}, record=False)


def test_the_owners_documents_answer_without_the_starter(home: Path) -> None:
    with _opened(home, "auto") as bot:
        answer = bot.ask("How long should I steep green tea?")
    assert "nine minutes" in answer.text
    assert answer.reason == ""
    assert {source.collection for source in answer.sources} == {"own"}


def test_a_fact_of_the_starter_does_not_push_a_passage_aside(home: Path) -> None:
    question = "What is the capital of Australia?"
    with _opened(home, "auto") as bot:
        assert "Perth" in bot.ask(question).text
    with _opened(home, "always") as bot:
        assert bot.ask(question).kind == "fact"


def test_the_starter_answers_what_the_owners_documents_do_not_and_says_so(home: Path) -> None:
    with _opened(home, "auto") as bot:
        answer = bot.ask("Why do cats sleep all day?")
        fact = bot.ask("What is the capital of Canada?")
    assert answer.sources[0].document == "animals-cats-sleep"
    assert {source.collection for source in answer.sources} == {"starter"}
    assert answer.reason == fact.reason == ENGLISH.from_starter
    assert fact.answered
    assert "Ottawa" in fact.text


def test_the_graph_alone_answers_with_facts_of_the_starter(home: Path) -> None:
    with _opened(home, "auto") as bot:
        fact = bot.ask_graph("What is the capital of Canada?", trace=True)
    assert fact.answered
    assert "Ottawa" in fact.text
    assert "facts" in (fact.trace or {})


def test_the_starter_does_not_answer_about_another_thing(home: Path) -> None:
    with _opened(home, "auto") as bot:
        for question in ("how do I wash the woollen filter", "The blade is dull, how do I sharpen it?"):
            assert {source.collection for source in bot.ask(question).sources} <= {"own"}, question


def test_a_refusal_is_about_the_owners_documents(home: Path) -> None:
    with _opened(home, "auto") as bot:
        answer = bot.ask("Which colour has the carpet of the lobby?")
    assert not answer.answered
    assert "starter" not in answer.reason
    assert {source.collection for source in answer.sources} <= {"own"}


@pytest.mark.parametrize(
    ("question", "is_read"),
    [("Why do cats sleep all day?", True), ("Which colour has the carpet of the lobby?", False)],
)
def test_the_starter_is_read_if_it_has_a_question_like_the_asked_one(
    home: Path, monkeypatch: pytest.MonkeyPatch, question: str, is_read: bool
) -> None:
    verify, read = Corridor.verify, set()

    def noted(corridor: Corridor, ranking: Ranking, *others: Any, **named: Any) -> Ranking:
        read.update(candidate.passage.source.collection for candidate in ranking.candidates)
        return verify(corridor, ranking, *others, **named)

    monkeypatch.setattr(Corridor, "verify", noted)
    with _opened(home, "auto") as bot:
        bot.ask(Ask(Question(question), suggest=False))
    assert ("starter" in read, "own" in read) == (is_read, True)


@pytest.mark.parametrize(
    ("question", "is_read"),
    [
        ("when is lunch  served on Fridays", False),
        ("When do you serve lunch on Fridays?", True),
        ("How long should I steep green tea?", True),
        ("Who locks the gate?", True),
        ("Rules of the house", True),
    ],
)
def test_the_answer_to_a_stored_question_is_not_read(home: Path, question: str, is_read: bool) -> None:
    """Of one pair: of several with that question, or of a document with that title, reading chooses a passage."""
    with _opened(home, "off") as bot:
        answer = bot.ask(Ask(Question(question), suggest=False))
        with_body = bot.ask(Ask(Question(question, "It is for a guest."), suggest=False))
    assert answer.answered
    assert ("verify" in answer.timings) is is_read
    assert "verify" in with_body.timings


def test_a_stored_question_of_a_small_home_is_read_where_words_alone_are_not_sure(tmp_path: Path) -> None:
    row = {"id": "lunch", "question": "When is lunch served?", "answer": "Lunch is served at noon."}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    with Bot.open(tmp_path / "home", flags={"starter.mode": "off"}, record=False) as bot:
        add(bot.home, bot.config, bot.encoder, [tmp_path / "rows.jsonl"], collection="own")
        answer = bot.ask(Ask(Question("when is lunch served"), suggest=False))
    assert answer.text == "Lunch is served at noon."
    assert "verify" in answer.timings


def test_off_never_answers_from_the_starter(home: Path) -> None:
    with _opened(home, "off") as bot:
        assert bot.ask("How many days of leave do I get?").answered
        for question in ("Why do cats sleep all day?", "What is the capital of Canada?", "Who painted the Mona Lisa?"):
            assert {source.collection for source in bot.ask(question).sources} <= {"own"}


def test_always_mixes_both(home: Path) -> None:
    with _opened(home, "always") as bot:
        answer = bot.ask("How many days of leave do I get?")
        assert {source.collection for source in answer.sources} == {"own", "starter"}
        assert bot.ask("Why do cats sleep all day?").reason == ""


def test_a_scope_may_name_the_starter(home: Path) -> None:
    scope = Scope(collections=("starter",))
    with _opened(home, "auto") as bot:
        answer = bot.ask("Why do cats sleep all day?", scope=scope)
        assert {source.collection for source in answer.sources} == {"starter"}
        assert answer.reason == ""
        assert {c.passage.source.collection for c in bot.search("green tea", scope=scope)} == {"starter"}
        assert {c.passage.source.collection for c in bot.search("green tea")} == {"own"}


def test_the_bot_says_how_many_documents_it_answers_from(home: Path) -> None:
    with _opened(home, "auto") as bot:
        manifest = bot.corridor().index._whole.manifest
        assert manifest.documents < manifest.passages
        start = f"from {len(ROWS)} documents of yours, then from {manifest.documents - len(ROWS):,} others and "
        assert start in bot.ask("hi", conversation="c").text
    with _opened(home, "off") as bot:
        assert f"from {len(ROWS)} documents" in bot.ask("hi", conversation="c").text


def test_a_new_home_answers_from_the_starter(tmp_path: Path) -> None:
    with Bot.open(tmp_path / "home", record=False) as bot:
        answer = bot.ask("Why do cats sleep all day?")
        assert answer.answered
        assert answer.reason == ""
        assert bot.corridor().knowledge.documents > 100
    with _opened(tmp_path / "home", "off") as bot:
        assert not bot.ask("Why do cats sleep all day?").answered


def test_a_follow_up_that_alone_is_like_a_question_of_the_starter_stays_with_the_documents(home: Path) -> None:
    with _opened(home, "auto") as bot:
        answers = [bot.ask(turn, conversation="c") for turn in ("How long should I steep green tea?", "and Turkey?")]
        german = [bot.ask(turn, conversation="d") for turn in ("How many days of leave do I get?", "und Turkey?")]
        stands_alone = bot.ask("Why do cats sleep all day?", conversation="d")
    assert {source.collection for answer in (*answers, *german) for source in answer.sources} == {"own"}
    assert stands_alone.sources[0].document == "animals-cats-sleep"
