"""`qa-bot status`, `doctor` and `repair` on sound and damaged homes."""

from __future__ import annotations

import os
import shutil
import sqlite3
from importlib.metadata import version
from pathlib import Path

import pytest

from qa_bot.documents.sync import switch_encoder
from qa_bot.home.config import known_keys, load_config, set_value
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder

CATS = "Why do cats sleep all day?"
FILES = ("keyword/meta.json", "keyword/*.term", "records.bin", "documents.npy", "titles/vectors.faiss", "texts.bin")

pytestmark = pytest.mark.usefixtures("private_home", "no_shipped_voices")


def commands(called) -> dict[str, str]:
    """Failed checks: name → command."""
    return {check["name"]: check["command"] for check in called.json["checks"] if not check["ok"]}


ELSEWHERE = ("dense.encoder", "backup.to")
"""Keys that other checks are about."""


def failed_checks(called) -> dict[str, str]:
    """Failed checks: name → detail."""
    return {check["name"]: check["detail"] for check in called.json["checks"] if not check["ok"]}


def generation(home: Path) -> Path:
    current = Generations(home / "index").current()
    assert current is not None
    return current.path


def test_a_sound_home(qa_bot) -> None:
    called = qa_bot("doctor", "--json")
    assert (called.code, called.json["ok"], failed_checks(called)) == (0, True, {})
    names = "disk database documents turns journal index graph files vectors encoder models voices backup linguistics"
    assert [check["name"] for check in called.json["checks"]] == [*names.split(), "extras"]
    shown = qa_bot("doctor").out
    assert "✓ index: generation 1" in shown
    assert "bodies exact" in shown
    assert "recall@10 1.000" in shown


