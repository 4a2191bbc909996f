"""Reading of files, folders and archives: walking, limits, damaged containers, detection."""

import bz2
import errno
import gzip
import io
import json
import os
import random
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qa_bot.documents.ingest import Limits, Notice, Record, Reject, read

RANDOM = random.Random(0)


def lines(*objects):
    return b"".join(json.dumps(item).encode() + b"\n" for item in objects)


def document(name, text="some text"):
    return {"id": name, "title": f"title {name}", "text": text}


def split(path, **options):
    """Records, rejects and notices."""
    items = list(read(path, **options))
    return tuple([item for item in items if isinstance(item, kind)] for kind in (Record, Reject, Notice))


def only_reject(path, **options):
    records, (reject,), _ = split(path, **options)
    assert records == []
    return reject


def put(path: Path, data: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def zipped(members, *, method=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


# --- walking


def test_a_folder_is_walked_in_order_without_hidden_files_and_those_of_the_system(tmp_path):
    put(tmp_path / "b.txt", "Text of b.")
    put(tmp_path / "a/z.txt", "Text of z.")
    put(tmp_path / ".git/config.txt", "hidden")
    put(tmp_path / ".hidden.txt", "hidden")
    put(tmp_path / "~$b.docx", "Anna has it open")
    put(tmp_path / "a/Thumbs.db", "pictures")
    records, rejects, _ = split(tmp_path)
    assert [record.id for record in records] == ["a/z.txt", "b.txt"]
    assert records[0].where == f"{tmp_path}/a/z.txt:1"
    assert rejects == []


def test_a_document_knows_when_its_file_was_changed(tmp_path):
    def two_records(file):
        yield Record("a", "", "x", markdown=True, where=f"{file.where}:1")
        yield Record("b", "", "x", where=f"{file.where}:2")

    (tmp_path / "a.txt").write_text("x")
    os.utime(tmp_path / "a.txt", (0, 1_700_000_000))  # 2023-11-14 in UTC
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("c.txt", "x")
    records = list(read(tmp_path, readers={"text": two_records}))
    assert [record.modified for record in records] == ["2023-11-14", "", "", ""]  # not data sets, nor in archives
    os.utime(tmp_path / "a.txt", (0, 0))
    assert {record.modified for record in read(tmp_path, readers={"text": two_records})} == {""}


def test_links_in_a_circle_are_walked_once(tmp_path):
    put(tmp_path / "a/one.txt", "Text.")
    (tmp_path / "a/up").symlink_to(tmp_path, target_is_directory=True)
    records, rejects, _ = split(tmp_path)
    assert [record.id for record in records] == ["a/one.txt"]
    assert rejects == []


def test_dangling_link_is_rejected_pipe_skipped_and_the_rest_is_kept(tmp_path):
    (tmp_path / "dangling.txt").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.txt")
    put(tmp_path / "z.txt", "Text.")
    records, (link,), (pipe,) = split(tmp_path)
    assert [record.id for record in records] == ["z.txt"]
    assert link.where.endswith("dangling.txt")
    assert "Expected a regular file, but got a pipe" in pipe.message


def test_device_is_skipped():
    records, rejects, (device,) = split(Path("/dev/null"))
    assert (records, rejects) == ([], [])
    assert "Expected a regular file" in device.message


def test_no_rights(tmp_path, monkeypatch):
    locked, file = tmp_path / "locked", put(tmp_path / "locked.txt", "Text.")
    put(locked / "inside.txt", "Text.")
    put(tmp_path / "z.txt", "Text.")
    if os.geteuid() == 0:  # root may read everything: simulate the error
        deny_access(monkeypatch, {locked, file})
    else:
        locked.chmod(0)
        file.chmod(0)
    records, rejects, _ = split(tmp_path)
    locked.chmod(stat.S_IRWXU)
    assert [record.id for record in records] == ["z.txt"]
    assert [Path(reject.where).name for reject in rejects] == ["locked", "locked.txt"]
    assert all("Permission denied" in reject.reason and "check" in reject.reason for reject in rejects)


def deny_access(monkeypatch, paths):
    def guarded(method):
        def call(self, *args, **options):
            if self in paths:
                raise PermissionError(13, "Permission denied", str(self))
            return method(self, *args, **options)

        return call

    for name in ("iterdir", "open"):
        monkeypatch.setattr(Path, name, guarded(getattr(Path, name)))


def test_nothing_at_the_path(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere does not exist; check the path"):
        list(read(tmp_path / "nowhere"))


def test_unknown_format(tmp_path):
    with pytest.raises(ValueError, match=r"Expected one of the formats jsonl, .* but got 'abw'"):
        list(read(tmp_path, format="abw"))


# --- containers


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), ("", bytes)])
def test_compressed_files_read_as_plain_ones(tmp_path, suffix, pack):
    path = put(tmp_path / f"a.jsonl{suffix}", pack(lines(document("1"), {"text": "no id"})))
    records, rejects, _ = split(path)
    assert [record.id for record in records] == ["1", "a.jsonl#2"]
    assert records[1].where == f"{path}:2"
    assert rejects == []


