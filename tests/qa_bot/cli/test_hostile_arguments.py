"""Arguments and documents of strangers: no traceback, no control characters on the terminal, good records are added."""

import json
import logging
import os
import re
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest

import qa_bot.cli as qa_bot_cli
from qa_bot.cli.app import _CleanFormatter
from qa_bot.cli.context import say
from qa_bot.transfer.archived_settings import archived_settings

NO_UTF8 = "caf\udce9 at noon\x1b[2J"
"""As the shell passes the bytes `caf\\xe9`, which are no UTF-8."""


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", NO_UTF8), ("ask", "why?", "--body", NO_UTF8), ("ask", "why?", "--persona", NO_UTF8),
        ("ask", "why?", "--collection", NO_UTF8), ("search", NO_UTF8), ("search", NO_UTF8, "--engine", "keyword"),
        ("kg", "ask", NO_UTF8), ("delete", NO_UTF8), ("add", NO_UTF8), ("conversations", "show", NO_UTF8),
        ("config", "set", NO_UTF8, "1"), ("config", "set", "answer.limit", NO_UTF8), (NO_UTF8,),
    ],
    ids=lambda arguments: "-".join(argument if argument.isprintable() else "bytes" for argument in arguments),
)  # fmt: skip
def test_arguments_of_any_bytes(qa_bot, arguments: tuple[str, ...]) -> None:
    called = qa_bot(*arguments)
    assert called.code in (0, 1, 2, 3)
    assert "\x1b[2J" not in called.out + called.err
    assert "Traceback" not in called.err


def test_a_negative_value_of_a_setting_is_out_of_range(qa_bot) -> None:
    refused = qa_bot("config", "set", "answer.limit", "-5")
    assert refused.code == 1
    assert "Expected a whole number of at least 1 for answer.limit, but got '-5'" in refused.err


def test_ids_are_short_and_printable_and_addresses_are_of_the_web(qa_bot, write_lines) -> None:
    rows = [
        {"_id": "x" * 1025, "title": "long", "text": "A document about zorgons and their id."},
        {"_id": "a\x1b]0;x\x07b", "title": "control", "text": "A document about zorgons and the terminal."},
        {"_id": "good", "title": "zorgons \x1b[2J", "text": "Zorgons drink vinegar.", "url": "javascript:alert(1)"},
        {"_id": "x" * 1024, "title": "web", "text": "Zorgons drink tea.", "url": "https://example.org/"},
    ]
    added = qa_bot("add", write_lines("a.jsonl", *rows), "--json")
    assert added.code == 4
    assert (added.json["added"], added.json["rejected"]) == (2, 2)
    reasons = [reject["reason"] for reject in added.json["rejects"]]
    assert "at most 1,024 characters, but got 1,025" in reasons[0]
    assert "without control characters, but got a\\x1b]0;x\\x07b" in reasons[1]
    results = json.loads(qa_bot("search", "what do zorgons drink?", "--json", "--top", "2").out)
    assert {result["document"][:4]: result["url"] for result in _rows(results)} == {
        "good": "",
        "xxxx": "https://example.org/",
    }
    for command in (("search", "zorgons"), ("ask", "what do zorgons drink?"), ("ask", "zorgons drink", "--trace")):
        assert "\x1b[2J" not in qa_bot(*command).out


def test_file_names_with_control_characters_have_printable_ids(qa_bot, tmp_path) -> None:
    folder = tmp_path / "names"
    folder.mkdir()
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text("Zorgons have a café in the harbour.")
    (folder / "a\nb\x1b[2J.txt").write_text("Zorgons have a garden in the hills.")
    added = qa_bot("add", folder, "--json")
    assert (added.code, added.json["added"]) == (0, 2)
    results = _rows(json.loads(qa_bot("search", "zorgons", "--json", "--top", "2").out))
    assert {result["document"] for result in results} == {"caf\\xe9.txt", "a\\nb\\x1b[2J.txt"}


class Settings:
    """An archive with nothing but settings."""

    def __init__(self, text: str) -> None:
        self._text = text

    def parts(self, kind: str) -> list[str]:
        return [kind]

    @contextmanager
    def leaf(self, _part: str):
        yield SimpleNamespace(raw=BytesIO(self._text.encode()))


@pytest.mark.parametrize("value", ["[" * 100_000, "9" * 5_000], ids=["deep", "long number"])
def test_hostile_toml_of_an_archive_is_left_out(value: str) -> None:
    assert [*archived_settings(Settings("[answer]\nlimit = 300\n"))] == [("answer.limit", 300)]
    assert [*archived_settings(Settings(f"[answer]\nlimit = {value}"))] == []


def _rows(payload):
    return payload["results"] if isinstance(payload, dict) else payload


def test_what_commands_say_has_no_control_characters(capsys):
    say("clear\x1b[2J \x9b31m\udcff\n")
    say("clip\x1b]52;c;AA\x07", err=True)
    assert capsys.readouterr() == ("clear[2J 31m?\n\n", "clip]52;c;AA\n")


def test_messages_of_the_log_have_no_control_characters():
    record = logging.LogRecord("qa_bot", logging.WARNING, "", 0, "left out: %s", ("a\x1b[2J.txt",), None)
    assert _CleanFormatter("%(levelname)s: %(message)s").format(record) == "WARNING: left out: a[2J.txt"


def test_every_command_writes_through_say():
    files = Path(qa_bot_cli.__file__).parent.rglob("*.py")
    assert [file.name for file in files if re.search(r"typer\.s?echo|\bprint\(", file.read_text("utf-8"))] == [
        "context.py"
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--home", "", "status"), ("use", ""), ("use", "--ranker", ""), ("add", ""), ("add", " "), ("sync", ""),
        ("watch", ""), ("kg", "add", ""), ("kg", "add", "--mentions", ""), ("sources", "move", "docs", ""),
        ("export", ""), ("import", ""), ("ask", "--batch", "", "--out", "out"), ("ask", "--batch", "in", "--out", ""),
    ],
)  # fmt: skip
def test_an_empty_text_is_not_the_current_directory(qa_bot, tmp_path, monkeypatch, arguments: tuple[str, ...]) -> None:
    (current := tmp_path / "current").mkdir(mode=0o755)
    monkeypatch.chdir(current)
    refused = qa_bot(*arguments)
    assert (refused.code, refused.out) == (2, "")
    assert "Expected" in refused.err
    assert list(current.iterdir()) == []
    assert current.stat().st_mode & 0o777 == 0o755


def test_json_of_hostile_text_is_safe_to_show(qa_bot) -> None:
    """A terminal obeys U+009B as it obeys ESC [, which JSON escapes."""
    called = qa_bot("search", "what do zorgons\x9b2J drink\u202e?", "--json")
    assert called.json["query"] == "what do zorgons\x9b2J drink\u202e?"
    assert not {"\x9b", "\u202e"} & set(called.out)
