"""Status, doctor and repair: what is wrong is named, and mended."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from qa_bot.home.generations import Generations

CATS = "Why do cats sleep all day?"
FILES = ("keyword/meta.json", "keyword/*.term", "records.bin", "documents.npy", "titles/vectors.faiss", "texts.bin")

pytestmark = pytest.mark.usefixtures("private_home", "no_shipped_voices")


def checks(called) -> dict[str, str]:
    """What failed, by name."""
    return {check["name"]: check["detail"] for check in called.json["checks"] if not check["ok"]}


def generation(home: Path) -> Path:
    current = Generations(home / "index").current()
    assert current is not None
    return current.path


def test_a_sound_home(qa_bot) -> None:
    told = qa_bot("doctor", "--json")
    assert (told.code, told.json["ok"], checks(told)) == (0, True, {})
    assert {"disk", "database", "index", "graph", "encoder", "linguistics", "extras", "voices"} == {
        c["name"] for c in told.json["checks"]
    }
    shown = qa_bot("doctor").out
    assert "✓ index: generation 1" in shown
    assert "bodies exact" in shown
    assert "recall@10 1.000" in shown


def test_status_counts_what_is_there(home, qa_bot, write_lines) -> None:
    text = " ".join(f"word{i}" for i in range(40))
    qa_bot("add", write_lines("a.jsonl", {"_id": "a", "text": text}, {"_id": "b", "text": text + "!"}))
    qa_bot("ask", CATS)
    told = qa_bot("status", "--json").json
    starter = next(each for each in told["collections"] if each["name"] == "starter")
    assert told["collections"][0] == {"name": "default", "documents": 2, "passages": 2}
    assert told["documents"] == starter["documents"] + 2
    assert (told["near_duplicates"], told["turns"], told["generation"]) == (1, 1, 2)
    assert (told["encoder"], told["home"]) == ("starter", str(home))
    assert told["size"] > 100_000
    assert "default: 2 documents" in qa_bot("status").out


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("how", ["flipped", "cut", "removed"])
def test_doctor_names_a_damaged_file_and_repair_mends_it(home, qa_bot, name: str, how: str) -> None:
    before = qa_bot("search", CATS, "--json").json["results"]
    path = next(generation(home).rglob(name))
    data = bytearray(path.read_bytes())
    if how == "flipped":
        data[len(data) // 2] ^= 0xFF
        path.write_bytes(data)
    elif how == "cut":
        os.truncate(path, len(data) // 2)
    else:
        path.unlink()
    found = qa_bot("doctor", "--json")
    assert found.code == 1
    assert set(checks(found)) == {"index"}
    assert f"{path} is {'missing' if how == 'removed' else 'damaged'}" in checks(found)["index"]
    assert "run `qa-bot repair`" in checks(found)["index"]
    repaired = qa_bot("repair")
    assert (repaired.code, repaired.err) == (0, "")
    assert qa_bot("doctor").code == 0
    assert qa_bot("search", CATS, "--json").json["results"] == before


@pytest.mark.parametrize("name", ["keyword/meta.json", "records.bin", "documents.npy", "titles/vectors.faiss"])
def test_a_file_cut_short_is_told_before_it_is_read_or_built_upon(home, qa_bot, write_lines, name: str) -> None:
    path = next(generation(home).rglob(name))
    size = path.stat().st_size
    os.truncate(path, size // 2)
    wanted = f"Error: {path} is damaged: expected {size} bytes, but got {size // 2}; run `qa-bot repair`.\n"
    for command in (("ask", CATS), ("add", write_lines("a.jsonl", {"_id": "a", "text": "x"})), ("delete", "a")):
        told = qa_bot(*command)
        assert (told.code, told.err) == (1, wanted)


def test_a_garbled_pointer(home, qa_bot) -> None:
    (home / "index" / "CURRENT").write_text("garbage\n")
    for verb in (("ask", CATS), ("status",), ("add", home / "qa-bot.toml"), ("delete", "x")):
        told = qa_bot(*verb)
        assert told.code == 1
        assert "CURRENT is damaged" in told.err
    assert "CURRENT is damaged" in checks(qa_bot("doctor", "--json"))["index"]
    assert qa_bot("repair").code == 0
    assert qa_bot("doctor").code == 0


def test_a_lost_pointer(home, qa_bot) -> None:
    (home / "index" / "CURRENT").unlink()
    assert "Expected generation 1, as in the database, but got 0" in checks(qa_bot("doctor", "--json"))["index"]
    assert qa_bot("repair").code == 0
    assert qa_bot("doctor").code == 0


def test_a_lost_database(home, qa_bot) -> None:
    for path in home.glob("store.sqlite*"):
        path.unlink()
    assert "but got an empty one; put back a copy" in checks(qa_bot("doctor", "--json"))["index"]
    assert "put back a copy" in qa_bot("repair").err
    assert qa_bot("ask", CATS).code == 0, "the index is enough for an answer"


def test_a_damaged_database(home, qa_bot) -> None:
    for path in home.glob("store.sqlite-*"):
        path.unlink()
    (home / "store.sqlite").write_bytes(b"no database at all" * 100)
    found = checks(qa_bot("doctor", "--json"))
    assert "the file is no SQLite database" in found["database"]
    assert qa_bot("ask", CATS).code == 0


def test_a_newer_database_is_refused(home, qa_bot, write_lines) -> None:
    with sqlite3.connect(home / "store.sqlite") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    told = qa_bot("add", write_lines("a.jsonl", {"_id": "a", "text": "x"}))
    assert told.code == 1
    assert "but got 9999, made by a newer qa-bot; install that version" in told.err
    assert "9999" in checks(qa_bot("doctor", "--json"))["database"]


def test_an_index_of_another_encoder(home, qa_bot, other_encoder_folder, monkeypatch) -> None:
    monkeypatch.setenv("QA_BOT_DENSE__ENCODER", str(other_encoder_folder))
    found = checks(qa_bot("doctor", "--json"))
    assert set(found) == {"encoder"}
    assert f"run `qa-bot use {other_encoder_folder}`" in found["encoder"]


def test_little_room_is_told(qa_bot, monkeypatch) -> None:
    monkeypatch.setattr("qa_bot.home.doctor.LOW_DISK", 10**18)
    assert "free, but got" in checks(qa_bot("doctor", "--json"))["disk"]


@pytest.mark.parametrize("kind", ["hnsw", "ivf", "sketch"])
def test_another_kind_of_dense_index_is_built_by_repair(qa_bot, kind: str) -> None:
    before = qa_bot("search", CATS, "--engine", "dense", "--json").json["results"]
    qa_bot("config", "set", "dense.index", kind)
    qa_bot("repair")
    assert f"titles {kind}" in qa_bot("doctor").out
    assert [r["document"] for r in qa_bot("search", CATS, "--engine", "dense", "--json").json["results"]][:5] == [
        r["document"] for r in before
    ][:5]
    assert "one of auto, exact, sketch, hnsw, ivf" in qa_bot("config", "set", "dense.index", "trees").err