def test_members_of_a_named_archive_and_of_one_in_a_folder(tmp_path):
    members = {"x/one.txt": "One is here.", ".DS_Store": "x", "../two.txt": "Two."}
    archive = put(tmp_path / "docs/a.zip", zipped(members))
    records, rejects, _ = split(archive)
    assert [record.id for record in records] == ["x/one.txt", "../two.txt"]  # a name, not a path
    assert records[0].where == f"{archive}!x/one.txt:1"
    assert [record.id for record in split(tmp_path)[0]] == ["docs/a.zip!x/one.txt", "docs/a.zip!../two.txt"]
    assert rejects == []
    assert not (tmp_path.parent / "two.txt").exists()


def test_archives_nest_once(tmp_path):
    inner = zipped({"one.txt": "One is here."})
    once = put(tmp_path / "once.zip", zipped({"in.zip": inner, "b.txt.gz": gzip.compress(b"Two is here.")}))
    assert [record.id for record in split(once)[0]] == ["in.zip!one.txt", "b.txt"]
    deep = put(tmp_path / "deep.zip", zipped({"mid.zip": zipped({"in.zip": inner}), "z.txt": "Kept."}))
    records, (reject,), _ = split(deep)
    assert [record.id for record in records] == ["z.txt"]
    assert reject.where == f"{deep}!mid.zip!in.zip"
    assert "nested at most once" in reject.reason


