"""Verify: how far the first passages cover the words of the question, by `rankers.late_interaction`.

The passages that were read are put in order again, by their evidence and by their cover. Further ones are read if they
may still come first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import NamedTuple, Protocol

import numpy as np

from qa_bot.answering.deadline import Deadline
from qa_bot.answering.relevance.passage_scorer import Relevance, Scorers
from qa_bot.answering.verification.amounts import lacks_amount
from qa_bot.answering.verification.contacts import NO_CONTACT, AskedContact
from qa_bot.answering.verification.latest import latest_first
from qa_bot.answering.verification.reading import read_text, whole_text
from qa_bot.answering.verification.token_vectors import TokenVectors
from qa_bot.answering.verification.words.content_words import WORD, ContentWords, content_of, content_words
from qa_bot.answering.verification.words.exact_words import Exact
from qa_bot.answering.verification.years import is_of_another_time, names_time
from qa_core.types import Candidate, FloatArray, Question
from rankers.clue import Statistics, inverse_frequency
from rankers.late_interaction import Shares, soft_minimum, word_cover
from retrievers.codes import codes_in
from retrievers.formulate import Formulation
from retrievers.question_terms import has_content, whole_verbs

COVER_WEIGHT = 2.0
"""Of the cover of a passage, beside its evidence (at most 3.5), when the passages that were read are put in order. Over
eight collections the gold is in the first passage for .796 instead of .746 of the questions with the table's vectors,
for .822 instead of .787 with MiniLM's; weights from 1.5 to 2 differ by .01."""
LISTED = 0.5
"""Of a list, beside evidence and cover, if the question asks how to do something. Over eight collections the gold is in
the first passage for .843 instead of .837 of the questions; from .5 to 1 nothing differs."""
REACHED = 0.5
"""Of a number or an address, if the question asks whom to contact: "Leave team: extension 3110" has none of the words
"working from home" that its page is about. From 0 to 1 no collection changes."""
OTHER_TIME = 0.5
"""Less for a passage about other years or versions than the question's, if another one that was read names those."""
WITH_AMOUNT, CONSIDERED = 2, 12
"""Passages with an amount that are read in place of the last ones, and the first passages that they are among. One
turn of 46 sets is better, no answer is worse."""
NO_AMOUNT = 3.0
"""Less for a passage without the amount or time that the question asks for, if another one that was read has it: no
answer is given from it."""
CODED = 2.0
"""Of a passage with all codes of the question: "the display shows E07" is answered by the row of E07. Its other words
count as elsewhere: if they are covered by .7 at least, more questions without answer are answered (.7119 instead of
.7144 of points over twelve sets)."""
SYNONYM = 0.8
"""Cover of a German word by a passage with a synonym of it, at least. Over eight sets in German the mean score is .620
without synonyms, .626 with covers of .7 and .8, .624 with .6; in searches, too, at a weight of .2, .628."""
LEAST_RARITY = 1e-3
UNKNOWN = 0.3
"""Weight of an everyday German word that no document has, beside nouns: "putzen", "mitstimmen". It had that of a rare
name. With numbered paragraphs kept together, the mean score of nine sets in German rises by .009."""
WEAK = 0.3
"""Weight of a word that seldom decides, if the passage lacks it: "neu", for whom ("my daughter"), "laut Satzung".

Over 22 sets the mean score rises by .003, German rules of authorities by .024; with .5 most of that is gone. "New" and
"whole" gain nothing in English, and lose .004 on one set.
"""
COVERED = 0.5
"""Of a word that a passage does not lack."""
GAINED = 2.0
"""That a further passage may gain by being read: it is read if its evidence and this are above the best of the first
ones. Over 38 collections 24 % of the questions have such passages, 1.1 in the mean of all questions, and the gold is
first for .792 instead of .782 of the questions; so it is if all ten are read."""
FURTHER_SECONDS = 0.3
"""That reading further passages may take; with less time left they are not read."""
LEADS_SECONDS = 0.1
"""That choosing leads may take; with less time left they stay."""
_ITEM = re.compile(r"^\s*(?:[-*]|\d+[.)]) ", re.MULTILINE)


NO_SCORERS = Scorers()
ChooseLeads = Callable[[Sequence[Candidate], Formulation, str, TokenVectors], list[Candidate]]
"""Chooses the leads of the first passages again, by the vectors of their tokens; the text is a reading of the question.
"""


class Cover(NamedTuple):
    """How far a passage covers a question, and each of its content words, in [0, 1]."""

    covered: float
    words: tuple[tuple[str, float], ...] = ()
    has_codes: bool = False
    """Whether the question has codes, and the passage all of them."""
    relevance: float | None = None
    """Log-odds that the passage answers; None if it was not scored."""


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

    @property
    def question(self) -> Question: ...


