"""Keyword search over passages: BM25 (k1 = 1.2, b = 0.75) and phrases. The only file that imports tantivy.

Texts are analysed by our analyser, and tantivy only splits them at spaces, so queries and passages share one analysis
in every language. The index stores only numbers: a hit is a key, and segments hold the texts.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property, lru_cache, wraps
from math import log
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import numpy as np
import tantivy

from qa_core.distinct import distinct
from qa_core.text.analysis import terms as default_terms
from qa_core.text.languages import LANGUAGES
from qa_core.types import IntArray
from retrievers.engines.index import NO_FILTER, Field, Filter, KeywordQuery, Phrase
from retrievers.engines.local.errors import CorruptIndexError
from retrievers.engines.local.keyword_writer import Analyser, data_files
from retrievers.hits import Hits

_Method = TypeVar("_Method", bound=Callable[..., Any])
MAX_TERMS = 64  # time grows with every term; terms beyond the 64 of greatest weight hardly change a ranking
MAX_PHRASES = 64  # a phrase reads positions and costs more than a term
LAST_DATE = 99_991_231
OTHER_LANGUAGES = sorted(LANGUAGES.keys() - {"en"})
CACHED_FREQUENCIES = 5_000  # terms; every stage of a question needs the frequencies of the same terms


@contextmanager
def _naming_damage(path: Path) -> Iterator[None]:
    """Turn tantivy's errors over damaged files into a CorruptIndexError; its panics are no `Exception`."""
    try:
        yield
    except (ValueError, TypeError, KeyError, OverflowError, OSError) as error:
        raise CorruptIndexError(path, error) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise CorruptIndexError(path, error) from None


