"""Archives that are damaged, foreign, hostile or interrupted."""

from __future__ import annotations

import hashlib
import json
import re
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from qa_bot.documents.ingest.files.byte_budget import LimitError
from qa_bot.documents.ingest.records import Limits
from qa_bot.home.config import Config
from qa_bot.home.generations import Generations
from qa_bot.home.store import Store
from qa_bot.transfer.archive import ArchiveError, opened
from qa_bot.transfer.exporting import export
from tests.qa_bot.transfer.archives import (
    documents,
    history,
    import_archive,
    manifest,
    state,
    triples,
)


def changed(path: Path, change: Callable[[dict[str, bytes]], None], *, sums: bool = True) -> Path:
    """A copy of an archive after `change` to its members; with `sums`, checksums in the manifest are updated."""
    with zipfile.ZipFile(path) as zipped:
        members = {name: zipped.read(name) for name in zipped.namelist()}
    change(members)
    if sums and "manifest.json" in members:
        manifest = json.loads(members["manifest.json"])
        for part in manifest["parts"]:
            data = members.get(part["path"], b"")
            part |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        members["manifest.json"] = json.dumps(manifest).encode()
    copy = path.with_name("changed.zip")
    with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in members.items():
            zipped.writestr(name, data)
    return copy


def put(name: str, data: bytes) -> Callable[[dict[str, bytes]], None]:
    return lambda members: members.update({name: data})


REFUSED = [
    (put("turns.jsonl", b""), "Expected an undamaged turns.jsonl in .*, but got another checksum"),
    (put("../../evil", b"x"), "'../../evil' is missing, unknown or repeated"),
    (lambda members: members.pop("turns.jsonl"), "'turns.jsonl' is missing"),
    (lambda members: members.pop("manifest.json"), "has no manifest.json; add documents with"),
    (put("manifest.json", b"{"), "Expected a manifest of `qa-bot export`"),
    (put("manifest.json", b"[" * 100_000), "Expected a manifest of `qa-bot export`"),
    (put("manifest.json", b" " * 17_000_000), "Expected at most 200 bytes for each|Expected at most 16,777,216"),
    (
        manifest(lambda manifest: manifest.update(version=3, by="9.9")),
        "is of version 3, by qa-bot 9.9; install that version",
    ),
    (manifest(lambda manifest: manifest.update(format="other")), "format: Input should be 'qa-bot export'"),
    (manifest(lambda manifest: manifest["parts"][0].update(path="/etc/passwd")), r"parts\.0\.path"),
    (manifest(lambda manifest: manifest["parts"][0].update(path="documents/../x")), r"parts\.0\.path"),
    (manifest(lambda manifest: manifest["parts"][0].update(bytes=3)), "but got another checksum"),
    (manifest(lambda manifest: manifest["parts"].append(manifest["parts"][0])), "repeated"),
]


@pytest.mark.parametrize(("change", "reason"), REFUSED)
def test_an_altered_archive_changes_nothing(full, archive, encoder, change, reason: str) -> None:
    before = (documents(full), state(full))
    with pytest.raises((ArchiveError, LimitError), match=reason) as caught:
        import_archive(full, changed(archive, change, sums=False), encoder)
    assert "\n" not in str(caught.value)
    assert (documents(full), state(full)) == before


