"""The corridor: formulate → retrieve → fuse → rank → decide → compose → style.

One question, one deadline, one trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from qa_bot.answering.confidence.abstention import EMPTY_QUESTION, NO_TIME, reason
from qa_bot.answering.confidence.calibration import Calibration, Features
from qa_bot.answering.confidence.question_words import names
from qa_bot.answering.deadline import Deadline, Stages
from qa_bot.answering.events import ChoicesOffered, Listener, SourcesFound, StageBegun, TextAdded, nobody
from qa_bot.answering.models.ranker_loading import Cascade
from qa_bot.answering.stages.owner_answers import is_owned, owned_first
from qa_bot.answering.stages.persona_line import ROOM, introduced, style
from qa_bot.answering.stages.tiling import Tiling, tile
from qa_bot.conversation.clarification import clarification_choices
from qa_bot.conversation.replies import Knowledge
from qa_bot.home.config import Config
from qa_bot.learning.challenger import DRAFTED
from qa_core.text.analysis import sentences, terms, words
from qa_core.text.noun_phrases import noun_phrases
from qa_core.text.synonyms import synonyms
from qa_core.types import (
    Answer,
    AnswerKind,
    AnswerSource,
    Candidate,
    Choice,
    Clue,
    Encoder,
    FloatArray,
    Passage,
    Question,
    Styled,
)
from rankers.clue import ClueRanker, inverse_frequency
from rankers.combination import LEARNED, combine, evidence
from rankers.neural import NeuralRanker
from retrievers.engines.index import Index, KeywordQuery, View
from retrievers.expansion import rm3
from retrievers.formulate import DENSE_WEIGHT, Formulation, WeightedQuery, formulate
from retrievers.fusion import ScoredDocuments, in_vocabulary_rule, normalised_mean, reciprocal_rank
from retrievers.hits import Hits

if TYPE_CHECKING:
    from qa_bot.answering.graph.entities import Entities
    from qa_bot.answering.graph.facts import FactResult, Facts
    from qa_bot.answering.models.personas import PersonaStore
    from qa_bot.conversation.session_votes import SessionVotes
    from rankers.fusion import LearnedFusion

Engine = Literal["keyword", "dense", "hybrid"]

SearchEngine = Literal["keyword", "dense", "hybrid", "facts"]

Fused = Sequence[tuple[int, float]]
"""Keys of documents and their fused scores, best first."""

PASSAGES = 2
"""Passages asked for, for each document wanted: some documents come with several."""
SHARES = {"keyword": 0.6, "dense": 0.6, "rank": 0.25, "model": 0.4, LEARNED: 0.25, DRAFTED: 0.25, "clarify": 0.3}
"""Of the time that a question has: a stage that overruns leaves enough to answer from what the others found."""
TILED = 10
"""An answer is never tiled from more documents."""
WHICH = "Which of these do you mean?"
TIE = 0.05
"""Confidences nearer than this say nothing about which answer is right: then the fact is given, which is shorter and
can be checked at its triple."""
NO_GRAPH = "There is no knowledge graph, or it is switched off; add facts with `qa-bot kg add FILE`."
AVOIDED = (
    "“{}” was voted down in this conversation, and nothing else fits well enough; vote it up to have it back, ask in "
    "other words or add documents."
)


@dataclass(frozen=True, slots=True)
class RankedList:
    """One engine's documents for one query, best first."""

    name: str
    weight: float
    ranked: ScoredDocuments
    floor: float | None = None

    def cut(self, depth: int) -> RankedList:
        """The first `depth` documents."""
        if len(self.ranked.documents) <= depth:
            return self
        return replace(self, ranked=self.ranked.first(depth), floor=None)


