"""Secrets are nowhere: each test searches for a secret's text."""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import pytest

from qa_bot.cli.app import run
from qa_bot.home.config import load_config, token_hash

TOKEN, PASSWORD = "correct-horse-battery", "hunter2-staple"
DATABASE = f"postgresql://someone:{PASSWORD}@127.0.0.1:1/answers"


def command(home: Path, *arguments: str) -> int:
    return run(["--home", str(home), *arguments])


def written(home: Path, secret: str) -> list[str]:
    """Files of the home that hold the secret."""
    return [str(path) for path in home.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


def test_a_token_that_is_set_is_kept_as_its_hash(home: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{TOKEN}\n"))
    assert command(home, "config", "set", "serve.token", "-") == 0
    assert load_config(home, environment={}).serve.token == token_hash(TOKEN)
    assert written(home, TOKEN) == []
    assert TOKEN not in "".join(capsys.readouterr())


@pytest.mark.parametrize("line", ["", "\n", "  \n"])
def test_an_empty_input_does_not_remove_the_token(home: Path, monkeypatch, capsys, line) -> None:
    assert command(home, "config", "set", "serve.token", TOKEN) == 0
    monkeypatch.setattr(sys, "stdin", io.StringIO(line))
    assert command(home, "config", "set", "serve.token", "-") == 2
    assert "Expected a line with serve.token" in " ".join(capsys.readouterr().err.replace("│", "").split())
    assert load_config(home, environment={}).serve.token == token_hash(TOKEN)
    assert command(home, "config", "set", "serve.token", "") == 0
    assert load_config(home, environment={}).serve.token == ""


def test_a_token_on_the_command_line_is_kept_as_its_hash_and_warned_of(home: Path, capsys) -> None:
    assert command(home, "config", "set", "serve.token", TOKEN) == 0
    out, err = capsys.readouterr()
    assert (out, "config set serve.token -" in err, TOKEN in err) == ("", True, False)
    assert written(home, TOKEN) == []


def test_a_new_token_is_printed_once_and_kept_as_its_hash(home: Path, capsys) -> None:
    tokens = []
    for _ in range(2):
        assert command(home, "config", "new-token") == 0
        tokens.append(capsys.readouterr().out.strip())
        assert load_config(home, environment={}).serve.token == token_hash(tokens[-1])
    assert len(set(tokens)) == 2
    assert all(len(token) == 43 for token in tokens), "256 bits in base64"
    assert [written(home, token) for token in tokens] == [[], []]


@pytest.mark.parametrize(
    ("variable", "secret", "value"),
    [("QA_BOT_TOKEN", TOKEN, TOKEN), ("QA_BOT_STORE__URL", PASSWORD, DATABASE)],
    ids=["token", "database"],
)
def test_no_command_shows_a_secret(home: Path, tmp_path: Path, monkeypatch, capfd, caplog, variable, secret, value):
    monkeypatch.setenv(variable, value)
    archive = tmp_path / "home.zip"
    for arguments in (
        ["config"],
        ["config", "--json"],
        ["status"],
        ["status", "--json"],
        ["doctor"],
        ["doctor", "--json"],
        ["migrate"],
        ["export", str(archive)],
        ["config", "set", "serve.prot", "1"],
    ):
        command(home, *arguments)
        assert secret not in "".join(capfd.readouterr()), arguments
    assert secret not in caplog.text
    assert written(home, secret) == []
    if archive.exists():
        with zipfile.ZipFile(archive) as members:
            assert not [name for name in members.namelist() if secret.encode() in members.read(name)]


def test_an_export_has_no_secret_of_the_configuration(home: Path, tmp_path: Path) -> None:
    """Also not its hash."""
    (home / "qa-bot.toml").write_text(f'[serve]\ntoken = "{TOKEN}"\nrate = 7\n')
    archive = tmp_path / "home.zip"
    assert command(home, "export", str(archive)) == 0
    with zipfile.ZipFile(archive) as members:
        whole = b"".join(members.read(name) for name in members.namelist())
    assert b"rate = 7" in whole
    assert TOKEN.encode() not in whole
    assert token_hash(TOKEN).encode() not in whole


@pytest.mark.parametrize("token", [f"{TOKEN} with blanks", f"{TOKEN}ü"])
def test_an_error_about_a_token_does_not_repeat_it(home: Path, monkeypatch, capsys, token) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{token}\n"))
    assert command(home, "config", "set", "serve.token", "-") == 1
    assert TOKEN not in "".join(capsys.readouterr())
