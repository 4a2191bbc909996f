"""Uploads as sources: added, replaced, deleted; commands about sources and the whole home treat them as others."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from qa_bot.documents.index_update import ChangeError
from qa_bot.documents.ingest.records import Limits
from qa_bot.documents.sources.uploads import Upload, UploadOutcome, upload
from qa_bot.documents.sync import (
    chosen_sources,
    delete,
    list_sources,
    remove_source,
    rename_source,
    repair,
    switch_encoder,
    watcher_of,
)
from qa_bot.home.folder import Home, WriterBusyError
from qa_bot.home.store import Store
from qa_core.encoders.static_encoder import StaticEncoder
from tests.qa_bot.documents.sources.folders import CONFIG, Add, names, stored, write

TEA = "# Tea\n\nTea should steep for three minutes.\n"
RUST = "# Rust\n\nRub rust off with vinegar.\n"


@dataclass
class Desk:
    """Uploads to a home, by name and text; the files are gone afterwards."""

    home: Home
    encoder: StaticEncoder
    folder: Path
    _count: list[int] = field(default_factory=lambda: [0])

    def __call__(self, texts: dict[str, str | bytes], **options: Any) -> UploadOutcome:
        uploads = [self.made(name, text) for name, text in texts.items()]
        return self.send(uploads, **options)

    def made(self, name: str, text: str | bytes, **fields: str) -> Upload:
        self._count[0] += 1
        path = self.folder / str(self._count[0])
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return Upload(name, path, **fields)

    def send(self, uploads: Sequence[Upload], **options: Any) -> UploadOutcome:
        outcome = upload(self.home, CONFIG, self.encoder, uploads, **options)
        for one in uploads:
            one.path.unlink()
        return outcome


@pytest.fixture
def desk(empty_home: Home, encoder: StaticEncoder, tmp_path: Path) -> Desk:
    (tmp_path / "spool").mkdir()
    return Desk(empty_home, encoder, tmp_path / "spool")


def counts(outcome: UploadOutcome) -> tuple[int, int, int, int]:
    report = outcome.report
    return report.added, report.updated, report.unchanged, report.rejected


def packed(texts: dict[str, str], path: Path) -> bytes:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return path.read_bytes()


def test_uploads_become_one_source_of_a_collection(desk: Desk) -> None:
    outcome = desk({"tea.md": TEA})
    assert counts(outcome) == (1, 0, 0, 0)
    assert [(one.id, one.title, one.collection) for one in outcome.documents] == [("tea.md", "Tea", "default")]
    desk({"rust.md": RUST})
    desk({"rust.md": RUST}, collection="hr")
    infos = list_sources(desk.home, CONFIG)
    fields = [(one.source.name, one.source.kind, one.source.place, one.files, one.documents) for one in infos]
    assert fields == [
        ("uploads", "upload", "upload:default", 2, 2),
        ("uploads-hr", "upload", "upload:hr", 1, 1),
    ]
    with Store.open(desk.home.store_url(CONFIG)) as store:
        (tea,) = store.with_id("tea.md")
        assert (tea.details.path, tea.origin, tea.file) == ("tea.md", "tea.md:1", "tea.md")
        assert [one.collection for one in store.with_id("uploads-hr/rust.md")] == ["hr"]
        latest, total = store.sources.latest("upload", limit=2)
    assert ([one.id for one in latest], total) == (["uploads-hr/rust.md", "rust.md"], 3)


def test_the_same_name_replaces_its_documents_and_unchanged_files_are_not_read(desk: Desk) -> None:
    desk({"tea.md": TEA, "rust.md": RUST})
    outcome = desk({"tea.md": TEA.replace("three", "five"), "rust.md": RUST})
    assert counts(outcome) == (0, 1, 1, 0)
    assert sorted(one.id for one in outcome.documents) == ["rust.md", "tea.md"]
    assert "five minutes" in stored(desk.home)["tea.md"]
    assert sorted(stored(desk.home)) == ["rust.md", "tea.md"]


def test_an_archive_that_lost_a_member_loses_its_document(desk: Desk, tmp_path: Path) -> None:
    two = packed({"tea.md": TEA, "deep/rust.md": RUST}, tmp_path / "two.zip")
    assert counts(desk({"guide.zip": two})) == (2, 0, 0, 0)
    assert sorted(stored(desk.home)) == ["guide.zip!deep/rust.md", "guide.zip!tea.md"]
    outcome = desk({"guide.zip": packed({"tea.md": TEA}, tmp_path / "one.zip")})
    assert (counts(outcome), outcome.report.removed) == ((0, 0, 1, 0), 1)
    assert list(stored(desk.home)) == ["guide.zip!tea.md"]
    with Store.open(desk.home.store_url(CONFIG)) as store:
        assert store.with_id("guide.zip!tea.md")[0].details.path == "guide.zip!tea.md"


def test_a_given_title_and_url_are_those_of_the_document(desk: Desk) -> None:
    made = [desk.made("Tea.md", TEA, format="markdown", title="On tea", url="https://example.org/tea")]
    desk.send(made)
    again = [desk.made("Tea.md", TEA, format="markdown", title="On tea", url="https://example.org/tea")]
    assert counts(desk.send(again)) == (0, 0, 1, 0)
    moved = [desk.made("Tea.md", TEA, format="markdown", title="On tea", url="https://example.org/new")]
    assert counts(desk.send(moved)) == (0, 1, 0, 0)
    with Store.open(desk.home.store_url(CONFIG)) as store:
        (document,) = store.with_id("Tea.md")
    assert (document.title, document.url) == ("On tea", "https://example.org/new")


def test_a_rejected_upload_leaves_no_source_and_its_reason_names_the_sent_file(desk: Desk) -> None:
    outcome = desk({"photo.md": b"\0\0\0\0"})
    (reject,) = outcome.report.examples
    assert (counts(outcome), outcome.documents, reject.where) == ((0, 0, 0, 1), (), "photo.md")
    assert str(desk.folder) not in reject.reason
    assert names(desk.home) == []
    desk({"tea.md": TEA})
    broken = desk({"tea.md": b"\0\0", "new.md": b"\0\0"})
    assert "It keeps 1 document from before." in broken.report.examples[0].reason
    (info,) = list_sources(desk.home, CONFIG)
    assert (info.files, info.documents, info.source.error) == (1, 1, "")


def test_a_deleted_document_comes_back_with_its_file(desk: Desk) -> None:
    desk({"tea.md": TEA, "rust.md": RUST})
    assert delete(desk.home, CONFIG, desk.encoder, ids=["tea.md"]) == (1, [])
    desk({"rust.md": RUST})
    assert list(stored(desk.home)) == ["rust.md"]
    assert counts(desk({"tea.md": TEA})) == (1, 0, 0, 0)


def test_the_source_of_uploads_goes_with_its_last_document(desk: Desk) -> None:
    desk({"tea.md": TEA, "rust.md": RUST})
    desk({"salt.md": "Salt is white."}, collection="kitchen")
    delete(desk.home, CONFIG, desk.encoder, ids=["tea.md"])
    assert names(desk.home) == ["uploads", "uploads-kitchen"]
    delete(desk.home, CONFIG, desk.encoder, ids=["rust.md"])
    assert names(desk.home) == ["uploads-kitchen"]
    assert counts(desk({"rust.md": RUST})) == (1, 0, 0, 0)


def test_files_of_folders_and_uploads_have_ids_of_their_own(desk: Desk, added: Add, tmp_path: Path) -> None:
    added(write(tmp_path / "docs", {"tea.md": "Folder tea is green."}))
    desk({"tea.md": TEA})
    assert sorted(stored(desk.home)) == ["tea.md", "uploads/tea.md"]
    added(write(tmp_path / "more", {"rust.md": "Folder rust is red."}))
    desk({"rust.md": RUST})
    added(write(tmp_path / "third", {"tea.md": "Third tea is black."}))
    assert sorted(stored(desk.home)) == ["rust.md", "tea.md", "third/tea.md", "uploads/rust.md", "uploads/tea.md"]


def test_sync_passes_over_uploads_and_says_so_if_one_is_named(
    desk: Desk, added: Add, synced: Add, tmp_path: Path
) -> None:
    docs = write(tmp_path / "docs", {"moss.md": "Moss grows on stones."})
    added(docs)
    desk({"tea.md": TEA})
    write(docs, {"moss.md": "Moss grows on walls."})
    report = synced()
    assert (report.updated, report.removed, [one.name for one in report.sources]) == (1, 0, ["docs"])
    assert len(stored(desk.home)) == 2
    with pytest.raises(ChangeError, match="whose files were uploaded; upload them again"):
        synced("uploads")
    watcher = watcher_of(desk.home, lambda: (CONFIG, desk.encoder))
    assert list(watcher._watched().values()) == ["docs"]
    assert watcher._missing() == {}


def test_an_upload_is_renamed_and_removed_like_other_sources(desk: Desk) -> None:
    desk({"tea.md": TEA})
    rename_source(desk.home, CONFIG, "uploads", "sent")
    assert counts(desk({"rust.md": RUST})) == (1, 0, 0, 0)
    assert names(desk.home) == ["sent"]
    with Store.open(desk.home.store_url(CONFIG)) as store:
        assert chosen_sources(store, ["upload:default"])[0].name == "sent"
    assert remove_source(desk.home, CONFIG, desk.encoder, "sent") == 2
    assert stored(desk.home) == {}


def test_repair_and_another_encoder_take_the_text_from_the_store(desk: Desk, other_encoder: StaticEncoder) -> None:
    desk({"tea.md": TEA})
    assert repair(desk.home, CONFIG, desk.encoder) == 1
    switch_encoder(desk.home, CONFIG, other_encoder, name="other")
    assert "three minutes" in stored(desk.home)["tea.md"]
    with pytest.raises(ChangeError, match="but got another's"):
        desk({"rust.md": RUST})


def test_a_second_writer_is_refused(desk: Desk) -> None:
    with desk.home.lock("sync"), pytest.raises(WriterBusyError, match="sync by process"):
        desk({"tea.md": TEA})


def test_limits_bound_what_is_unpacked(desk: Desk, tmp_path: Path) -> None:
    bomb = packed({"zeros.txt": "0" * 3_000_000}, tmp_path / "bomb.zip")
    outcome = desk({"bomb.zip": bomb}, limits=Limits(total_bytes=100_000))
    assert (outcome.report.added, outcome.report.rejected) == (0, 1)


def test_uploads_on_the_command_line(qa_bot: Callable[..., Any], desk: Desk, tmp_path: Path) -> None:
    desk({"tea.md": TEA})
    first, other = ("--home", desk.home.path), ("--home", tmp_path / "other")
    (source,) = json.loads(qa_bot(*first, "sources", "--json").out)["sources"]
    assert (source["name"], source["kind"], source["files"]) == ("uploads", "upload", 1)
    called = qa_bot(*first, "sync", "uploads")
    assert (called.code, "were uploaded" in called.err) == (1, True)
    search = qa_bot(*first, "search", "tea", "--under", "uploads", "--engine", "keyword", "--json")
    assert [one["document"] for one in json.loads(search.out)["results"]] == ["tea.md"]
    archive = tmp_path / "all.zip"
    assert qa_bot(*first, "export", archive).code == 0
    imported = qa_bot(*other, "import", archive)
    assert (imported.code, "New sources" in f"{imported.out}{imported.err}") == (0, False), "there is no place to read"
    (copy,) = json.loads(qa_bot(*other, "sources", "--json").out)["sources"]
    assert (copy["name"], copy["kind"], copy["place"], copy["documents"]) == ("uploads", "upload", "upload:default", 1)
