"""The health that `qa-bot status --watch` shows: of the running service, or of the home if none answers."""

from __future__ import annotations

import time
from typing import Any

from qa_bot.home.config import Config, load_config
from qa_bot.home.folder import Home
from qa_bot.home.health.report import Problem, home_report, status_of
from qa_bot.home.health.running_service import service_health

TOKEN_FILE = "token"  # noqa: S105  # the name of a file


def current_health(home: Home, *, backup_every: float = 0.0) -> dict[str, Any]:
    """The reply of `GET /api/admin/health`, or what can be said without a service; `from` says which.

    Args:
        backup_every: seconds between two scheduled backups; 0 if none are.
    """
    config = load_config(home.path)
    health = service_health(home, _token(home, config))
    source = "service" if health is not None else "home"
    figures = _of_home(home, config, backup_every) if health is None else health
    return {"time": round(time.time(), 1), "from": source, **figures}


def _of_home(home: Home, config: Config, backup_every: float) -> dict[str, Any]:
    from qa_bot.home.store import Store, StoreError  # late: a service that answers needs no SQLAlchemy

    try:
        with Store.open(home.store_url(config)) as store:
            report = home_report(home, config, store.sources.all(), backup_every=backup_every)
    except StoreError as error:
        report = home_report(home, config, (), backup_every=backup_every)
        report["problems"].append(Problem("store", "error", str(error)))
    problems: list[Problem] = report["problems"]
    return {"status": status_of(problems), **report, "problems": [problem._asdict() for problem in problems]}


def _token(home: Home, config: Config) -> str:
    """The token of the configuration or of the home's file; empty if there is none that can be read."""
    if config.serve.token:
        return config.serve.token
    try:
        return (home.path / TOKEN_FILE).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
