"""Rank: clue and passage scores, trained rankers, and a learned fusion put the fused documents in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from qa_bot.answering.clock import Clock
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.models.ranker_loading import ConfiguredRankers
from qa_bot.answering.stages.owner_answers import owned_first
from qa_bot.answering.stages.retrieve import Found, RankedList
from qa_bot.answering.verification.verify import Cover, Verified
from qa_bot.home.question_key import question_key
from qa_bot.home.sections import RankingSection
from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.text.markdown_text import plain_text
from qa_core.text.synonyms import synonyms
from qa_core.types import Candidate, Clue, Passage, Question, Signals
from rankers.clue import ClueRanker
from rankers.combination import LEARNED, combine, evidence
from rankers.snippet import snippet
from retrievers.engines.index import NO_FILTER, Filter, Index
from retrievers.formulate import Formulation

if TYPE_CHECKING:  # these load training libraries
    from rankers.fusion import LearnedFusion
    from rankers.neural import NeuralRanker

Fused = Sequence[tuple[int, float]]
"""Keys of documents and their fused scores, best first."""


ClueScorer = Callable[[Passage], tuple[float, float]]
"""From a passage to the score of its clue, and that of a perfect clue."""


@dataclass(frozen=True, slots=True)
class _TitleLengths:
    """Statistics in which every text has the mean length of titles, as the calibrations of evidence were fitted."""

    index: Index

    @property
    def documents(self) -> int:
        return self.index.documents

    def document_frequency(self, field: Literal["title", "all"], term: str) -> int:
        return self.index.document_frequency(field, term)

    def average_length(self, _field: Literal["title", "clue"]) -> float:
        return self.index.average_length("title")


RIVALS = 9
"""Passages after the first that its lead is measured against."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates, best first, one a document, with what led to them."""

    question: Question
    formulation: Formulation
    candidates: tuple[Candidate, ...]
    lists: tuple[RankedList, ...] = ()
    before_fusion: tuple[Candidate, ...] = ()  # the ranked candidates in the order of the formulas
    skipped: tuple[str, ...] = ()  # stages that did not finish in time
    challenger: str = ""  # the other ranking of an interleaving, if one took part
    only: Filter = NO_FILTER  # the documents that were searched
    separation: float | None = None  # lead of the first passage over the next nine, if passages were ranked
    passages: tuple[Candidate, ...] = ()  # the best passages, several of one document, if passages were ranked
    covers: Mapping[str, Cover] = field(default_factory=dict)  # by id of the passages that were read to verify them

    @property
    def cover(self) -> Cover | None:
        """How far the first passage covers the question; None if it was not read."""
        return self.covers.get(self.candidates[0].passage.id) if self.candidates else None

    @property
    def is_readable(self) -> bool:
        """Whether there are ranked passages to read."""
        return self.separation is not None and bool(self.candidates)

    @property
    def is_repeated(self) -> bool:
        """Whether the first candidate is the answer of the only pair to this very question."""
        if not self.candidates:
            return False
        key = question_key(self.question.title)
        first, *others = (question_key(candidate.passage.clue.title) for candidate in self.candidates[:RIVALS])
        is_pair = self.candidates[0].passage.source.details.kind == "pair"
        return is_pair and first == key and key not in others and not self.question.body

    def verified(self, verified: Verified) -> Ranking:
        """The ranking after its first passages were read."""
        assert self.separation is not None
        return replace(
            self,
            candidates=verified.candidates,
            passages=verified.passages,
            covers=verified.covers,
            separation=self.separation - verified.conceded * (1 + 1 / RIVALS),
        )