class Verifier:
    """Safe to share between threads."""

    def __init__(
        self,
        vectors: TokenVectors,
        *,
        read: int,
        scorers: Scorers = NO_SCORERS,
        choose_leads: ChooseLeads | None = None,
    ) -> None:
        """`read` is the number of passages that are read; `scorers` say how likely they answer."""
        self._vectors, self._read, self._scorers, self._choose_leads = vectors, read, scorers, choose_leads

    def ready(self) -> bool:
        """Whether the model that reads is there; opens it, and the one that scores most passages."""
        self._scorers.of(())
        return self._vectors.ready()

    def verify(
        self,
        ranking: RankedCandidates,
        readings: Sequence[str],
        index: Statistics,
        deadline: Deadline,
        *,
        asks_for_steps: bool = False,
        contact: AskedContact = NO_CONTACT,
    ) -> Verified | None:
        """The ranking in the order of evidence and cover; None without a model.

        The owner's answers and the orders of trained rankers and fusions are not changed.

        Args:
            readings: texts of the question; covers and scores of several are averaged, without those of stop words.
            asks_for_steps: passages with a list come before others of the same evidence and cover.
            contact: that the question asks for; passages that name one come first in the same way.

        Raises:
            TimeoutError: the deadline has passed.
        """
        if not self.ready():
            return None
        candidates, passages = ranking.candidates, ranking.passages or ranking.candidates
        is_settled = any(_is_settled(candidate) for candidate in candidates[: self._read])
        if not is_settled:
            passages = _with_amounts(ranking.question.title, passages, self._read)
        head = (candidates if is_settled else passages)[: self._read]
        telling, covers_of = self._covering(ranking, readings, contact, index, deadline)
        covers = covers_of(head)
        scorer = self._scorers.of([candidate.passage.source.details.language for candidate in head])
        relevance = Relevance(scorer, telling, [*map(read_text, head)], deadline)
        if is_settled or not head:
            relevance.score(range(len(head[:1])))
            return Verified(candidates, ranking.passages, _by_id(head, covers, relevance.known))

        fits_of = partial(_fits, ranking, asks_for_steps=asks_for_steps, contact=contact)
        fits = fits_of(head, covers)
        order = relevance.ordered(fits)
        if rivals := _rivals(passages, len(head), relevance.raised(fits)[order[0]], deadline):
            head, covers = (*head, *rivals), [*covers, *covers_of(rivals)]
            relevance.texts.extend(map(read_text, rivals))
            order = relevance.ordered(fits_of(head, covers))
        order = latest_first(ranking.formulation.text, order, head, [cover.covered for cover in covers])
        relevance.score(order[:1])
        moved = [head[at].scored(passage.score) for at, passage in zip(order, passages, strict=False)]
        if self._choose_leads is not None and deadline.left() >= LEADS_SECONDS:
            moved = self._choose_leads(moved, ranking.formulation, telling[0], self._vectors)
        reordered = (*moved, *_others(passages, head))
        return Verified(
            _best_of_documents((*reordered, *candidates)),
            reordered if ranking.passages else (),
            _by_id(head, covers, relevance.known),
            head[0].score - head[order[0]].score,
        )

    def _covering(
        self,
        ranking: RankedCandidates,
        readings: Sequence[str],
        contact: AskedContact,
        index: Statistics,
        deadline: Deadline,
    ) -> tuple[Sequence[str], Callable[[Sequence[Candidate]], list[Cover]]]:
        """The readings without those of stop words, and what gives the covers of passages for them."""
        languages = ranking.formulation.languages
        whole = {reading: whole_verbs(reading, languages) for reading in readings}
        telling = [reading for reading in readings if has_content(whole[reading], languages)] or readings
        return telling, partial(
            self._covers,
            readings=[whole[reading] for reading in telling],
            exact=Exact(codes_in(ranking.formulation.text), contact),
            language=languages.question,
            index=index,
            deadline=deadline,
        )

    def _covers(
        self,
        head: Sequence[Candidate],
        readings: Sequence[str],
        exact: Exact,
        language: str,
        index: Statistics,
        deadline: Deadline,
    ) -> list[Cover]:
        """The cover of each passage, the mean over the readings, which are in a language ("" if undecided).

        A passage that has all words of the question is not read: it covers them. A code that it does not have is not
        covered by another: "E19" is not "E02". A contact covers the words that ask for it, and no likeness covers
        "phone number".
        """
        deadline.check()
        words_of = cache(content_of)  # most passages of a question are in one language
        content = [content_words(candidate, readings, exact, language, words_of) for candidate in head]
        is_unclear = [not all(words.are_had for words in of_readings) for of_readings in content]
        texts = [read_text(candidate) for candidate, unclear in zip(head, is_unclear, strict=True) if unclear]
        tokens = iter(self._vectors.of_passages(texts) if texts else ())
        vectors = [self._vectors_of_words(reading) for reading in readings] if texts else []
        covers = []
        for of_readings, unclear in zip(content, is_unclear, strict=True):
            deadline.check()
            rows = next(tokens) if unclear else None
            shares = [
                np.ones(len(words.terms)) if rows is None else _shares(words, vectors[at], rows)
                for at, words in enumerate(of_readings)
            ]
            has_codes = bool(exact.codes) and not any(any(words.is_absent) for words in of_readings)
            cover = _mean(
                [
                    _cover(words, row, _weights(words, row, language, index))
                    for words, row in zip(of_readings, shares, strict=True)
                ]
            )
            covers.append(cover._replace(has_codes=has_codes))
        return covers

    def _vectors_of_words(self, reading: str) -> FloatArray:
        """Unit rows (W, D) of all words of a reading."""
        return self._vectors.of_words(reading, [match.span() for match in WORD.finditer(reading)])


