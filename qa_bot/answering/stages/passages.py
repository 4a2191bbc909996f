"""Rank passages by what they say: several searches find them, and the sum of their evidence puts them in order.

The formula is `rankers.passage_evidence`. A document ranks as its best passage does. A turn of a conversation may be
searched in several readings, whose evidence is averaged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from qa_bot.answering.clock import Clock
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.evidence.bonuses import places_bonus, words_bonus
from qa_bot.answering.evidence.question_words import ANYWHERE, AskedPlaces
from qa_bot.answering.stages.rank import RIVALS
from qa_bot.answering.stages.retrieve import RankedList, SearchMode, expanded, understanding
from qa_bot.answering.tiling.leads.lead import with_leads
from qa_core.distinct import distinct
from qa_core.types import Candidate, Encoder, FloatArray, IntArray, Passage, Signals
from rankers.clue import inverse_frequency
from rankers.passage_evidence import (
    ARCHIVED,
    MOST,
    PAIRS,
    PROSE,
    Channel,
    Scores,
    averaged,
    mean,
    same_title_bonus,
    scaled,
    summed,
    topic_bonus,
)
from rankers.question_titles import is_pair
from retrievers.codes import document_codes
from retrievers.engines.index import Filter, Index, KeywordQuery
from retrievers.formulate import Formulation, piece_query
from retrievers.fusion import ScoredDocuments
from retrievers.german_synonyms import searched_synonyms
from retrievers.hits import Hits
from retrievers.measured_properties import WEIGHT, property_terms

KEYWORD_DEPTH = 1000
"""Passages whose BM25 scores are known; all others count 0."""
DENSE_DEPTH = 150
"""Passages of each search by vectors."""
TITLES = 50
"""Documents whose titles fit best; all of their passages are candidates."""
WEIGHED = 4
"""Passages by a preliminary sum, for each document wanted, whose titles and states are looked at."""
WITH_VERSION = 1000
"""The same if the question names a version: "2.13" is no word of the section "2.13.0"."""
LEADS = 10
"""Best passages whose answering sentences are looked for."""
SHARED_PIECES = 0.4
"""Share of the weight of the question's pieces that a passage must have to be found by them."""


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """Hits of each channel, and the encoded question."""

    hits: Mapping[Channel, Hits] = field(default_factory=dict)
    query: FloatArray | None = None  # (D,)
    weight: float = 1.0  # of vectors: how far the encoder understands the question
    least_pieces: float = 0.0  # score from which on pieces alone bring a passage

    def __or__(self, other: FoundPassages) -> FoundPassages:
        one = self if self.query is not None else other
        least = max(self.least_pieces, other.least_pieces)
        return FoundPassages({**self.hits, **other.hits}, one.query, one.weight, least)


@dataclass(frozen=True, slots=True)
class RankedPassages:
    """Documents at their best passages, best first, and the best passages with their leads.

    `separation` is F of the first passage minus the mean of the next nine.
    """

    candidates: tuple[Candidate, ...] = ()
    lists: tuple[RankedList, ...] = ()
    separation: float = 0.0
    passages: tuple[Candidate, ...] = ()


def find_passages(
    index: Index,
    encoder: Encoder | None,
    readings: Sequence[Formulation],
    clock: Clock,
    *,
    mode: SearchMode,
    only: Filter | None,
    feedback: int = 0,
) -> list[FoundPassages]:
    """Passages of each reading of a question, by each channel whose engine finishes in time."""
    works: dict[str, Callable[[Deadline], list[FoundPassages]]] = {}
    if mode != "keyword" and encoder is not None and any(reading.text for reading in readings):
        works["dense"] = lambda share: [_by_vectors(index, encoder, reading, only, share) for reading in readings]
    if mode != "dense":
        works["keyword"] = lambda share: [_by_words(index, reading, only, feedback, share) for reading in readings]
    quick = ["dense"] if encoder is not None and encoder.quick else []
    merged = [FoundPassages() for _ in readings]
    for parts in clock.run_parallel(works, merged, quick=quick).values():
        merged = [one | other for one, other in zip(merged, parts, strict=True)]
    return merged


