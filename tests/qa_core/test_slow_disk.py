"""A stalled disk is a fake `fsync` that waits until the warning has come."""

import logging
import os
from threading import Event

import pytest

from qa_core import slow_disk
from qa_core.atomic import sync
from qa_core.slow_disk import reported_if_slow


@pytest.fixture
def warned(monkeypatch):
    """Set at the first warning; a write may take no time at all without one."""
    event = Event()
    monkeypatch.setattr(slow_disk, "PATIENCE", 0.0)
    monkeypatch.setattr(slow_disk, "_warn", lambda path: (slow_disk.log.warning("waiting for %s", path), event.set()))
    return event


def test_a_stalled_write_is_reported_before_and_after_its_end(tmp_path, monkeypatch, caplog, warned):
    monkeypatch.setattr(os, "fsync", lambda _: warned.wait(30))
    sync(tmp_path)
    assert caplog.messages[0] == f"waiting for {tmp_path}"
    assert caplog.messages[1].startswith(f"The disk of {tmp_path} took 0 s for one write")


def test_a_quick_write_is_not_reported(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    with reported_if_slow(tmp_path):
        pass
    assert caplog.messages == []


def test_the_warning_names_the_disk_and_the_time(caplog):
    slow_disk._warn("/home/ann/.qa-bot")
    assert caplog.messages == ["Waiting for the disk of /home/ann/.qa-bot, which has not finished a write for 5 s …"]


def test_an_error_of_the_write_is_raised(tmp_path):
    with pytest.raises(OSError, match="full"), reported_if_slow(tmp_path):
        raise OSError("full")
