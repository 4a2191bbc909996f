"""PostgreSQL whose connections are cut: documents are old or new, votes and turns are kept or refused in one line."""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from qa_bot.documents.sync import add
from qa_bot.home.config import Config, load_config, set_value
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.home.index import Manifest
from qa_bot.home.journal import append, open_store
from qa_bot.home.store import Store, StoreError
from tests.faults.homes import ROWS
from tests.faults.proxy import CuttingProxy, Lost
from tests.qa_bot.conftest import encoder, postgres  # noqa: F401  # fixtures
from tests.qa_bot.postgres_server import new_schema

SAMPLE = 6
"""Messages at which connections are cut."""
Work = Callable[[Home, Config], None]


class Bench:
    """Homes in empty schemas of a server, reached directly or through a proxy."""

    def __init__(self, server: str, folder: Path) -> None:
        self._server, self._folder, self._numbers = server, folder, count()

    @contextmanager
    def home(self, *, at: int, lost: Lost) -> Iterator[tuple[Home, Config, CuttingProxy]]:
        """An empty home, and the configuration with the proxy before its database."""
        url, number = new_schema(self._server), next(self._numbers)
        home = Home.open(self._folder / f"home-{number}")
        set_value(home.path, "store.url", url)
        Store.open(url).close()
        config = load_config(home.path)
        real = re.search(r"host=([^&]+)", url)
        assert real is not None
        with tempfile.TemporaryDirectory(prefix="qa-bot-proxy-") as name:
            proxied = replace(config, store=replace(config.store, url=url.replace(real[1], name)))
            with CuttingProxy(Path(name), Path(real[1]), at=at, lost=lost) as proxy:
                yield home, proxied, proxy

    def cut_points(self, work: Work) -> list[int]:
        """A sample of the client's messages, with the last ones."""
        with self.home(at=0, lost="request") as (home, config, proxy):
            work(home, config)
            total = proxy.messages
        late = range(max(1, total - 12), total + 1)
        return sorted({*random.Random(0).sample(late, min(SAMPLE, len(late))), total // 3})


@pytest.fixture
def bench(postgres: str, tmp_path: Path) -> Bench:  # noqa: F811
    return Bench(postgres, tmp_path)


def documents(home: Home) -> int:
    """The number of documents of the current generation, which store and index agree on."""
    generation = Generations(home.index).current()
    in_index = Manifest.of(generation).documents if generation else 0
    with open_store(home, load_config(home.path)) as store:
        assert store.counts().documents == in_index
        current = store.generation()
    assert (current.number if current else None) == (generation.number if generation else None)
    return in_index


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["request", "reply"])
def test_documents_are_old_or_new(bench: Bench, encoder, write_lines, lost: Lost) -> None:  # noqa: F811
    path = write_lines("rows.jsonl", *ROWS)

    def work(home: Home, config: Config) -> None:
        add(home, config, encoder, [path])

    were_cut = []
    for at in bench.cut_points(work):
        with bench.home(at=at, lost=lost) as (home, config, proxy):
            try:
                work(home, config)
            except StoreError as error:
                assert "\n" not in str(error)  # noqa: PT017
            else:
                assert documents(home) == len(ROWS)
            were_cut.append(proxy.messages >= at)
            assert documents(home) in (0, len(ROWS))
            work(home, load_config(home.path))
            assert documents(home) == len(ROWS)
            assert [path.name for path in home.index.iterdir() if path.suffix] == []
    assert any(were_cut)


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["request", "reply"])
def test_turns_and_votes_are_kept_or_refused(bench: Bench, lost: Lost) -> None:
    def work(home: Home, config: Config) -> None:
        with open_store(home, config) as store:
            store.save_feedback("a" * 32, "up")

    def with_turn(home: Home, config: Config) -> None:
        append(home, {"id": "a" * 32, "question": "Why?", "answer": {}, "asked": 5.0})
        work(home, config)

    for at in bench.cut_points(with_turn):
        with bench.home(at=at, lost=lost) as (home, config, _):
            append(home, {"id": "a" * 32, "question": "Why?", "answer": {}, "asked": 5.0})
            is_acknowledged = True
            try:
                work(home, config)
            except StoreError as error:
                is_acknowledged = False
                assert "\n" not in str(error)  # noqa: PT017
            with open_store(home, load_config(home.path)) as store:
                assert store.turn("a" * 32).question == "Why?", "an acknowledged turn is never lost"
                votes = len(store.feedback("a" * 32))
            assert votes == 1 if is_acknowledged else votes in (0, 1)
