"""Verify: how far the first passages cover the words of the question, by `rankers.late_interaction`.

The passages that were read are put in order again, by their evidence and by their cover.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from qa_bot.answering.deadline import Deadline
from qa_bot.answering.verification.token_vectors import TokenVectors
from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.text.markdown_text import context, plain_text
from qa_core.types import Candidate, Passage, Span
from rankers.clue import Statistics, inverse_frequency
from rankers.late_interaction import soft_minimum, word_cover
from retrievers.formulate import Formulation
from retrievers.question_terms import content_terms

COVER_WEIGHT = 2.0
"""Of the cover of a passage, beside its evidence (at most 3.5), when the passages that were read are put in order. Over
eight collections the gold is in the first passage for .796 instead of .746 of the questions with the table's vectors,
for .822 instead of .787 with MiniLM's; weights from 1.5 to 2 differ by .01."""
READ = 900
"""Characters of a passage that are surely read; if its lead ends later, reading begins at the lead."""
LEAST_RARITY = 1e-3
_WORD = re.compile(r"\w+")


class Cover(NamedTuple):
    """How far a passage covers a question, and each of its content words, in [0, 1]."""

    covered: float
    words: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Verified:
    """Documents and passages in their new order, and the covers of those that were read, by the id of the passage."""

    candidates: tuple[Candidate, ...]
    passages: tuple[Candidate, ...] = ()
    covers: Mapping[str, Cover] = field(default_factory=dict)
    conceded: float = 0.0
    """How much less evidence the first passage has than the former first."""


class RankedCandidates(Protocol):
    """What a ranking has: the best passage of each document, and the best passages, several of one document."""

    @property
    def candidates(self) -> tuple[Candidate, ...]: ...

    @property
    def passages(self) -> tuple[Candidate, ...]: ...

    @property
    def formulation(self) -> Formulation: ...


class _Words(NamedTuple):
    """The content words of a reading in the analysis of one language."""

    spans: tuple[Span, ...]
    terms: tuple[str, ...]


class Verifier:
    """Safe to share between threads."""

    def __init__(self, vectors: TokenVectors, *, read: int) -> None:
        """`read` is the number of passages that are read."""
        self._vectors, self._read = vectors, read

    def ready(self) -> bool:
        """Whether the model is there; opens it."""
        return self._vectors.ready()

    def verify(
        self, ranking: RankedCandidates, readings: Sequence[str], index: Statistics, deadline: Deadline
    ) -> Verified | None:
        """The ranking in the order of evidence and cover; None without a model.

        The owner's answers and the orders of trained rankers and fusions are not changed.

        Args:
            readings: texts of the question; the covers of several are averaged.

        Raises:
            TimeoutError: the deadline has passed.
        """
        if not self.ready():
            return None
        candidates, passages = ranking.candidates, ranking.passages or ranking.candidates
        is_settled = any(_is_settled(candidate) for candidate in candidates[: self._read])
        head = (candidates if is_settled else passages)[: self._read]
        covers = self._covers(head, readings, ranking.formulation.languages.question, index, deadline)
        by_id = {candidate.passage.id: cover for candidate, cover in zip(head, covers, strict=True)}
        if is_settled or not head:
            return Verified(candidates, ranking.passages, by_id)
        order = sorted(range(len(head)), key=lambda at: -(head[at].score + COVER_WEIGHT * covers[at].covered))
        moved = [head[at].scored(candidate.score) for at, candidate in zip(order, head, strict=True)]
        reordered = (*moved, *passages[len(head) :])
        return Verified(
            _best_of_documents((*reordered, *candidates)),
            reordered if ranking.passages else (),
            by_id,
            head[0].score - head[order[0]].score,
        )

    def _covers(
        self, head: Sequence[Candidate], readings: Sequence[str], language: str, index: Statistics, deadline: Deadline
    ) -> list[Cover]:
        """The cover of each passage, the mean over the readings, which are in a language ("" if undecided)."""
        deadline.check()
        texts = [passage_text(candidate) for candidate in head]
        tokens = self._vectors.of_passages(texts)
        covers: list[list[Cover]] = [[] for _ in head]
        for reading in readings:
            deadline.check()
            spans = [match.span() for match in _WORD.finditer(reading)]
            vectors = self._vectors.of_words(reading, spans)
            row_of = {span: row for row, span in enumerate(spans)}
            for at, candidate in enumerate(head):
                deadline.check()
                analysis = analysis_language(candidate.passage.source.details.language)
                words = content_of(reading, analysis, language)
                present = set(terms(texts[at], analysis))
                rows = vectors[[row_of[span] for span in words.spans]] if words.spans else vectors[:0]
                shares = word_cover(rows, tokens[at], [term in present for term in words.terms])
                covered = soft_minimum(shares, [_rarity(index, term) for term in words.terms])
                named = zip((reading[slice(*span)] for span in words.spans), shares.tolist(), strict=True)
                covers[at].append(Cover(covered, tuple(named)))
        return [_mean(several) for several in covers]


def passage_text(candidate: Candidate) -> str:
    """What is read of a passage: title and headings, then its plain text."""
    passage, lead = candidate.passage, candidate.signals.lead
    start = lead[0] if lead is not None and lead[1] > READ else 0
    return f"{_context(passage)}. {plain_text(passage.text[start:])}".removeprefix(". ")


def content_of(text: str, language: str, question_language: str) -> _Words:
    """The content words of a text with their first index terms in the analysis of a language."""
    content = set(content_terms(text, language, question_language))
    words = ((match.span(), next(iter(terms(match[0], language)), "")) for match in _WORD.finditer(text))
    counted = [(span, term) for span, term in words if term in content]
    return _Words(tuple(span for span, _ in counted), tuple(term for _, term in counted))


def _context(passage: Passage) -> str:
    return context(passage.source.title, passage.place.heading)


def _rarity(index: Statistics, term: str) -> float:
    """idf as a share of that of an unknown term, in (0, 1]."""
    rarity = inverse_frequency(index.documents, index.document_frequency("all", term))
    return max(LEAST_RARITY, rarity / inverse_frequency(index.documents, 0))


def _mean(covers: Sequence[Cover]) -> Cover:
    """The mean over readings; of each word its best share."""
    best: dict[str, float] = {}
    for word, share in (pair for cover in covers for pair in cover.words):
        best[word] = max(share, best.get(word, 0.0))
    return Cover(sum(cover.covered for cover in covers) / max(1, len(covers)), tuple(best.items()))


def _best_of_documents(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The first candidate of each document."""
    best: dict[tuple[str, str], Candidate] = {}
    for candidate in candidates:
        source = candidate.passage.source
        best.setdefault((source.collection, source.document), candidate)
    return tuple(best.values())


def _is_settled(candidate: Candidate) -> bool:
    signals = candidate.signals
    return signals.owner_answer or bool(signals.rankers) or signals.learned is not None
