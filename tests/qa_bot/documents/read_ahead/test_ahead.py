"""Reading ahead: what a home has is the same as without, whoever reads, and whatever happens to the processes."""

from __future__ import annotations

import os
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from qa_bot.documents.ingest.files.byte_budget import ByteBudget
from qa_bot.documents.ingest.records import Limits
from qa_bot.documents.read_ahead import ahead
from qa_bot.documents.read_ahead.ahead import ReadAhead, reading_ahead
from qa_bot.documents.read_ahead.children import Answer, Children
from qa_bot.documents.read_ahead.file_read import Request, Settings
from qa_bot.documents.read_ahead.messages import FILE
from qa_bot.documents.sync import add, synchronise
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.store import Store
from qa_core.encoders.static_encoder import StaticEncoder

CONFIG = Config()
COMPANY = Path(os.environ.get("QA_BOT_DATA", "../shared/data")) / "workplace/company"
SETTINGS = Settings(Limits(), 1000, 100)
FOOTER = "\n\nThis handbook belongs to the kiln works; please send corrections to the office.\n"

Added = dict[str, Any]
AddTo = Callable[..., Added]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Files of many formats, some of them broken, with a footer that repeats."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(14):
        text = f"# Kiln {number}\n\nKiln {number} fires at {900 + number} degrees.\n\n## Care\n\n- Sweep it.{FOOTER}"
        (folder / f"kiln{number:02d}.md").write_text(text)
    files: dict[str, bytes] = {
        "a.html": b"<html lang=de><title>Ofen</title><body><h1>Ofen</h1><p>Der Ofen ist am Montag kalt.</p></html>",
        "b.txt": "Die T\u00fcren schlie\u00dfen um sechs, die K\u00fcche um acht.".encode("latin-1"),
        "c.csv": b"question,answer\nWhen does it close?,At six.\nWhere is the key?,In the desk.\n",
        "d.jsonl": b'{"id": "x", "text": "Tea steeps for three minutes."}\n{"id": "x", "text": "Again."}\nbroken\n',
        "e.md": b"%PDF-1.4 no text at all",
        "f.md": b"",
        "g.txt": b"\x00\x01\x02\x03" * 99,
        "h.rst": b"Title\n=====\n\nRestructured text.\n",
        "i.md": b"---\nredirect_to: /j\n---\n",
        "j/README": b"No suffix says what this is.",
        "k.md": b"Nul \0 and text that goes on.",
    }
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    with zipfile.ZipFile(folder / "l.zip", "w") as archive:
        archive.writestr("m.md", "# Inside\n\nA page in an archive.")
    return folder


@pytest.fixture
def added(tmp_path: Path, encoder: StaticEncoder) -> AddTo:
    """Adds a folder to a new home, and says all that the home has then."""
    homes = iter(range(99))

    def added(folder: Path, **options: Any) -> Added:
        home = Home.open(tmp_path / f"home{next(homes)}")
        report = add(home, CONFIG, encoder, [folder], **options)
        return everything(home, asdict(report))

    return added


def everything(home: Home, report: dict[str, Any]) -> Added:
    """The report and log of a run, and all documents and files in the store."""
    with Store.open(home.store_url(CONFIG)) as store:
        documents = [*store.stream_documents()]
        files = [
            row._replace(mtime_ns=0)
            for source in store.sources.all()
            for row in store.sources.files(source.id).values()
        ]
    logs = [path.read_text() for path in sorted(home.path.rglob("*.jsonl"))]
    report = {name: value for name, value in report.items() if not isinstance(value, Path)}
    return {"report": report, "documents": documents, "files": files, "logs": logs}


def requests_of(folder: Path) -> Iterator[Request]:
    for path in sorted(folder.glob("*.md")):
        yield Request(str(path), path.stat().st_size, path.name, is_named=False, prefix="", format="")


@pytest.fixture
def reading(read_there: list[Future[list[Answer]]], docs: Path) -> Iterator[ReadAhead]:
    """The Markdown files of the folder, which the processes have read."""
    with reading_ahead(lambda: requests_of(docs), SETTINGS) as files:
        assert files is not None
        yield files


def test_the_processes_read_what_would_be_read_in_turn(
    docs: Path, added: AddTo, request: pytest.FixtureRequest
) -> None:
    in_turn = added(docs)
    answers = request.getfixturevalue("read_there")
    assert added(docs) == in_turn
    kinds = [kind for answer in answers for kind, _ in answer.result()]
    assert kinds.count(FILE) >= 20
    assert len(in_turn["documents"]) > 20
    assert in_turn["report"]["rejected"]


def test_this_process_reads_while_it_waits(docs: Path, added: AddTo, request: pytest.FixtureRequest) -> None:
    in_turn = added(docs)
    request.getfixturevalue("read_here")
    assert added(docs) == in_turn


def test_both_read(docs: Path, added: AddTo, request: pytest.FixtureRequest) -> None:
    in_turn = added(docs)
    request.getfixturevalue("few_suffice")
    assert added(docs) == in_turn


@pytest.mark.slow
@pytest.mark.skipif(not COMPANY.is_dir(), reason=f"needs {COMPANY}: set QA_BOT_DATA to the folder of the data")
def test_the_files_of_company_are_those_read_in_turn(added: AddTo, request: pytest.FixtureRequest) -> None:
    in_turn = added(COMPANY)
    request.getfixturevalue("read_there")
    assert added(COMPANY) == in_turn


