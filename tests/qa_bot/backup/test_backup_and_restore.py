"""`qa-bot backup` and `qa-bot restore`: whole, incremental, verified, and with a way back."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from qa_bot.backup.manifest import chosen, names
from qa_bot.bot import Bot
from qa_bot.home.replacement import swap

KILN, OWLS = "When is the kiln fired?", "Why do cats sleep all day?"

pytestmark = pytest.mark.usefixtures("private_home", "no_shipped_voices")


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    return tmp_path / "backups"


@pytest.fixture
def used_home(home, qa_bot, write_lines) -> Path:
    """A home with a document, a fact, a conversation with a vote, and a setting."""
    fact = home.parent / "facts.nt"
    fact.write_text("<http://x/kiln> <http://x/fuel> <http://x/gas> .\n")
    qa_bot("add", write_lines("kiln.jsonl", {"_id": "kiln", "title": KILN, "text": "The kiln is fired on Fridays."}))
    qa_bot("kg", "add", fact)
    qa_bot("config", "set", "answer.limit", "900")
    with Bot.open(home) as bot:
        answer = bot.ask(KILN, conversation="evening")
        bot.vote(answer.id, "up", "right")
    return home


def content(qa_bot, *home: object) -> dict[str, object]:
    """What a user sees of a home."""
    status = qa_bot(*home, "status", "--json").json
    lookup = qa_bot(*home, "kg", "lookup", "--predicate", "http://x/fuel").out
    answer = qa_bot(*home, "ask", KILN, "--json").json["answer"]
    limit = qa_bot(*home, "config", "--json").json["answer.limit"]["value"]
    counts = {name: status[name] for name in ("documents", "facts", "conversations", "feedback")}
    return {**counts, "fact": "gas" in lookup, "answer": answer, "limit": limit}


def test_a_backup_becomes_a_home_of_its_own(used_home, qa_bot, backups, tmp_path) -> None:
    before = content(qa_bot)
    written = qa_bot("backup", backups, "--json").json
    assert (written["documents"], written["turns"]) == (before["documents"], 1)
    restored = qa_bot("restore", backups, "--into", tmp_path / "other", "--json").json
    assert restored["home"] == str(tmp_path / "other")
    assert content(qa_bot, "--home", tmp_path / "other") == before
    assert qa_bot("--home", tmp_path / "other", "doctor").code == 0
    assert (tmp_path / "other").stat().st_mode & 0o777 == 0o700
    assert "but " in qa_bot("restore", backups, "--into", tmp_path / "other").err, "it has content now"


def test_unchanged_files_are_not_copied_again(used_home, qa_bot, backups, write_lines) -> None:
    first = qa_bot("backup", backups, "--json").json
    again = qa_bot("backup", backups, "--json").json
    assert first["copied"] == sum(file.bytes for file in unique(backups, first["name"]).values())
    assert again["copied"] <= 200_000, "only what notes the time or the last use"
    assert again["bytes"] == pytest.approx(first["bytes"], rel=0.01)
    assert names(backups) == [again["name"], first["name"]]


def unique(backups: Path, name: str) -> dict[str, object]:
    return {file.sha256: file for file in chosen(backups, name).files.values()}


@pytest.mark.slow
def test_only_the_newest_are_kept(used_home, qa_bot, backups, write_lines) -> None:
    qa_bot("backup", backups)
    for number in range(3):
        qa_bot("add", write_lines(f"{number}.jsonl", {"_id": str(number), "text": f"Number {number}."}))
        last = qa_bot("backup", backups, "--keep", 2, "--json").json
    assert len(names(backups)) == 2
    assert len(last["removed"]) == 1
    used = {file.sha256 for name in names(backups) for file in chosen(backups, name).files.values()}
    assert {path.name for path in (backups / "objects").glob("*/*")} == used


def test_no_backup_is_removed_while_the_home_has_a_fault(used_home, qa_bot, backups, caplog) -> None:
    """The older ones may be the last whole ones."""
    first = qa_bot("backup", backups, "--json").json["name"]
    setting = used_home / "qa-bot.toml"
    time = setting.stat().st_mtime_ns
    setting.write_bytes(setting.read_bytes().replace(b"900", b"800"))
    os.utime(setting, ns=(time, time))
    damaged = qa_bot("backup", backups, "--keep", 1, "--json")
    assert (damaged.json["removed"], damaged.json["faults"]) == ([], ["files"])
    assert "run `qa-bot doctor`" in caplog.text
    assert names(backups) == [damaged.json["name"], first]
    assert qa_bot("restore", backups, "--at", first).code == 0
    whole = qa_bot("backup", backups, "--keep", 1, "--json").json
    assert (set(whole["removed"]), whole["faults"]) == ({damaged.json["name"], first}, [])


@pytest.mark.slow
def test_restore_in_place_and_back(used_home, qa_bot, backups) -> None:
    before = content(qa_bot)
    qa_bot("backup", backups)
    qa_bot("delete", "kiln")
    qa_bot("config", "set", "answer.limit", "500")
    after = content(qa_bot)
    assert after != before
    assert "`qa-bot restore --undo`" in qa_bot("restore", backups).err
    assert content(qa_bot) == before
    assert qa_bot("restore", "--undo").code == 0
    assert content(qa_bot) == after
    assert qa_bot("restore", "--undo").code == 0
    assert content(qa_bot) == before
    assert qa_bot("doctor").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["flip", "remove", "manifest"])
def test_a_damaged_backup_changes_nothing(used_home, qa_bot, backups, damage: str) -> None:
    name = qa_bot("backup", backups, "--json").json["name"]
    path = backups / "backups" / f"{name}.json"
    if damage != "manifest":
        digest = chosen(backups).files["store.sqlite"].sha256
        path = backups / "objects" / digest[:2] / digest
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data if damage in ("flip", "manifest") else data[: len(data) // 2])
    if damage == "remove":
        path.unlink()
    before = sorted(file.name for file in used_home.iterdir())
    called = qa_bot("restore", backups)
    assert (called.code, "Traceback" in called.err) == (1, False)
    assert "choose another" in called.err.lower()
    assert sorted(file.name for file in used_home.iterdir()) == before
    assert qa_bot("backup", backups).code == 0, "a damaged file of an earlier backup is written again"
    assert qa_bot("restore", backups).code == 0


def test_a_home_that_is_read_is_not_replaced(used_home, qa_bot, backups) -> None:
    with Bot.open(used_home) as bot:
        bot.ask(KILN)
        assert qa_bot("backup", backups).code == 0, "while it is served"
        called = qa_bot("restore", backups)
        assert (called.code, "stop it first" in called.err) == (1, True)
    assert qa_bot("restore", backups).code == 0


def test_a_damaged_home_is_not_backed_up(used_home, qa_bot, backups) -> None:
    path = next((used_home / "index").glob("0*/keyword/meta.json"))
    for path in (used_home / "index").glob("0*/keyword/meta.json"):
        path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    called = qa_bot("backup", backups)
    assert called.code == 1
    assert "run `qa-bot repair`" in called.err
    assert names(backups) == []


@pytest.mark.parametrize("damage", ["lost", "cut"])
def test_a_home_without_its_database_is_not_backed_up(used_home, qa_bot, backups, tmp_path, damage: str) -> None:
    """Such a backup could not be restored, and would be counted instead of a whole one."""
    before = content(qa_bot)
    first = qa_bot("backup", backups, "--json").json["name"]
    size = (used_home / "store.sqlite").stat().st_size
    for path in used_home.glob("store.sqlite*"):
        path.unlink()
    if damage == "cut":
        (used_home / "store.sqlite").write_bytes(b"SQLite format 3\0" + bytes(size // 2))
    else:
        qa_bot("ask", OWLS)
    called = qa_bot("backup", backups, "--keep", 1)
    assert (called.code, "Expected" in called.err) == (1, True)
    assert qa_bot("export", tmp_path / "home.zip").code == 1
    assert names(backups) == [first]
    checks = [check for check in qa_bot("doctor", "--json").json["checks"] if not check["ok"]]
    assert {check["command"] for check in checks} == {f"qa-bot restore {backups}"}
    assert qa_bot("restore", backups).code == 0
    assert content(qa_bot) == before


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["started", "moving", "moved", "placing"])
def test_an_interrupted_exchange_is_finished(used_home, qa_bot, backups, monkeypatch, moment: str) -> None:
    """The process dies during the exchange; the next command finds the new content whole, and the former one kept."""
    before = content(qa_bot)
    qa_bot("backup", backups)
    qa_bot("delete", "kiln")
    count = {"started": 0, "moving": 2, "moved": len(list(used_home.iterdir())) - 3, "placing": 12}[moment]
    rename = Path.rename

    def dying(path: Path, target: Path) -> Path:
        nonlocal count
        inside = used_home in Path(target).parents and path.parent.name in (used_home.name, "content")
        if inside and count == 0:
            raise KeyboardInterrupt
        count -= inside
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", dying)
    qa_bot("restore", backups)
    monkeypatch.setattr(Path, "rename", rename)
    assert content(qa_bot) == before
    assert not (used_home / swap.NEW).exists()
    assert (used_home / swap.FORMER / "store.sqlite").exists()
    assert qa_bot("restore", "--undo").code == 0
    assert content(qa_bot) != before


@pytest.mark.slow
def test_an_exchange_whose_last_step_was_interrupted_is_finished(used_home, qa_bot, backups, monkeypatch) -> None:
    """The process dies while it removes what it no longer needs, whatever goes first."""
    before = content(qa_bot)
    qa_bot("backup", backups)
    qa_bot("delete", "kiln")
    removes = shutil.rmtree

    def dying(path: Path, **options: object) -> None:
        if Path(path).name == swap.NEW and (Path(path) / swap.MOVED).exists():
            (Path(path) / swap.MOVED).unlink()
            removes(Path(path) / "content")
            raise KeyboardInterrupt
        removes(path, **options)

    monkeypatch.setattr("qa_bot.home.replacement.swap.shutil.rmtree", dying)
    assert qa_bot("restore", backups).code == 130
    monkeypatch.undo()
    assert content(qa_bot) == before
    assert qa_bot("doctor").code == 0
    assert qa_bot("delete", "kiln").code == 0
    assert not (used_home / swap.NEW).exists(), "the next change removes what was left"


@pytest.mark.parametrize("taken", [False, True])
def test_what_a_killed_restore_or_undo_left_goes_with_the_next_change(used_home, qa_bot, backups, taken: bool) -> None:
    before = content(qa_bot)
    left = used_home / swap.NEW
    (left / "content").mkdir(parents=True)
    (left / "content" / "store.sqlite").touch()
    if taken:
        (left / swap.TAKEN).touch()
    assert content(qa_bot) == before
    assert left.exists(), "reading changes nothing"
    qa_bot("delete", "kiln")
    assert not left.exists()
    assert (used_home / swap.FORMER).exists() == taken


def test_what_a_killed_backup_left_goes_with_the_next(used_home, qa_bot, backups) -> None:
    digest = "ab" * 32
    for name in ("qa-bot-backup-x1/store.sqlite", f"objects/ab/.{digest}.12345678.part", f"objects/ab/{digest}"):
        (backups / name).parent.mkdir(parents=True, exist_ok=True)
        (backups / name).touch()
    assert qa_bot("backup", backups).code == 0
    assert {path.name for path in backups.iterdir()} == {"backup.lock", "backups", "objects"}
    used = {file.sha256 for file in chosen(backups).files.values()}
    assert {path.name for path in (backups / "objects").glob("*/*")} == used


@pytest.mark.slow
def test_altered_rows_and_files_come_back_from_the_last_backup(used_home, qa_bot, backups) -> None:
    model = used_home / "models" / "org--model" / "config.json"
    model.parent.mkdir(parents=True)
    model.write_text('{"a": 1}')
    assert qa_bot("doctor").code == 0
    qa_bot("backup", backups)
    model.write_text('{"a": 2}')
    with closing(sqlite3.connect(used_home / "store.sqlite")) as connection, connection:
        connection.execute("UPDATE passages SET start = start + 1 WHERE text LIKE '%Fridays%'")
        connection.execute("UPDATE turns SET question = 'How?'")
        connection.execute("UPDATE feedback SET vote = 'down'")
    failed = {check["name"] for check in qa_bot("doctor", "--json").json["checks"] if not check["ok"]}
    assert failed == {"documents", "turns", "files"}
    repaired = qa_bot("repair", "--json")
    assert (repaired.code, repaired.json["damaged"], repaired.json["left_out"]) == (0, [], [])
    assert qa_bot("doctor").code == 0
    assert model.read_text() == '{"a": 1}'


def test_doctor_and_status_name_the_last_backup(used_home, qa_bot, backups) -> None:
    assert "none yet; write one with `qa-bot backup DIR`" in qa_bot("doctor").out
    name = qa_bot("backup", backups, "--json").json["name"]
    assert qa_bot("status", "--json").json["last_backup"]["name"] == name
    assert f"backup: {name}" in qa_bot("doctor").out
    shutil.rmtree(backups)
    checks = {check["name"]: check["detail"] for check in qa_bot("doctor", "--json").json["checks"]}
    assert checks["backup"].endswith("which is not there now")


def test_wrong_usage(qa_bot, home, tmp_path) -> None:
    assert qa_bot("backup").code == 2
    assert qa_bot("restore").code == 2
    assert qa_bot("restore", tmp_path, "--undo").code == 2
    assert "but got none; write one with" in qa_bot("restore", tmp_path).err
    assert "keeps no former content" in qa_bot("restore", "--undo").err
    assert "outside the home" in qa_bot("backup", home / "inside").err
