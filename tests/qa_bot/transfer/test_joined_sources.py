"""Export and import of sources, the state of their files, and former ids of documents."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from qa_bot.answering.answer_json import as_dict
from qa_bot.documents.ingest.records import Record
from qa_bot.documents.sync import add, add_records, list_sources, rename_source, synchronise
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.sections import StoreSection
from qa_bot.home.store import Source, Store
from qa_bot.transfer.exporting import export
from qa_bot.transfer.importing import Imported, join
from qa_bot.transfer.judgements import write_qrels
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.types import Answer, AnswerSource

TEXTS = {"rust.md": "Rub rust off with vinegar.", "sub/tea.txt": "Tea should steep for three minutes."}


@dataclass
class TestHome:
    """A home with its configuration."""

    __test__ = False
    home: Home
    config: Config
    encoder: StaticEncoder

    def add(self, path: Path, **options: object) -> None:
        add(self.home, self.config, self.encoder, [path], **options)

    def sync(self) -> dict[str, object]:
        report = synchronise(self.home, self.config, self.encoder)
        return {**report.as_dict(), **report.lists(), "errors": report.errors}

    def export(self, path: Path) -> Path:
        export(self.home, self.config, path, force=True)
        return path

    def join(self, path: Path) -> Imported:
        return join(self.home, self.config, self.encoder, path)

    def store(self) -> Store:
        return Store.open(self.home.store_url(self.config))

    def documents(self) -> dict[str, tuple[str, int | None, str, str]]:
        """Id → text, key of the source, file and path."""
        with self.store() as store:
            return {
                row.external_id: (row.passages[0].text, row.source, row.file, row.details.path)
                for row in store.stream_documents()
            }

    def sources(self) -> list[Source]:
        return [info.source for info in list_sources(self.home, self.config)]

    def vote(self, turn: str, document: str) -> None:
        """Record an answer that used a document, and a vote for it."""
        source = AnswerSource("p", document, "default", "", "", 1.0, "t", (0, 1), (0, 1))
        answer = Answer(f"{turn}?", "t", "passage", answered=True, confidence=1.0, sources=(source,), id=turn)
        with self.store() as store:
            store.save_turn(id=turn, question=f"{turn}?", answer=as_dict(answer))
            store.save_feedback(turn, "up")

    def judged(self, folder: Path) -> set[str]:
        """The documents that votes are for."""
        with self.store() as store:
            write_qrels(store, folder / "votes.qrels.tsv", force=True)
        return {line.split()[2] for line in (folder / "votes.qrels.tsv").read_text().splitlines()}


@pytest.fixture
def new_home(tmp_path: Path, new_store_url: Callable[[], str], encoder: StaticEncoder) -> Callable[[str], TestHome]:
    """Makes empty homes over databases of each kind."""

    def make(name: str) -> TestHome:
        return TestHome(Home.open(tmp_path / name), Config(store=StoreSection(url=new_store_url())), encoder)

    return make


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write(tmp_path / "one" / "docs", TEXTS)


def write(folder: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_an_imported_home_can_be_synchronised(new_home, docs: Path, tmp_path: Path) -> None:
    one, two = new_home("first"), new_home("second")
    one.add(docs, format="markdown")
    imported = two.join(one.export(tmp_path / "all.zip"))
    assert (imported.sources, imported.documents.added, imported.documents.rejected) == (1, 2, 0)
    assert str(docs) in imported.notices[-1]
    assert two.sources() == one.sources()
    assert two.documents() == one.documents()
    write(docs, {"new.md": "Bees dance."})
    (docs / "rust.md").write_text("Rub rust off with lemon.")
    (docs / "sub" / "tea.txt").rename(docs / "brew.txt")
    report = two.sync()
    lists = ["new.md"], ["rust.md"], [{"from": "sub/tea.txt", "to": "brew.txt"}], []
    assert tuple(report[name] for name in ("new", "changed", "moved", "deleted")) == lists
    assert {*two.documents()} == {"new.md", "rust.md", "brew.txt"}
    again = two.sync()
    assert (again["unchanged"], again["new"], again["changed"]) == (3, [], [])


def test_importing_again_changes_nothing_and_exports_alike(new_home, docs: Path, tmp_path: Path) -> None:
    one, two = new_home("first"), new_home("second")
    one.add(docs)
    (docs / "rust.md").rename(docs / "oxide.md")
    one.sync()
    archive = one.export(tmp_path / "all.zip")
    two.join(archive)
    again = two.join(archive)
    assert (again.sources, again.documents.unchanged, again.notices) == (0, 2, [])
    second = two.export(tmp_path / "second.zip")
    with zipfile.ZipFile(archive) as zipped, zipfile.ZipFile(second) as other:
        for name in ("sources.jsonl", "files.jsonl", "aliases.jsonl", "documents/1.jsonl"):
            assert zipped.read(name) == other.read(name), name


def test_a_renamed_source_keeps_its_first_name_for_ids(new_home, docs: Path, tmp_path: Path) -> None:
    theirs, ours = new_home("theirs"), new_home("ours")
    theirs.add(docs)
    rename_source(theirs.home, theirs.config, "docs", "papers")
    assert ours.join(theirs.export(tmp_path / "a.zip")).documents.added == 2
    (source,) = [info.source for info in list_sources(ours.home, ours.config)]
    assert (source.name, source.first_name) == ("papers", "docs")


def test_former_ids_keep_their_meaning(new_home, docs: Path, tmp_path: Path) -> None:
    one, two = new_home("first"), new_home("second")
    one.add(docs)
    one.vote("t1", "rust.md")
    (docs / "rust.md").rename(docs / "oxide.md")
    one.sync()
    two.join(one.export(tmp_path / "all.zip"))
    assert two.judged(tmp_path) == one.judged(tmp_path) == {"oxide.md"}
    with two.store() as store:
        assert [*store.find(["rust.md"])] == ["rust.md"]
    (docs / "oxide.md").rename(docs / "iron.md")
    two.sync()
    assert two.judged(tmp_path) == {"iron.md"}


def test_a_changed_file_of_both_homes_is_read_again(new_home, docs: Path, tmp_path: Path) -> None:
    """The archive's text replaces the newer one; the next synchronisation brings that back."""
    one, two = new_home("first"), new_home("second")
    one.add(docs)
    archive = one.export(tmp_path / "all.zip")
    (docs / "rust.md").write_text("Rub rust off with lemon.")
    two.add(docs)
    assert two.join(archive).documents.updated == 1
    assert "vinegar" in two.documents()["rust.md"][0]
    two.sync()
    assert "lemon" in two.documents()["rust.md"][0]
    assert len(two.sources()) == 1


