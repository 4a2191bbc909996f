"""Writes the keyword index of passages: the fields of tantivy, and what filters look at."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import tantivy

from qa_core.text.analysis import terms as default_terms
from retrievers.engines.local.errors import CorruptIndexError
from retrievers.engines.local.facets import NO_FACETS, Facets

Analyser = Callable[[str], Sequence[str]]

WRITER_BYTES = 15_000_000  # the minimum of tantivy; a larger buffer would be filled
THREADS = 1  # a single writer thread keeps the order of passages, so that equal scores rank the same every time


class Entry(NamedTuple):
    """A passage to index; a text that is a sequence holds analysed terms."""

    key: int
    document: int
    title: str | Sequence[str]
    text: str | Sequence[str]  # the contents of the field `all`: title, body and passage
    grams: str = ""  # pieces of words, with a blank between two
    facets: Facets = NO_FACETS


class KeywordWriter:
    """Adds and deletes passages; readers see the changes after `commit`.

    Leaving the `with` block commits. After an error it drops all changes since the last commit.
    """

    def __init__(self, path: Path, *, analyser: Analyser = default_terms, memory_bytes: int = WRITER_BYTES) -> None:
        """Create an index in `path`, or open the existing one.

        Raises:
            CorruptIndexError: `path` holds files, but not a readable index.
            OSError: another writer holds the lock, or the disk is full.
        """
        self._path, self._analyser, self._memory = path, analyser, memory_bytes
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            self._index = _reopened(path)
        else:
            with self._writing():
                self._index = tantivy.Index(_schema(), path=str(path))
        self._writer: tantivy.IndexWriter | None = None
        self._open_writer()  # takes the lock

    def add(self, entries: Iterable[Entry]) -> int:
        """Add passages and return their number; a passage with a known key is added beside the old one.

        Raises:
            OSError: the disk is full or fails; committed changes stay intact.
        """
        added = 0
        for added, entry in enumerate(entries, start=1):  # noqa: B007 (the count is returned)
            document = _tantivy_document(entry, self._analyser)
            with self._writing():
                self._open_writer().add_document(document)
        return added

    def delete(self, documents: Iterable[int]) -> None:
        """Delete every passage of these documents, including those added since the last commit."""
        for document in documents:
            with self._writing():
                self._open_writer().delete_documents_by_term("document", document)

    def commit(self) -> None:
        """Make all changes durable, wait until tantivy has merged its segments, and release the lock."""
        writer, self._writer = self._open_writer(), None
        with self._writing():
            writer.commit()
            writer.wait_merging_threads()  # ends this writer; the next change opens a new one

    def close(self) -> None:
        """Release the folder; changes since the last commit are lost."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(ValueError):  # after a full disk the writer cannot roll back, and need not
                writer.rollback()
                writer.wait_merging_threads()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            self.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turn the `ValueError` with which tantivy reports a failing disk into an `OSError`."""
        try:
            yield
        except ValueError as error:
            free = shutil.disk_usage(self._path).free // 1_000_000
            raise OSError(
                f"Expected to write the keyword index to {self._path}, but got: {error} ({free} MB free on the disk); "
                "changes since the last commit are lost."
            ) from error

    def _open_writer(self) -> tantivy.IndexWriter:
        if self._writer is None:
            with self._writing():
                self._writer = self._index.writer(heap_size=self._memory, num_threads=THREADS)
        return self._writer


def clone(source: Path, target: Path) -> None:
    """Make `target` a copy of `source` by hard links, or by copies if the file system has no hard links.

    Writing to the copy does not change the original, because tantivy only adds, replaces or unlinks whole files. Lock
    files are the exception and are not cloned; close any writer of `source` first.
    """
    target.mkdir(parents=True)
    for file in data_files(source):
        try:
            (target / file.name).hardlink_to(file)
        except OSError:
            shutil.copy2(file, target / file.name)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in ("key", "document"):
        builder.add_integer_field(name, indexed=True, fast=True)
    for name in ("title", "all"):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="position")
        builder.add_integer_field(f"{name}_length", fast=True)  # tantivy does not report the total number of terms
    builder.add_text_field("grams", tokenizer_name="whitespace", index_option="freq")
    for name in ("collection", "folder", "language"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_integer_field("date", indexed=True, fast=True)
    return builder.build()


def _reopened(path: Path) -> tantivy.Index:
    if not (path / "meta.json").exists():
        raise CorruptIndexError(path, "files without meta.json")
    try:
        return tantivy.Index(_schema(), path=str(path), reuse=True)
    except (ValueError, OSError) as error:
        raise CorruptIndexError(path, error) from error


def _tantivy_document(entry: Entry, analyser: Analyser) -> tantivy.Document:
    document = tantivy.Document()
    document.add_integer("key", entry.key)
    document.add_integer("document", entry.document)
    for name, text in (("title", entry.title), ("all", entry.text)):
        terms = analyser(text) if isinstance(text, str) else text
        document.add_text(name, " ".join(terms))
        document.add_integer(f"{name}_length", len(terms))
    document.add_text("grams", entry.grams)
    document.add_text("collection", entry.facets.collection)
    for folder in entry.facets.folders:
        document.add_text("folder", folder)
    document.add_text("language", entry.facets.language)
    document.add_integer("date", entry.facets.date)
    return document


def data_files(path: Path) -> list[Path]:
    return sorted(file for file in path.iterdir() if file.suffix != ".lock")
