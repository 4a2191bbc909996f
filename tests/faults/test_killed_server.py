"""PostgreSQL whose processes are killed during a write, and which is started again: old or new, and nothing is lost."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from qa_bot.bot import Bot
from qa_bot.documents.sync import add
from qa_bot.home.config import Config, load_config, set_value
from qa_bot.home.folder import Home
from qa_bot.home.journal import append, open_store
from qa_bot.home.store import Store, StoreError
from tests.faults.homes import QUESTION, ROWS
from tests.faults.proxy import CuttingProxy, Lost
from tests.faults.test_cut_connections import documents
from tests.qa_bot.conftest import encoder  # noqa: F401  # a fixture
from tests.qa_bot.postgres_server import PostgresServer, new_schema, programs_in

Work = Callable[[Home, Config], None]
TURN = {"id": "a" * 32, "question": "Why?", "answer": {}, "asked": 5.0}
NUMBERS = count()


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server of one's own, since it is killed."""
    with tempfile.TemporaryDirectory(prefix="qa-bot-pg-") as name:
        server = PostgresServer(programs_in(Path(name)), Path(name))
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def home_on(
    server: PostgresServer, folder: Path, *, at: int = 0, lost: Lost = "request"
) -> Iterator[tuple[Home, Config, CuttingProxy]]:
    """An empty home, and its configuration with a proxy that kills the server at a message."""
    url = new_schema(server.url)
    home = Home.open(folder / f"home-{next(NUMBERS)}")
    set_value(home.path, "store.url", url)
    Store.open(url).close()
    config = load_config(home.path)
    with tempfile.TemporaryDirectory(prefix="qa-bot-proxy-") as name:
        proxied = replace(config, store=replace(config.store, url=url.replace(str(server.folder), name)))
        with CuttingProxy(Path(name), server.folder, at=at, lost=lost, kill=server.kill) as proxy:
            yield home, proxied, proxy


def messages(server: PostgresServer, folder: Path, work: Work) -> int:
    """The number of messages that a work sends."""
    with home_on(server, folder) as (home, config, proxy):
        work(home, config)
        return proxy.messages


def refused(work: Work, home: Home, config: Config) -> bool:
    """Whether a work ends with an error, which is one line that says what to do."""
    try:
        work(home, config)
    except StoreError as error:
        message = str(error)
    else:
        return False
    assert re.search("server|connection", message), message
    assert "\n" not in message
    return True


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize(("before_the_last", "lost"), [(0, "reply"), (3, "request"), (6, "request"), (6, "reply")])
def test_documents_are_old_or_new(
    server: PostgresServer,
    tmp_path: Path,
    encoder,  # noqa: F811
    write_lines,
    before_the_last: int,
    lost: Lost,
) -> None:
    path = write_lines("rows.jsonl", *ROWS)

    def work(home: Home, config: Config) -> None:
        add(home, config, encoder, [path])

    at = messages(server, tmp_path, work) - before_the_last
    with home_on(server, tmp_path, at=at, lost=lost) as (home, config, _):
        was_refused = refused(work, home, config)
        server.kill()  # if messages were read together, so that there were fewer
        server.start()
        assert documents(home) in ((0, len(ROWS)) if was_refused else (len(ROWS),))
        work(home, load_config(home.path))
        assert documents(home) == len(ROWS)
        assert [path.name for path in home.index.iterdir() if path.suffix] == []


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize("lost", ["request", "reply"])
def test_turns_are_never_lost_and_votes_are_kept_or_refused(server: PostgresServer, tmp_path: Path, lost: Lost) -> None:
    def work(home: Home, config: Config) -> None:
        append(home, TURN)
        with open_store(home, config) as store:
            store.save_feedback("a" * 32, "up")

    at = messages(server, tmp_path, work) - 2
    with home_on(server, tmp_path, at=at, lost=lost) as (home, config, _):
        was_refused = refused(work, home, config)
        server.kill()  # if messages were read together, so that there were fewer
        server.start()
        with open_store(home, load_config(home.path)) as store:
            assert store.turn("a" * 32).question == "Why?"
            assert len(store.feedback("a" * 32)) in ((0, 1) if was_refused else (1,))


@pytest.mark.slow
@pytest.mark.postgres
def test_questions_are_answered_while_the_server_is_down(
    server: PostgresServer,
    tmp_path: Path,
    encoder,  # noqa: F811
    write_lines,
) -> None:
    with home_on(server, tmp_path) as (home, _, _):
        add(home, load_config(home.path), encoder, [write_lines("rows.jsonl", *ROWS)])
        with Bot.open(home.path, flags={"ranking.effort": "low"}) as bot:
            assert bot.store.counts().turns == 0
            server.kill()
            answers = [bot.ask(QUESTION) for _ in range(2)]
            assert [answer.sources[0].document for answer in answers] == ["tea", "tea"]
            with pytest.raises(StoreError, match=r"no server answers|connection"):
                bot.vote(answers[0].id, "up")
            server.start()
            bot.vote(answers[0].id, "up")
            assert bot.store.counts().turns == 2
