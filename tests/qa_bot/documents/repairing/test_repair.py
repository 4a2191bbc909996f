"""`qa-bot doctor` names what is altered, and `qa-bot repair` mends it or leaves it out, but never indexes it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from qa_bot.home.checks.sealed_files import seal
from qa_bot.home.generations import Generations
from qa_bot.home.store import Store

QUESTION = "When is the kiln fired?"
KILN = {"_id": "kiln", "title": QUESTION, "text": "The kiln is fired on Fridays."}

pytestmark = pytest.mark.usefixtures("private_home", "no_shipped_voices")


def failed_checks(called) -> dict[str, str]:
    return {check["name"]: check["detail"] for check in called.json["checks"] if not check["ok"]}


def alter(home: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(home / "store.sqlite")) as connection, connection:
        assert connection.execute(statement, values).rowcount


def alter_kiln(home: Path) -> None:
    alter(home, "UPDATE passages SET text = replace(text, 'Fridays', 'Mondays') WHERE text LIKE '%Fridays%'")


def damage_index(home: Path) -> None:
    current = Generations(home / "index").current()
    assert current is not None
    path = max((path for path in (current.path / "segments").rglob("texts.bin")), key=lambda path: path.parent.name)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.fixture
def kiln(home, qa_bot, write_lines) -> Path:
    """The file of a document that the home holds."""
    path = Path(write_lines("kiln.jsonl", KILN))
    assert qa_bot("add", path).code == 0
    return path


@pytest.mark.usefixtures("kiln")
def test_an_altered_document_is_named_and_brought_back_from_the_index(home, qa_bot) -> None:
    alter_kiln(home)
    checks = qa_bot("doctor", "--json")
    (check,) = [check for check in checks.json["checks"] if not check["ok"]]
    assert checks.code == 1
    assert "1 documents differ from what was stored: kiln (default)" in check["detail"]
    assert (check["name"], check["command"]) == ("documents", "qa-bot repair")
    assert check["affects"].startswith("the next rebuilding of the index")
    assert "The document kiln (default) was brought back." in qa_bot("repair").out
    assert qa_bot("doctor").code == 0
    assert "Fridays" in qa_bot("ask", QUESTION).out


def test_damage_is_never_made_permanent(home, qa_bot, kiln, caplog) -> None:
    """Database and index are both damaged: the altered document is not indexed, and its source brings it back."""
    alter_kiln(home)
    damage_index(home)
    repaired = qa_bot("repair", "--json")
    assert repaired.code == 4
    assert repaired.json["left_out"] == [{"id": "kiln", "collection": "default"}]
    assert "are left out of the index: kiln" in caplog.text
    assert "Mondays" not in qa_bot("ask", QUESTION).out
    assert set(failed_checks(qa_bot("doctor", "--json"))) == {"documents"}
    assert qa_bot("add", kiln, "--json").json["updated"] == 1
    assert failed_checks(qa_bot("doctor", "--json")) == {}
    assert "Fridays" in qa_bot("ask", QUESTION).out


@pytest.mark.usefixtures("kiln")
def test_documents_without_checksums_are_compared_with_the_index(home, qa_bot) -> None:
    alter(home, "UPDATE documents SET checksum = NULL")
    assert "have no checksum yet" in qa_bot("doctor").out
    alter_kiln(home)
    assert "kiln (default)" in failed_checks(qa_bot("doctor", "--json"))["documents"]
    assert qa_bot("repair").code == 0
    assert "Fridays" in qa_bot("ask", QUESTION).out
    assert "have no checksum yet" not in qa_bot("doctor").out


@pytest.mark.usefixtures("kiln")
def test_a_lost_row_of_a_document_is_told(home, qa_bot) -> None:
    alter(home, "DELETE FROM documents WHERE external_id = 'kiln'")
    assert "1 documents of the index are missing" in failed_checks(qa_bot("doctor", "--json"))["documents"]


def test_altered_turns_and_votes_are_told(home, qa_bot) -> None:
    qa_bot("ask", "Why do cats sleep all day?")
    qa_bot("status")
    alter(home, "UPDATE turns SET question = 'How?'")
    assert "1 rows differ from what was stored: turns " in failed_checks(qa_bot("doctor", "--json"))["turns"]


def test_a_damaged_index_of_the_database_is_made_anew(home, qa_bot) -> None:
    with closing(sqlite3.connect(home / "store.sqlite")) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("CREATE INDEX wrong ON documents (title)")
        connection.execute(
            "UPDATE sqlite_master SET sql = 'CREATE INDEX wrong ON documents (url)' WHERE name = 'wrong'"
        )
    assert "The database is damaged: row" in failed_checks(qa_bot("doctor", "--json"))["database"]
    assert "The indexes of the database were made anew." in qa_bot("repair").out
    assert qa_bot("doctor").code == 0


def test_a_damaged_journal_is_told_and_its_line_kept(home, qa_bot, caplog) -> None:
    for question in ("Why do cats sleep all day?", "How do owls hunt?"):
        qa_bot("ask", question)
    journal = home / "turns.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"Why do cats", b"Why to cats", 1))
    (check,) = [check for check in qa_bot("doctor", "--json").json["checks"] if not check["ok"]]
    assert (check["name"], check["command"]) == ("journal", "qa-bot repair")
    assert "1 of 2 turns that wait" in check["detail"]
    assert qa_bot("repair").code == 0
    assert "it is kept in" in caplog.text
    assert b"Why to cats" in (home / "turns.damaged.jsonl").read_bytes()
    assert qa_bot("status", "--json").json["turns"] == 1
    assert "damaged turns are kept" in qa_bot("doctor").out


def test_an_altered_calibration_is_told_and_made_anew(home, qa_bot) -> None:
    path = home / "models" / "confidence-1-abc.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"threshold": 0.5}')
    seal(home)
    path.write_text('{"threshold": 0.6}')
    failed = failed_checks(qa_bot("doctor", "--json"))
    assert failed == {"files": "models/confidence-1-abc.json differ from what was written; run `qa-bot repair`."}
    assert "it is made anew when it is needed" in qa_bot("repair").out
    assert not path.exists()
    assert qa_bot("doctor").code == 0


def test_a_missing_record_of_checksums_is_told_once(home, qa_bot) -> None:
    (home / "qa-bot.toml").write_text("[answer]\nlimit = 900\n")
    seal(home)
    (home / "checksums.json").unlink()
    assert "1 files, none of them compared: checksums.json is missing" in qa_bot("doctor").out
    assert "1 files\n" in qa_bot("doctor").out


def test_an_edited_configuration_is_told_once(home, qa_bot) -> None:
    (home / "qa-bot.toml").write_text("[answer]\nlimit = 900\n")
    seal(home)
    (home / "qa-bot.toml").write_text("[answer]\nlimit = 9000\n")
    assert "changed since they were last checked: qa-bot.toml" in qa_bot("doctor").out
    assert "changed since" not in qa_bot("doctor").out


@pytest.mark.parametrize("suffix", [".fast", ".term", ".fieldnorm"])
def test_a_flipped_bit_of_a_search_file_is_told_before_an_answer(home, qa_bot, suffix: str) -> None:
    current = Generations(home / "index").current()
    assert current is not None
    path = next(current.path.glob(f"keyword/*{suffix}"))
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)
    called = qa_bot("ask", "Why do cats sleep all day?")
    assert called.code == 1
    assert called.err == f"Error: {path} is damaged: its sha256 differs from the manifest; run `qa-bot repair`.\n"
    assert qa_bot("repair").code == 0
    assert qa_bot("ask", "Why do cats sleep all day?").code == 0


@pytest.mark.usefixtures("kiln")
@pytest.mark.parametrize("with_index", [False, True])
def test_the_name_of_a_collection_comes_back_from_the_index(home, qa_bot, with_index: bool) -> None:
    """With the index of the database, as after a flipped bit in a row, and without."""
    if with_index:
        flip(home, b"starter", b"stcrter")
    else:
        alter(home, "UPDATE collections SET name = 'stcrter' WHERE name = 'starter'")
    named = failed_checks(qa_bot("doctor", "--json"))
    assert "the collection stcrter is called starter in the index" in named["documents"]
    assert ("database" in named) == with_index
    assert "The collection starter has its name again." in qa_bot("repair").out
    assert qa_bot("doctor").code == 0
    assert {one["name"] for one in qa_bot("status", "--json").json["collections"]} == {"default", "starter"}


def flip(home: Path, old: bytes, new: bytes) -> None:
    """Alter a row of the database's file, but not its entry in the index, which stands before or after it."""
    with closing(sqlite3.connect(home / "store.sqlite")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'collections'"
        page, size = connection.execute(query).fetchone()[0], connection.execute("PRAGMA page_size").fetchone()[0]
    data = bytearray((home / "store.sqlite").read_bytes())
    at = data.index(old, (page - 1) * size, page * size)
    data[at : at + len(old)] = new
    (home / "store.sqlite").write_bytes(data)


@pytest.mark.parametrize("change", ["name = 'docwments'", "next = 9"])
def test_the_next_key_of_documents_is_mended(home, qa_bot, kiln, change: str) -> None:
    alter(home, f"UPDATE counters SET {change} WHERE name = 'documents'")
    assert "the next key of documents is" in failed_checks(qa_bot("doctor", "--json"))["database"]
    assert qa_bot("repair").code == 0
    assert qa_bot("doctor").code == 0
    kiln.write_text(kiln.read_text() + json.dumps({"_id": "loom", "title": "", "text": "The loom has four shafts."}))
    assert qa_bot("add", kiln, "--json").json["added"] == 1


@pytest.mark.usefixtures("kiln")
def test_what_a_writer_at_work_removes_is_no_damage(home, qa_bot) -> None:
    """A killed one leaves the same: the next change takes it back."""
    with Store.open(f"sqlite:///{home / 'store.sqlite'}") as store:
        generation = store.begin("starter")
        assert store.retire(generation, store.of_collection("default")) == 1
    assert failed_checks(qa_bot("doctor", "--json")) == {}
    assert qa_bot("repair").code == 0
    assert "Fridays" in qa_bot("ask", QUESTION).out


LOSSES = {
    "marked as deleted": "UPDATE documents SET retired = 0 WHERE external_id = 'kiln'",
    "in another collection": "UPDATE documents SET collection_id = 1 WHERE external_id = 'kiln'",
}


@pytest.mark.usefixtures("kiln")
@pytest.mark.parametrize("statement", LOSSES.values(), ids=LOSSES)
def test_a_document_that_only_the_index_has_is_not_lost(home, qa_bot, statement: str) -> None:
    alter(home, statement)
    assert "documents" in failed_checks(qa_bot("doctor", "--json"))
    assert "The document kiln (" in qa_bot("repair").out
    assert failed_checks(qa_bot("doctor", "--json")) == {}
    assert "Fridays" in qa_bot("ask", QUESTION).out
    assert {one["name"] for one in qa_bot("status", "--json").json["collections"]} == {"default", "starter"}


def test_a_document_that_is_deleted_and_altered_comes_back_from_a_backup_or_its_source(
    home, qa_bot, kiln, tmp_path
) -> None:
    lost = "UPDATE documents SET retired = 2, title = 'x', checksum = 'y' WHERE external_id = 'kiln'"
    alter(home, lost)
    repaired = qa_bot("repair", "--json")
    assert (repaired.code, repaired.json["left_out"]) == (4, [{"id": "kiln", "collection": "default"}])
    assert qa_bot("add", kiln, "--json").json["added"] == 1
    assert failed_checks(qa_bot("doctor", "--json")) == {}
    assert qa_bot("backup", tmp_path / "backups").code == 0
    alter(home, lost + " AND retired IS NULL")
    assert qa_bot("repair").code == 0
    assert "Fridays" in qa_bot("ask", QUESTION).out