@dataclass(slots=True)
class Found:
    """What retrieval brought: ranked lists, and the passage that keyword search liked best in each document."""

    lists: list[RankedList] = field(default_factory=list)
    passages: dict[int, int] = field(default_factory=dict)
    query: FloatArray | None = None  # (D,)

    def __or__(self, other: Found) -> Found:
        query = self.query if self.query is not None else other.query
        return Found(self.lists + other.lists, {**other.passages, **self.passages}, query)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates, best first, one a document, with what led to them."""

    question: Question
    formulation: Formulation
    candidates: tuple[Candidate, ...]
    lists: tuple[RankedList, ...]
    stages: Stages
    unfused: tuple[Candidate, ...] = ()  # those that were ranked, as they stood before a learned fusion


class Calibrations(NamedTuple):
    """Of answers that the encoder had a say in, and of those that keywords alone found."""

    hybrid: Calibration
    keyword: Calibration


class Decision(NamedTuple):
    """How sure an answer would be, how sure it must be, and what says so."""

    confidence: float
    threshold: float
    features: Features

    @property
    def given(self) -> bool:
        return bool(self.features) and self.confidence >= self.threshold


class _Composed(NamedTuple):
    """An answer's text with its sources."""

    kind: AnswerKind = "none"
    text: str = ""
    sources: tuple[AnswerSource, ...] = ()
    styled: Styled | None = None
    choices: tuple[Choice, ...] = ()


class Wanted(NamedTuple):
    """A voice for the answer, and what it should be about."""

    voices: PersonaStore
    persona: str
    hint: str = ""


