"""The report of a home: each part, and each problem at its level."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from qa_bot.home.checks.last_backup import NOTE, LastBackup, remember
from qa_bot.home.config import Config
from qa_bot.home.folder import DiskFullError, Home
from qa_bot.home.health import report as module
from qa_bot.home.health.report import Problem, home_report, status_of
from qa_bot.home.sections import DiskSection
from qa_bot.home.store.records import Source
from qa_core.disk_space import DiskSpace

NOW = 1_000_000.0


def reported(home: Path | Home, *sources: Source, **limits: float) -> dict:
    config = replace(Config(), disk=DiskSection(**{"warn": 0.0, "refuse": 0.0, **limits}))
    opened = home if isinstance(home, Home) else Home.open(home)
    return home_report(opened, config, sources, now=NOW)


def source(name: str, synced: float | None, error: str = "") -> Source:
    return Source(1, name, "folder", f"/data/{name}", "main", {}, synced, error)


def test_the_starters_home_is_well(home: Path) -> None:
    report = reported(home)
    assert report["problems"] == []
    assert report["index"]["generation"] >= 1
    assert report["index"]["documents"] > 0
    assert report["graph"]["facts"] > 0
    assert report["backup"] is None
    assert report["improving"]["vectors"]


def test_an_empty_home_has_no_generations(tmp_path: Path) -> None:
    report = reported(tmp_path / "empty")
    assert (report["index"]["generation"], report["graph"]) == (0, {"generation": 0, "facts": 0})
    assert report["problems"] == []


def test_the_lag_of_each_source_and_its_error(tmp_path: Path) -> None:
    rows = (source("docs", NOW - 90), source("new", None), source("wiki", NOW + 5, "no rights to read it"))
    report = reported(tmp_path / "home", *rows)
    assert [(row["name"], row["age"]) for row in report["sources"]] == [("docs", 90.0), ("new", None), ("wiki", 0.0)]
    assert report["problems"] == [
        Problem("sources", "warning", "The last sync of the source wiki was not complete: no rights to read it")
    ]


def test_a_damaged_generation_is_an_error(home: Path) -> None:
    opened = Home.open(home)
    (opened.index / (opened.index / "CURRENT").read_text().strip() / "manifest.json").write_text("{")
    report = reported(opened)
    assert [(problem.name, problem.level) for problem in report["problems"]] == [("index", "error")]
    assert report["index"]["generation"] == 0


def remembered(home: Home, made: float) -> None:
    """Note a backup as `qa-bot backup` does."""
    remember(home, LastBackup(home.path.parent / "backups", "1", made))


def test_the_last_backup(tmp_path: Path) -> None:
    home = Home.open(tmp_path / "home")
    remembered(home, NOW - 60)
    report = reported(home)
    assert (report["backup"], report["problems"]) == ({"time": NOW - 60, "age": 60.0}, [])


@pytest.mark.parametrize(("age", "every", "is_late"), [(7200, 3600, False), (7201, 3600, True), (7201, 0, False)])
def test_a_scheduled_backup_is_late_after_twice_its_time(tmp_path: Path, age: int, every: int, is_late: bool) -> None:
    home = Home.open(tmp_path / "home")
    remembered(home, NOW - age)
    report = home_report(home, Config(), (), backup_every=every, now=NOW)
    assert ("backup" in [problem.name for problem in report["problems"]]) is is_late


def test_a_scheduled_backup_that_was_never_made_is_late(tmp_path: Path) -> None:
    report = home_report(Home.open(tmp_path / "home"), Config(), (), backup_every=60.0, now=NOW)
    assert "The scheduled backup is late" in " ".join(problem.detail for problem in report["problems"])


@pytest.mark.parametrize("text", ["[]", "{", '{"made": "soon"}', "[" * 100_000, "\xff"])
def test_a_damaged_note_of_the_last_backup_is_reported(tmp_path: Path, text: str) -> None:
    home = Home.open(tmp_path / "home")
    (home.path / NOTE).write_text(text, "latin-1")
    report = reported(home)
    assert report["backup"] is None
    assert ["make a backup again" in problem.detail for problem in report["problems"]] == [True]


@pytest.mark.parametrize(
    ("percent", "level", "problem"),
    [(10, "ok", None), (9, "low", "warning"), (2, "low", "warning"), (1, "full", "error")],
)
def test_the_disk_is_low_below_ten_percent_and_full_below_two(
    tmp_path: Path, monkeypatch, percent: int, level: str, problem: str | None
) -> None:
    monkeypatch.setattr(module, "disk_space", lambda _: DiskSpace(percent * 10**9, 100 * 10**9))
    limits = DiskSection()
    report = reported(tmp_path / "home", warn=limits.warn, refuse=limits.refuse)
    assert report["disk"] == {"free": percent * 10**9, "size": 100 * 10**9, "percent": float(percent), "level": level}
    assert [entry.level for entry in report["problems"]] == ([problem] if problem else [])


def test_the_worst_problem_gives_the_status() -> None:
    warning, error = Problem("disk", "warning", "low"), Problem("index", "error", "gone")
    assert [status_of(problems) for problems in ([], [warning], [warning, error])] == ["ok", "warning", "error"]


# --- a full disk ----------------------------------------------------------------------------------------------------


@pytest.fixture
def full_disk(monkeypatch) -> None:
    monkeypatch.setenv("QA_BOT_DISK__REFUSE", "2")
    monkeypatch.setattr("qa_bot.home.folder.disk_space", lambda _: DiskSpace(19 * 10**8, 100 * 10**9))


def test_nothing_is_added_to_a_full_disk_and_questions_are_answered(full_disk, qa_bot, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Otters hold hands while they sleep.")
    (tmp_path / "a.nt").write_text('<http://a.example/a> <http://a.example/b> "c" .\n')
    for command in (("add", tmp_path / "a.txt"), ("kg", "add", tmp_path / "a.nt")):
        called = qa_bot(*command)
        assert called.code == 1
        assert "Expected at least 2 % of the disk free before anything is added, but got 1.9 % (1.9 GB)" in called.err
        assert "make room, or lower disk.refuse" in called.err
    assert qa_bot("ask", "Why do cats sleep all day?").code == 0
    assert qa_bot("status").code == 0


def test_a_full_disk_can_be_emptied(full_disk, qa_bot) -> None:
    assert qa_bot("delete", "--collection", "starter").code == 0


def test_the_limit_is_configured(full_disk, tmp_path: Path, monkeypatch) -> None:
    home = Home.open(tmp_path / "home")
    with pytest.raises(DiskFullError), home.lock("add"):
        pass
    monkeypatch.delenv("QA_BOT_DISK__REFUSE")
    home.config_file.write_text("[disk]\nrefuse = 1.5\n")
    with home.lock("add"):
        pass


def test_a_full_disk_is_json(full_disk, qa_bot, tmp_path: Path) -> None:
    called = qa_bot("status", "--json")
    assert json.loads(called.out)["documents"] > 0
