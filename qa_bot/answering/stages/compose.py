"""Compose: calls tiling or states the fact, and collects the sources of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from qa_bot.answering.stages.decide import Decided
from qa_bot.answering.tiling.amendments import amended
from qa_bot.answering.tiling.answer_text import tile_leads, within_one
from qa_bot.answering.tiling.opinions import Tiling, tile
from qa_bot.answering.tiling.step_sections import step_sections, tile_steps
from qa_core.text.analysis import sentences
from qa_core.types import AnswerKind, AnswerSource, Candidate, Span, Styled
from retrievers.engines.index import Index

TILED = 10
"""An answer is tiled from at most this many documents."""


@dataclass(frozen=True, slots=True)
class Composed:
    """The text of an answer and its sources: those it was made from, then further documents."""

    kind: AnswerKind = "none"
    text: str = ""
    sources: tuple[AnswerSource, ...] = ()
    styled: Styled | None = None
    lead: Span | None = None
    former: str = ""


def compose(decided: Decided, index: Index, *, limit: int, top: int) -> Composed:
    """A fact with its triples, or passages tiled into at most `limit` characters; `top` documents as sources.

    Steps that are sections of the best passage's document are looked up in the index.
    """
    candidates = decided.ranking.candidates
    documents = tuple(map(source_of, candidates[:top]))
    if decided.verdict == "fact":
        assert decided.fact is not None
        assert decided.fact.answer is not None
        text = decided.fact.answer.text
        return Composed("fact", text, (*decided.fact_sources, *documents), lead=(0, len(text)))
    if decided.verdict == "passage":
        tiling = _tiled(decided, index, max(1, limit))
        if tiling.text:
            lead = within_one(tiling.lead or _first_sentence(tiling), [used.span for used in tiling.tiles])
            sources = _tiled_sources(tiling, candidates[:top])
            return Composed("passage", tiling.text, sources, lead=lead, former=tiling.former)
    return Composed(sources=documents)


def _first_sentence(tiling: Tiling) -> Span | None:
    """The lead of a text that answers from its beginning, such as that of a question with its answer."""
    start = tiling.tiles[0].span[0] if tiling.tiles else 0
    first = next(((a, b) for a, b in sentences(tiling.text) if b > start), None)
    return first and (max(first[0], start), first[1])


def _tiled(decided: Decided, index: Index, limit: int) -> Tiling:
    ranking = decided.ranking
    candidates, question = ranking.candidates, ranking.question.title
    if ranking.separation is None:
        return tile(candidates, limit=limit, sentences=sentences)
    steps = step_sections(candidates[0].passage, index, question) if candidates else []
    tiling = tile_steps(candidates[0], steps, limit=limit, sentences=sentences) if steps else None
    return tiling or tile_leads(
        candidates,
        limit=limit,
        sentences=sentences,
        passages=ranking.passages,
        question=question,
        covers={id_: cover.covered for id_, cover in ranking.covers.items()},
        amendment=amended(candidates[0], candidates, index) if candidates else None,
    )


def source_of(candidate: Candidate, *, span: Span | None = None, source_span: Span | None = None) -> AnswerSource:
    """A document as the source of an answer; the spans are None if the answer does not use it."""
    passage, details, place = candidate.passage, candidate.passage.source.details, candidate.passage.place
    return AnswerSource(
        id=passage.id,
        document=passage.source.document,
        collection=passage.source.collection,
        title=passage.source.title,
        url=passage.source.url,
        score=round(candidate.score, 6),
        text=passage.text,
        span=span,
        source_span=source_span,
        path=_below_source(details.path),
        heading=place.heading,
        page=place.page,
        row=place.row,
        date=details.date,
        language=details.language,
        archived=details.archived,
        draft=details.draft,
    )


def _below_source(path: str) -> str:
    """A path of a file below its source; of an absolute one, as indexes of development versions have, the file's name.

    Clients of a service must not learn where the server keeps its files.
    """
    return PurePath(path).name if PurePath(path).is_absolute() else path


def _tiled_sources(tiling: Tiling, candidates: Sequence[Candidate]) -> tuple[AnswerSource, ...]:
    """The tiles in order, then further documents."""
    used = [source_of(t.candidate, span=t.span, source_span=t.source_span) for t in tiling.tiles]
    taken = {(source.collection, source.document) for source in used}
    rest = [c for c in candidates if (c.passage.source.collection, c.passage.source.document) not in taken]
    return (*used, *map(source_of, rest))
