"""A home that version 0.1 wrote (`tests/fixtures/make_home_0_1.py`) opens and answers as that version did."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from qa_bot import Bot
from qa_bot.cli.app import run
from qa_bot.documents.sync import add
from qa_bot.home.store import Store
from qa_core.types import Answer

FIXTURES = Path(__file__).parents[2] / "fixtures"
RECORDED: dict[str, Any] = json.loads((FIXTURES / "home-0.1.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def old_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("old") / "home"
    with zipfile.ZipFile(FIXTURES / "home-0.1.zip") as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def bot(old_home: Path) -> Iterator[Bot]:
    with Bot.open(old_home, record=False) as opened:
        yield opened


@pytest.fixture
def command(old_home: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs `qa-bot` on the old home and returns the JSON that it prints."""

    def call(*arguments: str) -> Any:
        assert run(["--home", str(old_home), *arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return call


@pytest.fixture
def store(bot: Bot) -> Store:
    return bot.store


def as_row(answer: Answer) -> dict[str, Any]:
    return {
        "question": answer.question,
        "understood": answer.understood,
        "kind": answer.kind,
        "answered": answer.answered,
        "text": answer.text,
        "confidence": answer.confidence,
        "sources": [source.document for source in answer.sources],
    }


@pytest.mark.parametrize("expected", RECORDED["answers"], ids=lambda row: row["question"])
def test_questions_have_the_same_answers(bot: Bot, expected: dict[str, Any]) -> None:
    assert as_row(bot.ask(expected["question"])) == expected


def test_a_conversation_goes_on(bot: Bot) -> None:
    expected = RECORDED["follow_up"]
    assert as_row(bot.ask(expected["question"], conversation="evening")) == expected


def test_conversations_and_turns_stay(store: Store) -> None:
    conversations = [[info.id, info.title, info.turns] for info in store.conversations()]
    turns = [
        [turn.id, turn.question, turn.rewritten, turn.answer["answer"], turn.answer.get("ask", "")]
        for id_, _, _ in conversations
        for turn in store.turns(id_)
    ]
    assert (conversations, turns) == (RECORDED["conversations"], RECORDED["turns"])


def test_turns_of_the_journal_are_stored(store: Store) -> None:
    questions = sorted(turn.question for turn, _ in store.stream_turns())
    assert "when is the workshop open?" in questions
    assert questions == RECORDED["questions"]


def test_votes_gaps_and_collections_stay(store: Store) -> None:
    assert [[turn.id, vote.vote, vote.comment] for turn, vote in store.voted()] == RECORDED["votes"]
    gaps = [[gap.key, gap.question, gap.asked, gap.unanswered, gap.downvoted] for gap in store.gaps()[0]]
    assert gaps == RECORDED["gaps"]
    assert [[info.name, info.documents, info.passages] for info in store.collections()] == RECORDED["collections"]


def test_settings_stay(bot: Bot) -> None:
    assert (bot.config.answer.limit, bot.config.retrieval.depth, bot.config.serve.port) == (600, 80, 8191)


def test_facts_stay(command: Callable[..., Any]) -> None:
    assert command("kg", "lookup", "--predicate", "http://workshop.example/maker") == RECORDED["facts"]


def test_nothing_is_rebuilt_and_every_check_passes(command: Callable[..., Any], old_home: Path, bot: Bot) -> None:
    bot.ask("When is the kiln fired?")
    with zipfile.ZipFile(FIXTURES / "home-0.1.zip") as archive:
        for pointer in ("index/CURRENT", "graph/CURRENT"):
            assert (old_home / pointer).read_bytes() == archive.read(pointer)
    checks = {check["name"]: check["ok"] for check in command("doctor")["checks"]}
    assert all(checks[name] for name in ("database", "index", "graph", "encoder", "voices"))


def test_the_check_says_that_the_index_is_of_an_older_version(command: Callable[..., Any]) -> None:
    (index,) = [check for check in command("doctor")["checks"] if check["name"] == "index"]
    assert index["detail"].endswith("made by an older version: the next `qa-bot add` or `repair` rebuilds it")


def test_it_answers_beside_documents_that_are_added_now(tmp_path: Path) -> None:
    with zipfile.ZipFile(FIXTURES / "home-0.1.zip") as archive:
        archive.extractall(tmp_path / "home")
    (tmp_path / "ants.md").write_text("# Ants\n\nThe ants sleep at noon. They have two queens.\n")
    with Bot.open(tmp_path / "home", record=False) as bot:
        add(bot.home, bot.config, bot.encoder, [tmp_path / "ants.md"])
    with Bot.open(tmp_path / "home", record=False) as bot:
        assert bot.ask("Why do cats sleep all day?").answered
        kiln = bot.search("When is the kiln fired?")[0]
        assert kiln.passage.source.document == "kiln-firing"
        assert bot.ask("How many queens do the ants have?").sources[0].document == "ants.md"
