"""Files as people have them: links, devices, wrong suffixes, odd names, files that change, archives with passwords."""

import gzip
import io
import os
import socket
import subprocess
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from qa_bot.documents.ingest import Limits, Notice, Record, Reject, read
from qa_bot.documents.ingest.files.byte_budget import ByteBudget
from qa_bot.documents.ingest.formats.markup import text as text_reader


def split(path, **options):
    items = list(read(path, **options))
    return tuple([item for item in items if isinstance(item, kind)] for kind in (Record, Reject, Notice))


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "z.txt").write_text("Kept.")
    return folder


def test_links_out_of_the_folder_are_listed_and_not_followed(folder, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("Secret.")
    (folder / "link").symlink_to(outside, target_is_directory=True)
    (folder / "link.txt").symlink_to(outside / "secret.txt")
    (folder / "inner.txt").symlink_to("z.txt")
    records, rejects, notices = split(folder)
    assert [record.id for record in records] == ["inner.txt", "z.txt"]
    assert rejects == []
    assert [Path(notice.where).name for notice in notices] == ["link", "link.txt"]
    assert all(f"not followed; add {outside}" in notice.message for notice in notices)


def test_a_folder_that_is_given_as_a_link_is_followed(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder, target_is_directory=True)
    assert [record.id for record in split(tmp_path / "link")[0]] == ["z.txt"]


def test_links_in_a_circle(folder):
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    (folder / "up").symlink_to("..", target_is_directory=True)
    (folder / "self").symlink_to(".", target_is_directory=True)
    records, rejects, notices = split(folder)
    assert [record.id for record in records] == ["z.txt"]
    assert [Path(item.where).name for item in [*rejects, *notices]] == ["a", "b", "up"]


def test_pipes_and_sockets_are_skipped(folder, monkeypatch):
    os.mkfifo(folder / "pipe")
    monkeypatch.chdir(folder)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        records, rejects, notices = split(folder)
    assert [record.id for record in records] == ["z.txt"]
    assert rejects == []
    assert [Path(notice.where).name for notice in notices] == ["pipe", "socket"]


def test_folders_nested_more_deeply_than_calls(tmp_path):
    path = str(tmp_path) + "/d" * 1200
    subprocess.run(["mkdir", "-p", path], check=True)
    Path(path, "a.txt").write_text("Text.")
    (record,), _, _ = split(tmp_path)
    subprocess.run(["rm", "-r", str(tmp_path / "d")], check=True)  # Python's own removal is recursive
    assert record.id.count("/") == 1200


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(20)


def test_the_content_decides_if_the_suffix_is_wrong(reads):
    records, (reject,), _ = reads("photo.txt", PNG)
    assert records == []
    assert "png" in reject.reason or "image" in reject.reason or "picture" in reject.reason
    _, (reject,), _ = reads("report.doc", b"%PDF-1.4 cut")
    assert "readable PDF" in reject.reason
    (record,), _, _ = reads("page.pdf.txt", "Only text.")
    assert record.text == "Only text."
    _, (reject,), _ = reads("old.doc", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600))
    assert "save it as" in reject.reason


@pytest.mark.parametrize("name", [b"caf\xe9.txt", b"\xff\xfe.txt", "x" * 251 + ".txt", "new\nline.txt", "猫.txt"])
def test_names_of_any_bytes_and_length(folder, name):
    Path(folder, os.fsdecode(name)).write_text("Heading\n\nText.")
    records, rejects, _ = split(folder)
    assert len(records) == 2
    assert rejects == []
    for record in records:
        (record.id + record.where + record.title).encode()  # can be stored


def test_a_file_that_changes_while_it_is_read_is_named(folder):
    path = folder / "z.txt"

    def read_slowly(file):
        yield from text_reader.read(file)
        with path.open("a") as out:
            out.write(" More.")

    (record,), rejects, (notice,) = split(folder, readers={"text": read_slowly})
    assert record.text == "Kept."
    assert rejects == []
    assert "changed while it was read" in notice.message


def test_a_file_that_grows_while_it_is_read_ends_where_it_began(folder):
    """Without the bound the reader would follow its own file until the limit of all bytes."""
    path = folder / "z.jsonl"
    line = b'{"id": "%d", "text": "Text."}\n'
    path.write_bytes(line % 0)

    def read_while_it_grows(file):
        for number, _ in file.lines():
            assert number < 100, "the file is followed"
            with path.open("ab") as out:
                out.write(line % number * 10_000)
            yield Record(str(number), "", "Text.")

    records, rejects, (notice,) = split(folder, readers={"jsonl": read_while_it_grows})
    assert [record.id for record in records] == ["1", "z.txt"]
    assert rejects == []
    assert "changed while it was read" in notice.message


@pytest.mark.parametrize("keep", [0, 20, 2000])
def test_a_file_that_shrinks_while_it_is_read(folder, keep):
    path = folder / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"id": "1", "text": "Text."}\n' * 50_000))

    def read_after_the_cut(file):
        os.truncate(path, keep)
        yield Record("x", "", file.text())

    records, rejects, _ = split(folder, readers={"jsonl": read_after_the_cut})
    assert records[-1].text == "Kept."
    assert len(rejects) <= 1


def test_a_large_text_is_rejected_without_being_read(folder):
    (folder / "large.txt").write_text("word " * 2_000_000)
    limits = Limits(record_bytes=10_000)
    budget = ByteBudget(limits)
    (record,), (reject,), _ = split(folder, budget=budget, limits=limits)
    assert record.id == "z.txt"
    assert "--max-record-bytes" in reject.reason
    assert budget.bytes < 1_000_000


def encrypted(members):
    """A zip archive whose flags say that it is encrypted."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    data = bytearray(buffer.getvalue())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = 0
        while (start := data.find(mark, start)) >= 0:
            data[start + offset] |= 1
            start += 4
    return bytes(data)


@pytest.mark.parametrize("name", ["a.zip", "a.docx", "a.xlsx", "a.epub", "a.odt"])
def test_encrypted_archives_and_documents_are_rejected(reads, name):
    members = {"[Content_Types].xml": "<Types/>", "word/document.xml": "<w/>"}
    records, rejects, _ = reads(name, encrypted({"x.txt": "x"} if name == "a.zip" else members))
    assert records == []
    assert rejects


@pytest.mark.slow
def test_many_small_files_in_little_memory(folder):
    for number in range(2000):
        (folder / f"{number}.txt").write_text("Text.")
    list(read(folder / "1.txt"))
    tracemalloc.start()
    count = sum(isinstance(item, Record) for item in read(folder, limits=Limits(record_bytes=10_000)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 2001
    assert peak < 2_500_000  # about a kilobyte a file of one folder
