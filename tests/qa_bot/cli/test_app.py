"""The command line as a stranger meets it: exit codes, what stands on which stream, shapes, and bad input."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.journal import open_store

CATS = "Why do cats sleep all day?"
ZORGON = {"_id": "zorgon", "title": "Where do zorgons live?", "text": "Zorgons live under the moon of Quix."}

ANSWER_KEYS = [
    "id",
    "question",
    "answered",
    "kind",
    "answer",
    "confidence",
    "reason",
    "sources",
    "timings",
    "skipped",
]
SOURCE_KEYS = ["id", "document", "collection", "title", "url", "score", "text", "span", "source_span"]


# --- shapes and codes -----------------------------------------------------------------------------------------------


def test_the_version_is_told_without_a_verb(qa_bot):
    from qa_bot import __version__

    outcome = qa_bot("--version")
    assert (outcome.code, outcome.out) == (0, f"{__version__}\n")


def test_an_answer_as_json_has_the_promised_shape(qa_bot) -> None:
    outcome = qa_bot("ask", CATS, "--json", "--top", 5)
    answer = outcome.json
    assert outcome.out.count("\n") == 1
    assert list(answer) == ANSWER_KEYS
    assert {tuple(source) for source in answer["sources"]} == {tuple(SOURCE_KEYS)}
    assert answer["timings"].keys() >= {"total"}
    assert (answer["question"], answer["skipped"], outcome.err) == (CATS, [], "")
    for source in answer["sources"]:
        if source["span"]:
            (a, b), (c, d) = source["span"], source["source_span"]
            assert answer["answer"][a:b] == source["text"][c:d]
    assert [bool(s["span"]) for s in answer["sources"]] == sorted(bool(s["span"]) for s in answer["sources"])[::-1]
    assert len(answer["sources"]) >= 5
    assert "trace" not in answer


def test_a_trace_is_there_on_request(qa_bot) -> None:
    assert qa_bot("ask", CATS, "--json", "--trace").json["trace"].keys() >= {"queries", "candidates"}


def test_no_answer_is_code_3_with_a_reason(qa_bot) -> None:
    outcome = qa_bot("ask", "xqzzv blorp wibblefax", "--json")
    assert outcome.code == 3
    assert (outcome.json["answered"], outcome.json["kind"], outcome.json["answer"]) == (False, "none", "")
    assert outcome.json["reason"]
    assert qa_bot("ask", "").code == 3
    assert qa_bot("search", "wibblefax", "--engine", "keyword").code == 3


def test_a_question_comes_from_standard_input(qa_bot, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{CATS}\n"))
    assert qa_bot("ask", "-", "--json").json["question"] == CATS


@pytest.mark.parametrize("engine", ["keyword", "dense", "hybrid"])
def test_search_as_json(qa_bot, engine: str) -> None:
    outcome = qa_bot("search", CATS, "--engine", engine, "--top", 3, "--json").json
    assert (outcome["query"], outcome["engine"], len(outcome["results"])) == (CATS, engine, 3)
    assert outcome["results"][0]["document"] == "animals-cats-sleep"
    scores = [result["score"] for result in outcome["results"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "arguments",
    [(), ("fly",), ("ask",), ("ask", CATS, "--top", "0"), ("search", "x", "--engine", "facts?"), ("delete",), ("add",)],
)
def test_wrong_usage_is_code_2(qa_bot, arguments: tuple[str, ...]) -> None:
    assert qa_bot(*arguments).code == 2


def test_add_and_delete_as_json(qa_bot, write_lines) -> None:
    path = write_lines("a.jsonl", ZORGON, "{")
    outcome = qa_bot("add", path, "--json")
    counted = {name: outcome.json[name] for name in ("added", "updated", "unchanged", "rejected")}
    assert (outcome.code, counted) == (0, {"added": 1, "updated": 0, "unchanged": 0, "rejected": 1})
    assert outcome.json["rejects"][0]["where"] == f"{path}:2"
    assert Path(outcome.json["rejects_file"]).exists()
    assert qa_bot("delete", "zorgon", "nobody", "--json").json == {"deleted": 1, "missing": ["nobody"]}
    assert qa_bot("delete", "nobody").code == 3


def test_an_unknown_format_is_told(qa_bot, write_lines) -> None:
    outcome = qa_bot("add", write_lines("a.jsonl", ZORGON), "--format", "docx")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("Error: Expected one of the formats jsonl")


def test_an_unknown_key_is_told_with_the_nearest(home, qa_bot, monkeypatch) -> None:
    (home / "qa-bot.toml").write_text("[fusion]\nmetod = 'rrf'\n")
    outcome = qa_bot("ask", CATS)
    assert outcome.code == 1
    assert "fusion.metod" in outcome.err
    assert "fusion.method" in outcome.err
    (home / "qa-bot.toml").unlink()
    monkeypatch.setenv("QA_BOT_DENSE__ENCODR", "starter")
    outcome = qa_bot("ask", CATS)
    assert outcome.code == 1
    assert "QA_BOT_DENSE__ENCODR" in outcome.err
    assert "encoder" in outcome.err


def test_using_another_encoder_swaps_and_configures(home, qa_bot, other_encoder_folder, monkeypatch) -> None:
    monkeypatch.setattr("qa_bot.answering.fit_confidence.ensure", lambda encoder, models: None)
    assert qa_bot("use", other_encoder_folder).code == 0
    assert qa_bot("status", "--json").json["encoder"] == str(other_encoder_folder)
    assert qa_bot("config", "--json").json["dense.encoder"]["value"] == str(other_encoder_folder)
    matches = qa_bot("search", CATS, "--engine", "dense", "--json")
    assert matches.json["results"][0]["document"] == "animals-cats-sleep"
    assert qa_bot("use", home / "nothing").code == 1
    assert qa_bot("search", CATS, "--engine", "dense", "--json").json == matches.json


# --- other stores ---------------------------------------------------------------------------------------------------


def test_a_home_over_either_database(store_url, qa_bot, tmp_path, write_lines, monkeypatch) -> None:
    monkeypatch.setenv("QA_BOT_STORE__URL", store_url)
    at = ("--home", tmp_path / "elsewhere")
    assert qa_bot(*at, "ask", CATS, "--json").json["sources"][0]["document"] == "animals-cats-sleep"
    assert qa_bot(*at, "add", write_lines("a.jsonl", ZORGON), "--json").json["added"] == 1
    assert qa_bot(*at, "search", "zorgon", "--json").json["results"][0]["document"] == "zorgon"
    changed = {**ZORGON, "text": "Beneath Wibblefax."}
    assert qa_bot(*at, "add", write_lines("a.jsonl", changed), "--json").json["updated"] == 1
    assert qa_bot(*at, "search", "wibblefax", "--json").json["results"][0]["text"] == "Beneath Wibblefax."
    assert qa_bot(*at, "delete", "zorgon").code == 0
    assert qa_bot(*at, "search", "zorgon", "--engine", "keyword").code == 3
    assert qa_bot(*at, "status", "--json").json["turns"] == 1
    assert qa_bot(*at, "doctor").code == 0
    assert not (tmp_path / "elsewhere" / "store.sqlite").exists()


# --- bad input, each in a process of its own ------------------------------------------------------------------------

GOOD = json.dumps(ZORGON) + "\n"


def truncated_gz(folder: Path) -> Path:
    lines = "".join(json.dumps({"_id": str(i), "text": os.urandom(20).hex()}) + "\n" for i in range(500))
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode())[:-400])
    return folder / "a.jsonl.gz"


def bomb(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.txt", b"0" * 30_000_000)
    return folder / "bomb.zip"


def broken_xml(folder: Path) -> Path:
    text = '<Document id="1"><QAPairs><QAPair pid="1"><Question>Q?</Question><Answer>A.</Answer></QAPair><QAPair>'
    (folder / "broken.xml").write_text(text)
    return folder / "broken.xml"


def entities(folder: Path) -> Path:
    laughs = '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
    text = f'<?xml version="1.0"?><!DOCTYPE Document [{laughs}]><Document><QAPair>&b;</QAPair></Document>'
    (folder / "entities.xml").write_text(text)
    return folder / "entities.xml"


def bad_line(folder: Path) -> Path:
    (folder / "a.jsonl").write_text(GOOD + '{"_id": "cut", "te\n' + GOOD.replace("zorgon", "cake"))
    return folder / "a.jsonl"


def long_line(folder: Path) -> Path:
    (folder / "a.jsonl").write_text(GOOD + json.dumps({"_id": "long", "text": "x" * 34_000_000}) + "\n")
    return folder / "a.jsonl"


def empty(folder: Path) -> Path:
    (folder / "empty.jsonl").touch()
    return folder / "empty.jsonl"


def binary(folder: Path) -> Path:
    (folder / "a.txt").write_bytes(bytes(range(256)) * 20)
    return folder / "a.txt"


def repeated(folder: Path) -> Path:
    (folder / "a.jsonl").write_text(GOOD * 2)
    return folder / "a.jsonl"


def wrong_encoding(folder: Path) -> Path:
    (folder / "a.jsonl").write_bytes(GOOD.replace("moon", "caf\xe9 moon").encode("latin-1"))
    return folder / "a.jsonl"


@pytest.mark.usefixtures("no_shipped_voices")
@pytest.mark.parametrize(
    ("make", "code", "outcome", "added"),
    [
        (truncated_gz, 0, r"what came before \(up to ", None),
        (bomb, 1, "Expected at most 200 bytes for each", 0),
        (broken_xml, 0, "broken.xml", 1),
        (entities, 1, "entities.xml", 0),
        (bad_line, 0, r"a\.jsonl:2: ", 2),
        (long_line, 0, r"a\.jsonl:2: Expected", 1),
        (empty, 1, "empty file", 0),
        (binary, 1, r"a\.txt: Expected", 0),
        (repeated, 0, r"a\.jsonl:2: Expected ids that differ", 1),
        (wrong_encoding, 0, r"a\.jsonl:1: 1 invalid UTF-8 bytes? replaced", 1),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_bad_input_is_told_and_nothing_is_lost(
    qa_bot, tmp_path, make: Callable[[Path], Path], code: int, outcome: str, added: int | None
) -> None:
    (tmp_path / "input").mkdir()
    called = qa_bot("add", make(tmp_path / "input"), "--json")
    assert called.code == code, called
    assert "Traceback" not in called.err
    matches = called.json
    lines = [f"{item['where']}: {item['reason']}" for item in matches["rejects"]] + matches["notices"]
    assert len(lines) == 1
    assert "\n" not in lines[0]
    assert re.search(outcome, lines[0]), lines
    assert matches["added"] == added if added is not None else matches["added"] > 0
    assert qa_bot("ask", CATS).code in (0, 3)
    assert qa_bot("doctor").code == 0


@pytest.fixture
def powerless() -> tuple[str, ...]:
    """What goes before a command so that file modes stop it: root must give up its power over them."""
    if os.geteuid() != 0:
        return ()
    if not shutil.which("setpriv"):
        pytest.skip("as root, rights are only tested where util-linux's setpriv is installed")
    return ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


def test_a_folder_without_rights(tmp_path, home, powerless) -> None:
    closed = tmp_path / "input" / "closed"
    closed.mkdir(parents=True)
    (tmp_path / "input" / "open.jsonl").write_text(GOOD)
    closed.chmod(0)
    called = process_of(powerless, home, "add", tmp_path / "input", "--json")
    closed.chmod(0o700)
    assert called.returncode == 0, called.stderr
    outcome = json.loads(called.stdout)
    assert (outcome["added"], outcome["rejected"]) == (1, 1)
    assert outcome["rejects"][0]["reason"] == "Expected a readable folder, but got Permission denied; check its rights."


def test_a_home_without_rights(tmp_path, powerless) -> None:
    (tmp_path / "theirs").mkdir(mode=0o500)
    called = process_of(powerless, tmp_path / "theirs", "ask", CATS)
    assert called.returncode == 1
    assert "no rights to it; change its owner or mode" in called.stderr
    assert called.stderr.count("\n") == 1


def process_of(before: tuple[str, ...], home: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [*before, sys.executable, "-m", "qa_bot", "--home", str(home), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.usefixtures("no_shipped_voices")
@pytest.mark.parametrize("room", [60_000, 400_000, 1_500_000])
def test_a_full_disk_leaves_the_old_state(qa_bot, qa_bot_process, home, write_lines, room: int) -> None:
    """A bound on the size of files acts like it: writes fail with an error midway."""
    rows = [
        {"_id": str(i), "title": f"Zorgon {i}", "text": f"Zorgon number {i} is one of many. " * 10} for i in range(3000)
    ]
    path = write_lines("many.jsonl", *rows)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    called = qa_bot_process("add", path, preexec_fn=limited)
    assert called.code == 1, called
    assert called.err.startswith("Error: ")
    assert called.err.count("\n") == 1
    assert "Traceback" not in called.err
    assert qa_bot("search", "zorgon", "--engine", "keyword").code == 3
    assert qa_bot("ask", CATS, "--json").json["sources"][0]["document"] == "animals-cats-sleep"
    assert [path.name for path in (home / "index").iterdir() if path.suffix] == []
    assert qa_bot("doctor").code == 0
    assert qa_bot("add", path, "--json").json["added"] == 3000


def test_answers_go_on_where_the_disk_is_full(qa_bot_process) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    called = qa_bot_process("ask", CATS, "--json", preexec_fn=limited)
    assert called.code in (0, 3)
    assert called.json["sources"][0]["document"] == "animals-cats-sleep"
    assert called.err.startswith("WARNING: The answer was given, but could not be recorded: ")


def test_a_closed_pipe_is_no_error(home) -> None:
    command = [sys.executable, "-m", "qa_bot", "--home", str(home), "search", "cats", "--top", "100", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        outcome = process.stderr.read()
    assert b"Traceback" not in outcome


# --- facts ----------------------------------------------------------------------------------------------------------


def test_a_graph_is_asked_alone(qa_bot) -> None:
    outcome = qa_bot("kg", "ask", "Which currency is used in Japan?", "--json", "--trace")
    assert (outcome.code, outcome.json["kind"], outcome.json["answer"]) == (
        0,
        "fact",
        "The currency of Japan is Japanese yen.",
    )
    readings = outcome.json["trace"]["facts"]["readings"]
    assert readings[0]["relation"] == "https://qa-bot.org/kg/p/currency"
    assert readings[0]["template"] == "which currency is used in <m>"
    shown = qa_bot("kg", "ask", "Which currency is used in Japan?", "--trace")
    assert "Japan → Japan" in shown.out
    assert "which currency is used in <m> → Japanese yen" in shown.out
    nothing = qa_bot("kg", "ask", "Who eats zorgons?")
    assert nothing.code == 3
    assert "I don't know" in nothing.out


def test_facts_are_searched(qa_bot) -> None:
    matches = qa_bot("search", "capital of Peru", "--engine", "facts", "--top", 1, "--json").json
    (fact,) = matches["results"]
    assert fact["text"].startswith("The capital of Peru is Lima.")
    assert fact["collection"] == "graph"
    assert qa_bot("search", "zorgon", "--engine", "facts").code == 3


def test_facts_are_measured(qa_bot, write_lines) -> None:
    data = write_lines(
        "asked.jsonl",
        {"question": "What is the capital of Peru?", "answers": ["Lima"]},
        {"question": "What is the capital of Chile?", "answers": ["Lima"]},
        {"question": "Who is the mayor of Paris?", "answers": []},
    )
    row = qa_bot("eval", "facts", "--data", data, "--json").json
    assert (row["queries"], row["accuracy"], row["answered"], row["precision"]) == (3, 0.5, 1.0, 0.5)
    assert row["abstained"] == 1.0
    wrong = qa_bot("eval", "facts", "--data", write_lines("wrong.jsonl", "a\tb"))
    assert wrong.code == 1
    assert "wrong.jsonl, line 1" in wrong.err


def test_the_starter_graph_goes_with_its_collection(qa_bot) -> None:
    assert qa_bot("kg", "ask", "What is the capital of Peru?").code == 0
    assert qa_bot("delete", "--collection", "starter").code == 0
    assert qa_bot("kg", "ask", "What is the capital of Peru?").code == 3
    assert qa_bot("status", "--json").json["facts"] == 0


# --- conversations --------------------------------------------------------------------------------------------------


@pytest.fixture
def talked(home: Path) -> Path:
    """A home with two conversations, and something said about one."""
    with open_store(Home.open(home), Config()) as store:
        outcome = {"answer": "They *nap*.", "sources": [], "answered": True}
        first = store.save_turn(question="Why do cats sleep?", answer=outcome, conversation="c1", asked=1.0)
        store.save_turn(question="And dogs?", answer={"reason": "None."}, conversation="c1", asked=2.0)
        store.save_turn(question="Other?", answer=outcome, conversation="c2", asked=3.0)
        store.save_feedback(first, "up", "thanks")
    return home


def test_conversations_are_listed_and_shown(talked, qa_bot) -> None:
    listed = qa_bot("conversations", "--json").json["conversations"]
    assert [(item["id"], item["title"], item["turns"]) for item in listed] == [
        ("c2", "Other?", 1),
        ("c1", "Why do cats sleep?", 2),
    ]
    assert len(qa_bot("conversations", "--limit", 1, "--json").json["conversations"]) == 1
    shown = qa_bot("conversations").out
    assert re.search(r"c1 +\d{4}-\d\d-\d\d \d\d:\d\d +2 +Why do cats sleep\?", shown)
    outcome = qa_bot("conversations", "show", "c1")
    assert outcome.out.startswith("# Why do cats sleep?\n\n2 questions, ")
    assert "They \\*nap\\*.\n\n*voted up: thanks*\n" in outcome.out
    whole = qa_bot("conversations", "show", "c1", "--json").json
    assert [turn["question"] for turn in whole["turns"]] == ["Why do cats sleep?", "And dogs?"]
    missing = qa_bot("conversations", "show", "c9")
    assert (missing.code, missing.out) == (3, "")
    assert "Expected the id of a conversation, but got 'c9'." in missing.err


def test_no_conversations_are_none(qa_bot) -> None:
    assert qa_bot("conversations").out == "No conversations yet.\n"
    assert qa_bot("conversations", "--json").json == {"conversations": []}


def test_a_conversation_gets_another_title(talked, qa_bot) -> None:
    assert qa_bot("conversations", "rename", "c1", "  Cats\nand [dogs] ").code == 0
    assert qa_bot("conversations", "--json").json["conversations"][1]["title"] == "Cats and [dogs]"
    assert "Cats and [dogs]" in qa_bot("conversations").out
    assert qa_bot("conversations", "rename", "c1", " ").code == 2
    assert qa_bot("conversations", "rename", "c9", "x").code == 3


def test_a_conversation_is_written_to_a_file(talked, qa_bot, tmp_path) -> None:
    out = tmp_path / "cats.md"
    assert qa_bot("conversations", "export", "c1", "--out", out).code == 0
    assert out.read_text() == qa_bot("conversations", "show", "c1").out
    again = qa_bot("conversations", "export", "c1", "--out", out, "--format", "json")
    assert (again.code, "add --force" in again.err) == (1, True)
    assert qa_bot("conversations", "export", "c1", "--out", out, "--format", "json", "--force").code == 0
    assert json.loads(out.read_text()) == qa_bot("conversations", "show", "c1", "--json").json
    assert qa_bot("conversations", "export", "c9", "--out", tmp_path / "none").code == 3
    assert not (tmp_path / "none").exists()


def test_deleted_conversations_are_gone_from_every_file(talked, qa_bot) -> None:
    with open_store(Home.open(talked), Config()) as store:
        turn = store.save_turn(question="kept? Xylophonist", answer={"a": "Xylophonist"}, conversation="c3", asked=4.0)
        store.save_feedback(turn, "down", "Xylophonist")
    assert any(b"Xylophonist" in path.read_bytes() for path in talked.rglob("*") if path.is_file())
    outcome = qa_bot("conversations", "delete", "c3", "c9", "c1", "c1", "--json")
    assert (outcome.code, outcome.json) == (0, {"deleted": 2, "missing": ["c9"]})
    assert [item["id"] for item in qa_bot("conversations", "--json").json["conversations"]] == ["c2"]
    assert not [path for path in talked.rglob("*") if path.is_file() and b"Xylophonist" in path.read_bytes()]
    assert qa_bot("conversations", "delete", "c1").code == 3
