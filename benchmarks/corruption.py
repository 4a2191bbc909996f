"""Random corruptions of a home: are they reported, do they change answers silently, and are they mended?

    python -m benchmarks.corruption --trials 200 --seed 20

Each trial copies a home (starter collection, own documents, facts, a conversation with a vote, a backup beside it),
damages one file of it, asks questions, and runs `doctor`, `repair` and, if need be, `restore`. A home is mended if
`doctor` passes and documents, facts, turns, votes and answers are those of before. Prints a table; `--json` a row.
"""

from __future__ import annotations

import argparse
import io
import json
import logging
import random
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from qa_bot.bot import Bot
from qa_bot.cli.app import run
from qa_bot.documents import graph
from qa_bot.home.folder import Home

QUESTIONS = ("When is the kiln fired?", "Why do cats sleep all day?", "What is the capital of France?")
KINDS = ("flip", "truncate", "remove", "swap", "empty")
DEADLINE = "600"
"""Seconds: answers must not depend on the load of the machine."""
LOCKS = (".lock", "lock")
NOTES = ("changed since they were last checked", "cut short", "none of them compared")
"""Parts of what `doctor` says of damage that needs no repair."""


class Called(NamedTuple):
    """Exit code, standard output, and what was reported: standard error and warnings."""

    code: int
    out: str
    reported: str


class _Output(io.TextIOWrapper):
    """A text stream with a `buffer`, as standard output has."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def text(self) -> str:
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode("utf-8", "replace")


def call(home: Path, *arguments: str) -> Called:
    """Run a command in this process; an exception is a traceback for its user, and counts as not reported."""
    out, err = _Output(), io.StringIO()
    handler = logging.StreamHandler(err)
    logging.getLogger().addHandler(handler)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = run(["--home", str(home), *arguments])
    except Exception as error:
        return Called(99, out.text(), f"TRACEBACK {type(error).__name__}: {error}")
    finally:
        logging.getLogger().removeHandler(handler)
    return Called(code, out.text(), err.getvalue())


def make_home(folder: Path) -> Path:
    home = folder / "home"
    lines = [
        {"_id": f"note-{n}", "title": f"Note {n}", "text": f"Shelf {n} holds {n * 7} jars of glaze."} for n in range(40)
    ]
    lines.append({"_id": "kiln", "title": QUESTIONS[0], "text": "The kiln is fired on Fridays."})
    source, facts = folder / "notes.jsonl", folder / "facts.nt"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    facts.write_text('<http://x/kiln> <http://www.w3.org/2000/01/rdf-schema#label> "kiln"@en .\n')
    for command in (("add", str(source)), ("kg", "add", str(facts)), ("config", "set", "answer.limit", "900")):
        assert call(home, *command).code == 0
    with Bot.open(home) as bot:
        answer = bot.ask(QUESTIONS[0], conversation="evening")
        bot.vote(answer.id, "up", "right")
    assert call(home, "doctor").code == 0
    assert call(home, "backup", str(folder / "backups")).code == 0
    assert call(home, "ask", QUESTIONS[1]).code == 0  # a turn that waits in the journal
    return home


def answers(home: Path) -> tuple[list[str], Called]:
    """The texts of all answers, and the first call that failed or reported something, or the last."""
    texts, chosen = [], None
    for question in QUESTIONS:
        called = call(home, "ask", "--json", "--deadline", DEADLINE, question)
        reported = called.code not in (0, 3) or called.reported
        chosen = (
            chosen
            if chosen and (chosen.code not in (0, 3) or chosen.reported)
            else (called if reported else chosen or called)
        )
        texts.append(json.loads(called.out)["answer"] if called.code in (0, 3) and called.out else "")
    assert chosen is not None
    return texts, chosen


def content(home: Path) -> dict[str, Any]:
    """Documents, turns, votes and facts, without what the trial itself adds."""
    with closing(sqlite3.connect(home / "store.sqlite")) as store:
        rows = {
            "documents": "SELECT external_id, title, body, url FROM documents WHERE retired IS NULL ORDER BY id",
            "passages": 'SELECT text, start, "end", place, units FROM passages ORDER BY id',
            "votes": "SELECT vote, comment FROM feedback ORDER BY id",
            "turns": "SELECT id, question, answer FROM turns WHERE conversation_id = 'evening' ORDER BY id",
        }
        held: dict[str, Any] = {name: store.execute(query).fetchall() for name, query in rows.items()}
    with graph.generations(Home(home)).pin_current() as generation:
        lines = [] if generation is None else [text for _, text in graph.statements(generation)]
        held["facts"] = sorted(b"".join(lines).splitlines())
    held["settings"] = (home / "qa-bot.toml").read_bytes() if (home / "qa-bot.toml").exists() else b""
    return held


def damage(home: Path, rng: random.Random) -> tuple[str, str]:
    """Damage one file; returns the kind and the file's path in the home."""
    files = sorted(
        path for path in home.rglob("*") if path.is_file() and path.name not in LOCKS and path.suffix != ".lock"
    )
    path, kind = rng.choice(files), rng.choice(KINDS)
    data = bytearray(path.read_bytes())
    if kind == "flip" and data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
    elif kind == "truncate" and data:
        path.write_bytes(data[: rng.randrange(len(data))])
    elif kind == "swap":
        others = [other for other in files if other.read_bytes() != data]
        other = rng.choice(others)
        path.write_bytes(other.read_bytes())
        other.write_bytes(data)
    elif kind == "remove":
        path.unlink()
    else:
        kind = "empty"
        path.write_bytes(b"")
    return kind, path.relative_to(home).as_posix()


