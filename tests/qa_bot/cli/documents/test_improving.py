"""`improve`, and the better vectors that `add`, `sync` and `ask --batch` make: who makes them, and what is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qa_bot.documents.improving import Improver, Progress
from qa_bot.terminal.improving_output import bar, duration

pytestmark = pytest.mark.usefixtures("no_shipped_voices", "transformer")
QaBot = Callable[..., Any]
HINT = "`qa-bot improve` makes better vectors, which find more"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "rust.md").write_text("Rub rust off with vinegar.")
    return folder


@pytest.fixture
def unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Better vectors are made unasked, as by default."""
    monkeypatch.setenv("QA_BOT_DENSE__IMPROVE", "true")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, unasked: None) -> None:
    monkeypatch.setattr("qa_bot.cli.documents.improving.is_watched", lambda: True)


def vectors(qa_bot: QaBot) -> str:
    return str(qa_bot("status", "--json").json["vectors"])


def test_improve_makes_better_vectors(qa_bot: QaBot) -> None:
    before = qa_bot("status", "--json").json
    assert (before["vectors"], before["improvable"]) == ("starter-table", True)
    called = qa_bot("improve", "--json")
    assert called.code == 0
    assert called.json == {"vectors": "starter-transformer", "improvable": False, "passages": before["passages"]}
    assert "now starter-transformer" in qa_bot("config", "--json").json["dense.encoder"]["description"]
    assert "vectors of starter-transformer" in qa_bot("improve").out
    assert qa_bot("search", "cats", "--engine", "dense").code == 0


def test_other_formulas_are_calibrated_for_the_better_vectors(
    qa_bot: QaBot, transformer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calibrated: list[object] = []
    monkeypatch.setattr("qa_bot.answering.fit_confidence.ensure", lambda encoder, _: calibrated.append(encoder))
    qa_bot("config", "set", "ranking.formula", "evidence")
    assert qa_bot("improve").code == 0
    assert calibrated == [transformer]


def test_another_encoder_is_not_improved(qa_bot: QaBot) -> None:
    qa_bot("config", "set", "dense.encoder", "starter-table")
    called = qa_bot("improve", "--json")
    assert (called.code, called.json["vectors"], called.json["improvable"]) == (0, "starter-table", False)


@pytest.mark.usefixtures("unasked")
def test_without_a_terminal_add_names_the_command(qa_bot: QaBot, docs: Path) -> None:
    called = qa_bot("add", docs)
    assert HINT in " ".join(called.err.split())
    assert vectors(qa_bot) == "starter-table"
    assert HINT not in qa_bot("add", docs).err  # nothing changed


def test_the_setting_switches_the_hint_off(qa_bot: QaBot, docs: Path) -> None:
    assert "improve" not in qa_bot("add", docs).err


@pytest.mark.usefixtures("terminal")
def test_in_a_terminal_add_and_sync_make_them(qa_bot: QaBot, docs: Path) -> None:
    called = qa_bot("add", docs)
    assert called.code == 0
    assert "Ctrl-C is fine" in called.err
    assert vectors(qa_bot) == "starter-transformer"
    (docs / "tea.md").write_text("Tea steeps for three minutes.")
    assert "Ctrl-C" not in qa_bot("sync").err  # few enough to be encoded at once
    assert vectors(qa_bot) == "starter-transformer"


@pytest.mark.usefixtures("terminal")
def test_add_leaves_them_out_on_request(qa_bot: QaBot, docs: Path) -> None:
    assert HINT in " ".join(qa_bot("add", docs, "--no-improve").err.split())
    assert vectors(qa_bot) == "starter-table"


@pytest.mark.usefixtures("terminal")
def test_an_interrupted_add_has_added(qa_bot: QaBot, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Improver) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Improver, "run", interrupted)
    called = qa_bot("add", docs)
    assert called.code == 0
    assert "1 added" in called.out
    assert "Stopped." in called.err


def test_an_interrupted_improve_ends_with_130(qa_bot: QaBot, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Improver) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Improver, "run", interrupted)
    assert qa_bot("improve").code == 130


@pytest.fixture
def batch(tmp_path: Path) -> tuple[object, ...]:
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps({"_id": "1", "title": "Why do cats sleep all day?"}) + "\n")
    return "ask", "--batch", questions, "--out", tmp_path / "answers.jsonl"


@pytest.mark.usefixtures("unasked")
def test_a_batch_begins_with_better_vectors(qa_bot: QaBot, batch) -> None:
    called = qa_bot(*batch)
    assert called.code == 0
    assert "Better vectors are made first" in called.err
    assert vectors(qa_bot) == "starter-transformer"


@pytest.mark.usefixtures("unasked")
def test_a_batch_does_not_wait_long(qa_bot: QaBot, batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qa_bot.cli.documents.improving.SHORT", -1.0)
    assert "would take longer" in qa_bot(*batch).err
    assert vectors(qa_bot) == "starter-table"


@pytest.mark.usefixtures("unasked")
def test_a_batch_leaves_them_out_on_request_or_if_another_writes(qa_bot: QaBot, batch, home: Path) -> None:
    from qa_bot.home.folder import Home

    assert "Better" not in qa_bot(*batch, "--no-improve").err
    with Home.open(home).lock("add"):
        assert "add by process" in " ".join(qa_bot(*batch).err.split())
    assert vectors(qa_bot) == "starter-table"


@pytest.mark.parametrize(
    ("progress", "line"),
    [
        (Progress(0, 8), "░" * 24 + " 0 of 8 passages"),
        (Progress(4, 8, 2.0, 2.0), "█" * 12 + "░" * 12 + " 4 of 8 passages (2 a second, 2 s left)"),
        (Progress(8, 8, is_waiting=True), "█" * 24 + " 8 of 8 passages, waiting for another process that writes"),
    ],
)
def test_the_bar(progress: Progress, line: str) -> None:
    assert bar(progress) == line


def test_durations_are_in_round_units() -> None:
    assert [duration(seconds) for seconds in (40, 180, 9000)] == ["40 s", "3 min", "2.5 h"]