@pytest.mark.parametrize(
    ("lines", "limits"),
    [
        ("os.abort()", Limits()),
        ("write(out, file_frame(read_file(request_of(payload)[0][0], request_of(payload)[1]))); os.abort()", Limits()),
        ("time.sleep(60)", Limits(seconds=1)),
        ("[write(out, frame(b'f', b'[[]]')) for _ in request_of(payload)[0]]; return True", Limits()),
        ("[write(out, frame(b'f', b'{')) for _ in request_of(payload)[0]]; return True", Limits()),
    ],
    ids=["dies", "dies within a chunk", "hangs", "sends other values", "sends no JSON"],
)
def test_files_of_a_failing_process_are_read_in_turn(
    docs: Path,
    added: AddTo,
    child_that: Callable[[str], None],
    request: pytest.FixtureRequest,
    lines: str,
    limits: Limits,
) -> None:
    in_turn = added(docs, limits=limits)
    request.getfixturevalue("read_there")
    child_that(lines)
    assert added(docs, limits=limits) == in_turn


@pytest.mark.parametrize("total", [0, 500, 2000])
def test_the_limit_on_the_whole_input_ends_the_run_at_the_same_file(
    docs: Path, added: AddTo, request: pytest.FixtureRequest, total: int
) -> None:
    limits = Limits(total_bytes=total)
    in_turn = added(docs, limits=limits)
    assert "Expected at most" in str(in_turn["report"]) + str(in_turn["logs"])
    request.getfixturevalue("read_there")
    assert added(docs, limits=limits) == in_turn


def test_a_sync_reads_ahead(
    docs: Path, tmp_path: Path, encoder: StaticEncoder, read_there: list[Future[list[Answer]]]
) -> None:
    home = Home.open(tmp_path / "synchronised")
    add(home, CONFIG, encoder, [docs])
    read_there.clear()
    (docs / "kiln03.md").write_text("# Kiln 3\n\nIt is sold.")
    (docs / "kiln04.md").unlink()
    report = synchronise(home, CONFIG, encoder)
    assert (report.updated, report.removed) == (1, 1)
    assert read_there


def test_a_file_that_changed_or_went_since_is_read_at_its_turn(reading: ReadAhead, docs: Path) -> None:
    first, second, third, fourth, *_ = requests_of(docs)
    budget = ByteBudget(Limits())
    assert first.name == "e.md"
    assert reading.take(first, budget) is None  # no text: it is read in a process of limits
    assert reading.take(second, budget) is not None  # rejected
    os.utime(third.location, ns=(1, 1))
    assert reading.take(third, budget) is None
    Path(fourth.location).unlink()
    assert reading.take(fourth, budget) is None


def test_bytes_are_counted_when_a_file_is_taken(reading: ReadAhead, docs: Path) -> None:
    first, *_, last = requests_of(docs)
    budget = ByteBudget(Limits())
    assert reading.take(last, budget) is None  # not its turn
    assert budget.bytes == 0
    counts = [read.bytes for request in requests_of(docs) if (read := reading.take(request, budget))]
    assert budget.bytes == sum(counts) > 1000
    assert reading.take(first, budget) is None  # again


def test_items_come_with_their_cuts(reading: ReadAhead, docs: Path) -> None:
    reads = [reading.take(request, ByteBudget(Limits())) for request in requests_of(docs)]
    (record,) = reading.items(next(read for read in reads if read and "Kiln 7" in str(read.items)))
    assert reading.cuts[record].title == "Kiln 7"  # type: ignore[index]


def test_the_window_bounds_what_is_read_before_its_turn(
    few_suffice: None, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "WINDOW", 1)
    sent: list[int] = []

    def submit(self: Children, requests: list[Request]) -> Future[list[Answer]]:
        sent.append(len(requests))
        return Future()

    monkeypatch.setattr(Children, "submit", submit)
    with reading_ahead(lambda: requests_of(docs), SETTINGS) as reading:
        assert reading is not None
        assert sent == [3, 3]  # one chunk for each of two processes
        for number, request in enumerate(requests_of(docs)):
            reading.take(request, ByteBudget(Limits()))
            assert len(sent) <= 3 + number // 3


@pytest.mark.parametrize(("cores", "files", "size"), [(1, 1, 0), (3, 99, 0), (3, 1, 10**6)])
def test_no_process_is_started_on_one_core_and_for_few_files(
    docs: Path, monkeypatch: pytest.MonkeyPatch, cores: int, files: int, size: int
) -> None:
    monkeypatch.setattr(ahead, "_cores", lambda: cores)
    monkeypatch.setattr(ahead, "LEAST_FILES", files)
    monkeypatch.setattr(ahead, "LEAST_BYTES", size)
    monkeypatch.setattr(ahead, "Children", lambda *_: pytest.fail("a process would be started"))
    with reading_ahead(lambda: requests_of(docs), SETTINGS) as reading:
        assert reading is None


def test_nothing_is_left_behind_after_an_interrupt(
    few_suffice: None, docs: Path, child_that: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    child_that("time.sleep(60)")
    made: list[Children] = []

    class Noted(Children):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr(ahead, "Children", Noted)

    def interrupted() -> None:
        with reading_ahead(lambda: requests_of(docs), SETTINGS):
            while not made[0]._started:
                pass
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert made[0]._started
    assert all(child._process.poll() is not None for child in made[0]._started)
    assert not any(thread.name.startswith("read-ahead") for thread in threading.enumerate())
