"""A watcher synchronises once and after each change; a source that was added meanwhile is watched, too."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from qa_bot.documents.reject_log import AddReport
from qa_bot.documents.sources import watching
from qa_bot.documents.sources.watching import Watcher, in_background
from qa_bot.home.folder import WriterBusyError
from qa_bot.home.store import Source


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"TICK": 0.05, "LISTING": 0.1, "RETRY": 0.01, "DEBOUNCE": 100, "QUIET": 20}.items():
        monkeypatch.setattr(watching, name, value)


class Recorder:
    """Notes which sources are synchronised; the first call meets another writer."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.reports = 0
        self._is_busy = True

    def synchronise(self, names: Sequence[str]) -> AddReport:
        if self._is_busy:
            self._is_busy = False
            raise WriterBusyError("another process")
        self.calls.append([*names])
        return AddReport(added=1)

    def report(self, _: AddReport) -> None:
        self.reports += 1

    def wait(self, count: int) -> None:
        until = time.monotonic() + 20
        while len(self.calls) < count and time.monotonic() < until:
            time.sleep(0.01)
        assert len(self.calls) >= count


def source(path: Path) -> Source:
    return Source(1, path.name, "folder" if path.is_dir() else "file", str(path), "default", {})


@pytest.mark.slow
def test_changes_are_followed_and_new_sources_are_watched(tmp_path: Path) -> None:
    docs, note, home = tmp_path / "docs", tmp_path / "note.md", tmp_path / "docs" / "home"
    home.mkdir(parents=True)
    note.write_text("one")
    sources, recorder = [source(docs)], Recorder()
    with in_background(Watcher(lambda: [*sources], recorder.synchronise, home), recorder.report):
        recorder.wait(1)
        (home / "store.sqlite").write_text("ignored")
        (docs / ".hidden").write_text("ignored")
        time.sleep(0.3)
        assert recorder.calls == [["docs"]]
        (docs / "a.md").write_text("new")
        recorder.wait(2)
        sources.append(source(note))
        recorder.wait(3)
        note.write_text("changed")
        recorder.wait(4)
    assert (recorder.calls[0], recorder.calls[1]) == (["docs"], ["docs"])
    assert ["docs", "note.md"] in recorder.calls
    assert recorder.calls[-1] == ["note.md"]
    assert recorder.reports == len(recorder.calls)


@pytest.mark.slow
def test_a_renamed_source_is_synchronised_by_its_new_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "LISTING", 1000.0)
    (tmp_path / "docs").mkdir()
    sources, recorder = [source(tmp_path / "docs")], Recorder()
    with in_background(Watcher(lambda: [*sources], recorder.synchronise, tmp_path / "home"), recorder.report):
        recorder.wait(1)
        sources[0] = replace(sources[0], name="papers")
        (tmp_path / "docs" / "a.md").write_text("new")
        recorder.wait(2)
    assert recorder.calls == [["docs"], ["papers"]]


@pytest.mark.slow
def test_a_source_that_goes_away_is_named_once_and_followed_when_it_is_back(tmp_path: Path) -> None:
    docs, away = tmp_path / "docs", tmp_path / "away"
    docs.mkdir()
    sources, recorder = [source(docs), replace(source(docs), name="papers", place=str(tmp_path / "papers"))], Recorder()
    with in_background(Watcher(lambda: [*sources], recorder.synchronise, tmp_path / "home"), recorder.report):
        recorder.wait(2)
        docs.rename(away)
        recorder.wait(3)
        time.sleep(0.5)
        away.rename(docs)
        recorder.wait(4)
    assert recorder.calls == [["papers"], ["docs"], ["docs"], ["docs"]]