class Pipeline:
    """Answers questions from one generation of the index; safe to share between threads."""

    def __init__(
        self,
        index: Index,
        encoder: Encoder | None,
        calibrations: Calibrations,
        config: Config,
        workers: ThreadPoolExecutor,
        rankers: Cascade | None = None,
        facts: Facts | None = None,
    ) -> None:
        """`encoder` is None where the index was made by another one: its vectors are then not searched.

        `rankers` are trained ones, cheapest first: each puts the documents that it looks at in a new order, and a
        learned fusion has the last word. `facts` answer from the graph, where there is one.
        """
        self.index, self._encoder, self._calibrations = index, encoder, calibrations
        self._config, self._workers = config, workers
        self._models, self._fusion, self._challenger = rankers or Cascade()
        self._facts = facts
        self._clue = ClueRanker(index, analyse=terms, synonyms=synonyms)

    @property
    def facts(self) -> Facts | None:
        """What answers from the graph, where there is one."""
        return self._facts

    @cached_property
    def entities(self) -> Entities | None:
        """What the graph knows by name, where there is one."""
        if self._facts is None:
            return None
        from qa_bot.answering.graph.entities import Entities

        return Entities(self._facts.lookup)

    def ask(
        self,
        question: Question,
        *,
        deadline: Deadline,
        top: int = 10,
        trace: bool = False,
        voice: Wanted | None = None,
        taste: SessionVotes | None = None,
        clarify: bool = False,
        listen: Listener = nobody,
    ) -> Answer:
        """One answer with its sources; never later than the deadline by more than the stage in hand notices.

        A voice puts a sentence of its own before the answer, which otherwise stays as it is. A taste leads away from
        what was voted down. Where it is to `clarify`, choices take the place of an answer that would be a guess.

        Raises:
            Cancelled: the deadline says that nobody wants the answer any more.
        """
        wanted = max(self._config.ranking.depth if trace or clarify else TILED, top)
        ranking = self._challenged(self.rank(question, deadline=deadline, depth=wanted, listen=listen))
        stages = ranking.stages
        fact = None if any(map(is_owned, ranking.candidates[:1])) else self._fact(question, stages)
        nearest = ranking.candidates[:1]
        if taste is not None:
            ranking = replace(ranking, candidates=tuple(taste.rerank(question.title, ranking.candidates)))
            fact = None if fact is None or self._is_refused(fact, question, taste) else fact
        listen(StageBegun("decide"))
        decision = self.decide(ranking)
        answer = _Composed()
        if clarify and (offered := self._offered(ranking, decision, fact, taste)):
            listen(ChoicesOffered(offered))
            answer = _Composed(choices=offered)
        elif (
            fact is not None and fact.accepted and not (decision.given and decision.confidence > fact.confidence + TIE)
        ):
            answer = self._stated(fact, ranking.candidates[:top])
        elif decision.given:
            listen(StageBegun("compose"))
            limit = self._config.answer.limit - (ROOM if voice else 0)
            tiling = stages.here("compose", lambda: self._compose(ranking.candidates, limit))
            answer = _Composed(
                "passage" if tiling.text else "none", tiling.text, _sources(tiling, ranking.candidates[:top])
            )
        sure = fact.confidence if fact is not None and answer.kind == "fact" else decision.confidence
        if not answer.sources:
            answer = answer._replace(sources=_sources(Tiling("", ()), ranking.candidates[:top]))
        if voice is not None and not answer.choices:
            listen(StageBegun("style"))
            answer = self._styled(voice, question, answer, top, stages)
        _tell(answer, listen)
        return Answer(
            question=question.title,
            text=answer.text,
            kind=answer.kind,
            answered=bool(answer.text),
            confidence=round(sure, 4),
            reason="" if answer.text else WHICH if answer.choices else self._reason(ranking, decision, nearest),
            sources=answer.sources,
            timings=stages.report(),
            skipped=tuple(stages.skipped),
            styled=answer.styled,
            choices=answer.choices,
            trace=self._trace(ranking, decision, fact) if trace else None,
        )

    def say(
        self,
        question: Question,
        answer: Answer,
        *,
        deadline: Deadline,
        voice: Wanted | None = None,
        listen: Listener = nobody,
    ) -> Answer:
        """An answer that needs no search, told like any other: with a voice's sentence before it, piece by piece."""
        stages = Stages(deadline, self._workers)
        told = _Composed(answer.kind, answer.text, answer.sources, answer.styled)
        if voice is not None:
            listen(StageBegun("style"))
            told = self._styled(voice, question, told, 1, stages)
        _tell(told, listen)
        return replace(
            answer,
            question=question.title,
            text=told.text,
            kind=told.kind,
            sources=told.sources,
            styled=told.styled,
            timings=stages.report(),
            skipped=tuple(stages.skipped),
        )

    @property
    def knowledge(self) -> Knowledge:
        """What there is to answer from."""
        return Knowledge(self.index.documents, len(self._facts.lookup.triples) if self._facts else 0)

    def ask_graph(self, question: Question, *, deadline: Deadline, trace: bool = False) -> Answer:
        """One answer from the graph alone."""
        stages = Stages(deadline, self._workers)
        fact = self._fact(question, stages)
        given = self._stated(fact, ()) if fact is not None and fact.accepted else _Composed()
        return Answer(
            question=question.title,
            text=given.text,
            kind=given.kind,
            answered=bool(given.text),
            confidence=0.0 if fact is None else round(fact.confidence, 4),
            reason="" if given.text else _no_fact(question, stages, fact),
            sources=given.sources,
            timings=stages.report(),
            skipped=tuple(stages.skipped),
            trace={"facts": self._facts.trace(fact)}
            if trace and fact is not None and self._facts is not None
            else None,
        )

    def search(self, query: str, *, deadline: Deadline, engine: SearchEngine, top: int) -> tuple[Candidate, ...]:
        """What one engine finds, best first: documents, or facts of the graph."""
        if engine != "facts":
            return self.rank(Question(query), deadline=deadline, engine=engine, depth=max(top, 10)).candidates[:top]
        stages = Stages(deadline, self._workers)
        if self._facts is None:
            return ()
        found = partial(self._facts.search, query, top=top)
        return tuple(stages.run("facts", lambda share: found(check=share.check), []))

    def rank(
        self,
        question: Question,
        *,
        deadline: Deadline,
        engine: Engine = "hybrid",
        depth: int | None = None,
        listen: Listener = nobody,
    ) -> Ranking:
        """Retrieve, fuse and rank up to `depth` documents.

        The first `[ranking] depth` of them are ranked by clue and passage score; what lies below keeps the fused
        order, and how many are asked for does not change what comes first.
        """
        served, pool = self._config.retrieval.depth, self._config.ranking.depth
        depth = depth or served
        wanted = max(depth, served)
        left = deadline.left()
        shares = {**dict.fromkeys((model.name for model in self._models), SHARES["model"]), **SHARES}
        stages = Stages(deadline, self._workers, {name: share * left for name, share in shares.items()})
        formulation = stages.here("formulate", partial(_formulate, question))
        listen(StageBegun("retrieve"))
        works = {}
        if engine != "keyword" and self._encoder is not None:
            works["dense"] = lambda share: self._search_dense(formulation, wanted, share)
        if engine != "dense":
            works["keyword"] = lambda _: self._search_keyword(formulation, wanted)
        found = Found()
        quick = ["dense"] if self._encoder is not None and self._encoder.quick else []
        for each in stages.side_by_side(works, Found(), quick=quick).values():
            found |= each
        fused = stages.here("fuse", lambda: [*self._fused(formulation, found.lists, served, wanted).pairs()])
        listen(StageBegun("rank"))
        rank = {"rank": lambda share: self._rank(question, fused[:pool], found, share)}
        candidates = stages.side_by_side(rank, None, quick=rank)["rank"]
        for model in self._models if candidates else ():
            candidates = self._reranked(model, question, candidates or [], stages)
        unfused = tuple(candidates or ())
        if self._fusion is not None and candidates:
            candidates = self._learned(self._fusion, question, candidates, stages)
        candidates = None if candidates is None else owned_first(question, candidates)
        below = fused[pool:depth] if candidates is not None else fused[:depth]
        unranked = [Candidate(each, told["fusion"], told) for each, told in self._materialised(below, found)]
        ranked = (*(candidates or ())[:depth], *unranked)
        return Ranking(question, formulation, ranked, tuple(found.lists), stages, unfused)

    def decide(self, ranking: Ranking) -> Decision:
        """Whether to answer: by the calibration for what was found with the encoder, or for what was found without."""
        if not ranking.candidates:
            return Decision(0.0, 0.0, {})
        features = self.features(ranking)
        compared = "title_similarity" in ranking.candidates[0].features
        calibration = self._calibrations.hybrid if compared else self._calibrations.keyword
        threshold = calibration.threshold(self._config.answer.precision)
        if is_owned(ranking.candidates[0]):
            return Decision(1.0, threshold, features)
        return Decision(calibration.confidence(features), threshold, features)

    def features(self, ranking: Ranking) -> Features:
        """What confidence is computed from; see `qa_bot.answering.confidence.calibration.FEATURES`."""
        if not ranking.candidates:
            return {}
        best = ranking.candidates[0]
        told = [each.features.get("combined", each.score) for each in ranking.candidates[:2]]
        asked = ranking.formulation.content_terms
        rarity = {t: inverse_frequency(self.index.documents, self.index.document_frequency("all", t)) for t in asked}
        whole, rarest = sum(rarity.values()) or 1.0, inverse_frequency(self.index.documents, 0)
        title = set(terms(best.passage.clue.title))
        text = title | set(terms(best.passage.text))
        named = names(ranking.question.title)
        second = told[1] if len(told) > 1 else 0.0
        return {
            "title_similarity": best.features.get("title_similarity", 0.0),
            "passage_similarity": best.features.get("passage_similarity", 0.0),
            "coverage": sum(w for t, w in rarity.items() if t in text) / whole,
            "title_coverage": sum(w for t, w in rarity.items() if t in title) / whole,
            "missing": max((w for t, w in rarity.items() if t not in text), default=0.0) / rarest,
            "title_missing": max((w for t, w in rarity.items() if t not in title), default=0.0) / rarest,
            "evidence": told[0],
            "margin": max(0.0, 1 - second / told[0]) if told[0] > 0 else 0.0,
            "words": float(np.log1p(len(asked))),
            "missing_name": max((rarity.get(t, 0.0) for t in named - text), default=0.0) / rarest,
        }

    def _fact(self, question: Question, stages: Stages) -> FactResult | None:
        """What the graph says; None where there is none, or no time."""
        if self._facts is None or not question.title.strip():
            return None
        find = partial(self._facts.find, question.title)
        works = {"facts": lambda share: find(check=share.check)}
        return stages.side_by_side(works, None, quick=works)["facts"]

    def _offered(
        self, ranking: Ranking, decision: Decision, fact: FactResult | None, taste: SessionVotes | None
    ) -> tuple[Choice, ...]:
        """What to ask back; nothing where there is no time for it."""

        def ask(text: str, share: Deadline) -> Answer:
            return self.ask(Question(text), deadline=share, taste=taste)

        def work(share: Deadline) -> tuple[Choice, ...]:
            return clarification_choices(
                ranking, decision, fact, partial(ask, share=share), facts=self._facts, check=share.check
            )

        nothing: tuple[Choice, ...] = ()
        return ranking.stages.side_by_side({"clarify": work}, nothing, quick=["clarify"])["clarify"]

    def _reason(self, ranking: Ranking, decision: Decision, nearest: Sequence[Candidate]) -> str:
        """Why there is no answer; `nearest` is what came first before votes were heeded."""
        if nearest and nearest[0].passage.id != ranking.candidates[0].passage.id:
            avoided = nearest[0].passage
            return AVOIDED.format(avoided.clue.title or avoided.source.document)
        return reason(ranking, decision, self.index)

    def _is_refused(self, fact: FactResult, question: Question, taste: SessionVotes) -> bool:
        """Whether the conversation's votes say that this fact does not answer this question."""
        assert self._facts is not None
        return fact.accepted and taste.rejects_fact(question.title, self._facts.sources(fact))

    def _stated(self, fact: FactResult, candidates: Sequence[Candidate]) -> _Composed:
        """A fact with its triples as sources, and documents behind them."""
        assert self._facts is not None
        assert fact.answer is not None
        documents = _sources(Tiling("", ()), candidates)
        return _Composed("fact", fact.answer.text, (*self._facts.sources(fact), *documents))

    def _styled(self, wanted: Wanted, question: Question, answer: _Composed, top: int, stages: Stages) -> _Composed:
        """The answer with what the voice says before it; the plain one where there is no time, or nothing to say."""
        retrieved = self._config.style.hints == "sources"
        texts = [each.text for each in answer.sources[:TILED]] if retrieved else []
        make = partial(style, *wanted[:2], question.title, answer.text, hint=wanted.hint, retrieved=texts, top=top)
        styled = stages.run("style", lambda share: make(check=share.check), None) if question.title.strip() else None
        if styled is None or not (answer.text and styled.lines):
            return answer._replace(styled=styled)
        styled, text, sources = introduced(styled, styled.lines[0], answer.text, answer.sources)
        return _Composed("styled", text, sources, styled)

    def _search_keyword(self, formulation: Formulation, depth: int) -> Found:
        found = Found()
        for each in formulation.keyword:
            wanted = depth if each.query.field == "title" else PASSAGES * depth
            hits = self.index.keyword_hits(self._widened(each.query), wanted)
            best = hits.distinct()
            if each.query.field == "all":
                found.passages = {**best.passage_of(), **found.passages}
            found.lists.append(_listed(each.name, each.weight, best, whole=len(hits) < wanted))
        return found

    def _widened(self, query: KeywordQuery) -> KeywordQuery:
        """A query of the text with the words of the passages that it finds first (RM3), where that is wanted."""
        wanted = self._config.retrieval.feedback
        if not wanted or query.field != "all":
            return query
        hits = self.index.keyword_hits(query, wanted)
        documents = hits.documents.tolist()
        found = self.index.best_passages(documents, None, hits.passage_of())
        texts = [terms(found[document].passage.text) for document in documents]
        feedback = [*zip(texts, hits.scores.tolist(), strict=True)]
        return replace(query, terms=rm3([term for term, _ in query.terms], feedback))

    def _search_dense(self, formulation: Formulation, depth: int, deadline: Deadline) -> Found:
        if self._encoder is None or not formulation.text:
            return Found()
        queries = self._encoder.encode([formulation.text], side="question")  # (1, D)
        deadline.check()
        titles = self._scan("titles", queries, depth)
        deadline.check()
        bodies = self._scan("bodies", queries, PASSAGES * depth)
        return Found([titles, bodies], query=queries[0])

    def _scan(self, view: View, queries: FloatArray, wanted: int) -> RankedList:
        """Documents by the nearness of their titles, or of their best passages, to the question (1, D)."""
        (found,) = self.index.dense_hits(view, queries, wanted)
        return _listed(f"dense:{view}", DENSE_WEIGHT, found.distinct(), whole=len(found) < wanted)

    def _fused(
        self, formulation: Formulation, lists: Sequence[RankedList], served: int, wanted: int
    ) -> ScoredDocuments:
        """Documents by the first `served` of every list, then those that only longer lists bring."""
        head = self._fuse(formulation, [each.cut(served) for each in lists], served)
        if wanted <= served:
            return head
        longer = self._fuse(formulation, lists, wanted)
        new = ~np.isin(longer.documents, head.documents)
        return ScoredDocuments(
            np.concatenate([head.documents, longer.documents[new]]), np.concatenate([head.scores, longer.scores[new]])
        ).first(wanted)

    def _fuse(self, formulation: Formulation, lists: Sequence[RankedList], depth: int) -> ScoredDocuments:
        method = self._config.fusion.method
        lists = [each for each in lists if not each.ranked.empty]
        if not lists:
            return ScoredDocuments.of()
        if method == "rule":
            dense = [each for each in lists if each.name.startswith("dense")]
            keyword = [each for each in lists if not each.name.startswith("dense")]
            known = self._encoder is not None and all(map(self._encoder.knows, words(formulation.text)))
            return in_vocabulary_rule(_mean(dense), _mean(keyword), depth, in_vocabulary=known and bool(dense))
        if method == "rrf":
            return reciprocal_rank([e.ranked for e in lists], weights=[e.weight for e in lists]).first(depth)
        return _mean(lists).first(depth)

    def _rank(self, question: Question, fused: Fused, found: Found, deadline: Deadline) -> list[Candidate]:
        candidates = self._materialised(fused, found)
        deadline.check()
        clue = self._clue.scorer(question)
        perfect = clue(Clue(question.title, question.body)) or 1.0
        for each, features in candidates:
            deadline.check()
            told = clue(each.clue)
            similarity = features.get("title_similarity", 0.0)
            features |= {"clue": told, "evidence": evidence(features["fusion"], told / perfect, similarity)}
        deadline.check()
        formula, weight = self._config.ranking.formula, self._config.ranking.passage_weight
        scored = [Candidate(passage, features[formula], features) for passage, features in candidates]
        return combine(scored, clue=formula, passage="passage_similarity", weight=weight)

    def _reranked(
        self, model: NeuralRanker, question: Question, candidates: list[Candidate], stages: Stages
    ) -> list[Candidate]:
        """The documents that the model looks at by the thesis' formula, its score in the passage's place.

        Where it cannot finish in time all stay as they are.
        """
        head, tail = candidates[: model.depth], candidates[model.depth :]
        asked = [each.scored("cascade", each.score) for each in head]
        ranked = stages.run(model.name, lambda share: model.rank(question, asked, check=share.check), None)
        if ranked is None:
            return candidates
        weight = self._config.ranking.model_weight
        return combine(ranked, clue="cascade", passage=model.name, weight=weight, name="cascade") + tail

    def _learned(
        self, fusion: LearnedFusion, question: Question, candidates: list[Candidate], stages: Stages
    ) -> list[Candidate]:
        """The documents by all that stages said of them; where there is no time for that they stay as they are."""
        ranked = stages.run(LEARNED, lambda share: fusion.rank(question, candidates, check=share.check), None)
        return candidates if ranked is None else ranked

    def _challenged(self, ranking: Ranking) -> Ranking:
        """With documents of the challenger among the first, in its share of the questions and while there is time."""
        challenger, candidates = self._challenger, ranking.candidates
        if challenger is None or not ranking.unfused or is_owned(candidates[0]) or not challenger.takes_part():
            return ranking
        draft = partial(challenger.drafted, ranking.question, ranking.unfused, candidates)
        drafted = ranking.stages.run(DRAFTED, lambda share: draft(check=share.check), None)
        return ranking if drafted is None else replace(ranking, candidates=tuple(drafted))

    def _materialised(self, fused: Fused, found: Found) -> list[tuple[Passage, dict[str, float]]]:
        """Each document at its best passage, with its scores so far."""
        if not fused:
            return []
        ranked = [(each.name, dict(each.ranked.pairs())) for each in found.lists]
        nearest = self.index.best_passages([document for document, _ in fused], found.query, found.passages)
        candidates = []
        for document, score in fused:
            passage, similarities = nearest[document]
            features = {name: scores[document] for name, scores in ranked if document in scores}
            candidates.append((passage, {**features, **similarities, "fusion": score}))
        return candidates

    def _drafted_with(self, ranking: Ranking) -> dict[str, object]:
        """The challenger, where it took part."""
        drafted = any(DRAFTED in each.features for each in ranking.candidates)
        return {"challenger": self._challenger.name} if drafted and self._challenger is not None else {}

    def _compose(self, candidates: Sequence[Candidate], limit: int) -> Tiling:
        return tile(candidates, limit=max(1, limit), sentences=sentences)

    def _trace(self, ranking: Ranking, decision: Decision, fact: FactResult | None) -> dict[str, object]:
        facts = {} if fact is None or self._facts is None else {"facts": self._facts.trace(fact)}
        return {
            "queries": [_told(query) for query in ranking.formulation.keyword]
            + [{"name": "dense", "weight": DENSE_WEIGHT, "text": ranking.formulation.text}],
            "lists": {each.name: len(each.ranked.documents) for each in ranking.lists},
            "candidates": [
                {"document": c.passage.source.document, "passage": c.passage.id, "score": c.score, **c.features}
                for c in ranking.candidates
            ],
            "confidence": decision.features,
            "models": {
                "encoder": self.index.encoder if self._encoder else None,
                "rankers": [model.name for model in self._models] + [LEARNED] * (self._fusion is not None),
                **self._drafted_with(ranking),
            },
            **facts,
        }


