"""Commands of the laboratory come in by entry points."""

import pytest

from qa_bot.cli import entry_points
from qa_bot.cli.app import run


@pytest.mark.parametrize("command", [["train"], ["eval"], ["kg", "mine"]])
def test_the_laboratory_adds_its_commands(command, capsys):
    assert run([*command, "--help"]) == 0
    assert f"Usage: qa-bot {' '.join(command)} " in capsys.readouterr().out


def test_help_lists_them_at_their_level(capsys):
    assert run(["--help"]) == 0
    root = capsys.readouterr().out
    assert "  train  " in root
    assert "mine" not in root
    assert run(["kg", "--help"]) == 0
    assert "  mine  " in capsys.readouterr().out


@pytest.mark.parametrize("command", [["train"], ["eval"], ["kg", "mine"]])
def test_without_entry_points_the_error_names_the_remedy(command, monkeypatch, capsys):
    monkeypatch.setattr(entry_points, "_entry_points", list)
    assert run([*command, "--help"]) == 1
    assert "is not installed; install qa-bot again" in capsys.readouterr().err


def test_other_unknown_commands_are_wrong_usage(monkeypatch):
    monkeypatch.setattr(entry_points, "_entry_points", list)
    assert run(["fly"]) == 2