def test_truncated_gz_keeps_what_came_before(tmp_path):
    # incompressible texts, so that half of the file holds about half of the records
    data = gzip.compress(lines(*(document(str(number), RANDOM.randbytes(600).hex()) for number in range(200))))
    path = put(tmp_path / "cut.jsonl.gz", data[: len(data) // 2])
    records, (reject,), _ = split(path)
    assert [record.id for record in records] == [str(number) for number in range(len(records))]
    assert 80 <= len(records) <= 100
    assert f"(up to {path}:{len(records)}) is kept" in reject.reason
    assert "fetch it again" in reject.reason


def test_damaged_gz_and_bz2(tmp_path):
    put(tmp_path / "a.txt.gz", gzip.compress(b"x" * 100)[:12])
    put(tmp_path / "b.txt.bz2", bz2.compress(b"some text")[:20])
    put(tmp_path / "c.txt", "Kept.")
    records, rejects, _ = split(tmp_path)
    assert [record.id for record in records] == ["c.txt"]
    assert [Path(reject.where).name for reject in rejects] == ["a.txt.gz", "b.txt.bz2"]


def test_broken_zip_and_broken_member(tmp_path):
    whole = zipped({"a.txt": "Text of a.", "b.txt": "Text of b."}, method=zipfile.ZIP_STORED)
    assert "Expected a readable zip archive" in only_reject(put(tmp_path / "cut.zip", whole[:-30])).reason
    damaged = put(tmp_path / "damaged.zip", whole.replace(b"Text of a.", b"Text of X.", 1))
    records, (reject,), _ = split(damaged)
    assert [record.id for record in records] == ["b.txt"]
    assert reject.where == f"{damaged}!a.txt"
    assert "CRC" in reject.reason


def test_encrypted_member(tmp_path):
    data = bytearray(zipped({"a.txt": "Text of a.", "b.txt": "Text of b."}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1  # the first member's flag of encryption
    records, (reject,), _ = split(put(tmp_path / "locked.zip", bytes(data)))
    assert [record.id for record in records] == ["b.txt"]
    assert "with a password" in reject.reason


def test_office_files_are_distinguished_from_archives(tmp_path):
    path = put(tmp_path / "letter.docx", zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": "<w/>"}))
    assert "document with text" in only_reject(path).reason


def test_full_disk_is_raised_not_rejected(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = put(tmp_path / "once.zip", zipped({"in.zip": zipped({"one.txt": "One is here."})}))
    monkeypatch.setattr("tempfile.SpooledTemporaryFile", full)
    with pytest.raises(OSError, match="No space left"):
        list(read(path))


# --- bounds


def small(**bounds):
    return Limits(**({"total_bytes": 10_000_000, "record_bytes": 1_000_000, "ratio": 200} | bounds))


@pytest.mark.parametrize("fill", [b"a", b"\0", b'{"text": "x"}\n'])
@pytest.mark.parametrize("suffix", ["gz", "bz2", "zip"])
def test_reject_of_a_bomb_names_the_option(tmp_path, fill, suffix):
    data = fill * (2_500_000 // len(fill))
    pack = {"gz": gzip.compress, "bz2": bz2.compress, "zip": lambda data: zipped({"a.txt": data})}[suffix]
    path = put(tmp_path / f"bomb.txt.{suffix}", pack(data))
    _, rejects, _ = split(path, limits=small(record_bytes=4_000_000))
    assert "--max-ratio" in rejects[-1].reason


def test_nested_bomb(tmp_path):
    inner = zipped({"a.txt": b"a" * 3_000_000})
    path = put(tmp_path / "bomb.zip", zipped({"in.zip": inner, "b.txt": "Kept."}))
    records, (reject,), _ = split(path, limits=small(record_bytes=2_000_000))
    assert "--max-ratio" in reject.reason
    assert [record.id for record in records] == ["b.txt"]


def test_many_members_count_together(tmp_path):
    members = {f"{number}.txt": b"a" * 900_000 for number in range(5)}  # each too small for the check of the ratio
    _, rejects, _ = split(put(tmp_path / "bomb.zip", zipped(members)), limits=small())
    assert "--max-ratio" in rejects[-1].reason


def test_total_limit_stops_the_input(tmp_path):
    for name in "abc":
        put(tmp_path / f"{name}.txt", "word " * 100)
    records, (reject,), _ = split(tmp_path, limits=small(total_bytes=1100))
    assert [record.id for record in records] == ["a.txt", "b.txt"]
    assert reject.where.endswith("c.txt")
    assert "--max-total-bytes" in reject.reason


def test_bounds_are_lifted_by_limits(tmp_path):
    path = put(tmp_path / "a.txt.gz", gzip.compress(b"word " * 600_000))
    assert "--max-ratio" in only_reject(path).reason
    assert len(split(path, limits=Limits(ratio=2000))[0]) == 1


def test_line_over_the_record_limit_is_left_out(tmp_path):
    path = put(tmp_path / "a.jsonl", lines(document("1"), document("2", "x" * 5000), document("3")))
    records, (reject,), _ = split(path, limits=small(record_bytes=1000))
    assert [record.id for record in records] == ["1", "3"]
    assert reject.where == f"{path}:2"
    assert "--max-record-bytes" in reject.reason


# --- content


def test_invalid_utf8_is_replaced_and_counted(tmp_path):
    path = put(tmp_path / "a.jsonl", lines(document("1")) + b'{"id": "2", "text": "caf\xe9 \xff\xfe \xef\xbf\xbd"}\n')
    records, rejects, (notice,) = split(path)
    assert records[1].text == "caf\ufffd \ufffd\ufffd \ufffd"
    assert rejects == []
    assert notice.where == f"{path}:2"
    assert notice.message.startswith("3 invalid UTF-8 bytes replaced")


def test_invalid_utf8_across_chunks_is_counted_once(tmp_path):
    data = b"a" * (64 * 1024 - 1) + "é".encode() + b" \xff."
    (record,), _, (notice,) = split(put(tmp_path / "a.txt", data))
    assert record.text.endswith("aé \ufffd.")
    assert notice.message.startswith("1 invalid")


@given(st.binary(max_size=300))
@settings(max_examples=60)
def test_any_bytes_give_a_record_or_a_reject(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("any")
    for name in ("a", "a.jsonl", "a.tsv", "a.xml", "a.md", "a.html", "a.json", "a.zip"):
        items = list(read(put(folder / name, data)))
        for item in items:
            assert isinstance(item, Record | Reject | Notice)
            if isinstance(item, Record):
                item.text.encode()
                assert "\0" not in item.text


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.xml", "a", "a.txt.gz", "a.pdf"])
def test_empty_file(tmp_path, name):
    data = gzip.compress(b"") if name.endswith("gz") else b""
    assert "empty file" in only_reject(put(tmp_path / name, data)).reason


@pytest.mark.parametrize("format_", [None, "text", "jsonl"])
def test_binary_file(tmp_path, format_):
    path = put(tmp_path / "program", b"\x7fELF\2\1\1\0\0\0\0\0" + bytes(range(256)))
    assert "binary" in only_reject(path, format=format_).reason


def test_triples_are_referred_to_kg_add(tmp_path):
    assert "qa-bot kg add" in only_reject(put(tmp_path / "a.nt.gz", gzip.compress(b"<a> <b> <c> .\n"))).reason


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a", '{"question": "Q?", "answer": "A."}\n', "Q?"),
        ("a", "7\tSome passage.\n", ""),
        ("a", "<!DOCTYPE html><title>Page</title><p>Text.", "Page"),
        ("a", "Heading\n\nPlain text.", "Heading"),
        ("a.json", '[\n{"question": "Q?", "answer": "A."}]', "Q?"),
        ("a.json", '{"question": "Q?", "answer": "A."}', "Q?"),
        ("a.json", '{"data": [{"title": "T", "paragraphs": [{"context": "C."}]}]}', "T"),
        ("a.xml", "<QA/><!-- -->", None),
        (
            "a.xml",
            "<Document><QAPairs><QAPair><Question>Q?</Question><Answer>A.</Answer></QAPair></QAPairs></Document>",
            "Q?",
        ),
        ("a.log", "Heading\n\nPlain text.", "Heading"),
    ],
)
def test_detection_by_content(tmp_path, name, data, expected):
    records, rejects, _ = split(put(tmp_path / name, data))
    assert [record.title for record in records] == ([expected] if expected is not None else [])
    assert len(rejects) == (expected is None)


def test_memory_stays_flat(tmp_path):
    import tracemalloc

    path = tmp_path / "a.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for number in range(8_000):
            file.write(lines(document(str(number), RANDOM.randbytes(300).hex())))
    list(read(put(tmp_path / "warm.jsonl", lines(document("1")))))
    tracemalloc.start()
    count = sum(1 for _ in read(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 8_000
    assert peak < 2_000_000  # the file holds 5 MB


@pytest.mark.parametrize("text", ["[]", "[[[]]]", "[[1, 2], [3]]"])
def test_a_file_without_documents_is_named(tmp_path, text):
    records, rejects, (notice,) = split(put(tmp_path / "data.json", text.encode()))
    assert not records
    assert not rejects
    assert (notice.where, notice.message) == (str(tmp_path / "data.json"), "The file has no documents.")
