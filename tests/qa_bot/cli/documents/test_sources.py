"""`sync`, `add --sync`, `sources` and `watch` on the command line: output, JSON and exit codes."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.request import Request, urlopen

import pytest

from qa_bot.home.store.schema import REVISIONS

pytestmark = pytest.mark.usefixtures("no_shipped_voices")
QaBot = Callable[..., Any]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "rust.md").write_text("Rub rust off with vinegar.")
    (folder / "tea.txt").write_text("Tea should steep for three minutes.")
    return folder


def test_edits_renames_and_deletions_are_followed(qa_bot: QaBot, docs: Path) -> None:
    assert qa_bot("add", docs).code == 0
    (docs / "tea.txt").rename(docs / "tee.txt")
    (docs / "rust.md").write_text("Zorgon removes rust.")
    (docs / "new.md").write_text("New.")
    planned = qa_bot("sync", "--dry-run")
    assert planned.out.splitlines() == [
        "docs: 1 new, 1 changed, 1 moved, 0 deleted, 0 unchanged files",
        "  + new.md",
        "  ~ rust.md",
        "  > tea.txt → tee.txt",
        "would be 2 added, 1 updated, 0 unchanged, 0 rejected, 1 removed, 1 file moved",
    ]
    would = qa_bot("sync", "--dry-run", "--json").json
    called = qa_bot("sync", "--json")
    assert [would[name] for name in ("added", "updated", "removed")] == [2, 1, 1]
    assert (called.json["passages"], called.json["duplicates"]) == (3, 0)
    assert called.code == 0
    lists = {name: called.json[name] for name in ("new", "changed", "moved", "deleted", "errors")}
    assert lists == {
        "new": ["new.md"],
        "changed": ["rust.md"],
        "moved": [{"from": "tea.txt", "to": "tee.txt"}],
        "deleted": [],
        "errors": [],
    }
    assert (called.json["added"], called.json["updated"], called.json["removed"]) == (2, 1, 1)
    assert qa_bot("ask", "What removes rust?", "--json").json["sources"][0]["document"] == "rust.md"


def test_a_dry_run_lists_all_files(qa_bot: QaBot, docs: Path) -> None:
    qa_bot("add", docs)
    for number in range(30):
        (docs / f"{number}.md").write_text(f"Text {number}.")
    assert len(qa_bot("sync", "--dry-run").out.splitlines()) == 32
    assert "  + … and 10 more" in qa_bot("sync").out


def test_a_source_knows_the_format_of_its_files(qa_bot: QaBot, docs: Path) -> None:
    qa_bot("add", docs / "rust.md", "--format", "text")
    assert [entry["options"] for entry in qa_bot("sources", "--json").json["sources"]] == [{"format": "text"}]


def test_sources_are_listed_renamed_and_removed(qa_bot: QaBot, docs: Path) -> None:
    qa_bot("add", docs)
    (entry,) = qa_bot("sources", "--json").json["sources"]
    assert entry.pop("last_sync") > 1e9
    assert entry == {
        "name": "docs",
        "kind": "folder",
        "place": str(docs),
        "collection": "default",
        "options": {},
        "files": 2,
        "documents": 2,
        "passages": 2,
        "last_error": None,
    }
    assert qa_bot("sources", "rename", "docs", "papers").code == 0
    assert (
        qa_bot("sources").out.splitlines()[1].startswith("papers  default     folder      2          2         2  20")
    )
    assert qa_bot("sources", "remove", "papers", "--yes").out == "2 documents removed\n"
    assert "No sources yet" in qa_bot("sources").out
    unknown = qa_bot("sources", "remove", "papers")
    assert (unknown.code, "there is: none" in unknown.err) == (1, True)


def test_removing_a_source_names_its_documents_first(
    qa_bot: QaBot, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qa_bot("add", docs)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    called = qa_bot("sources", "remove", docs)
    assert (called.code, "Remove the source docs and its 2 documents?" in called.err) == (1, True)


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\x1b[2J"])
def test_names_are_printable(qa_bot: QaBot, docs: Path, name: str) -> None:
    called = qa_bot("add", docs, "--collection", name)
    assert (called.code, "Expected a name" in called.err) == (2, True)
    qa_bot("add", docs)
    assert qa_bot("sources", "rename", "docs", name).code == 2


def test_the_last_files_of_rejects_are_kept(
    qa_bot: QaBot, home: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qa_bot.documents.reject_log.KEPT_FILES", 2)
    (docs / "bad.md").write_bytes(b"")
    files = [qa_bot("add", docs, "--json").json["rejects_file"] for _ in range(3)]
    assert sorted(map(str, (home / "rejects").iterdir())) == files[1:]


def test_files_of_rejects_are_in_the_order_of_time_at_the_turn_of_a_second(
    qa_bot: QaBot, home: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (docs / "bad.md").write_bytes(b"")
    clock = iter([1_764_259_175_947_935_928, 1_764_259_176_000_199_638])
    stopped = SimpleNamespace(time_ns=lambda: next(clock), strftime=time.strftime, gmtime=time.gmtime)
    monkeypatch.setattr("qa_bot.documents.reject_log.time", stopped)
    for _ in range(2):
        qa_bot("add", docs)
    names = [path.name for path in sorted((home / "rejects").iterdir())]
    assert names == ["20251127-155935-947935928.jsonl", "20251127-155936-000199638.jsonl"]


def test_json_has_every_reject_and_a_terminal_the_first(qa_bot: QaBot, docs: Path) -> None:
    for number in range(25):
        (docs / f"bad{number:02}.md").write_bytes(b"")
    places = [reject["where"] for reject in qa_bot("add", docs, "--json").json["rejects"]]
    assert places == [str(docs / f"bad{number:02}.md") for number in range(25)]
    shown = qa_bot("add", docs).err.splitlines()
    assert sum(line.startswith(str(docs)) for line in shown) == 20
    assert "… and 5 more" in shown


def test_a_rejected_file_ends_with_4_and_an_empty_source_with_1(qa_bot: QaBot, docs: Path) -> None:
    (docs / "bad.md").write_bytes(b"")
    called = qa_bot("add", docs, "--json")
    assert (called.code, called.json["rejects"][0]["where"]) == (4, str(docs / "bad.md"))
    assert qa_bot("sync").code == 4
    (docs / "bad.md").unlink()
    (docs / "tea.txt").unlink()
    assert qa_bot("add", "--sync", docs).code == 0
    (docs / "rust.md").unlink()
    empty = qa_bot("sync")
    assert empty.code == 1
    assert "nothing was deleted" in empty.err
    for options in ((), ("--sync",)):
        assert "docs: Expected files at" in qa_bot("add", docs, *options).err
        assert "nothing was deleted" in qa_bot("add", docs, "--json", *options).json["errors"][0]
    assert qa_bot("add", "--sync", "--allow-empty", docs, "--json").json["removed"] == 1


def test_a_path_in_a_source_is_no_source_and_the_message_names_that(qa_bot: QaBot, docs: Path) -> None:
    qa_bot("add", docs)
    called = qa_bot("sync", docs / "tea.txt")
    assert (called.code, "it is in docs: use that, or `qa-bot add --sync`" in called.err) == (1, True)


def test_commands_about_sources_speak_json(qa_bot: QaBot, docs: Path) -> None:
    qa_bot("add", docs)
    assert qa_bot("sources", "rename", "docs", "notes", "--json").json == {"name": "notes", "before": "docs"}
    place = docs.rename(docs.with_name("moved"))
    assert qa_bot("sources", "--json", "move", "notes", place).json == {"name": "notes", "place": str(place)}
    assert qa_bot("sources", "--json", "remove", "notes", "--yes").json == {"removed": 2}
    assert qa_bot("migrate", "--json").json == {"schema": REVISIONS[-1], "before": REVISIONS[-1]}


def test_add_removes_a_missing_source_only_if_it_may_be_empty(qa_bot: QaBot, docs: Path, tmp_path: Path) -> None:
    (docs / "old").mkdir()
    (docs / "old" / "a.md").write_text("Outdated.")
    qa_bot("add", docs)
    (docs / "old" / "a.md").unlink()
    (docs / "old").rmdir()
    assert qa_bot("add", "--sync", docs / "old", "--allow-empty", "--json").json["removed"] == 1
    docs.rename(docs.with_name("away"))
    assert "does not exist" in qa_bot("add", "--sync", docs).err
    assert qa_bot("add", "--sync", docs, "--allow-empty", "--json").json["removed"] == 2
    unknown = qa_bot("add", "--sync", tmp_path / "unknown", "--allow-empty")
    assert (unknown.code, "does not exist" in unknown.err) == (1, True)


def test_a_device_is_no_source(qa_bot: QaBot) -> None:
    called = qa_bot("add", "/dev/zero")
    assert (called.code, "got /dev/zero, which is neither" in called.err) == (1, True)
    assert qa_bot("sources", "--json").json["sources"] == []


def test_without_sources_sync_says_so(qa_bot: QaBot) -> None:
    assert "No sources to compare" in qa_bot("sync").out
    assert qa_bot("sync", "nowhere").err.startswith("Error: Expected the name or place of a source, but got 'nowhere'")


@pytest.mark.slow
def test_watch_follows_changes_until_ctrl_c(qa_bot: QaBot, home: Path, docs: Path) -> None:
    qa_bot("add", docs)
    command = [sys.executable, "-m", "qa_bot", "--home", str(home), "watch", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        assert "Watching 1 source;" in process.stderr.readline()
        time.sleep(2)
        (docs / "new.md").write_text("New.")
        (docs / "tea.txt").unlink()
        event = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    assert (event["new"], event["deleted"]) == (["new.md"], ["tea.txt"])


@pytest.mark.slow
def test_a_service_that_watches_answers_from_new_files(qa_bot: QaBot, home: Path, docs: Path) -> None:
    qa_bot("add", docs)
    command = [sys.executable, "-m", "qa_bot", "--home", str(home), "serve", "--port", "0", "--watch"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        url = next(line.split()[-1] for line in lines if "qa-bot listens on" in line)
        time.sleep(2)
        (docs / "walrus.md").write_text("Zorgon is a walrus.")
        assert any('"event":"synchronised","added":1' in line for line in lines)
        request = Request(f"{url}api/search", b'{"query": "zorgon"}', {"Content-Type": "application/json"})
        with urlopen(request) as reply:
            results = json.load(reply)["results"]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert results[0]["document"] == "walrus.md"