def rank_passages(
    index: Index,
    readings: Sequence[FoundPassages],
    *,
    deadline: Deadline,
    depth: int,
    include_archived: bool = False,
    places: AskedPlaces = ANYWHERE,
    formulation: Formulation | None = None,
    topic: str = "",
) -> RankedPassages:
    """Up to `depth` documents in the order of the evidence for their best passages, the mean over all readings.

    The words of `formulation` help to find the leads, and titles if vectors say little. The document with the title
    `topic` answered the turn before, which the first reading goes on with.
    """
    readings = [reading for reading in readings if reading.hits]
    keys, documents = _candidates(index, readings)
    if not len(keys):
        return RankedPassages()
    raws, scaled_raws = [], []
    for reading in readings:
        deadline.check()
        raw, lows = _channels(index, reading, keys, documents)
        raws.append(raw)
        scaled_raws.append({name: scaled(scores, low=lows[name]) for name, scores in raw.items()})
    deadline.check()
    raw, shares = mean(raws), averaged(scaled_raws)
    understood = float(np.mean([reading.weight if reading.query is not None else 0.0 for reading in readings]))
    prose, pairs = _sum(shares, PROSE, understood), _sum(shares, PAIRS, understood)
    if "title" in raw:
        pairs = pairs + understood * same_title_bonus(raw["title"])
    deadline.check()
    most = WITH_VERSION if places.versions else max(WEIGHED * depth, 100)
    first = np.lexsort((keys, -np.maximum(prose, pairs)))[:most]
    passages = index.passages(keys[first].tolist())
    deadline.check()
    sums = _final(passages, keys[first], prose[first], pairs[first], include_archived=include_archived)
    considered = [passages[key] for key in keys[first].tolist()]
    named = document_codes(considered, places.codes)
    sums += places_bonus(considered, places, named)
    if formulation:
        sums += words_bonus(considered, formulation, understood, index, alone=len(readings) == 1)
    if topic:
        alone = {name: scores[first] for name, scores in scaled_raws[0].items()}
        sums += _topic_bonus(considered, topic, alone, readings[0].weight)
    order = first[np.lexsort((keys[first], -sums))]
    by_row = dict(zip(first.tolist(), zip(sums.tolist(), named, strict=True), strict=True))
    heads, best = order[:LEADS].tolist(), _best_of_documents(order, documents)[:depth].tolist()
    candidates = {
        row: _candidate(passages[int(keys[row])], by_row[row], row, raw) for row in dict.fromkeys([*heads, *best])
    }
    if queries := [reading.query for reading in readings if reading.query is not None]:
        query: FloatArray = np.asarray(np.mean(queries, axis=0), np.float32)  # (D,): its products are the mean cosines
        numbered = {int(keys[row]): candidates[row] for row in heads}
        candidates.update(zip(heads, with_leads(index, query, numbered, formulation), strict=True))
    separation = _separation([by_row[row][0] for row in order[: RIVALS + 1].tolist()])
    ranked, nearest = tuple(candidates[row] for row in best), tuple(candidates[row] for row in heads)
    return RankedPassages(ranked, _lists(readings[-1].hits), separation, nearest)


def _separation(sums: Sequence[float]) -> float:
    """How far the first passage is above the mean of those after it."""
    return sums[0] - float(np.mean(sums[1:])) if len(sums) > 1 else sums[0]


def _topic_bonus(
    passages: Sequence[Passage], topic: str, shares: Mapping[Channel, Scores], understood: float
) -> Scores:
    """What passages (n,) gain by the document before, from the scaled channels of the turn alone."""
    of_pairs = np.array([is_pair(passage) for passage in passages])
    alone: Scores = np.where(of_pairs, _sum(shares, PAIRS, understood), _sum(shares, PROSE, understood))
    return topic_bonus(alone, np.array([passage.source.title == topic for passage in passages]))


def unranked(index: Index, readings: Sequence[FoundPassages], *, depth: int) -> RankedPassages:
    """Up to `depth` documents in the order of one search of the last reading, if there is no time for more."""
    last = readings[-1].hits
    lists = _lists(last)
    for hits in (last.get("words"), last.get("passage"), last.get("unit")):
        if hits is not None and len(hits):
            keys = hits.distinct().passages[:depth].tolist()
            texts = index.passages(keys)
            ranked = ((texts[key], 1 / rank) for rank, key in enumerate(keys, start=1))
            return RankedPassages(tuple(Candidate(text, score, Signals(fused=score)) for text, score in ranked), lists)
    return RankedPassages(lists=lists)


def _by_words(
    index: Index, formulation: Formulation, only: Filter | None, feedback: int, deadline: Deadline
) -> FoundPassages:
    terms = formulation.keyword[0].query.terms if formulation.keyword else ()
    hits: dict[Channel, Hits] = {}
    words = expanded(index, KeywordQuery(terms), formulation.likely, feedback, only)
    others = dict.fromkeys(property_terms(formulation.text, formulation.languages), WEIGHT)
    others = {**others, **searched_synonyms(formulation, index), **dict(words.terms)}
    words = replace(words, terms=tuple(others.items()))
    hits["words"] = index.keyword_hits(words, KEYWORD_DEPTH, only)
    deadline.check()
    hits["title words"] = index.keyword_hits(KeywordQuery(terms, "title"), TITLES, only)
    deadline.check()
    pieces = piece_query(formulation)
    hits["pieces"] = index.keyword_hits(pieces, KEYWORD_DEPTH, only)
    deadline.check()
    least = SHARED_PIECES * sum(
        w * inverse_frequency(index.documents, index.document_frequency("grams", piece)) for piece, w in pieces.terms
    )
    return FoundPassages(hits, least_pieces=least)