def test_files_with_the_same_names_in_two_homes_both_stay(new_home, docs: Path, tmp_path: Path) -> None:
    one, two = new_home("first"), new_home("second")
    one.add(docs)
    (docs / "rust.md").rename(docs / "oxide.md")
    one.sync()
    one.vote("t1", "oxide.md")
    one.vote("t2", "rust.md")
    ours = write(tmp_path / "two" / "docs", {"oxide.md": "Our own oxide.", "rust.md": "Our own rust."})
    two.add(ours)
    two.vote("t3", "rust.md")
    two.join(one.export(tmp_path / "all.zip"))
    assert [source.name for source in two.sources()] == ["docs", "docs-2"]
    assert {id_: path for id_, (_, _, _, path) in two.documents().items()} == {
        "oxide.md": "oxide.md",
        "rust.md": "rust.md",
        "docs-2/oxide.md": "docs-2/oxide.md",
        "docs-2/sub/tea.txt": "docs-2/sub/tea.txt",
    }
    assert two.documents()["oxide.md"][0] == "Our own oxide."
    assert two.judged(tmp_path) == {"docs-2/oxide.md", "rust.md"}
    write(docs, {"new.md": "Bees dance."})
    report = two.sync()
    assert (report["new"], report["changed"], report["deleted"]) == (["new.md"], [], [])
    assert "docs-2/new.md" in two.documents()


def test_a_source_that_cannot_be_reached_here_keeps_its_documents(new_home, docs: Path, tmp_path: Path) -> None:
    one, two = new_home("first"), new_home("second")
    one.add(docs)
    archive = one.export(tmp_path / "all.zip")
    docs.rename(tmp_path / "elsewhere")
    two.join(archive)
    (error,) = two.sync()["errors"]
    assert "nothing was deleted" in error
    assert {*two.documents()} == {*TEXTS}


