"""A commit: several generations become current with one transaction, also if the writer dies in between."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import pytest

from qa_bot.home.generations import CorruptGenerationError, Generations
from qa_bot.home.generations.commit import Switch, commit, finish_announced
from qa_bot.home.store import Store, StoreError

TOKEN = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def prepared(root: Generations, number: int) -> Switch:
    staged = root.stage(number)
    (staged / "file").write_text(str(number))
    return Switch(root, root.prepare(staged, {}))


def roots(home: Path) -> tuple[Generations, Generations]:
    return Generations(home / "index"), Generations(home / "graph")


def numbers(home: Path) -> list[int | None]:
    """As a reader that knows only the home sees them."""
    return [root.current_number() for root in roots(home)]


def test_both_become_current_with_the_transaction(home: Path, store: Store) -> None:
    index, graph = roots(home)
    seen = []
    commit(store.commits, [prepared(index, 1), prepared(graph, 1)], lambda: seen.append(numbers(home)))
    assert seen == [[None, None]]
    assert numbers(home) == [1, 1]
    assert [(home / part / "CURRENT").read_text() for part in ("index", "graph")] == ["00000001\n"] * 2


def test_an_error_leaves_the_old_ones_and_no_files(home: Path, store: Store) -> None:
    index, graph = roots(home)
    commit(store.commits, [prepared(index, 1)], lambda: None)
    with pytest.raises(ZeroDivisionError):
        commit(store.commits, [prepared(index, 2), prepared(graph, 1)], lambda: 1 // 0)
    assert numbers(home) == [1, None]
    assert sorted(path.name for path in home.glob("*/0*")) == ["00000001"]
    assert not (home / "graph" / "CURRENT").exists()


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_reader_asks_the_database_after_a_crash(home: Path, store: Store, is_committed: bool) -> None:
    index, graph = roots(home)
    commit(store.commits, [prepared(index, 1)], lambda: None)
    for switch in (prepared(index, 2), prepared(graph, 1)):
        switch.root.announce(switch.generation.number, TOKEN)
    if is_committed:
        store.commits.mark(TOKEN)
    expected = [2, 1] if is_committed else [1, None]
    assert numbers(home) == expected
    finish_announced(store.commits, (index, graph))
    assert [root.announced() for root in (index, graph)] == [None, None]
    assert numbers(home) == expected
    assert {path.name for path in home.glob("*/0*")} == ({"00000001", "00000002"} if is_committed else {"00000001"})


def test_a_commit_that_was_undone_cannot_appear_later(home: Path, store: Store) -> None:
    index, _ = roots(home)
    prepared(index, 1).root.announce(1, TOKEN)
    assert not store.commits.settle(TOKEN)
    assert not store.commits.settle(TOKEN)
    assert numbers(home) == [None, None]


def test_a_commit_whose_result_is_lost_is_asked_for(home: Path, store: Store, monkeypatch) -> None:
    """The connection ends during COMMIT: the transaction is in the database, and the client sees an error."""
    index, graph = roots(home)
    original = type(store.commits).transaction

    def cut(self):
        with original(self):
            yield
        raise StoreError("connection cut")

    monkeypatch.setattr(type(store.commits), "transaction", contextmanager(cut))
    commit(store.commits, [prepared(index, 1), prepared(graph, 1)], lambda: None)
    assert numbers(home) == [1, 1]


def test_without_a_database_the_old_generation_answers(home: Path, store: Store, caplog) -> None:
    index, _ = roots(home)
    commit(store.commits, [prepared(index, 1)], lambda: None)
    prepared(index, 2).root.announce(2, TOKEN)
    store.commits.mark(TOKEN)
    store.close()
    for path in home.glob("store.sqlite*"):
        path.unlink()
    (home / "store.sqlite").write_text("no database")
    assert numbers(home)[0] == 1
    assert "The generation before an unfinished change is used" in caplog.text


def test_all_methods_of_a_block_are_one_transaction(store: Store) -> None:
    def save_and_fail() -> None:
        store.save_turn(question="a", answer={})
        assert len(list(store.stream_turns())) == 1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        commit(store.commits, [], save_and_fail)
    assert list(store.stream_turns()) == []


@pytest.mark.parametrize("text", ["none\n", "none", "00000001\n00000002\n", "00000001\n00000002 xyz\n"])
def test_a_damaged_announcement_is_reported(home: Path, text: str) -> None:
    index, _ = roots(home)
    (home / "index" / "CURRENT").write_text(text)
    with pytest.raises(CorruptGenerationError, match="CURRENT is damaged"):
        index.current()