def _told(asked: WeightedQuery) -> dict[str, object]:
    query = asked.query
    told = {"name": asked.name, "weight": asked.weight, "field": query.field, "terms": dict(query.terms)}
    return {**told, "phrases": [" ".join(pair) for pair, _, _ in query.phrases]}


def _formulate(question: Question) -> Formulation:
    return formulate(question, noun_phrases=noun_phrases, synonyms=synonyms)


def _listed(name: str, weight: float, best: Hits, *, whole: bool) -> RankedList:
    """Documents where their best passage stands; a whole list, with nothing left out, tells that all others score 0."""
    return RankedList(name, weight, ScoredDocuments.of(best.documents, best.scores), floor=0.0 if whole else None)


def _mean(lists: Sequence[RankedList]) -> ScoredDocuments:
    if not lists:
        return ScoredDocuments.of()
    return normalised_mean(
        [each.ranked for each in lists],
        weights=[each.weight for each in lists],
        floors=[each.floor for each in lists],
    )


def _tell(answer: _Composed, listen: Listener) -> None:
    listen(SourcesFound(answer.sources))
    for piece in _pieces(answer.text) if answer.text and listen is not nobody else ():
        listen(TextAdded(piece))


def _no_fact(question: Question, stages: Stages, fact: FactResult | None) -> str:
    if fact is not None:
        return fact.reason
    if not question.title.strip():
        return EMPTY_QUESTION
    return NO_TIME if stages.skipped else NO_GRAPH


def _sources(tiling: Tiling, candidates: Sequence[Candidate]) -> tuple[AnswerSource, ...]:
    """The tiles in order, then further documents."""
    used = [_source(t.candidate, span=t.span, source_span=t.source_span) for t in tiling.tiles]
    taken = {(source.collection, source.document) for source in used}
    rest = [_source(c) for c in candidates if (c.passage.source.collection, c.passage.source.document) not in taken]
    return (*used, *rest)


def _pieces(text: str) -> Iterator[str]:
    """A text sentence by sentence, with what stands between them."""
    bounds = [start for start, _ in sentences(text)][1:]
    for start, end in pairwise([0, *bounds, len(text)]):
        yield text[start:end]


def _source(
    candidate: Candidate, *, span: tuple[int, int] | None = None, source_span: tuple[int, int] | None = None
) -> AnswerSource:
    passage = candidate.passage
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
    )
