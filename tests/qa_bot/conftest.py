"""Stores for tests: SQLite in a fresh folder, and a PostgreSQL server that runs during the test session."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from qa_bot.answering.verification import configured_verifier
from qa_bot.documents import improving
from qa_bot.home import encoders
from qa_bot.home.folder import Home
from qa_bot.home.starter import ENCODER
from qa_bot.home.store import Store
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.types import FloatArray, Side
from tests.qa_bot.postgres_server import PostgresServer, new_schema, programs_in

SQLITE = "sqlite:///"


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """URL of a running server."""
    with tempfile.TemporaryDirectory(prefix="qa-bot-pg-") as name:
        server = PostgresServer(programs_in(Path(name)), Path(name))
        server.start()
        try:
            yield server.url
        finally:
            server.stop()


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    """URL of a SQLite database that does not exist yet."""
    return f"{SQLITE}{tmp_path / 'store.sqlite'}"


@pytest.fixture(scope="session")
def empty_store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """SQLite's file of a store without documents: copying it is faster than making its tables."""
    path = tmp_path_factory.mktemp("store") / "empty.sqlite"
    Store.open(f"{SQLITE}{path}").close()
    return path


@pytest.fixture
def store(store_url: str, empty_store_file: Path) -> Iterator[Store]:
    shutil.copyfile(empty_store_file, store_url.removeprefix(SQLITE))
    with Store.open(store_url) as opened:
        yield opened


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def new_store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Makes empty databases of each kind: calling it gives the URL of another one."""
    if request.param == "postgresql":
        return partial(new_schema, request.getfixturevalue("postgres"))
    numbers = count()
    return lambda: f"{SQLITE}{tmp_path / f'store-{next(numbers)}.sqlite'}"


@pytest.fixture
def any_store_url(new_store_url: Callable[[], str]) -> str:
    """An empty database of each kind, for tests of SQL that differs between them."""
    return new_store_url()


@pytest.fixture
def any_store(any_store_url: str, empty_store_file: Path) -> Iterator[Store]:
    if any_store_url.startswith(SQLITE):
        shutil.copyfile(empty_store_file, any_store_url.removeprefix(SQLITE))
    with Store.open(any_store_url) as opened:
        yield opened


@pytest.fixture(scope="session")
def encoder() -> StaticEncoder:
    """The starter's encoder."""
    return StaticEncoder.load(ENCODER)


@pytest.fixture
def empty_home(tmp_path: Path) -> Home:
    """A home without documents and facts."""
    return Home.open(tmp_path / "empty")


@pytest.fixture
def no_shipped_voices(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only the home's personas are available: the shipped ones take a second to load."""
    monkeypatch.setattr("qa_bot.answering.models.personas.SHIPPED", tmp_path / "no voices")


class CountingEncoder:
    """Vectors of eight numbers from a text's bytes; counts the texts that it encodes."""

    quick = False
    extends: frozenset[str] = frozenset()
    dimension = 8
    fingerprint = "counting"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str], *, side: Side = "question") -> FloatArray:
        self.texts += texts
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                row[sum(word.encode()) % self.dimension] += 1
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)

    def knows(self, word: str) -> bool:
        return word.isalpha()


@pytest.fixture
def counting_encoder() -> CountingEncoder:
    return CountingEncoder()


@pytest.fixture
def transformer(monkeypatch: pytest.MonkeyPatch, counting_encoder: CountingEncoder) -> Iterator[CountingEncoder]:
    """A quick encoder in place of the shipped transformer."""
    encoder = counting_encoder

    def opened(**_: object) -> CountingEncoder:
        return encoder

    monkeypatch.setattr(encoders, "open_transformer", opened)
    monkeypatch.setattr(improving, "open_transformer", opened)
    monkeypatch.setattr(encoders, "_shared_transformer", lambda *_: encoder)
    monkeypatch.setattr(configured_verifier, "reading_transformer", lambda *_: encoder)
    monkeypatch.setitem(encoders.SHIPPED, encoders.TRANSFORMER, ENCODER)
    configured_verifier._token_vectors.cache_clear()
    yield encoder
    configured_verifier._token_vectors.cache_clear()  # the process would remember that this encoder reads no tokens
