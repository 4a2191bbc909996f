"""First use of a home: it is filled with the starter once, and a removed starter stays removed."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from qa_bot.bot import Bot
from qa_bot.documents import first_fill, graph
from qa_bot.documents.first_fill import fill, finish_interrupted
from qa_bot.documents.sync import add, delete
from qa_bot.home import starter
from qa_bot.home.config import Config
from qa_bot.home.folder import Home, WriterBusyError
from qa_bot.home.generations import Generations
from qa_bot.home.starter import NAME, NAMESPACE
from qa_bot.home.store import Store
from qa_core.encoders.static_encoder import StaticEncoder

EX = "http://example.org/"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
OWN = (f"<{EX}zyx> <{EX}capital> <{EX}abc> .", f'<{EX}zyx> {LABEL} "Zyxland"@en .', f'<{EX}abc> {LABEL} "Abctown"@en .')
RUST = {"_id": "rust", "title": "How do I remove rust?", "text": "With vinegar."}


def subjects(home: Home) -> set[str]:
    with graph.open_graph(home) as opened:
        return {triple[0] for batch in graph.batches_of(opened.triples) for triple in batch}


def test_a_bare_home_gets_documents_and_facts_once(empty_home: Home, encoder: StaticEncoder) -> None:
    assert fill(empty_home, Config(), lambda: encoder)
    assert all(subject.startswith(NAMESPACE) for subject in subjects(empty_home))
    numbers = [path.read_text() for path in (empty_home.index / "CURRENT", empty_home.graph / "CURRENT")]
    assert not fill(empty_home, Config(), lambda: pytest.fail("a filled home needs no encoder"))
    assert [path.read_text() for path in (empty_home.index / "CURRENT", empty_home.graph / "CURRENT")] == numbers
    with Bot.open(empty_home.path, record=False) as bot:
        assert bot.ask("What is the capital of Australia?").text == "The capital of Australia is Canberra."


def test_existing_graph_is_not_changed(
    empty_home: Home, encoder: StaticEncoder, write_lines: Callable[..., Path]
) -> None:
    graph.add(empty_home, [write_lines("own.nt", *OWN)])
    assert fill(empty_home, Config(), lambda: encoder)
    assert subjects(empty_home) == {f"{EX}zyx", f"{EX}abc"}


def test_removed_starter_stays_removed_with_its_facts(
    home: Path, encoder: StaticEncoder, write_lines: Callable[..., Path]
) -> None:
    """The user's facts and documents stay."""
    opened_home = Home.open(home)
    if graph.generations(opened_home).current_number() is None:
        graph.add(opened_home, starter.GRAPH)
    graph.add(opened_home, [write_lines("own.nt", *OWN)])
    question = "What is the capital of Australia?"
    with Bot.open(home, record=False) as bot:
        assert bot.ask_graph(question).answered
    add(opened_home, Config(), encoder, [write_lines("own.jsonl", RUST)], collection="own")
    delete(opened_home, Config(), encoder, collection=NAME)
    assert subjects(opened_home) == {f"{EX}zyx", f"{EX}abc"}
    with graph.open_graph(opened_home) as opened:
        assert opened.mentions.key("Australia") is None
        assert opened.mentions.key("Zyxland") is not None
    assert not fill(opened_home, Config(), lambda: encoder)
    with Bot.open(home, record=False) as bot:
        assert not bot.ask_graph(question).answered
        assert not bot.ask(question).answered
        assert bot.ask_graph("What is the capital of Zyxland?").text == "The capital of Zyxland is Abctown."
        assert bot.ask("How do I remove rust?").text == "With vinegar."
    assert subjects(opened_home) == {f"{EX}zyx", f"{EX}abc"}


def test_without_own_facts_the_graph_becomes_empty(home: Path, encoder: StaticEncoder, write_lines) -> None:
    opened_home = Home.open(home)
    if graph.generations(opened_home).current_number() is None:
        graph.add(opened_home, starter.GRAPH)
    add(opened_home, Config(), encoder, [write_lines("own.jsonl", RUST)], collection="own")
    delete(opened_home, Config(), encoder, collection=NAME)
    assert subjects(opened_home) == set()
    with Bot.open(home, record=False) as bot:
        assert not bot.ask_graph("What is the capital of Australia?").answered
        assert bot.ask("How do I remove rust?").text == "With vinegar."
    assert subjects(opened_home) == set()


def test_fill_waits_for_another_writer(
    empty_home: Home, encoder: StaticEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_fill, "PATIENCE", 0.05)
    with empty_home.lock("test"), pytest.raises(WriterBusyError):
        fill(empty_home, Config(), lambda: encoder)
    assert fill(empty_home, Config(), lambda: encoder)


@pytest.mark.parametrize("is_committed", [True, False])
def test_the_commit_of_a_killed_writer_is_finished_at_the_next_use(home: Path, is_committed: bool) -> None:
    opened_home, token = Home.open(home), "0123456789abcdef0123456789abcdef"
    generations = Generations(opened_home.index)
    shutil.copytree(generations.root / "00000001", generations.root / "00000002")
    generations.announce(2, token)
    with Store.open(opened_home.store_url(Config())) as store:
        store.commits.mark(token if is_committed else token[::-1])
    finish_interrupted(opened_home, Config())
    assert generations.announced() is None
    assert generations.current_number() == (2 if is_committed else 1)
    assert (generations.root / "00000002").exists() == is_committed


def test_a_reader_beside_a_writer_leaves_its_commit_alone(home: Path) -> None:
    opened_home = Home.open(home)
    generations = Generations(opened_home.index)
    generations.announce(2, "0123456789abcdef0123456789abcdef")
    with opened_home.lock("add"):
        finish_interrupted(opened_home, Config())
    assert generations.announced() is not None


def test_what_a_killed_writer_left_is_removed_at_the_next_use(home: Path) -> None:
    opened_home = Home.open(home)
    left = [opened_home.index / name for name in ("00000000.removed", "00000002.partial")]
    for path in left:
        path.mkdir()
    with opened_home.lock("add"):
        finish_interrupted(opened_home, Config())
    assert all(path.exists() for path in left), "a writer is at work"
    finish_interrupted(opened_home, Config())
    assert not any(path.exists() for path in left)
