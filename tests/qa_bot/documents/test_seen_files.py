"""Receipts of large files: unchanged files are not read again, changes are always noticed."""

import json

import pytest

from qa_bot.documents import sync as changes
from qa_bot.documents.ingest.records import Notice, Reject
from qa_bot.documents.seen_files import MAX_ENTRIES, SeenFiles, signature


@pytest.fixture
def large(tmp_path, monkeypatch):
    """A file large enough for a receipt: three records and a broken line."""
    monkeypatch.setattr(changes, "LARGE_FILE", 10)
    path = tmp_path / "pairs.jsonl"
    rows = [{"id": f"p{i}", "question": f"What is number {i}?", "answer": f"It is the number {i}."} for i in range(3)]
    path.write_text("\n".join(map(json.dumps, rows)) + "\nbroken\n")
    return path


def added(qa_bot, *arguments):
    return qa_bot("add", *map(str, arguments), "--json").json


def test_unchanged_file_is_not_read_again(qa_bot, large, monkeypatch):
    first = added(qa_bot, large)
    assert (first["added"], first["rejected"]) == (3, 1)
    monkeypatch.setattr(changes, "read", lambda *_, **__: pytest.fail("a receipt was there"))
    again = added(qa_bot, large)
    assert (again["added"], again["unchanged"], again["rejected"]) == (0, 3, 1)
    assert again["rejects"] == first["rejects"]


def test_a_deleted_document_comes_back(qa_bot, large):
    added(qa_bot, large)
    qa_bot("delete", "p1")
    again = added(qa_bot, large)
    assert (again["added"], again["unchanged"]) == (1, 2)


def test_a_changed_file_is_read(qa_bot, large):
    added(qa_bot, large)
    large.write_text(large.read_text().replace("number 2.", "number two."))
    again = added(qa_bot, large)
    assert (again["updated"], again["unchanged"]) == (1, 2)
    assert added(qa_bot, large)["unchanged"] == 3


def test_receipts_are_per_collection(qa_bot, large):
    added(qa_bot, large)
    assert added(qa_bot, large, "--collection", "other")["added"] == 3


def test_a_file_with_repeated_ids_gets_no_receipt(qa_bot, large):
    large.write_text(large.read_text() * 2)
    assert added(qa_bot, large)["rejected"] == 5
    again = added(qa_bot, large)
    assert (again["unchanged"], again["rejected"]) == (3, 5)


def test_the_signature_covers_bytes_name_and_settings(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"x")
    other.write_bytes(b"x")
    assert signature(one, 1) == signature(one, 1)
    assert len({signature(one, 1), signature(one, 2), signature(other, 1)}) == 3


def test_receipts_survive_in_a_manifest_and_are_bounded():
    receipts = SeenFiles()
    receipts.add("a", 3, [Reject("f:1", "bad"), Notice("f:2", "mended")])
    receipts.add("b", 3, [Reject("f:1", "bad")] * (MAX_ENTRIES + 1))
    again = SeenFiles.of({"receipts": json.loads(json.dumps(receipts.as_dict()))})
    assert again == receipts
    assert list(again.entries) == ["a"]
    for i in range(MAX_ENTRIES + 5):
        receipts.add(str(i), 1, [])
    assert len(receipts.as_dict()) == MAX_ENTRIES