def _names_damage(method: _Method) -> _Method:
    """The method of an index, whose errors name the damaged files."""

    @wraps(method)
    def guarded(index: KeywordIndex, *args: Any, **named: Any) -> Any:
        with _naming_damage(index.path):
            return method(index, *args, **named)

    return cast("_Method", guarded)


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
        self.path, self._analyser = path, analyser
        with _naming_damage(path):
            self.deleted = _deleted(path)
            self._index, self._searcher = _open_searcher(path)
            self._schema = self._index.schema
            self._is_first_layout = not _has_field(self._searcher, "grams")
        self._frequency = lru_cache(maxsize=CACHED_FREQUENCIES)(self._searcher.doc_freq)

    @cached_property
    def documents(self) -> int:
        """Number of searchable passages; `deleted` more remain in the files until tantivy merges them away."""
        return self._searcher.num_docs

    @cached_property
    def languages(self) -> dict[str, int]:
        """Number of passages by the language of their analysis; in an index of version 0.1 all are English."""
        others = {} if self._is_first_layout else {code: self._frequency("language", code) for code in OTHER_LANGUAGES}
        counts = {code: count for code, count in others.items() if count}
        return {**counts, "en": max(0, self.documents - sum(counts.values()))}

    def average_length(self, field: Field) -> float:
        """Mean number of terms in a field of a passage, 0 for an empty index."""
        return self._average_lengths[field]

    def document_frequency(self, field: Field, term: str) -> int:
        """Number of passages whose field contains the term, including deleted ones that are not merged away yet."""
        if field == "grams" and self._is_first_layout:
            return 0
        return self._frequency(field, term)

    def search(self, query: KeywordQuery, k: int, only: Filter | None = None) -> Hits:
        """The k best passages, best first, equal scores by key; of those that a filter lets through.

        score = Σ_t w_t · idf(t) · f (k1 + 1) / (f + k1 (1 − b + b · length / average length)),
        idf(t) = ln(1 + (N − n + .5) / (n + .5)); lengths are rounded to one byte, as in Lucene. A phrase counts like
        a term whose idf is the sum over its terms (Robertson & Zaragoza 2009, §3; k1 = 1.2, b = .75).
        A query without known terms matches nothing. Of more than `MAX_TERMS` terms those of greatest w·idf are used.
        """
        clauses = self._clauses(query)
        limit = min(k, self.documents)
        if limit < 1 or not clauses:
            return Hits.of()
        text = tantivy.Query.boolean_query(clauses)
        return self._hits(self._best(self._restricted(text, only), limit))

    @_names_damage
    def _best(self, query: tantivy.Query, limit: int) -> Any:
        return self._searcher.search(query, limit, count=False).hits

    def count(self, only: Filter, field: Field | Literal["language"] | None = None, term: str = "") -> int:
        """Number of passages that a filter lets through; with a field, of those whose field contains the term."""
        if not self.documents:
            return 0
        if field is None:
            return self._count(self._filter(only))
        if field == "grams" and self._is_first_layout:
            return 0
        query = self._restricted(tantivy.Query.term_query(self._schema, field, term, "basic"), only)
        return self._count(query)

    @_names_damage
    def _count(self, query: tantivy.Query) -> int:
        return int(self._searcher.search(query, 1, count=True).count)  # type: ignore[attr-defined]

    @_names_damage
    def has(self, field: Literal["collection", "folder", "language"], value: str) -> bool:
        """Whether any passage has this value; always for an index of version 0.1, which cannot be filtered."""
        if self._is_first_layout:
            return True
        if not self._searcher.doc_freq(field, value):  # which counts deleted passages, too
            return False
        query = tantivy.Query.term_query(self._schema, field, value, "basic")
        return not self.deleted or bool(self._searcher.search(query, 1, count=False).hits)

    @_names_damage
    def matching(self, only: Filter) -> IntArray:
        """The documents (n,) that a filter lets through, ascending."""
        query = self._filter(only)
        if query is None or not self.documents:
            return np.zeros(0, np.int64)
        hits = self._searcher.search(query, self.documents, count=False).hits
        return distinct(self._numbers("document", [address for _, address in hits]))

    def search_text(self, text: str, k: int, *, field: Field = "all") -> Hits:
        """The k best passages for a text, each of its words with weight 1."""
        return self.search(KeywordQuery(tuple((term, 1.0) for term in self._analyser(text)), field), k)

    def _restricted(self, text: tantivy.Query, only: Filter | None) -> tantivy.Query:
        """A query that a filter narrows, without a change of scores; collections left out need no filter beside it."""
        if not only:
            return text
        clauses = [(tantivy.Occur.Must, text)]
        if rest := replace(only, without=()):
            clauses.append((tantivy.Occur.Must, tantivy.Query.const_score_query(self._filter(rest), 0.0)))
        return tantivy.Query.boolean_query([*clauses, *self._left_out(only)])

    def _left_out(self, only: Filter) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        excluded = _any_of(self._schema, "collection", only.without)
        return [] if excluded is None or self._is_first_layout else [(tantivy.Occur.MustNot, excluded)]

    def _filter(self, only: Filter) -> tantivy.Query:
        """A query for the passages that a filter lets through.

        Raises ValueError for an index of version 0.1, which has no fields to filter by.
        """
        if self._is_first_layout:
            raise ValueError(
                "Expected an index that can be filtered, but got one of version 0.1; run `qa-bot repair` once."
            )
        parts = [
            _any_of(self._schema, "collection", only.collections),
            _any_of(self._schema, "folder", only.under),
            _any_of(self._schema, "language", only.languages),
        ]
        if only.since or only.until:
            bounds = only.since or 1, only.until or LAST_DATE
            parts.append(tantivy.Query.range_query(self._schema, "date", tantivy.FieldType.Integer, *bounds))
        clauses = [(tantivy.Occur.Must, part) for part in parts if part is not None]
        clauses = clauses or [(tantivy.Occur.Must, tantivy.Query.all_query())]
        return tantivy.Query.boolean_query([*clauses, *self._left_out(only)])

    @_names_damage
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
    def _average_lengths(self) -> Mapping[Field, float]:
        return self.average_lengths(NO_FILTER)

    @_names_damage
    def average_lengths(self, only: Filter) -> Mapping[Field, float]:
        """Mean number of terms in each field of the passages that a filter lets through; 0 without any."""
        if not self.documents:
            return {"title": 0.0, "all": 0.0}
        query = self._filter(only) if only else tantivy.Query.all_query()
        request = {name: {"avg": {"field": f"{name}_length"}} for name in ("title", "all")}
        averages = self._searcher.aggregate(query, request)
        return {"title": averages["title"]["value"] or 0.0, "all": averages["all"]["value"] or 0.0}


def _any_of(schema: tantivy.Schema, field: str, values: Iterable[str]) -> tantivy.Query | None:
    """Passages with one of the values; None to ask for none."""
    terms = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, field, value, "basic")) for value in values]
    return tantivy.Query.boolean_query(terms) if terms else None


def _open_searcher(path: Path) -> tuple[tantivy.Index, tantivy.Searcher]:
    """Open through a temporary folder of links, because tantivy creates a lock file even to read."""
    with ExitStack() as stack:
        try:
            folder = Path(tempfile.mkdtemp(prefix="qa-bot-"))
            stack.callback(_remove, folder)
            for file in data_files(path):
                (folder / file.name).symlink_to(file.resolve())
        except OSError:  # no space for links: reading must work on a full disk too
            folder = path
        return _searcher(folder)


def _has_field(searcher: tantivy.Searcher, field: str) -> bool:
    try:
        searcher.doc_freq(field, "")
    except ValueError:
        return False
    return True


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


def _deleted(path: Path) -> int:
    segments = json.loads((path / "meta.json").read_text(encoding="utf-8"))["segments"]
    return sum(segment["deletes"]["num_deleted_docs"] for segment in segments if segment["deletes"])


def _idf(n: int, total: int) -> float:
    return log(1 + (total - n + 0.5) / (n + 0.5))
