"""The process of readers: its results are those of reading here; limits end it, and the next file has a new one."""

from pathlib import Path

import pytest
from pypdf import PdfWriter

from qa_bot.documents.ingest import Notice, Record, Reject, read
from qa_bot.documents.ingest.detect import READERS, Reader
from qa_bot.documents.ingest.files.byte_budget import TotalLimitError
from qa_bot.documents.ingest.formats.mail import eml
from qa_bot.documents.ingest.formats.pages import pdf
from qa_bot.documents.ingest.records import Limits, Part, Position
from qa_bot.documents.ingest.worker import messages
from qa_bot.documents.ingest.worker.messages import Request
from qa_bot.documents.ingest.worker.process import POOL, ReaderPool, ReaderProcess

READER = """
import os, time
from qa_bot.documents.ingest.files.byte_budget import TotalLimitError
from qa_bot.documents.ingest.records import Notice, Part, Position, Record, Reject

def read(file):
    text = file.text().strip()
    yield Record(file.name, "Title", text, where=file.where, positions=(Position(0, page=1),), tags=("a", "b"))
    match text:
        case "hang":
            time.sleep(60)
        case "slow":
            for _ in range(9):
                time.sleep(.5)
                file.progress()
        case "memory":
            bytearray(1 << 33)
        case "die":
            os.abort()
        case "secrets":
            yield Notice("environment", " ".join(name for name in os.environ if "QA_BOT" in name))
        case "raise":
            raise LookupError("no such font")
        case "total":
            raise TotalLimitError
        case "all":
            print("a library that prints")
            yield Reject("x", "y")
            yield Notice("\\udcff", "z")
            yield Part("a!b", "where", bytes(range(256)))
            yield file.repairs.clean("\\0") and Notice("n", "o")
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "hostile_reader.py").write_text(READER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "hostile_reader"


@pytest.fixture
def process(module):
    process = ReaderProcess()
    yield process
    process.end()


@pytest.fixture
def request_of(tmp_path, module):
    def request_of(text, **limits):
        (tmp_path / "file").write_text(text)
        return Request(module, "read", bytes(tmp_path / "file"), "file", "WHERE", Limits(**limits))

    return request_of


def test_results_are_those_of_reading_in_this_process(tmp_path):
    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    writer.write(tmp_path / "blank.pdf")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    (tmp_path / "a.eml").write_bytes(b"Subject: Doors\nDate: Mon, 3 Mar 2025 10:15:00 +0100\n\nIt closes at six.\n")
    for name, function, format_ in (
        ("a.eml", eml.read, "eml"),
        ("blank.pdf", pdf.read, "pdf"),
        ("broken.pdf", pdf.read, "pdf"),
    ):
        isolated = list(read(tmp_path / name))
        assert isolated == list(read(tmp_path / name, readers={format_: function}))
        assert len(isolated) == 1


def test_a_reader_of_hostile_files_has_no_secrets(request_of, monkeypatch):
    monkeypatch.setenv("QA_BOT_TOKEN", "correct-horse")
    monkeypatch.setenv("QA_BOT_STORE__URL", "postgresql://someone:hunter2@127.0.0.1/answers")
    process = ReaderProcess()
    try:
        _, environment = process.items(request_of("secrets"))
    finally:
        process.end()
    assert environment == Notice("environment", "")


def test_every_kind_of_item_arrives_unchanged(process, request_of):
    record, reject, notice, part, printed, repairs = process.items(request_of("all"))
    assert record == Record("file", "Title", "all", where="WHERE", positions=(Position(0, page=1),), tags=("a", "b"))
    assert (reject, notice) == (Reject("x", "y"), Notice("?", "z"))
    assert part == Part("a!b", "where", bytes(range(256)))
    assert printed == Notice("n", "o")
    assert repairs == Notice("WHERE", "1 NUL characters or lone surrogates replaced.")


@pytest.mark.parametrize(
    ("text", "limits", "reason"),
    [
        ("hang", {"seconds": 1}, "took longer than 1 seconds"),
        ("memory", {"memory_bytes": 256 * 1024**2}, "in 256 MiB of memory, but it needed more"),
        ("die", {}, "its reader stopped (SIGABRT)"),
        ("raise", {}, "no such font"),
    ],
)
def test_what_came_before_is_kept_and_the_file_is_rejected(process, request_of, text, limits, reason):
    record, reject = process.items(request_of(text, **limits))
    assert record.text == text
    assert reject.where == "WHERE"
    assert reason in reject.reason


@pytest.mark.slow
def test_a_reader_that_reports_progress_gets_more_time(process, request_of):
    list(process.items(request_of("first")))  # the start of the process takes long on a busy machine
    (record,) = process.items(request_of("slow", seconds=4))
    assert record.text == "slow"


def test_limit_on_the_whole_input_is_raised(process, request_of):
    with pytest.raises(TotalLimitError):
        list(process.items(request_of("total")))


def test_the_pool_keeps_a_process_and_replaces_one_that_ended(request_of):
    pool = ReaderPool()
    try:
        assert len(list(pool.items(request_of("one")))) == 1
        (first,) = pool._idle
        assert len(list(pool.items(request_of("two")))) == 1
        assert pool._idle == [first]
        list(pool.items(request_of("die")))
        assert len(list(pool.items(request_of("three")))) == 1
        assert pool._idle != [first]
        first.end()  # a second time
        items = pool.items(request_of("all"))
        next(items)
        items.close()  # a caller that stops within a file
        assert len(list(pool.items(request_of("four")))) == 1
    finally:
        pool.end()


def test_the_rest_of_a_folder_is_read(tmp_path, module, monkeypatch):
    monkeypatch.setitem(READERS, "pdf", Reader("pages.hostile", (".pdf",)))
    monkeypatch.setattr(Reader, "path", module)
    POOL.end()  # an idle process does not know the module
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, text in (("a.pdf", "%PDF-fine"), ("b.pdf", "hang"), ("c.pdf", "die"), ("d.pdf", "%PDF-fine")):
        (folder / name).write_text(text)
    items = list(read(folder, format="pdf", limits=Limits(seconds=4)))
    POOL.end()
    records = [item.id for item in items if isinstance(item, Record)]
    assert records == ["a.pdf", "b.pdf", "c.pdf", "d.pdf"]
    assert [Path(item.where).name for item in items if isinstance(item, Reject)] == ["b.pdf", "c.pdf"]


def test_requests_hold_paths_of_any_bytes():
    request = Request("m", "f", b"/tmp/caf\xe9", "n", "w", Limits(seconds=3))
    data = messages.request_frame(request)
    kind, size = messages.HEADER.unpack_from(data)
    assert kind == messages.REQUEST
    assert messages.request_of(data[-size:]) == request