def test_truncated_archives_are_refused(full, archive, encoder, tmp_path) -> None:
    data = archive.read_bytes()
    cut_short = tmp_path / "cut.zip"
    for share in (0, 1, 50, 99):
        cut_short.write_bytes(data[: len(data) * share // 100])
        with pytest.raises(ArchiveError, match="which is no whole zip file"):
            import_archive(full, cut_short, encoder)


def test_flipped_bytes_are_detected(archive, tmp_path) -> None:
    """Within the data of members; their last byte, and what their header repeats, do not change what is read."""
    data = bytearray(archive.read_bytes())
    flipped = tmp_path / "flipped.zip"
    positions: list[int] = []
    with zipfile.ZipFile(archive) as members:
        for member in members.infolist():
            name, extra = struct.unpack_from("<HH", data, member.header_offset + 26)  # their lengths
            begin = member.header_offset + 30 + name + extra
            positions += [begin + member.compress_size * part // 4 for part in (1, 2, 3) if member.compress_size > 8]
    assert len(positions) > 20
    for position in positions:
        data[position] ^= 0xFF
        flipped.write_bytes(data)
        data[position] ^= 0xFF
        with pytest.raises(ArchiveError), opened(flipped):
            raise AssertionError(f"byte {position} was taken")


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04" + b"\0" * 100, b"PK\x05\x06" + b"\0" * 18])
def test_foreign_files(full, encoder, tmp_path, content: bytes) -> None:
    path = tmp_path / "foreign.zip"
    path.write_bytes(content)
    with pytest.raises(ArchiveError, match="Expected an archive of `qa-bot export`, but"):
        import_archive(full, path, encoder)


def test_zip_bombs_are_refused_by_size_and_by_ratio(full, archive, encoder) -> None:
    bomb = changed(archive, put("turns.jsonl", b"0" * 30_000_000))
    with pytest.raises(LimitError, match="Expected at most 200 bytes for each"):
        import_archive(full, bomb, encoder)
    with pytest.raises(LimitError, match="Expected at most 10,000 bytes in the whole input"):
        import_archive(full, archive, encoder, limits=Limits(total_bytes=10_000))


def test_an_encrypted_or_unknown_member_is_refused(archive, tmp_path) -> None:
    data = bytearray(archive.read_bytes())
    entry = data.rindex(b"PK\x01\x02")  # the last entry of the directory: of the manifest
    for offset, value in ((8, 1), (10, 99)):  # flags: encrypted; method: unknown
        odd = bytearray(data)
        odd[entry + offset] = value
        (tmp_path / "odd.zip").write_bytes(odd)
        with pytest.raises(ArchiveError, match=r"Expected a readable manifest\.json"), opened(tmp_path / "odd.zip"):
            raise AssertionError


ANSWER = {"id": "good", "question": "q", "answered": True, "kind": "passage", "answer": "a", "confidence": 1.0}

ANSWER |= {"reason": "", "sources": [], "timings": {}, "skipped": []}

GOOD_TURN = {"id": "good", "conversation": None, "asked": 1.0, "created": 1.0, "question": "q", "rewritten": ""}

GOOD_TURN |= {"timings": {}, "feedback": [], "answer": ANSWER}


def deep(levels: int) -> object:
    return [deep(levels - 1)] if levels else []


BAD_TURNS: list[tuple[object, str]] = [
    ("{", "broken JSON"),
    ("[]", "a line: Input should be a valid dictionary"),
    ({**GOOD_TURN, "id": "x" * 65}, "id: String should have at most 64"),
    ({**GOOD_TURN, "id": "a\0"}, "id: String should match"),
    ({**GOOD_TURN, "conversation": "nobody's"}, "Expected a turn of a known conversation"),
    ({**GOOD_TURN, "asked": -1}, "asked: Input should be greater"),
    (json.dumps(GOOD_TURN).replace('"asked": 1.0', '"asked": NaN'), "broken JSON"),
    ({**GOOD_TURN, "answer": {"answer": "a"}}, "Expected an answer object, but got id: Field required"),
    ({**GOOD_TURN, "answer": {**ANSWER, "trace": {"x": deep(100)}}}, "nested deeper than 64"),
    ({**GOOD_TURN, "feedback": [{"vote": "sideways", "comment": "", "created": 1}]}, r"feedback\.0\.vote"),
]


def test_bad_records_are_rejected_and_good_ones_imported(empty_home, archive, encoder, qa_bot) -> None:
    lines = [turn if isinstance(turn, str) else json.dumps(turn) for turn, _ in BAD_TURNS]

    def change(members: dict[str, bytes]) -> None:
        members["turns.jsonl"] = "\n".join([*lines, json.dumps(GOOD_TURN), ""]).encode()
        wrong = [{"_id": "w", "text": "x", "spans": [[0, 9]]}, {"_id": "", "text": "x"}, {"_id": "n"}, 7]
        good = {"_id": "kept", "text": "Kept text.", "spans": [[0, 10]], "hash": "h"}
        outside = {"_id": "o", "text": "x", "passages": [{"text": "x", "start": 0, "end": 1, "units": [[0, 2]]}]}
        members["documents/1.jsonl"] = (
            "\n".join(map(json.dumps, [*wrong, good, good, outside])).encode() + b"\n\xff\xfe"
        )

    path = changed(archive, change)
    imported = import_archive(empty_home, path, encoder)
    reasons = {reject.where.removeprefix(f"{path}!"): reject.reason for reject in imported.documents.examples}
    for number, (_, reason) in enumerate(BAD_TURNS, start=1):
        assert re.search(reason, reasons[f"turns.jsonl:{number}"])
    assert "Expected spans in order" in reasons["documents/1.jsonl:1"]
    assert "_id: String should have at least 1" in reasons["documents/1.jsonl:2"]
    assert "text: Field required" in reasons["documents/1.jsonl:3"]
    assert "a line: Input should be a valid dictionary" in reasons["documents/1.jsonl:4"]
    assert "Expected ids that differ" in reasons["documents/1.jsonl:6"]
    assert "Expected passages in order" in reasons["documents/1.jsonl:7"]
    assert "broken JSON" in reasons["documents/1.jsonl:8"]
    assert imported.joined.turns == 1
    assert ("kept", ["Kept text."]) in [(row[1], row[-1]) for row in documents(empty_home)]
    rejects = imported.documents.rejects_file
    assert rejects is not None
    assert len(rejects.read_text().splitlines()) == len(reasons) == imported.documents.rejected
    assert qa_bot("import", path).code == 4


INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from qa_bot.cli.app import run
from qa_bot.transfer import {module} as module
def press(*_, **__):
    os.kill(os.getpid(), signal.{signal})
module.{name} = press
sys.exit(run(sys.argv[1:]))
"""


def interrupted(home: Path, module: str, name: str, kind: str, *arguments: object) -> int:
    """Exit code of a command that receives a signal when it calls the function `name` of a module."""
    code = INTERRUPTED.format(module=module, name=name, signal=kind)
    command = [sys.executable, "-c", code, "--home", str(home), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, timeout=120).returncode


@pytest.mark.parametrize(("kind", "code"), [("SIGINT", 130), ("SIGKILL", -9)])
def test_an_interrupted_export_leaves_the_old_file(full, tmp_path, kind: str, code: int) -> None:
    (tmp_path / "out").mkdir()
    path = tmp_path / "out" / "all.zip"
    path.write_bytes(b"old")
    assert interrupted(full.path, "exporting", "turn_fields", kind, "export", path, "--force") == code
    assert path.read_bytes() == b"old"
    if kind == "SIGINT":
        assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("kind", "code"), [pytest.param("SIGINT", 130, marks=pytest.mark.slow), ("SIGKILL", -9)], ids=["SIGINT", "SIGKILL"]
)
@pytest.mark.parametrize("name", ["_are_spans", "_wrong_answer"], ids=["documents", "turns"])
def test_an_interrupted_import_changes_nothing(empty_home, full, archive, encoder, name, kind, code) -> None:
    assert interrupted(empty_home.path, "importing", name, kind, "import", archive) == code
    assert Generations(empty_home.index).current_number() is None
    assert Generations(empty_home.graph).current_number() is None
    before = history(empty_home)
    assert (before["turns"], before["conversations"], before["settled"]) == ([], [], [])
    import_archive(empty_home, archive, encoder)
    assert (documents(empty_home), history(empty_home), triples(empty_home)) == (
        documents(full),
        history(full),
        triples(full),
    )


def test_a_dead_writers_rows_are_not_exported(full, encoder, tmp_path) -> None:
    before = {row[:2] for row in documents(full)}
    with Store.open(full.store_url(Config())) as store:
        number = store.begin("x")
        store.retire(number, store.of_collection("a/b"))
    exported = export(full, Config(), tmp_path / "all.zip")
    assert exported.documents == len(before)
    assert exported.collections["a/b"] == 1
