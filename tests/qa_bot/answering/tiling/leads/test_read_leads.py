"""Leads that are chosen again after the tokens of the first passages were read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from qa_bot.answering.tiling.leads.read_leads import COVERED, with_read_leads
from qa_bot.answering.verification.token_vectors import TokenVectors
from qa_bot.answering.verification.words.content_words import WORD
from qa_core.types import Candidate, Clue, FloatArray, Passage, Place, Question, Signals, Source, Span, Units
from retrievers.formulate import formulate

GROUPS = (("hold", "cool"), ("hand", "burn", "burns"), ("water", "tap"))
TEXT = "Call the desk. Cool burns with tap water. Write it down."
SPANS: tuple[Span, ...] = ((0, 14), (15, 41), (42, 56))
QUESTION = "hold my hand under water"


class GroupedTokens:
    """States of words: one direction for each group of words of one meaning."""

    def states(self, texts: Sequence[str]) -> list[FloatArray]:
        return [np.array([self._state(""), *map(self._state, WORD.findall(text)), self._state("")]) for text in texts]

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [[0] * (2 + len(WORD.findall(text))) for text in texts]

    def token_spans(self, text: str) -> list[Span]:
        return [(0, 0), *(match.span() for match in WORD.finditer(text)), (0, 0)]

    def _state(self, word: str) -> FloatArray:
        return np.array([word.lower() in group for group in GROUPS], np.float32)


@pytest.fixture
def vectors() -> TokenVectors:
    opened = TokenVectors(GroupedTokens)
    assert opened.ready()
    return opened


def candidate(*, scores: tuple[float, ...] = (0.45, 0.4, 0.3), text: str = TEXT, heading: str = "") -> Candidate:
    place = Place((heading,)) if heading else Place()
    passage = Passage("a#0", text, Clue(), Source("a", "First aid"), place)
    return Candidate(passage, 1.0, Signals(lead=SPANS[0], units=Units(SPANS, scores)))


def chosen(vectors: TokenVectors, *candidates: Candidate) -> list[Candidate]:
    return with_read_leads(candidates, formulate(Question(QUESTION)), QUESTION, vectors)


def test_the_unit_whose_tokens_cover_the_question_is_the_lead(vectors):
    (read,) = chosen(vectors, candidate())
    assert read.signals.lead == (15, 56)
    assert read.signals.units is not None
    assert read.signals.units.scores == pytest.approx((0.45, 0.4 + COVERED, 0.3)), "all three words are covered"


def test_nothing_is_read_if_no_other_unit_can_become_the_best(vectors, monkeypatch):
    monkeypatch.setattr(vectors, "tokens", None)
    clear = candidate(scores=(0.5 + COVERED, 0.4, 0.3))
    assert chosen(vectors, clear) == [clear]


def test_words_of_the_headings_are_what_all_units_are_about(vectors):
    (read,) = chosen(vectors, candidate(heading="Hand and water"))
    assert read.signals.units is not None
    assert read.signals.units.scores == pytest.approx((0.45, 0.4 + COVERED / 3, 0.3)), "only “hold” tells"
    (same,) = chosen(vectors, candidate(heading="Hold a hand under water"))
    assert same == candidate(heading="Hold a hand under water")


def test_rows_and_single_units_stay(vectors):
    row = candidate(text=f"| {TEXT[2:]}")
    single = Candidate(row.passage, 1.0, Signals(units=Units(SPANS[:1], (0.5,))))
    assert chosen(vectors, row, single) == [row, single]


def test_two_passages_are_read(vectors):
    *_, last = chosen(vectors, candidate(), candidate(), candidate())
    assert last == candidate()