def _by_vectors(
    index: Index, encoder: Encoder, formulation: Formulation, only: Filter | None, deadline: Deadline
) -> FoundPassages:
    queries = encoder.encode([formulation.text], side="question")  # (1, D)
    if not queries.any():
        return FoundPassages()
    deadline.check()
    (titles,) = index.dense_hits("titles", queries, TITLES, only)
    deadline.check()
    (bodies,) = index.dense_hits("bodies", queries, DENSE_DEPTH, only)
    deadline.check()
    units = index.unit_hits(queries[0], DENSE_DEPTH, only)
    hits: dict[Channel, Hits] = {"title": titles, "passage": bodies, "unit": units}
    return FoundPassages(hits, queries[0], understanding(encoder, formulation))


def _candidates(index: Index, readings: Sequence[FoundPassages]) -> tuple[IntArray, IntArray]:
    """Keys (n,) of all passages that a channel found for a reading, ascending, and of their documents."""
    titled, columns = [], []
    for reading in readings:
        for name, hits in reading.hits.items():
            if name in {"title", "title words"}:
                titled.append(hits.documents)
            else:
                enough = hits.at(hits.scores >= reading.least_pieces) if name == "pieces" else hits
                columns.append((enough.passages, enough.documents))
    if titled:
        columns.append(index.passages_of(distinct(np.concatenate(titled))))
    if not columns:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    keys, rows = np.unique(np.concatenate([keys for keys, _ in columns]), return_index=True)
    return keys, np.concatenate([documents for _, documents in columns])[rows]


def _channels(
    index: Index, found_passages: FoundPassages, keys: IntArray, documents: IntArray
) -> tuple[dict[Channel, Scores], dict[Channel, float]]:
    """Raw scores (n,) of each channel, and the score of a passage without any evidence."""
    raw: dict[Channel, Scores] = {}
    lows: dict[Channel, float] = {}
    for name in ("words", "pieces", "title words"):
        if name in found_passages.hits:
            hits = found_passages.hits[name]
            raw[name] = _scores_of(hits, keys) if name != "title words" else _scores_of(hits, documents, by="documents")
            lows[name] = 0.0
    if found_passages.query is not None:
        near = index.similarities(keys, found_passages.query)
        floors = index.floors(found_passages.query)
        named: Mapping[Channel, FloatArray] = {"title": near.titles, "passage": near.bodies, "unit": near.units}
        for (name, cosines), low in zip(named.items(), floors, strict=True):
            raw[name], lows[name] = cosines.astype(np.float64), low
    return raw, lows


def _scores_of(hits: Hits, keys: IntArray, *, by: str = "passages") -> Scores:
    """The score of each key (n,), 0 for one that was not found."""
    scores: dict[int, float] = {}
    for key, score in zip(getattr(hits, by).tolist(), hits.scores.tolist(), strict=True):
        scores.setdefault(key, score)
    return np.array([scores.get(key, 0.0) for key in keys.tolist()], np.float64)


def _sum(shares: Mapping[Channel, Scores], weights: Mapping[Channel, float], understood: float) -> Scores:
    dense = {"passage", "unit", "title"}
    return summed(shares, {name: w * (understood if name in dense else 1.0) for name, w in weights.items()})


def _final(
    passages: Mapping[int, Passage], keys: IntArray, prose: Scores, pairs: Scores, *, include_archived: bool
) -> Scores:
    """The sum (n,) that fits the kind of each passage's document, less for archived ones."""
    of_pairs = np.array([is_pair(passages[key]) for key in keys.tolist()])
    archived = np.array([passages[key].source.details.archived for key in keys.tolist()])
    return np.where(of_pairs, pairs, prose) - (0.0 if include_archived else ARCHIVED) * archived


def _best_of_documents(order: IntArray, documents: IntArray) -> IntArray:
    """The first row of each document, in order."""
    _, first = np.unique(documents[order], return_index=True)
    return order[np.sort(first)]


def _candidate(
    passage: Passage, ranked: tuple[float, frozenset[str]], row: int, raw: Mapping[Channel, Scores]
) -> Candidate:
    score, codes = ranked
    named = {f"evidence:{name}": float(scores[row]) for name, scores in raw.items()}
    signals = Signals(
        lists=named,
        document_codes=codes,
        fused=score / MOST,
        title_similarity=named.get("evidence:title"),
        passage_similarity=named.get("evidence:passage"),
        combined=score,
    )
    return Candidate(passage, score, signals)


def _lists(hits: Mapping[Channel, Hits]) -> tuple[RankedList, ...]:
    """The documents of each channel, for traces."""
    lists = []
    for name, of in hits.items():
        best = of.distinct()
        engine = "keyword" if name in {"words", "pieces", "title words"} else "dense"
        lists.append(
            RankedList(f"evidence:{name}", engine, PAIRS[name], ScoredDocuments.of(best.documents, best.scores))  # type: ignore[arg-type]
        )
    return tuple(lists)
