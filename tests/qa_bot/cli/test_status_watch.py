"""`qa-bot status --watch` over a home, and over a home that a service runs on."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from qa_bot.home.folder import Home
from qa_bot.home.health.figures import current_health
from qa_bot.terminal.health_output import age, show_health


def test_without_a_service_the_home_is_shown(home: Path) -> None:
    health = current_health(Home.open(home))
    assert health["from"] == "home"
    assert health["index"]["documents"] > 0
    assert "queue" not in health


def test_a_database_that_cannot_be_read_is_a_problem(home: Path) -> None:
    (home / "store.sqlite").write_bytes(b"not a database" * 1000)
    health = current_health(Home.open(home))
    assert health["status"] == "error"
    assert "store" in [problem["name"] for problem in health["problems"]]
    assert health["index"]["documents"] > 0


@pytest.mark.slow
def test_a_service_is_asked_with_its_token_until_it_stops(home: Path) -> None:
    (home / "token").write_text("secret")
    (home / "token").chmod(0o600)
    command = [sys.executable, "-m", "qa_bot", "--home", str(home)]
    service = subprocess.Popen([*command, "serve", "--port", "0"], stderr=subprocess.PIPE, text=True)
    try:
        assert any("qa-bot listens on" in line for line in service.stderr)
        health = current_health(Home.open(home))
        assert (health["from"], health["state"]) == ("service", "ready")
        assert health["queue"]["waiting"] == 0
    finally:
        service.terminate()
        service.stderr.close()
        assert service.wait(60) == 0
    assert current_health(Home.open(home))["from"] == "home"
    assert not (home / "service.json").exists()


@pytest.mark.slow
def test_a_line_each_time_until_ctrl_c(home: Path) -> None:
    command = [sys.executable, "-m", "qa_bot", "--home", str(home), "status", "0.1", "--watch", "--json"]
    watching = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    looks = [json.loads(watching.stdout.readline()) for _ in range(2)]
    watching.send_signal(signal.SIGINT)
    _, errors = watching.communicate(timeout=60)
    assert (watching.returncode, errors) == (0, "")
    assert looks[0]["time"] < looks[1]["time"]


HEALTH = {
    "time": 0.0,
    "from": "service",
    "status": "warning",
    "state": "ready",
    "uptime": 7300.0,
    "queue": {"running": 2, "waiting": 3, "longest_wait": 1.25, "limit": 64},
    "index": {"generation": 7, "documents": 1234, "passages": 5678, "encoder": "starter"},
    "graph": {"generation": 2, "facts": 99},
    "improving": {"vectors": "starter-table", "improvable": True, "progress": 0.4},
    "sources": [{"name": "docs\x1b[2J", "age": 90.0, "error": "gone"}, {"name": "new", "age": None, "error": ""}],
    "backup": {"time": 1.0, "age": 90_000.0},
    "disk": {"free": 5_000_000_000, "size": 10**11, "percent": 5.0, "level": "low"},
    "problems": [{"name": "disk", "level": "warning", "detail": "5.0 % of the disk are free; make room."}],
}


def shown(health: dict) -> str:
    out = io.StringIO()
    show_health(health, console=Console(file=out, width=120))
    return out.getvalue()


def test_what_is_shown_of_a_service() -> None:
    text = shown(HEALTH)
    for part in (
        "ready, up 2 h",
        "2 in work, 3 of 64 wait, the oldest for 1.2 s",
        "generation 7, 1,234 documents, 5,678 passages",
        "generation 2, 99 facts",
        "starter-table, better ones 40%",
        "synchronised 1 min ago, not complete",
        "new: never synchronised",
        "1 d ago",
        "5.0 GB free, 5.0 %",
        "warning: 5.0 % of the disk are free; make room.",
    ):
        assert part in text
    assert "\x1b" not in text


def test_what_is_shown_of_a_home() -> None:
    text = shown(
        {**{name: HEALTH[name] for name in HEALTH if name not in ("queue", "state", "uptime")}, "backup": None}
    )
    assert "in work" not in text
    assert "none" in text


def test_ages() -> None:
    assert [age(seconds) for seconds in (0, 59.9, 60, 7199, 7200, 172_800)] == [
        "0 s",
        "59 s",
        "1 min",
        "1 h",
        "2 h",
        "2 d",
    ]
