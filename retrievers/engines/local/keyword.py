"""Keyword search over passages: BM25 (k1 = 1.2, b = 0.75) and phrases. The one door of tantivy.

Texts are analysed before they come here and tantivy only splits at spaces, so that queries and passages always
share one analysis, whatever the language. Nothing is stored but numbers: a hit is a key, the texts live elsewhere.
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

MAX_TERMS = 64  # time grows with every term; beyond the 64 weightiest ones a ranking hardly moves
MAX_PHRASES = 64  # a phrase reads positions and is dearer than a term
WRITER_BYTES = 15_000_000  # the least that tantivy takes: more is filled, and seen as memory that grows with the input
THREADS = 1  # one writer thread: passages keep their order, so that equal scores always come out alike
FREQUENCIES = 20_000  # terms whose document frequency is remembered: each stage of a question asks for the same ones


class Entry(NamedTuple):
    """A passage to index; a text given as a sequence is taken as terms that are analysed already."""

    key: int
    document: int
    title: str | Sequence[str]
    text: str | Sequence[str]  # all that `all` should find: title, body and the passage itself


class KeywordWriter:
    """Adds and deletes; nothing is seen by anybody before `commit`.

    Leaving the `with` block commits, unless an error passes through: then what was not committed is dropped.
    """

    def __init__(self, path: Path, *, analyser: Analyser = default_terms, memory_bytes: int = WRITER_BYTES) -> None:
        """Create the index in `path`, or open the one that is there.

        Raises:
            CorruptIndexError: `path` holds files, but not a readable index.
            OSError: another writer has it open, or the disk is full.
        """
        self._path, self._analyser, self._memory = path, analyser, memory_bytes
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            self._index = _reopened(path)
        else:
            with self._writing():
                self._index = tantivy.Index(_schema(), path=str(path))
        self._writer: tantivy.IndexWriter | None = None
        self._opened()  # takes the lock

    def add(self, entries: Iterable[Entry]) -> int:
        """Add passages and return how many; a key that is there already is not replaced.

        Raises:
            OSError: the disk is full or fails; what was committed before stays whole.
        """
        added = 0
        for added, entry in enumerate(entries, start=1):  # noqa: B007 (the count is wanted after the loop)
            document = _tantivy_document(entry, self._analyser)
            with self._writing():
                self._opened().add_document(document)
        return added

    def delete(self, documents: Iterable[int]) -> None:
        """Delete every passage of these documents, those added since the last commit too."""
        for document in documents:
            with self._writing():
                self._opened().delete_documents_by_term("document", document)

    def commit(self) -> None:
        """Make all changes durable and wait until segments are merged, the folder is at rest and its lock is free."""
        writer, self._writer = self._opened(), None
        with self._writing():
            writer.commit()
            writer.wait_merging_threads()  # ends this writer; the next change opens another

    def close(self) -> None:
        """Release the folder; changes since the last commit are lost."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(ValueError):  # a writer that a full disk has ended cannot be rolled back, and need not be
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
        """tantivy reports what goes wrong with the disk, in its own threads, as a `ValueError` of few words."""
        try:
            yield
        except ValueError as error:
            free = shutil.disk_usage(self._path).free // 1_000_000
            raise OSError(
                f"Expected to write the keyword index to {self._path}, but got: {error} ({free} MB free on the disk); "
                "nothing since the last commit is kept."
            ) from error

    def _opened(self) -> tantivy.IndexWriter:
        if self._writer is None:
            with self._writing():
                self._writer = self._index.writer(heap_size=self._memory, num_threads=THREADS)
        return self._writer