def _with_amounts(question: str, passages: tuple[Candidate, ...], read: int) -> tuple[Candidate, ...]:
    """The passages, with two that have the amount that the question asks for among those that are read.

    They come from the documents of the first ones, none of which has it: rules say "the tax" where the title names it.
    """
    head, rest = passages[:read], passages[read:]
    if not all(lacks_amount(question, whole_text(candidate)) for candidate in head):
        return passages
    sources = {candidate.passage.source for candidate in head}
    further = [
        candidate
        for candidate in passages[read:CONSIDERED]
        if candidate.passage.source in sources and not lacks_amount(question, whole_text(candidate))
    ][:WITH_AMOUNT]
    first = (*head[: read - len(further)], *further)
    return (*first, *_others((*head, *rest), first))


def _rivals(passages: Sequence[Candidate], read: int, best: float, deadline: Deadline) -> list[Candidate]:
    """As many further passages as were read, those that may come before the best of them; none without time."""
    if deadline.left() < FURTHER_SECONDS:
        return []
    return [passage for passage in passages[read : 2 * read] if passage.score + GAINED > best]


def _others(passages: Sequence[Candidate], first: Sequence[Candidate]) -> list[Candidate]:
    """The passages without the first ones."""
    return [passage for passage in passages if all(passage is not one for one in first)]


def _fits(
    ranking: RankedCandidates,
    head: Sequence[Candidate],
    covers: Sequence[Cover],
    *,
    asks_for_steps: bool,
    contact: AskedContact,
) -> list[float]:
    """How well each passage that was read fits: its evidence and cover, and what the question asks for."""
    question = ranking.formulation.text
    texts = [whole_text(candidate) for candidate in head]
    is_dated = any(names_time(question, text) for text in texts)
    lacking = [lacks_amount(ranking.question.title, text) for text in texts]

    def fit(at: int) -> float:
        listed = LISTED if asks_for_steps and _has_list(head[at]) else 0.0
        reached = REACHED if contact.is_in(head[at].passage.text) else 0.0
        other_time = OTHER_TIME if is_dated and is_of_another_time(question, texts[at]) else 0.0
        coded = CODED if covers[at].has_codes else 0.0
        no_amount = NO_AMOUNT if lacking[at] and not all(lacking) else 0.0
        gained = head[at].score + COVER_WEIGHT * covers[at].covered + listed + reached + coded
        return gained - other_time - no_amount

    return [fit(at) for at in range(len(head))]


def _by_id(head: Sequence[Candidate], covers: Sequence[Cover], scores: Mapping[int, float]) -> dict[str, Cover]:
    """The cover of each passage that was read, with its score if it has one."""
    return {
        candidate.passage.id: cover._replace(relevance=scores.get(at))
        for at, (candidate, cover) in enumerate(zip(head, covers, strict=True))
    }


def _shares(words: ContentWords, vectors: FloatArray, tokens: FloatArray) -> Shares:
    """How far a passage covers each word, by the vectors (W, D) of a reading's words and (T, D) of its tokens."""
    likeness = word_cover(vectors[words.rows], tokens, words.is_literal, words.is_absent)
    synonyms = np.where(words.is_near, np.where(words.is_absent, 0.0, SYNONYM), 0.0)
    return np.maximum(likeness, synonyms)


def _cover(words: ContentWords, shares: Shares, weights: Sequence[float]) -> Cover:
    return Cover(soft_minimum(shares, weights), tuple(zip(words.texts, shares.tolist(), strict=True)))


def _weights(words: ContentWords, shares: Shares, language: str, index: Statistics) -> list[float]:
    """The weight of each word: its rarity; less for a weak one that the passage does not cover.

    So it is for an unknown German word that is no noun, if others have capitals.
    """
    has_nouns = language == "de" and any(text[0].isupper() for text in words.texts)
    weights = []
    for text, term, is_weak, share in zip(words.texts, words.terms, words.is_weak, shares.tolist(), strict=True):
        is_everyday = has_nouns and text[0].islower() and _is_unknown(index, term)
        weak = WEAK if is_weak and share < COVERED else 1.0
        weights.append(min(weak, UNKNOWN if is_everyday else 1.0) * _rarity(index, term))
    return weights


def _is_unknown(index: Statistics, term: str) -> bool:
    return not index.document_frequency("all", term)


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


def _has_list(candidate: Candidate) -> bool:
    return _ITEM.search(candidate.passage.text) is not None


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