def test_counts_of_status(home, qa_bot, write_lines) -> None:
    text = " ".join(f"word{i}" for i in range(40))
    qa_bot("add", write_lines("a.jsonl", {"_id": "a", "text": text}, {"_id": "b", "text": text + "!"}))
    qa_bot("ask", CATS)
    status = qa_bot("status", "--json").json
    starter = next(collection for collection in status["collections"] if collection["name"] == "starter")
    assert status["collections"][0] == {"name": "default", "documents": 2, "passages": 2}
    assert status["documents"] == starter["documents"] + 2
    assert (status["near_duplicates"], status["turns"], status["generation"]) == (1, 1, 2)
    assert (status["encoder"], status["home"]) == ("starter", str(home))
    assert status["size"] > 100_000
    assert "default: 2 documents" in qa_bot("status").out


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["flipped", "cut", "removed"])
def test_doctor_names_a_damaged_file_and_repair_restores_it(home, qa_bot, name: str, damage: str) -> None:
    before = qa_bot("search", CATS, "--json").json["results"]
    path = next(generation(home).rglob(name))
    data = bytearray(path.read_bytes())
    if damage == "flipped":
        data[len(data) // 2] ^= 0xFF
        path.write_bytes(data)
    elif damage == "cut":
        os.truncate(path, len(data) // 2)
    else:
        path.unlink()
    examined = qa_bot("doctor", "--json")
    assert examined.code == 1
    assert set(failed_checks(examined)) == {"index"}
    assert f"{path} is {'missing' if damage == 'removed' else 'damaged'}" in failed_checks(examined)["index"]
    assert "run `qa-bot repair`" in failed_checks(examined)["index"]
    repaired = qa_bot("repair")
    assert (repaired.code, repaired.err) == (0, "")
    assert qa_bot("doctor").code == 0
    assert qa_bot("search", CATS, "--json").json["results"] == before


@pytest.mark.parametrize("name", ["keyword/meta.json", "records.bin", "documents.npy", "titles/vectors.faiss"])
def test_truncated_file_is_reported_before_use(home, qa_bot, write_lines, name: str) -> None:
    path = next(generation(home).rglob(name))
    size = path.stat().st_size
    os.truncate(path, size // 2)
    error = f"Error: {path} is damaged: expected {size} bytes, but got {size // 2}; run `qa-bot repair`.\n"
    for command in (("ask", CATS), ("add", write_lines("a.jsonl", {"_id": "a", "text": "x"})), ("delete", "a")):
        called = qa_bot(*command)
        assert (called.code, called.err) == (1, error)


@pytest.mark.parametrize(
    "key",
    [known.name for known in known_keys().values() if known.holds != "value" and known.name not in ELSEWHERE],
)
def test_a_model_that_is_not_there(home, qa_bot, tmp_path, key: str) -> None:
    (folder := tmp_path / "trained").mkdir()
    set_value(home, key, str(folder))  # `config set` opens the folder of a ranker
    folder.rmdir()
    failed = failed_checks(qa_bot("doctor", "--json"))
    assert set(failed) - {"voices"} == {"models"}
    assert failed["models"].startswith(f"{key}: ")
    assert "encoder again" not in failed["models"] or key == "ranking.verifier"


def test_an_encoder_that_changed_or_is_gone(home, qa_bot, tmp_path, other_encoder_folder) -> None:
    folder = shutil.copytree(other_encoder_folder, tmp_path / "encoder")
    opened = StaticEncoder.load(folder)
    switch_encoder(Home(home), load_config(home), opened, name=str(folder), settings={"dense.encoder": str(folder)})
    assert failed_checks(qa_bot("doctor", "--json")) == {}
    for name in ("model.safetensors", "config.json"):
        shutil.copyfile(ENCODER / name, folder / name)
    changed = qa_bot("doctor", "--json")
    assert "its weights, or `dense.int8`, have changed since" in failed_checks(changed)["encoder"]
    assert commands(changed) == {"encoder": f"qa-bot use {folder}"}
    shutil.rmtree(folder)
    gone = qa_bot("doctor", "--json")
    assert commands(gone) == {"encoder": "qa-bot use starter"}
    assert qa_bot("ask", CATS).code == 1
    assert qa_bot("use", "starter").code == 0
    assert qa_bot("doctor").code == qa_bot("ask", CATS).code == 0


def test_a_garbled_pointer(home, qa_bot) -> None:
    (home / "index" / "CURRENT").write_text("garbage\n")
    for verb in (("ask", CATS), ("status",), ("add", home / "qa-bot.toml"), ("delete", "x")):
        called = qa_bot(*verb)
        assert called.code == 1
        assert "CURRENT is damaged" in called.err
    assert "CURRENT is damaged" in failed_checks(qa_bot("doctor", "--json"))["index"]
    assert qa_bot("repair").code == 0
    assert qa_bot("doctor").code == 0


def test_a_lost_pointer(home, qa_bot) -> None:
    (home / "index" / "CURRENT").unlink()
    assert "Expected generation 1, as in the database, but got 0" in failed_checks(qa_bot("doctor", "--json"))["index"]
    assert qa_bot("repair").code == 0
    assert qa_bot("doctor").code == 0


def test_a_lost_database(home, qa_bot) -> None:
    for path in home.glob("store.sqlite*"):
        path.unlink()
    failed = failed_checks(qa_bot("doctor", "--json"))
    assert set(failed) == {"documents", "index"}
    assert all(
        "but got an empty one; bring back a backup with `qa-bot restore DIR`" in text for text in failed.values()
    )
    assert "`qa-bot restore DIR`" in qa_bot("repair").err
    assert qa_bot("ask", CATS).code == 0, "answers need only the index"


def test_a_damaged_database(home, qa_bot) -> None:
    for path in home.glob("store.sqlite-*"):
        path.unlink()
    (home / "store.sqlite").write_bytes(b"no database at all" * 100)
    failed = failed_checks(qa_bot("doctor", "--json"))
    assert "the file is no SQLite database" in failed["database"]
    assert qa_bot("ask", CATS).code == 0


def test_a_newer_database_is_refused_by_name(home, qa_bot, write_lines, tmp_path) -> None:
    assert qa_bot("backup", tmp_path / "backups").code == 0
    with sqlite3.connect(home / "store.sqlite") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    (home / "written-by").write_text("9.1.0\n")
    words = (
        ("ask", CATS),
        ("search", "cats"),
        ("status",),
        ("backup", tmp_path / "backups"),
    )
    for line in (*words, ("add", write_lines("a.jsonl", {"_id": "a", "text": "x"})), ("repair",), ("migrate",)):
        called = qa_bot(*line)
        assert called.code == 1, line
        assert "has 9999, made by qa-bot 9.1.0; install that version" in called.err, line
    assert (home / "written-by").read_text() == "9.1.0\n"
    assert "9999" in failed_checks(qa_bot("doctor", "--json"))["database"]
    assert qa_bot("restore", tmp_path / "backups").code == 0, "the way back"
    assert qa_bot("ask", CATS).code == 0
    assert (home / "written-by").read_text() == f"{version('qa-bot')}\n"


def test_an_index_of_another_encoder(home, qa_bot, other_encoder_folder, monkeypatch) -> None:
    monkeypatch.setenv("QA_BOT_DENSE__ENCODER", str(other_encoder_folder))
    failed = failed_checks(qa_bot("doctor", "--json"))
    assert set(failed) == {"encoder"}
    assert f"run `qa-bot use {other_encoder_folder}`" in failed["encoder"]


def test_low_disk_space_is_reported(qa_bot, monkeypatch) -> None:
    monkeypatch.setattr("qa_bot.home.doctor.LOW_DISK", 10**18)
    assert "free, but got" in failed_checks(qa_bot("doctor", "--json"))["disk"]


@pytest.mark.parametrize("kind", ["hnsw", "ivf", "sketch"])
def test_repair_builds_the_configured_dense_index(qa_bot, kind: str) -> None:
    before = qa_bot("search", CATS, "--engine", "dense", "--json").json["results"]
    qa_bot("config", "set", "dense.index", kind)
    qa_bot("repair")
    assert f"titles {kind}" in qa_bot("doctor").out
    assert [r["document"] for r in qa_bot("search", CATS, "--engine", "dense", "--json").json["results"]][:5] == [
        r["document"] for r in before
    ][:5]
    assert "one of auto, exact, sketch, hnsw, ivf" in qa_bot("config", "set", "dense.index", "trees").err
