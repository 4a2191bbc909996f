"""Decide: a fact, a passage, or an abstention, by calibrated confidence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import numpy as np

from qa_bot.answering.confidence.calibration import Calibration, Features
from qa_bot.answering.confidence.calibration import Calibrations as Calibrations
from qa_bot.answering.evidence.question_words import AskedPlaces, names
from qa_bot.answering.stages.owner_answers import fits_better, is_owned, lacks_words, may_answer
from qa_bot.answering.stages.rank import RIVALS, Ranking
from qa_bot.answering.tiling.table_rows import lacks_key
from qa_bot.answering.verification.amounts import lacks_amount, lacks_count, lacks_counted
from qa_bot.answering.verification.calendar_names import named_days
from qa_bot.answering.verification.contacts import AskedContact
from qa_bot.answering.verification.latest import words_of_date
from qa_bot.answering.verification.neighbours import asks_about_another, is_about_neighbours, lacks_word
from qa_bot.answering.verification.reading import whole_text
from qa_bot.answering.verification.roles import lacks_role
from qa_bot.answering.verification.verify import WEAK
from qa_bot.answering.verification.years import is_of_another_time, lacks_past
from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.types import AnswerSource, Candidate, Choice
from rankers.clue import Statistics, inverse_frequency
from retrievers.german_synonyms import known_synonyms
from retrievers.long_questions import without_asides
from retrievers.question_terms import content_terms

if TYPE_CHECKING:
    from qa_bot.answering.graph.facts import FactResult

CONFIDENCE_TIE = 0.05
"""A passage must be this much more confident than a fact to be preferred: the fact is shorter, and can be checked at
its triple."""

ENOUGH_PASSAGES = 100
"""Passages from which on a lead over the next ones means the same in every collection."""

NEAR = 0.5
"""Cover from which on a passage may answer a question none of whose words it has."""
LIKELY = 1.0
"""Log-odds from which it may, too: "my poodle" is answered by the rules about dogs. The mean score of 36 sets of
questions rises from .7196 to .7214: five sets gain .01 to .02, one loses .003."""
ABSENT_RIVALS = 3
"""Rivals that even a home of one passage has: without them nothing there would be answered."""
LEAST_READ = 5
"""Passages over which covers are averaged: the first that were read. One that is not there covers nothing."""
LEAST_LEAD, MOST_MEAN_COVER = 0.25, 0.5
"""Beyond these the features say no more: in a large manual many passages are about what is asked, so that none leads
and all cover the question, and the first one is right as often as elsewhere. Mean points of eight collections: .767 to
.768; of eight others that decided nothing else, six of them manuals: .661 to .700 (table's vectors .720 to .722, .656
to .678). Leads from .36 to .5, and covers of .6 and .7, differ by less than .003."""

Verdict = Literal["fact", "passage", "abstain", "choices"]


UNSURE = 0.75
"""A passage whose confidence is at least this share of the threshold is given, but as unsure. Leaving one of eight
collections out, their mean score at the default precision is .648 without unsure answers, .660 with shares from .6 to
.9; 7 to 10 % of the answers are then unsure, and 45 % of these right."""


class Decision(NamedTuple):
    """Confidence of the best passage, the required threshold, and the features behind it."""

    confidence: float
    threshold: float
    features: Features
    is_of_others: bool = False
    """Whether the passage is about other years, versions or members of a series than the one asked for."""

    @property
    def least(self) -> float:
        """The lowest confidence of a passage that is given; 1 if no threshold reaches the wanted precision."""
        return UNSURE * self.threshold if self.threshold < 1 else 1.0

    @property
    def accepted(self) -> bool:
        """Whether the passage is given, surely or as unsure."""
        return bool(self.features) and self.confidence >= self.least

    @property
    def sure(self) -> bool:
        """Whether the passage is given, and not as unsure."""
        return self.accepted and not self.unsure

    @property
    def unsure(self) -> bool:
        """Whether the passage is given although it is below the threshold."""
        return self.accepted and self.confidence < self.threshold


class Preferences(Protocol):
    """What a conversation prefers, by its votes."""

    def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[Candidate]: ...

    def rejects_fact(self, question: str, sources: Sequence[AnswerSource]) -> bool: ...


@dataclass(frozen=True, slots=True)
class Decided:
    """The ranking with the decision about its best passage, the fact that competes with it, and the verdict."""

    ranking: Ranking
    decision: Decision
    fact: FactResult | None = None
    fact_sources: tuple[AnswerSource, ...] = ()  # of a fact that may be given
    demoted: Candidate | None = None  # first before votes of this conversation moved it down
    choices: tuple[Choice, ...] = ()  # ask back instead of answering

    @property
    def verdict(self) -> Verdict:
        if self.choices:
            return "choices"
        if self.fact is not None and prefers_fact(self.fact, self.decision):
            return "fact"
        return "passage" if self.decision.accepted else "abstain"

    @property
    def confidence(self) -> float:
        if self.fact is not None and self.verdict == "fact":
            return self.fact.confidence
        return self.decision.confidence

    @property
    def refused(self) -> bool:
        """Whether there is no sure answer, and no choice is offered."""
        return self.verdict == "abstain" or (self.verdict == "passage" and self.decision.unsure)

    @property
    def gives_way(self) -> bool:
        """Whether the starter collection may answer: there is no sure answer, or a passage may fit better."""
        return self.refused or (self.verdict == "passage" and lacks_words(self.decision.features))


def prefers_fact(fact: FactResult, decision: Decision) -> bool:
    """Whether the fact is given, and no passage is clearly more confident."""
    return fact.accepted and not (decision.accepted and decision.confidence > fact.confidence + CONFIDENCE_TIE)


def answers_instead(starter: Decided, owners: Decided) -> bool:
    """Whether the starter's answer comes in place of the owner's documents, which give way.

    The starter is asked a follow-up in one text, not in its readings: "what about Turkey?" alone is so much like a
    question about its capital that this answered it after "can I work from abroad?".
    """
    features = starter.decision.features
    if not may_answer(starter.verdict, features, starter.confidence):
        return False
    return owners.refused or fits_better(features, owners.decision.features)


def decide_passage(ranking: Ranking, index: Statistics, calibrations: Calibrations, precision: float) -> Decision:
    """Whether the best passage is an answer, at the wanted precision.

    The owner's answer to this very question always is. With ranked passages none is if no document has a word of the
    question, and the first passage, if it was read, has none near them and does not likely answer. None is that is
    about neighbours of what is asked, about other years or versions, or about another thing, by its title; says
    nothing near the role whose holder the question asks for; or has no amount if the question asks for one. One whose
    title asks about the same, or that should say how many, is at most unsure if it has nothing near a word of the
    question.
    """
    if not ranking.candidates:
        return Decision(0.0, 0.0, {})
    best = ranking.candidates[0]
    features = confidence_features(ranking, index)
    calibration = _calibration_for(ranking, calibrations)
    threshold = calibration.threshold(precision)
    if is_owned(best):
        return Decision(1.0, threshold, features)
    content = ranking.formulation.content_terms
    is_near = features["covered"] >= NEAR or features["relevance"] >= LIKELY
    is_far = ranking.separation is not None and not is_near
    if is_far and not any(index.document_frequency("all", term) for term in content):
        return Decision(0.0, threshold, features)
    if _is_of_others(ranking):
        return Decision(0.0, threshold, features, is_of_others=True)
    title, text = ranking.question.title, whole_text(best)
    cover = dict(ranking.cover.words) if ranking.cover else {}
    language = analysis_language(best.passage.source.details.language)
    headings = (best.passage.source.title, *best.passage.place.heading)
    if (
        lacks_role(title, cover)
        or lacks_amount(title, text)
        or lacks_count(title, best.passage.text, language, ranking.formulation.languages.question, headings)
        or asks_about_another(title, best.passage, cover)
    ):
        return Decision(0.0, threshold, features)
    decision = Decision(calibration.confidence(features), threshold, features)
    if lacks_word(title, best.passage, cover) or lacks_counted(title, text, language, cover):
        return decision._replace(confidence=min(decision.confidence, decision.least))
    return decision


def _is_of_others(ranking: Ranking) -> bool:
    """Whether the best passage is about other years, versions or members of a series than the question."""
    best, question = ranking.candidates[0], ranking.question.title
    sections, text = AskedPlaces.of(question).sections, whole_text(best)
    language = analysis_language(best.passage.source.details.language)
    return (
        lacks_key(f"{text}\n{best.passage.text}", question, language, sections=sections)
        or is_about_neighbours(question, text, sections=sections)
        or is_of_another_time(question, text)
        or lacks_past(question, f"{text}\n{best.passage.source.details.date}\n{best.passage.source.document}")
    )


def _calibration_for(ranking: Ranking, of: Calibrations) -> Calibration:
    """The one for the searches and the formula behind a ranking with candidates."""
    by_words = ranking.candidates[0].signals.title_similarity is None
    scored = of.scored_by_words if by_words else of.scored
    if scored is not None and ranking.cover is not None and ranking.cover.relevance is not None:
        return scored
    if ranking.cover is not None:
        return of.verified_by_words if by_words else of.verified
    if ranking.separation is not None:
        return of.passages_by_words if by_words else of.passages
    return of.keyword if by_words else of.hybrid


def confidence_features(ranking: Ranking, index: Statistics) -> Features:
    """The features of confidence, see `qa_bot.answering.confidence.calibration.FEATURES`, and `title_shared`.

    That is the share of the title's information that the question has; the title of a pair is a question. A German
    word that no document has is in a passage with a synonym of it.
    """
    if not ranking.candidates:
        return {}
    best = ranking.candidates[0]
    evidence, second = _evidence(best), sum(map(_evidence, ranking.candidates[1:2]))
    language = analysis_language(best.passage.source.details.language)
    content = ranking.formulation.content_in(language)
    rarity = _rarities(index, content)
    rarest = inverse_frequency(index.documents, 0)
    title = set(terms(best.passage.clue.title, language))
    text = title | set(terms(best.passage.text, language))
    contact = AskedContact.of(ranking.question.title)
    if contact.is_in(best.passage.text):
        text |= set(terms(" ".join(contact.words), language))
    question, passage = ranking.question.title, best.passage.text
    by_calendar = words_of_date(question, best.passage) | named_days(question, passage)
    text |= set(terms(" ".join(by_calendar), language))
    text |= {term for term, known in known_synonyms(ranking.formulation, index).items() if known & text}
    of_title = _rarities(index, content_terms(best.passage.clue.title, language))
    of_question = set(terms(ranking.formulation.text, language))
    asking = without_asides(question)
    is_story = asking != question
    lacked = {*rarity} - text - {*terms(f"{asking} {ranking.question.body}", language)} if is_story else set()
    total = sum(w * (WEAK if t in lacked else 1.0) for t, w in rarity.items()) or 1.0
    named = names(asking, language, ranking.formulation.languages.question)
    return {
        "title_similarity": best.signals.title_similarity or 0.0,
        "passage_similarity": best.signals.passage_similarity or 0.0,
        "coverage": sum(w for t, w in rarity.items() if t in text) / total,
        "title_coverage": sum(w for t, w in rarity.items() if t in title) / total,
        "missing": max((w for t, w in rarity.items() if t not in text), default=0.0) / rarest,
        "title_shared": sum(w for t, w in of_title.items() if t in of_question) / (sum(of_title.values()) or 1.0),
        "title_missing": max((w for t, w in rarity.items() if t not in title), default=0.0) / rarest,
        "evidence": evidence,
        "separation": ranking.separation or 0.0,
        "agreement": agreement(ranking.separation or 0.0, index.documents),
        "covered": ranking.cover.covered if ranking.cover else 0.0,
        "mean_covered": min(
            MOST_MEAN_COVER, sum(cover.covered for cover in islice(ranking.covers.values(), LEAST_READ)) / LEAST_READ
        ),
        "relevance": (ranking.cover and ranking.cover.relevance) or 0.0,
        "margin": max(0.0, 1 - second / evidence) if evidence > 0 else 0.0,
        "words": float(np.log1p(len(content))),
        "missing_name": max((rarity.get(t, 0.0) for t in named - text), default=0.0) / rarest,
    }


def _rarities(index: Statistics, index_terms: Iterable[str]) -> dict[str, float]:
    """The idf of each term."""
    return {t: inverse_frequency(index.documents, index.document_frequency("all", t)) for t in index_terms}


def agreement(separation: float, passages: int) -> float:
    """How clearly the evidence is for the first passage: the root of its lead over the next nine.

    A rival that does not exist counts as an equal one, but for a few. Among fewer than a hundred passages rivals are
    unlike the first by chance, so the lead is scaled by √(ln(1 + n) / ln 101). A lead counts as `LEAST_LEAD` at least.
    """
    rivals = (min(RIVALS, max(0, passages - 1)) + ABSENT_RIVALS) / (RIVALS + ABSENT_RIVALS)
    chance = math.sqrt(min(1.0, math.log(1 + passages) / math.log(1 + ENOUGH_PASSAGES)))
    return math.sqrt(max(LEAST_LEAD, separation) * rivals * chance)


def _evidence(candidate: Candidate) -> float:
    """Its score by the formula, before trained rankers and fusion."""
    return candidate.score if candidate.signals.combined is None else candidate.signals.combined