class KeywordIndex:
    """A read-only view of an index as it was when opened, memory-mapped; it writes nothing into the folder."""

    def __init__(self, path: Path, *, analyser: Analyser = default_terms) -> None:
        """Open `path`.

        Raises:
            FileNotFoundError: there is no such folder.
            CorruptIndexError: the folder is there, but its files are missing, cut short or unreadable.
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
        self._frequency = lru_cache(maxsize=FREQUENCIES)(self._searcher.doc_freq)

    @cached_property
    def documents(self) -> int:
        """How many passages can be found; `deleted` further ones wait to be merged away."""
        return self._searcher.num_docs

    def average_length(self, field: Field) -> float:
        """Mean number of terms of a passage's field, 0 for an empty index."""
        return self._average_lengths[field]

    def document_frequency(self, field: Field, term: str) -> int:
        """In how many passages the term stands, deleted ones counted until they are merged away."""
        return self._frequency(field, term)

    def search(self, query: KeywordQuery, k: int) -> Hits:
        """The k best passages, best first, equal scores by key.

        score = Σ_t w_t · idf(t) · f (k1 + 1) / (f + k1 (1 − b + b · length / average length)),
        idf(t) = ln(1 + (N − n + .5) / (n + .5)); lengths are rounded to one byte, as in Lucene. A phrase counts like
        a term whose idf is the sum of its terms' (Robertson & Zaragoza 2009, §3; k1 = 1.2, b = .75).
        A query of no known term finds nothing; of more than `MAX_TERMS` the weightiest by w·idf are kept.
        """
        clauses = self._clauses(query)
        limit = min(k, self.documents)
        if limit < 1 or not clauses:
            return Hits.of()
        try:
            found = self._searcher.search(tantivy.Query.boolean_query(clauses), limit, count=False).hits
        except ValueError as error:
            raise CorruptIndexError(self._path, error) from error
        return self._hits(found)

    def search_text(self, text: str, k: int, *, field: Field = "all") -> Hits:
        """The k best passages for a text, each of its words with weight 1."""
        return self.search(KeywordQuery(tuple((term, 1.0) for term in self._analyser(text)), field), k)

    def search_many(self, queries: Iterable[KeywordQuery], k: int) -> list[Hits]:
        return [self.search(query, k) for query in queries]

    def _hits(self, found: Sequence[tuple[float, tantivy.DocAddress]]) -> Hits:
        if not found:
            return Hits.of()
        scores, addresses = zip(*found, strict=True)
        documents, passages = (self._numbers(name, [*addresses]) for name in ("document", "key"))
        return Hits.of(documents, passages, scores).ordered()

    def _numbers(self, field: str, addresses: list[tantivy.DocAddress]) -> IntArray:
        return np.array(self._searcher.fast_field_values(field, addresses), np.int64)

    def _clauses(self, query: KeywordQuery) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        weighted = self._weightiest(query.field, query.terms)
        clauses = [self._boosted(tantivy.Query.term_query(self._schema, query.field, t), w) for t, w in weighted]
        for words, weight, slop in self._known_phrases(query):
            phrase = tantivy.Query.phrase_query(self._schema, query.field, list(words), slop=slop)
            clauses.append(self._boosted(phrase, weight))
        return clauses

    @staticmethod
    def _boosted(query: tantivy.Query, weight: float) -> tuple[tantivy.Occur, tantivy.Query]:
        return tantivy.Occur.Should, tantivy.Query.boost_query(query, weight)

    def _weightiest(self, field: Field, terms: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
        """Distinct known terms with summed weights; the `MAX_TERMS` of greatest w·idf, in the order of the query."""
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
        """Phrases of terms that all occur: any other cannot be found, and long queries bring thousands."""
        known: dict[str, bool] = {}
        kept: list[Phrase] = []
        for phrase in query.phrases:
            if len(phrase[0]) < 2:
                raise ValueError(
                    f"Expected a phrase of two terms or more, but got {phrase[0]}; put single terms in `terms`."
                )
            for term in phrase[0]:
                if term not in known:
                    known[term] = self.document_frequency(query.field, term) > 0
            if phrase[1] > 0 and all(known[term] for term in phrase[0]):
                kept.append(phrase)
            if len(kept) == MAX_PHRASES:
                break
        return kept

    @cached_property
    def _average_lengths(self) -> dict[Field, float]:
        if not self.documents:
            return {"title": 0.0, "all": 0.0}
        wanted = {name: {"avg": {"field": f"{name}_length"}} for name in ("title", "all")}
        averages = self._searcher.aggregate(tantivy.Query.all_query(), wanted)
        return {"title": averages["title"]["value"], "all": averages["all"]["value"]}


def clone(source: Path, target: Path) -> None:
    """Make `target` a copy of `source` by hard links, or by copying where the disk cannot link.

    Writing to the copy leaves the original as it is: an index only ever adds, replaces or unlinks whole files. Lock
    files are the exception, written in place, and stay behind; so must a writer of `source` be closed before.
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
        builder.add_integer_field(f"{name}_length", fast=True)  # tantivy does not tell the total number of terms
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
    """Open through a folder of links that is gone afterwards: tantivy makes a lock file even where it only reads."""
    with ExitStack() as stack:
        try:
            folder = Path(tempfile.mkdtemp(prefix="qa-bot-"))
            stack.callback(_remove, folder)
            for file in _data_files(path):
                (folder / file.name).symlink_to(file.resolve())
        except OSError:  # no room for links: a full disk should not stop the answers
            folder = path
        return _searcher(folder)


def _remove(folder: Path) -> None:
    for _ in range(3):  # a thread of tantivy's looks once, soon after opening, and may put its lock back meanwhile
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return


def _searcher(folder: Path) -> tuple[tantivy.Index, tantivy.Searcher]:
    index = tantivy.Index.open(str(folder))
    index.config_reader(reload_policy="manual")
    searcher = index.searcher()
    for name in ("title", "all"):
        searcher.doc_freq(name, "")  # maps the files that tantivy opens at the first question only
    return index, searcher


def _data_files(path: Path) -> list[Path]:
    return sorted(file for file in path.iterdir() if file.suffix != ".lock")


def _deleted(path: Path) -> int:
    segments = json.loads((path / "meta.json").read_text(encoding="utf-8"))["segments"]
    return sum(segment["deletes"]["num_deleted_docs"] for segment in segments if segment["deletes"])


def _idf(n: int, total: int) -> float:
    return log(1 + (total - n + 0.5) / (n + 0.5))