def test_rejected_documents_are_read_at_the_next_synchronisation(new_home, docs: Path, tmp_path: Path) -> None:
    one, two = new_home("first"), new_home("second")
    one.add(docs)

    def damage(name: str, line: bytes) -> bytes:
        return b"{}\n" if name.startswith("documents") and b"rust.md" in line else line

    imported = two.join(changed(one.export(tmp_path / "all.zip"), damage))
    assert (imported.documents.added, imported.documents.rejected) == (1, 1)
    assert two.sync()["added"] == 1
    assert {*two.documents()} == {*TEXTS}


@pytest.mark.parametrize(
    ("name", "line", "reason"),
    [
        ("sources.jsonl", {"key": 1}, "name: Field required"),
        ("sources.jsonl", {"key": 0, "name": "n", "kind": "x", "place": "p", "collection": "c"}, "key"),
        ("files.jsonl", {"source": 1, "path": "rust.md"}, "stem: Field required"),
        ("aliases.jsonl", {"collection": "default", "old": ""}, "old"),
        ("aliases.jsonl", "nonsense", "a line: Input should be"),
    ],
)
def test_invalid_lines_are_rejected_and_the_rest_is_imported(
    new_home, docs: Path, tmp_path: Path, name: str, line: object, reason: str
) -> None:
    one, two = new_home("first"), new_home("second")
    one.add(docs)
    archive = one.export(tmp_path / "all.zip")
    extra = json.dumps(line).encode() + b"\n"
    imported = two.join(changed(archive, lambda part, data: data, {name: extra}))
    assert (imported.documents.added, imported.documents.rejected) == (2, 1)
    assert reason in imported.documents.examples[0].reason
    assert two.sync()["errors"] == []


def test_archives_of_version_1_take_nothing_from_sources(new_home, docs: Path, tmp_path: Path) -> None:
    one, two = new_home("first"), new_home("second")
    one.add(docs)
    archive = as_version_1(one.export(tmp_path / "all.zip"))
    imported = two.join(archive)
    assert (imported.documents.added, imported.documents.rejected, two.sources()) == (2, 0, [])
    (docs / "rust.md").write_text("Rub rust off with lemon.")
    one.sync()
    assert one.join(archive).documents.updated == 1
    assert "vinegar" in one.documents()["rust.md"][0]
    one.sync()
    assert "lemon" in one.documents()["rust.md"][0]
    (docs / "rust.md").unlink()
    one.sync()
    assert {*one.documents()} == {"sub/tea.txt"}


def test_a_document_of_no_source_stays_without_one(new_home, tmp_path: Path, encoder: StaticEncoder) -> None:
    one, two = new_home("first"), new_home("second")
    add_records(one.home, one.config, encoder, [Record("a", "", "Bees dance.")], collection="answers")
    two.join(one.export(tmp_path / "all.zip"))
    assert two.documents() == {"a": ("Bees dance.", None, "", "")}


def changed(
    archive: Path, line: Callable[[str, bytes], bytes], extra: dict[str, bytes] | None = None, version: int = 2
) -> Path:
    """A copy of an archive after `line(part, line)`, with `extra` lines at the end of parts."""
    import hashlib

    with zipfile.ZipFile(archive) as zipped:
        parts = {name: zipped.read(name) for name in zipped.namelist()}
    manifest = json.loads(parts.pop("manifest.json"))
    manifest["version"] = version
    if version == 1:
        manifest["parts"] = [part for part in manifest["parts"] if part["kind"] not in ("sources", "files", "aliases")]
    copy = archive.with_name("changed.zip")
    with zipfile.ZipFile(copy, "w") as zipped:
        for part in manifest["parts"]:
            name = part["path"]
            data = b"".join(line(name, one) for one in parts[name].splitlines(keepends=True))
            data += (extra or {}).get(name, b"")
            part |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            zipped.writestr(name, data)
        zipped.writestr("manifest.json", json.dumps(manifest))
    return copy


def as_version_1(archive: Path) -> Path:
    """The archive as qa-bot 0.1 would have written it: documents name no source."""

    def line(name: str, data: bytes) -> bytes:
        if not name.startswith("documents"):
            return data
        fields = json.loads(data)
        fields = {key: value for key, value in fields.items() if key not in ("source", "file")}
        return json.dumps(fields).encode() + b"\n"

    return changed(archive, line, version=1)
