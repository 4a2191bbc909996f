"""`use` changes index and settings by one act: a death at any step leaves both old or both new."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from qa_bot.bot import Bot
from qa_bot.documents import index_update
from qa_bot.documents.sync import add, switch_encoder
from qa_bot.home.config import Config, load_config
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations, commit, pending_settings, present_config
from qa_bot.home.generations.pending_settings import PENDING, PendingSettings, announce_settings, finish_if_idle
from qa_core.encoders.static_encoder import StaticEncoder
from tests.qa_bot.documents.stored import ROWS


@pytest.fixture
def four(empty_home: Home, encoder, write_lines) -> Home:
    add(empty_home, Config(), encoder, [write_lines("a.jsonl", *ROWS)], collection="facts")
    return empty_home


def use_and_die(home: Home, folder: Path, owner: object, name: str) -> None:
    """`use` in a process that ends when it calls a function."""
    if not (child := os.fork()):
        setattr(owner, name, lambda *_: os._exit(9))
        switch(home, folder)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def switch(home: Home, folder: Path) -> None:
    settings = {"dense.encoder": str(folder), "dense.int8": "no"}
    switch_encoder(home, Config(), StaticEncoder.load(folder), name=str(folder), settings=settings)


def in_file(home: Home) -> str:
    return load_config(home.path).dense.encoder


def dense_hits(home: Home) -> int:
    with Bot.open(home.path, record=False) as bot:
        return len(bot.search("sea", engine="dense"))


@pytest.mark.parametrize(
    ("owner", "function", "is_new"),
    [
        (index_update, "announce_settings", False),
        (index_update, "_commit", False),
        (commit, "_finish", True),
        (pending_settings, "set_values", True),
        (pending_settings, "sync", True),
    ],
)
def test_a_death_leaves_both_old_or_both_new(
    four: Home, other_encoder_folder, caplog, owner: object, function: str, is_new: bool
) -> None:
    use_and_die(four, other_encoder_folder, owner, function)
    assert dense_hits(four)
    assert "only keywords" not in caplog.text
    assert in_file(four) == (str(other_encoder_folder) if is_new else "starter")
    assert not (four.path / PENDING).exists()


def test_settings_hold_while_they_cannot_be_written(four: Home, other_encoder_folder, monkeypatch, caplog) -> None:
    name = str(other_encoder_folder)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(pending_settings, "set_values", fail)
        switch(four, other_encoder_folder)
        assert "the next command writes it" in caplog.text
        assert in_file(four) == "starter"
        assert present_config(four).dense.encoder == name
        assert dense_hits(four)
    with four.lock("add"):  # a writer at work is left alone
        finish_if_idle(four)
        assert in_file(four) == "starter"
        assert present_config(four).dense.encoder == name
    finish_if_idle(four)
    assert in_file(four) == name


def test_flags_and_environment_stand_above_pending_settings(four: Home, monkeypatch) -> None:
    number = Generations(four.index).current_number()
    assert number == 1
    with four.lock("use"):
        announce_settings(four, PendingSettings(number, {"dense.encoder": "of the file"}))
        assert present_config(four).dense.encoder == "of the file"
        assert present_config(four, {"dense.encoder": "of a flag"}).dense.encoder == "of a flag"
        monkeypatch.setenv("QA_BOT_DENSE__ENCODER", "of the environment")
        assert present_config(four).dense.encoder == "of the environment"


@pytest.mark.parametrize("content", [b"", b"[]", b'{"generation": 1}', b"\xff"])
def test_a_damaged_file_is_removed_with_a_warning(four: Home, caplog, content: bytes) -> None:
    (four.path / PENDING).write_bytes(content)
    assert present_config(four) == load_config(four.path)
    assert "is damaged" in caplog.text
    assert not (four.path / PENDING).exists()
