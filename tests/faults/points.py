"""Strikes an operation at one of its write points, and examines the home that is left.

Every step runs in a forked child: libraries are loaded once, and threads of an operation end with it.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import shutil
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from qa_bot.bot import Bot
from qa_bot.home import doctor
from qa_bot.home.config import load_config
from qa_bot.home.folder import Home
from qa_bot.home.generations.pending_settings import PENDING
from qa_bot.home.replacement.swap import NEW
from tests.faults.disk import Disk, Mode, inodes_of, lose_power
from tests.faults.homes import State, Workplace
from tests.faults.operations import Operation

Kind = Literal["kill", "ordered", "strict", "EIO", "ENOSPC", "full"]
"""kill -9; loss of power with the names of files kept, or with those of synced folders only; an error once; a full
disk from there on."""
KINDS: tuple[Kind, ...] = ("kill", "ordered", "strict", "EIO", "ENOSPC", "full")
STRIKES = {
    "kill": (Mode.KILL, 0),
    "EIO": (Mode.ONCE, errno.EIO),
    "ENOSPC": (Mode.ONCE, errno.ENOSPC),
    "full": (Mode.STICKY, errno.ENOSPC),
}
SECONDS = 120
"""After which a child has hung."""
LEFT_OVER = (PENDING, NEW, ".partial", ".removed", ".part", ".tmp", ".new", "-journal")
DONE = (0, 3)
"""Exit codes of a command that did its work; 3: there was nothing to answer."""
NOT_RECORDED = "could not be recorded"
"""A warning: the answer was given, but not kept."""
MOST_LINES = 4
"""Of an error, with warnings before it."""
MOST_GENERATIONS = 3
"""After a loss of power a removed one may be there again; the next change removes it."""
CHECKS = ("database", "documents", "turns", "journal", "index", "graph", "files")
"""Not `vectors`: it expects those of the shipped transformer, in whose place a quick encoder stands."""


class Ended(NamedTuple):
    """How a child ended: its exit code (None if it was killed), and what it printed to standard error."""

    code: int | None
    errors: str
    counted: int


@dataclass(slots=True)
class Outcome:
    """What a point left: `before` or `after` the operation, and everything that is wrong with it."""

    operation: str
    kind: Kind
    point: int
    left: str = ""
    code: int | None = None
    faults: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


class Bench:
    """Runs operations of one workplace; `folder` is for the copies of homes."""

    def __init__(self, workplace: Workplace, folder: Path) -> None:
        self._workplace, self._folder, self._disk = workplace, folder, Disk()
        self._expected: dict[str, tuple[State, State, list[State]]] = {}

    def count(self, operation: Operation) -> int:
        """The number of write points of an operation; it also notes the states before and after it."""
        self._reset()
        home = self._copy(operation)
        before = self._in_child(lambda: operation.read(Home(home)))
        ended = self._strike(operation, home, at=0, mode=Mode.COUNT, error=0)
        if ended.code not in DONE:
            raise RuntimeError(f"Expected {operation.name} to succeed without faults, but got: {ended.errors}")
        after = self._in_child(lambda: operation.read(Home(home)))
        between = []
        for part in operation.parts:
            self._reset()
            copy = self._copy(operation)
            self._child(partial(part, self._workplace, copy))
            between.append(self._in_child(partial(operation.read, Home(copy))))
        self._expected[operation.name] = before, after, between
        return ended.counted

    def strike(self, operation: Operation, kind: Kind, point: int) -> Outcome:
        return self.strike_all(operation, (kind,), point)[0]

    def strike_all(self, operation: Operation, kinds: tuple[Kind, ...], point: int) -> list[Outcome]:
        """Outcomes at a point; the kinds that kill share one run."""
        outcomes = []
        killing = [kind for kind in kinds if kind in ("kill", "ordered", "strict")]
        if killing:
            home, record, before = self._fresh(operation)
            ended = self._strike(operation, home, at=point, mode=Mode.KILL, error=0, record=record)
            images = {"kill": home}
            for kind in killing:
                if kind != "kill":
                    images[kind] = self._folder / kind
                    lose_power(home, record, before, kind=kind, into=images[kind])  # type: ignore[arg-type]
            for kind in killing:
                outcomes.append(self._examine(operation, kind, point, ended, images[kind]))
        for kind in kinds:
            if kind not in killing:
                home, record, before = self._fresh(operation)
                mode, error = STRIKES[kind]
                ended = self._strike(operation, home, at=point, mode=mode, error=error, record=record)
                outcome = self._examine_answered(operation, kind, point, ended, home, record, before)
                outcomes.append(outcome)
        return outcomes

    def _examine_answered(
        self, operation: Operation, kind: Kind, point: int, ended: Ended, home: Path, record: Path, before: Any
    ) -> Outcome:
        """A process that went on: its exit code must be true, also if the power fails right after it."""
        lost = self._folder / "after"
        if ended.code in DONE:
            lose_power(home, record, before, kind="strict", into=lost)
        outcome = self._examine(operation, kind, point, ended, home)
        if ended.code in DONE and NOT_RECORDED not in ended.errors:
            later = self._examine(operation, kind, point, ended, lost)
            if later.left != "after":
                outcome.faults.append(f"exit 0, but after a loss of power: {later.left or later.faults}")
        elif ended.code is None:
            outcome.faults.append("it hung or was killed")
        elif not ended.errors.strip():
            outcome.faults.append(f"exit {ended.code} without a message")
        if "Traceback" in ended.errors or (ended.code not in DONE and ended.errors.count("\n") > MOST_LINES):
            outcome.faults.append(f"a traceback or many lines: {ended.errors.strip().splitlines()[-1]}")
        return outcome

    def _examine(self, operation: Operation, kind: Kind, point: int, ended: Ended, home: Path) -> Outcome:
        outcome = Outcome(operation.name, kind, point, code=ended.code)
        result = self._in_child(lambda: _examined(operation, self._workplace, home))
        before, after, between = self._expected[operation.name]
        outcome.faults += result["faults"]
        state = result["state"]
        if state is not None:
            places = {"after": after, "before": before} | {f"part {i}": s for i, s in enumerate(between, start=1)}
            outcome.left = next((name for name, expected in places.items() if expected == state), "")
            if not outcome.left:
                outcome.faults.append(f"neither old nor new: {_difference(state, before, after)}")
        if result["again"] is not None and not operation.repeats and result["again"] != after:
            outcome.faults.append(f"again: {_difference(result['again'], before, after)}")
        return outcome

    # --- children ---

    def _reset(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)

    def _copy(self, operation: Operation) -> Path:
        return Path(shutil.copytree(operation.home(self._workplace), self._folder / "home", symlinks=True))

    def _fresh(self, operation: Operation) -> tuple[Path, Path, Any]:
        self._reset()
        home, record = self._copy(operation), self._folder / "record"
        record.mkdir()
        return home, record, inodes_of(home, operation.home(self._workplace))

    def _strike(
        self, operation: Operation, home: Path, *, at: int, mode: Mode, error: int, record: Path | None = None
    ) -> Ended:
        def act() -> int:
            self._disk.arm(home, record=record, at=at, mode=mode, error=error)
            code = operation.act(self._workplace, home)
            _write(self._folder / "counted", str(self._disk.disarm()))
            return code

        return self._child(act)

    def _child(self, act: Callable[[], int]) -> Ended:
        errors = self._folder / "errors"
        if not (child := os.fork()):
            signal.alarm(SECONDS)
            _redirect(self._folder / "output", 1)
            _redirect(errors, 2)
            for handler in logging.getLogger().handlers:
                handler.stream = os.fdopen(2, "w", buffering=1, closefd=False)  # type: ignore[attr-defined]
            code = 99
            try:
                code = act()
            except BaseException:
                os.write(2, traceback.format_exc().encode())
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        counted = self._folder / "counted"
        return Ended(
            os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else None,
            errors.read_text(errors="replace") if errors.exists() else "",
            int(counted.read_text()) if counted.exists() else 0,
        )

    def _in_child(self, work: Callable[[], Any]) -> Any:
        """The JSON result of work in a child."""
        result = self._folder / "result"
        result.unlink(missing_ok=True)

        def act() -> int:
            _write(result, json.dumps(work()))
            return 0

        ended = self._child(act)
        if ended.code not in DONE:
            return {"state": None, "again": None, "faults": [f"the examination failed: {ended.errors[-600:]}"]}
        return json.loads(result.read_text())


def _examined(operation: Operation, workplace: Workplace, home: Path) -> dict[str, Any]:
    """The state of a home after a strike, whether the same command succeeds, and faults."""
    faults: list[str] = []
    state = _tried(lambda: operation.read(Home(home)), faults, "reading")
    if operation.begins_with not in ("old", "empty"):
        _tried(lambda: _search(home), faults, "searching")
        _tried(lambda: _check(home, faults), faults, "doctor")
    again = _tried(lambda: operation.act(workplace, home), faults, "again")
    if again not in (None, *DONE):
        faults.append(f"again: exit {again}")
    left = sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.name.endswith(LEFT_OVER))
    if left:
        faults.append(f"left over: {', '.join(left)}")
    faults += [f"{root}: {count} generations" for root, count in _generations(home) if count > MOST_GENERATIONS]
    return {"state": state, "again": _tried(lambda: operation.read(Home(home)), faults, "reading"), "faults": faults}


def _search(home: Path) -> None:
    with Bot.open(home, record=False) as bot:
        assert bot.search("moon tides bread"), "nothing is found"
        bot.ask("What causes the tides?")


def _check(home: Path, faults: list[str]) -> None:
    for check in doctor.run_checks(Home(home), load_config(home)):
        if check.name in CHECKS and not check.ok:
            faults.append(f"doctor: {check.detail}")


def _generations(home: Path) -> list[tuple[str, int]]:
    return [(root, sum(path.name.isdigit() for path in (home / root).glob("*"))) for root in ("index", "graph")]


def _tried(work: Callable[[], Any], faults: list[str], name: str) -> Any:
    try:
        return work()
    except Exception as error:
        faults.append(f"{name}: {type(error).__name__}: {error}")
        return None


def _difference(state: State, before: State, after: State) -> str:
    """The parts of a state, each with what it equals."""
    parts = []
    for name in after:
        old, new = state.get(name) == before.get(name), state.get(name) == after[name]
        if not (old and new):
            parts.append(f"{name} {'old' if old else 'new' if new else state.get(name)}")
    return ", ".join(parts)


def _redirect(path: Path, descriptor: int) -> None:
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(opened, descriptor)
    os.close(opened)


def _write(path: Path, text: str) -> None:
    path.write_text(text)
