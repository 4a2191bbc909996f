"""Keyword search over passages: BM25 (k1 = 1.2, b = 0.75) and phrases. The only file that imports tantivy.

Texts are analysed by our analyser, and tantivy only splits them at spaces, so queries and passages share one analysis
in every language. The index stores only numbers: a hit is a key, and segments hold the texts.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property, lru_cache
from math import log
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np
import tantivy

from qa_core.text.analysis import terms as default_terms
from qa_core.types import IntArray
from retrievers.engines.index import Field, KeywordQuery, Phrase
from retrievers.engines.local.errors import CorruptIndexError
from retrievers.hits import Hits

Analyser = Callable[[str], Sequence[str]]

MAX_TERMS = 64  # time grows with every term; terms beyond the 64 of greatest weight hardly change a ranking
MAX_PHRASES = 64  # a phrase reads positions and costs more than a term
WRITER_BYTES = 15_000_000  # the minimum of tantivy; a larger buffer would be filled
THREADS = 1  # a single writer thread keeps the order of passages, so that equal scores rank the same every time
CACHED_FREQUENCIES = 20_000  # terms; every stage of a question needs the frequencies of the same terms


class Entry(NamedTuple):
    """A passage to index; a text that is a sequence holds analysed terms."""

    key: int
    document: int
    title: str | Sequence[str]
    text: str | Sequence[str]  # the contents of the field `all`: title, body and passage


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


class KeywordIndex:
    """A read-only, memory-mapped view of an index as of its opening; it writes nothing into the folder."""

    def __init__(self, path: Path, *, analyser: Analyser = default_terms) -> None:
        """Open `path`.

        Raises:
            FileNotFoundError: the folder does not exist.
            CorruptIndexError: a file in it is missing, truncated or unreadable.
        """
        if not path.is_dir():
            raise FileNotFoundError(
                f"Expected a keyword index in {path}, but got no such folder; run qa-bot add first."
            )
        self._path, self._analyser = path, analyser
        try:
            self.deleted = _deleted(path)
            self._index, self._searcher = _open_searcher(path)
        except (ValueError, KeyError, OSError) as error:
            raise CorruptIndexError(path, error) from error
        self._schema = self._index.schema
        self._frequency = lru_cache(maxsize=CACHED_FREQUENCIES)(self._searcher.doc_freq)

    @cached_property
    def documents(self) -> int:
        """Number of searchable passages; `deleted` more remain in the files until tantivy merges them away."""
        return self._searcher.num_docs

    def average_length(self, field: Field) -> float:
        """Mean number of terms in a field of a passage, 0 for an empty index."""
        return self._average_lengths[field]

    def document_frequency(self, field: Field, term: str) -> int:
        """Number of passages whose field contains the term, including deleted ones that are not merged away yet."""
        return self._frequency(field, term)

    def search(self, query: KeywordQuery, k: int) -> Hits:
        """The k best passages, best first, equal scores by key.

        score = Σ_t w_t · idf(t) · f (k1 + 1) / (f + k1 (1 − b + b · length / average length)),
        idf(t) = ln(1 + (N − n + .5) / (n + .5)); lengths are rounded to one byte, as in Lucene. A phrase counts like
        a term whose idf is the sum over its terms (Robertson & Zaragoza 2009, §3; k1 = 1.2, b = .75).
        A query without known terms matches nothing. Of more than `MAX_TERMS` terms those of greatest w·idf are used.
        """
        clauses = self._clauses(query)
        limit = min(k, self.documents)
        if limit < 1 or not clauses:
            return Hits.of()
        try:
            matches = self._searcher.search(tantivy.Query.boolean_query(clauses), limit, count=False).hits
        except ValueError as error:
            raise CorruptIndexError(self._path, error) from error
        return self._hits(matches)

    def search_text(self, text: str, k: int, *, field: Field = "all") -> Hits:
        """The k best passages for a text, each of its words with weight 1."""
        return self.search(KeywordQuery(tuple((term, 1.0) for term in self._analyser(text)), field), k)

    def _hits(self, matches: Sequence[tuple[float, tantivy.DocAddress]]) -> Hits:
        if not matches:
            return Hits.of()
        scores, addresses = zip(*matches, strict=True)
        documents, passages = (self._numbers(name, [*addresses]) for name in ("document", "key"))
        return Hits.of(documents, passages, scores).ordered()

    def _numbers(self, field: str, addresses: list[tantivy.DocAddress]) -> IntArray:
        return np.array(self._searcher.fast_field_values(field, addresses), np.int64)

    def _clauses(self, query: KeywordQuery) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        weighted = self._known_terms(query.field, query.terms)
        clauses = [self._boosted(tantivy.Query.term_query(self._schema, query.field, t), w) for t, w in weighted]
        for words, weight, slop in self._known_phrases(query):
            phrase = tantivy.Query.phrase_query(self._schema, query.field, list(words), slop=slop)
            clauses.append(self._boosted(phrase, weight))
        return clauses

    @staticmethod
    def _boosted(query: tantivy.Query, weight: float) -> tuple[tantivy.Occur, tantivy.Query]:
        return tantivy.Occur.Should, tantivy.Query.boost_query(query, weight)

    def _known_terms(self, field: Field, terms: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
        """Distinct known terms with summed weights: the `MAX_TERMS` of greatest w·idf, in the order of the query."""
        weights: dict[str, float] = defaultdict(float)
        for term, weight in terms:
            weights[term] += weight
        frequencies = {term: self.document_frequency(field, term) for term in weights}
        known = [term for term in weights if frequencies[term] and weights[term] > 0]
        if len(known) > MAX_TERMS:
            total = self.documents + self.deleted
            best = sorted(known, key=lambda t: -weights[t] * _idf(frequencies[t], total))[:MAX_TERMS]
            known = [term for term in known if term in set(best)]
        return [(term, weights[term]) for term in known]

    def _known_phrases(self, query: KeywordQuery) -> list[Phrase]:
        """The first `MAX_PHRASES` phrases whose terms all occur; others cannot match."""
        known: dict[str, bool] = {}
        phrases: list[Phrase] = []
        for phrase in query.phrases:
            if len(phrase[0]) < 2:
                raise ValueError(
                    f"Expected a phrase of two terms or more, but got {phrase[0]}; put single terms in `terms`."
                )
            for term in phrase[0]:
                if term not in known:
                    known[term] = self.document_frequency(query.field, term) > 0
            if phrase[1] > 0 and all(known[term] for term in phrase[0]):
                phrases.append(phrase)
            if len(phrases) == MAX_PHRASES:
                break
        return phrases

    @cached_property
    def _average_lengths(self) -> dict[Field, float]:
        if not self.documents:
            return {"title": 0.0, "all": 0.0}
        request = {name: {"avg": {"field": f"{name}_length"}} for name in ("title", "all")}
        averages = self._searcher.aggregate(tantivy.Query.all_query(), request)
        return {"title": averages["title"]["value"], "all": averages["all"]["value"]}


def clone(source: Path, target: Path) -> None:
    """Make `target` a copy of `source` by hard links, or by copies if the file system has no hard links.

    Writing to the copy does not change the original, because tantivy only adds, replaces or unlinks whole files. Lock
    files are the exception and are not cloned; close any writer of `source` first.
    """
    target.mkdir(parents=True)
    for file in _data_files(source):
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
    return document


def _open_searcher(path: Path) -> tuple[tantivy.Index, tantivy.Searcher]:
    """Open through a temporary folder of links, because tantivy creates a lock file even to read."""
    with ExitStack() as stack:
        try:
            folder = Path(tempfile.mkdtemp(prefix="qa-bot-"))
            stack.callback(_remove, folder)
            for file in _data_files(path):
                (folder / file.name).symlink_to(file.resolve())
        except OSError:  # no space for links: reading must work on a full disk too
            folder = path
        return _searcher(folder)


def _remove(folder: Path) -> None:
    for _ in range(3):  # soon after opening, a thread of tantivy may create its lock file again
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return


def _searcher(folder: Path) -> tuple[tantivy.Index, tantivy.Searcher]:
    index = tantivy.Index.open(str(folder))
    index.config_reader(reload_policy="manual")
    searcher = index.searcher()
    for name in ("title", "all"):
        searcher.doc_freq(name, "")  # maps files that tantivy would open at the first search
    return index, searcher


def _data_files(path: Path) -> list[Path]:
    return sorted(file for file in path.iterdir() if file.suffix != ".lock")


def _deleted(path: Path) -> int:
    segments = json.loads((path / "meta.json").read_text(encoding="utf-8"))["segments"]
    return sum(segment["deletes"]["num_deleted_docs"] for segment in segments if segment["deletes"])


def _idf(n: int, total: int) -> float:
    return log(1 + (total - n + 0.5) / (n + 0.5))