def outcome(home: Path, backups: Path, expected: Sequence[str], before: dict[str, Any]) -> dict[str, Any]:
    """What happens with a damaged home."""
    texts, answer_call = answers(home)
    reported_by_ask = answer_call.code not in (0, 3) or bool(answer_call.reported)
    examined = call(home, "doctor", "--json")
    noted = any(note in examined.out for note in NOTES)
    reported = reported_by_ask or examined.code != 0 or noted
    row: dict[str, Any] = {
        "reported": reported,
        "silently_wrong": list(texts) != list(expected) and not reported_by_ask,
        "traceback": "TRACEBACK" in answer_call.reported + examined.reported,
    }
    row["harmless"] = not reported and _is_same(home, before)
    if row["harmless"] or (not reported):
        return {**row, "mended_by": "nothing to mend" if row["harmless"] else "not mended"}
    repaired = call(home, "repair")
    row["traceback"] = row["traceback"] or "TRACEBACK" in repaired.reported
    if _is_sound(home, expected, before):
        return {**row, "mended_by": "repair"}
    restored = call(home, "restore", str(backups))
    row["traceback"] = row["traceback"] or "TRACEBACK" in restored.reported
    return {**row, "mended_by": "restore" if _is_sound(home, expected, before) else "not mended"}


def _is_same(home: Path, before: dict[str, Any]) -> bool:
    try:
        return content(home) == before
    except (sqlite3.Error, ValueError, RuntimeError, OSError):
        return False


def _is_sound(home: Path, expected: Sequence[str], before: dict[str, Any]) -> bool:
    examined = call(home, "doctor", "--json")
    return examined.code == 0 and _is_same(home, before) and answers(home)[0] == list(expected)


def measure(trials: int, seed: int, *, first: int = 0) -> Iterator[dict[str, Any]]:
    """The outcomes of trials by number, from `first` on; those before are only drawn."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="qa-bot-corruption-") as name:
        folder = Path(name)
        home = make_home(folder)
        expected, before = answers(shutil.copytree(home, folder / "sound"))[0], content(home)
        for number in range(trials):
            copy = Path(shutil.copytree(home, folder / "damaged"))
            kind, file = damage(copy, rng)
            if number >= first:
                result = outcome(copy, folder / "backups", expected, before)
                yield {"trial": number, "kind": kind, "file": file, **result}
            shutil.rmtree(copy)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first trial that is run")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--json", action="store_true", help="print a JSON object a trial")
    options = parser.parse_args()
    rows = []
    for row in measure(options.trials, options.seed, first=options.first):
        rows.append(row)
        if options.json:
            print(json.dumps(row), flush=True)  # noqa: T201 (a tool run by hand)
    if not options.json:
        show(rows)


def show(rows: Sequence[dict[str, Any]]) -> None:
    print("| damage | trials | reported | no effect | repaired | restored | not mended | silently wrong |")  # noqa: T201
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")  # noqa: T201
    for kind in (*KINDS, "all"):
        chosen = [row for row in rows if kind in ("all", row["kind"])]
        by = Counter(row["mended_by"] for row in chosen)
        figures = [
            len(chosen),
            sum(row["reported"] for row in chosen),
            by["nothing to mend"],
            by["repair"],
            by["restore"],
        ]
        figures += [by["not mended"], sum(row["silently_wrong"] for row in chosen)]
        print(f"| {kind} | {' | '.join(map(str, figures))} |")  # noqa: T201
    print(f"tracebacks: {sum(row['traceback'] for row in rows)}")  # noqa: T201


if __name__ == "__main__":
    main()