class RankingStage:
    """Safe to share between threads."""

    def __init__(self, index: Index, rankers: ConfiguredRankers, config: RankingSection) -> None:
        self._index, self._rankers, self._config = index, rankers, config

    def rank(
        self, question: Question, fused: Fused, retrieved: Found, clock: Clock, *, depth: int
    ) -> tuple[list[Candidate], tuple[Candidate, ...]]:
        """Up to `depth` candidates, best first, and those that were ranked in the order of the formulas.

        The first `[ranking] depth` documents are ranked; the rest follows in fused order. If there is no time all
        documents keep the fused order.
        """
        pool = self._config.depth
        ranked = clock.run_quick("rank", lambda share: self._by_formula(question, fused[:pool], retrieved, share), None)
        if ranked is None:
            return self._fused_order(fused[:depth], retrieved), ()
        ranked, before_fusion = self.refine(question, ranked, clock)
        return ranked[:depth] + self._fused_order(fused[pool:depth], retrieved), before_fusion

    def refine(
        self, question: Question, ranked: list[Candidate], clock: Clock
    ) -> tuple[list[Candidate], tuple[Candidate, ...]]:
        """The candidates after trained rankers, learned fusion and owner's answers; and those before the fusion."""
        for model in self._rankers.models if ranked else ():
            ranked = self._by_model(model, question, ranked, clock)
        before_fusion = tuple(ranked)
        if self._rankers.fusion is not None and ranked:
            ranked = _by_fusion(self._rankers.fusion, question, ranked, clock)
        return owned_first(question, ranked), before_fusion

    def _by_formula(self, question: Question, fused: Fused, retrieved: Found, deadline: Deadline) -> list[Candidate]:
        candidates = self._fused_order(fused, retrieved)
        deadline.check()
        scorers: dict[str, ClueScorer] = {}
        scored = []
        for candidate in candidates:
            deadline.check()
            language = analysis_language(candidate.passage.source.details.language)
            if language not in scorers:
                scorers[language] = self._clue_scorer(question, language)
            score, perfect = scorers[language](candidate.passage)
            signals = candidate.signals
            similarity = signals.title_similarity or 0.0
            total = evidence(signals.fused or 0.0, score / perfect, similarity)
            scored.append(candidate.scored(candidate.score, clue=score, evidence=total))
        deadline.check()
        first = [(c.signals.clue if self._by_clue else c.signals.evidence) or 0.0 for c in scored]
        passage = [None if self._passages_ranked else candidate.signals.passage_similarity for candidate in scored]
        combined = combine(first, passage, weight=self._config.passage_weight)
        return _best_first([c.scored(score, combined=score) for c, score in zip(scored, combined, strict=True)])

    @property
    def _by_clue(self) -> bool:
        return self._config.formula in {"clue", "thesis"}

    @property
    def _passages_ranked(self) -> bool:
        """Whether trained rankers score the passages, so that the thesis has no use for the encoder's similarity."""
        return self._config.formula == "thesis" and any(model.reads != "title" for model in self._rankers.models)

    def _clue_scorer(self, question: Question, language: str) -> ClueScorer:
        """The clue scores of passages in a language; evidence compares titles alone where a document has no body."""
        analyse = partial(terms, language=language)
        statistics = self._index if self._by_clue else _TitleLengths(self._index)
        ranker = ClueRanker(statistics, analyse=analyse, synonyms=synonyms if language == "en" else _no_synonyms)
        clue = ranker.scorer(question)
        perfect = clue(Clue(question.title, question.body)) or 1.0
        query_terms = frozenset(analyse(f"{question.title} {question.body}"))

        def score(passage: Passage) -> tuple[float, float]:
            known = passage.clue
            if self._by_clue and not known.body:
                known = Clue(known.title, snippet(plain_text(passage.text), query_terms, analyse=analyse))
            return clue(known), perfect

        return score

    def _by_model(
        self, model: NeuralRanker, question: Question, candidates: list[Candidate], clock: Clock
    ) -> list[Candidate]:
        """The first `model.depth` candidates by the formula, with the model's score in place of the passage score.

        If the model cannot finish in time, the order stays.
        """
        head = [c.scored(c.score, cascade=c.score) for c in candidates[: model.depth]]
        ranked = clock.run(model.name, lambda share: model.rank(question, head, check=share.check), None)
        if ranked is None:
            return candidates
        before = [candidate.signals.cascade or 0.0 for candidate in ranked]
        scores = [candidate.signals.rankers.get(model.name) for candidate in ranked]
        cascade = combine(before, scores, weight=self._config.model_weight)
        reordered = _best_first([c.scored(score, cascade=score) for c, score in zip(ranked, cascade, strict=True)])
        return reordered + candidates[model.depth :]

    def _fused_order(self, fused: Fused, retrieved: Found) -> list[Candidate]:
        """Each document at its best passage, with its scores so far."""
        if not fused:
            return []
        ranked = [(ranked.name, dict(ranked.ranked.pairs())) for ranked in retrieved.lists]
        nearest = self._index.best_passages([document for document, _ in fused], retrieved.query, retrieved.passages)
        candidates = []
        for document, score in fused:
            passage, similarities = nearest[document]
            signals = Signals(
                lists={name: scores[document] for name, scores in ranked if document in scores},
                fused=score,
                title_similarity=similarities.get("title_similarity"),
                passage_similarity=similarities.get("passage_similarity"),
            )
            candidates.append(Candidate(passage, score, signals))
        return candidates


def _no_synonyms(_: str) -> Sequence[str]:
    return ()


def _by_fusion(fusion: LearnedFusion, question: Question, candidates: list[Candidate], clock: Clock) -> list[Candidate]:
    """The candidates by all signals; in the order they had if there is no time."""
    ranked = clock.run(LEARNED, lambda share: fusion.rank(question, candidates, check=share.check), None)
    return candidates if ranked is None else ranked


def _best_first(candidates: Sequence[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda candidate: -candidate.score)
