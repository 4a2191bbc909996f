"""The command line: exit codes, output streams, JSON shapes, bad input, facts and conversations."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path

import pytest

RANDOM = random.Random(0)
CATS = "Why do cats sleep all day?"
ZORGON = {"_id": "zorgon", "title": "Where do zorgons live?", "text": "Zorgons live under the moon of Quix."}

ANSWER_KEYS = "id question answered kind answer lead confidence reason sources timings skipped".split()  # noqa: SIM905
SOURCE_KEYS = "id document collection title url score text span source_span".split()  # noqa: SIM905


def test_version_without_a_verb(qa_bot):
    from qa_bot import __version__

    called = qa_bot("--version")
    assert (called.code, called.out) == (0, f"{__version__}\n")


def test_an_answer_as_json_has_the_promised_shape(qa_bot) -> None:
    called = qa_bot("ask", CATS, "--json", "--top", 5)
    answer = called.json
    assert called.out.count("\n") == 1
    assert list(answer) == ANSWER_KEYS
    assert {tuple(source)[: len(SOURCE_KEYS)] for source in answer["sources"]} == {tuple(SOURCE_KEYS)}
    assert {key for source in answer["sources"] for key in source} <= {*SOURCE_KEYS, "path", "language"}
    assert answer["timings"].keys() >= {"total"}
    assert (answer["question"], answer["skipped"], called.err) == (CATS, [], "")
    for source in answer["sources"]:
        if source["span"]:
            (a, b), (c, d) = source["span"], source["source_span"]
            assert answer["answer"][a:b] == source["text"][c:d]
    assert [bool(s["span"]) for s in answer["sources"]] == sorted(bool(s["span"]) for s in answer["sources"])[::-1]
    assert len(answer["sources"]) >= 5
    assert "trace" not in answer


def test_trace_on_request(qa_bot) -> None:
    assert qa_bot("ask", CATS, "--json", "--trace").json["trace"].keys() >= {"queries", "candidates"}


def test_no_answer_is_code_3_with_a_reason(qa_bot) -> None:
    called = qa_bot("ask", "xqzzv blorp wibblefax", "--json")
    assert called.code == 3
    assert (called.json["answered"], called.json["kind"], called.json["answer"]) == (False, "none", "")
    assert called.json["reason"]
    assert qa_bot("ask", "").code == 3
    assert qa_bot("search", "wibblefax", "--engine", "keyword").code == 3


def test_a_question_comes_from_standard_input(qa_bot, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{CATS}\n"))
    assert qa_bot("ask", "-", "--json").json["question"] == CATS


@pytest.mark.parametrize("engine", ["keyword", "dense", "hybrid"])
def test_search_as_json(qa_bot, engine: str) -> None:
    payload = qa_bot("search", CATS, "--engine", engine, "--top", 3, "--json").json
    assert (payload["query"], payload["engine"], len(payload["results"])) == (CATS, engine, 3)
    assert payload["results"][0]["document"] == "animals-cats-sleep"
    scores = [result["score"] for result in payload["results"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "arguments",
    [(), ("fly",), ("ask",), ("ask", CATS, "--top", "0"), ("search", "x", "--engine", "facts?"), ("delete",), ("add",)],
)
def test_wrong_usage_is_code_2(qa_bot, arguments: tuple[str, ...]) -> None:
    assert qa_bot(*arguments).code == 2


def test_add_and_delete_as_json(qa_bot, write_lines) -> None:
    path = write_lines("a.jsonl", ZORGON, "{")
    called = qa_bot("add", path, "--json")
    counted = {name: called.json[name] for name in ("added", "updated", "unchanged", "rejected")}
    assert (called.code, counted) == (4, {"added": 1, "updated": 0, "unchanged": 0, "rejected": 1})
    assert called.json["rejects"][0]["where"] == f"{path}:2"
    assert Path(called.json["rejects_file"]).exists()
    assert qa_bot("delete", "zorgon", "nobody", "--json").json == {"deleted": 1, "missing": ["nobody"]}
    assert qa_bot("delete", "nobody").code == 3


def holding(home: Path, word: bytes) -> list[Path]:
    """The files of a home that hold a word."""
    return [path for path in home.rglob("*") if path.is_file() and word in path.read_bytes().lower()]


def test_an_erased_document_is_gone_from_every_file(qa_bot, write_lines, home: Path) -> None:
    """A deleted text otherwise stays in former generations, and in a segment of the index until it is rewritten."""
    rows = [{"_id": f"x{n}", "title": "secret", "text": f"The xylophonist {n} plays."} for n in range(3)]
    qa_bot("add", write_lines("a.jsonl", ZORGON, *rows), "--no-improve")
    assert qa_bot("delete", "x0").code == 0
    assert holding(home, b"xylophonist 0"), "the reason for --erase"
    erased = qa_bot("delete", "x1", "--erase", "--json")
    assert (erased.code, erased.json) == (0, {"deleted": 1, "missing": [], "erased": True})
    assert not holding(home, b"xylophonist 0") + holding(home, b"xylophonist 1")
    assert qa_bot("doctor").code == 0
    assert [row["document"] for row in qa_bot("search", "zorgon", "--top", "1", "--json").json["results"]] == ["zorgon"]
    assert qa_bot("delete", "x1", "--erase").code == 0, "the same command again, as after an interruption"
    assert qa_bot("delete", "nope", "--erase").code == qa_bot("delete", "nope").code == 3


def test_a_reader_of_a_former_generation_delays_erasing(qa_bot, write_lines, home: Path, monkeypatch) -> None:
    from qa_bot.home.generations import Generations

    monkeypatch.setattr("qa_bot.documents.index_update.ERASING", 0.2)
    qa_bot("add", write_lines("a.jsonl", ZORGON), "--no-improve")
    with Generations(home / "index").pin_current():
        erased = qa_bot("delete", "zorgon", "--erase")
    assert erased.code == 1
    assert "is still in use by another process" in erased.err
    assert qa_bot("delete", "zorgon", "--erase").code == 0
    assert not holding(home, b"moon of quix"), "the id is kept, so that sync leaves it out"


def test_unknown_format_is_refused(qa_bot, write_lines) -> None:
    called = qa_bot("add", write_lines("a.jsonl", ZORGON), "--format", "wordstar")
    assert (called.code, called.out) == (1, "")
    assert called.err.startswith("Error: Expected one of the formats jsonl")


def test_unknown_key_is_refused_with_a_suggestion(home, qa_bot, monkeypatch) -> None:
    (home / "qa-bot.toml").write_text("[fusion]\nmetod = 'rrf'\n")
    called = qa_bot("ask", CATS)
    assert called.code == 1
    assert "fusion.metod" in called.err
    assert "fusion.method" in called.err
    (home / "qa-bot.toml").unlink()
    monkeypatch.setenv("QA_BOT_DENSE__ENCODR", "starter")
    called = qa_bot("ask", CATS)
    assert called.code == 1
    assert "QA_BOT_DENSE__ENCODR" in called.err
    assert "encoder" in called.err


def test_use_switches_the_encoder_and_configures_it(home, qa_bot, other_encoder_folder, monkeypatch) -> None:
    monkeypatch.setattr("qa_bot.answering.fit_confidence.ensure", lambda encoder, models: None)
    assert qa_bot("use", other_encoder_folder).code == 0
    assert qa_bot("status", "--json").json["encoder"] == str(other_encoder_folder)
    assert qa_bot("config", "--json").json["dense.encoder"]["value"] == str(other_encoder_folder)
    searched = qa_bot("search", CATS, "--engine", "dense", "--json")
    assert searched.json["results"][0]["document"] == "animals-cats-sleep"
    assert qa_bot("use", home / "nothing").code == 1
    assert qa_bot("search", CATS, "--engine", "dense", "--json").json == searched.json


def test_commands_over_each_database(any_store_url, qa_bot, tmp_path, write_lines, monkeypatch) -> None:
    monkeypatch.setenv("QA_BOT_STORE__URL", any_store_url)
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


GOOD = json.dumps(ZORGON).encode() + b"\n"
LINES = b"".join(b'{"_id": "%d", "text": "%s"}\n' % (i, RANDOM.randbytes(20).hex().encode()) for i in range(500))
CUT_LINE, LONG_LINE = b'{"_id": "cut", "te\n', b'{"_id": "long", "text": "%s"}\n'
XML = '<Document id="1"><QAPairs><QAPair pid="1"><Question>Q?</Question><Answer>A.</Answer></QAPair><QAPair>'
LAUGHS = '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
ENTITIES = f'<?xml version="1.0"?><!DOCTYPE Document [{LAUGHS}]><Document><QAPair>&b;</QAPair></Document>'


def zip_bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.txt", b"0" * 30_000_000)
    return buffer.getvalue()


BAD_FILES = {
    "truncated_gz": ("a.jsonl.gz", lambda: gzip.compress(LINES)[:-400], 4, r"what came before \(up to ", None),
    "bomb": ("bomb.zip", zip_bomb, 1, "Expected at most 200 bytes for each", 0),
    "broken_xml": ("broken.xml", XML.encode, 4, "broken.xml", 1),
    "entities": ("entities.xml", ENTITIES.encode, 1, "entities.xml", 0),
    "bad_line": ("a.jsonl", lambda: GOOD + CUT_LINE + GOOD.replace(b"zorgon", b"cake"), 4, r"a\.jsonl:2: ", 2),
    "long_line": ("a.jsonl", lambda: GOOD + LONG_LINE % (b"x" * 34_000_000), 4, r"a\.jsonl:2: Expected", 1),
    "empty": ("empty.jsonl", bytes, 1, "empty file", 0),
    "binary": ("a.txt", lambda: bytes(range(256)) * 20, 1, r"a\.txt: Expected", 0),
    "repeated": ("a.jsonl", lambda: GOOD * 2, 4, r"a\.jsonl:2: Expected ids that differ", 1),
    "wrong_encoding": (
        "a.jsonl",
        lambda: GOOD.replace(b"moon", b"caf\xe9"),
        0,
        r"a\.jsonl:1: 1 invalid UTF-8 bytes?",
        1,
    ),
}
"""Case → file name, content, exit code, reason, and number of added documents (None: some)."""


@pytest.mark.usefixtures("no_shipped_voices")
@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_input_is_reported_and_good_input_is_added(qa_bot, tmp_path, case: str) -> None:
    name, content, code, reason, added = BAD_FILES[case]
    path = tmp_path / "input" / name
    path.parent.mkdir()
    path.write_bytes(content())
    called = qa_bot("add", path, "--json")
    assert called.code == code, called
    assert "Traceback" not in called.err
    payload = called.json
    lines = [f"{reject['where']}: {reject['reason']}" for reject in payload["rejects"]] + payload["notices"]
    assert len(lines) == 1
    assert "\n" not in lines[0]
    assert re.search(reason, lines[0]), lines
    assert payload["added"] == added if added is not None else payload["added"] > 0
    assert qa_bot("ask", CATS).code in (0, 3)
    assert qa_bot("doctor").code == 0


@pytest.fixture
def without_root_power() -> tuple[str, ...]:
    """Prefix of a command that makes file modes apply to root as well."""
    if os.geteuid() != 0:
        return ()
    if not shutil.which("setpriv"):
        pytest.skip("as root, rights are tested only if util-linux's setpriv is installed")
    return ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


def test_a_folder_without_rights(tmp_path, home, without_root_power) -> None:
    closed = tmp_path / "input" / "closed"
    closed.mkdir(parents=True)
    (tmp_path / "input" / "open.jsonl").write_bytes(GOOD)
    closed.chmod(0)
    called = run_process(without_root_power, home, "add", tmp_path / "input", "--json")
    closed.chmod(0o700)
    assert called.returncode == 4, called.stderr
    payload = json.loads(called.stdout)
    assert (payload["added"], payload["rejected"]) == (1, 1)
    assert payload["rejects"][0]["reason"] == "Expected a readable folder, but got Permission denied; check its rights."


def test_a_home_without_rights(tmp_path, without_root_power) -> None:
    (tmp_path / "theirs").mkdir(mode=0o500)
    called = run_process(without_root_power, tmp_path / "theirs", "ask", CATS)
    assert called.returncode == 1
    assert "no rights to it; change its owner or mode" in called.stderr
    assert called.stderr.count("\n") == 1


def run_process(before: tuple[str, ...], home: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [*before, sys.executable, "-m", "qa_bot", "--home", str(home), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.usefixtures("no_shipped_voices")
@pytest.mark.parametrize("room", [60_000, 400_000, 1_500_000])
def test_a_full_disk_leaves_the_old_state(qa_bot, qa_bot_process, home, write_lines, room: int) -> None:
    """A limit on file sizes simulates it: writes fail midway."""
    rows = [
        {"_id": str(i), "title": f"Zorgon {i}", "text": f"Zorgon number {i} is one of many. " * 10} for i in range(3000)
    ]
    path = write_lines("many.jsonl", *rows)

    called = qa_bot_process("add", path, preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (room, room)))
    assert called.code == 1, called
    assert called.err.startswith("Error: ")
    assert called.err.count("\n") == 1
    assert "Traceback" not in called.err
    assert qa_bot("search", "zorgon", "--engine", "keyword").code == 3
    assert qa_bot("ask", CATS, "--json").json["sources"][0]["document"] == "animals-cats-sleep"
    assert [path.name for path in (home / "index").iterdir() if path.suffix] == []
    assert qa_bot("doctor").code == 0
    assert qa_bot("add", path, "--json").json["added"] == 3000


def test_questions_are_answered_on_a_full_disk(qa_bot_process) -> None:
    no_space = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (0, 0))
    called = qa_bot_process("ask", CATS, "--json", preexec_fn=no_space)
    assert called.code in (0, 3)
    assert called.json["sources"][0]["document"] == "animals-cats-sleep"
    assert called.err.startswith("WARNING: The answer was given, but could not be recorded: ")


def test_a_closed_pipe_is_no_error(home) -> None:
    command = [sys.executable, "-m", "qa_bot", "--home", str(home), "search", "cats", "--top", "100", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        stderr = process.stderr.read()
    assert b"Traceback" not in stderr


def test_kg_ask_uses_the_graph_alone(qa_bot) -> None:
    called = qa_bot("kg", "ask", "Which currency is used in Japan?", "--json", "--trace")
    assert (called.code, called.json["kind"], called.json["answer"]) == (
        0,
        "fact",
        "The currency of Japan is Japanese yen.",
    )
    readings = called.json["trace"]["facts"]["readings"]
    assert readings[0]["relation"] == "https://qa-bot.org/kg/p/currency"
    assert readings[0]["template"] == "which currency is used in <m>"
    shown = qa_bot("kg", "ask", "Which currency is used in Japan?", "--trace")
    assert "Japan → Japan" in shown.out
    assert "which currency is used in <m> → Japanese yen" in shown.out
    nothing = qa_bot("kg", "ask", "Who eats zorgons?")
    assert nothing.code == 3
    assert "I don't know" in nothing.out


def test_search_of_facts(qa_bot) -> None:
    payload = qa_bot("search", "capital of Peru", "--engine", "facts", "--top", 1, "--json").json
    (fact,) = payload["results"]
    assert fact["text"].startswith("The capital of Peru is Lima.")
    assert fact["collection"] == "graph"
    assert qa_bot("search", "zorgon", "--engine", "facts").code == 3


def test_evaluation_of_facts(qa_bot, write_lines) -> None:
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


def test_deleting_the_starter_collection_deletes_its_graph(qa_bot) -> None:
    assert qa_bot("kg", "ask", "What is the capital of Peru?").code == 0
    assert qa_bot("delete", "--collection", "starter").code == 0
    assert qa_bot("kg", "ask", "What is the capital of Peru?").code == 3
    assert qa_bot("status", "--json").json["facts"] == 0


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
@pytest.mark.parametrize("command", [("ask", CATS), ("chat",)])
def test_a_deadline_is_a_time(qa_bot, command: tuple[str, ...], seconds: str) -> None:
    called = qa_bot(*command, "--deadline", seconds)
    assert (called.code, "Expected seconds above 0" in called.err) == (2, True)


@pytest.mark.parametrize("option", ["--out", "--run"])
def test_files_of_a_batch_without_one_are_wrong_usage(qa_bot, tmp_path, option: str) -> None:
    assert qa_bot("ask", CATS, option, tmp_path / "file").code == 2


def test_an_error_of_the_system_is_a_sentence(qa_bot, tmp_path) -> None:
    called = qa_bot("ask", "--batch", tmp_path / "none.jsonl", "--out", tmp_path / "out", "--no-improve")
    missing = f"Expected to read or write {tmp_path}/none.jsonl, but got: No such file or directory; check the path."
    assert (called.code, called.err) == (1, f"Error: {missing}\n")
