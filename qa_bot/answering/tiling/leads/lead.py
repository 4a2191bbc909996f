"""The lead: the sentences, items or rows of a passage that answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from qa_bot.answering.tiling.leads.cited_place import cited_place
from qa_bot.answering.tiling.question_parts import asks_for_steps, defined_term, topic_of
from qa_bot.answering.tiling.units import SoughtUnits, supporting, unit_scores
from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.types import Candidate, FloatArray, Passage, Span, Units
from rankers.clue import rarity_of
from rankers.question_titles import is_pair
from retrievers.codes import codes_in
from retrievers.engines.index import Index
from retrievers.formulate import Formulation, asks

_ITEM = re.compile(r"\s*(\d{1,2})[.)]\s")
_TARGET = re.compile(r"(?<=\])\([^()\s]{1,1000}(?:\([^()\s]{0,100}\)[^()\s]{0,100})?\)")
WIDTH = 300
"""Characters of a lead without the targets of its links: what a reader sees first."""
UNITS = 3
"""Sentences, items or rows of a lead at most."""
ABOVE = 0.7
"""A unit before the best one is part of the lead if it scores at least this share."""
ROW_ABOVE = 0.85
"""The same for the row of a table: rows name their subjects alike ("Moov", "Moov Duo"), but each stands alone."""
INTRODUCTION = 200
"""Characters before the steps that a question asks for with which the answer begins; after longer ones it begins with
the first step. Of 48 sets one rises, by .022; five answers differ.
"""
REFERS_BACK = re.compile(
    r"\W*(?:they|it|this|these|those|that|he|she|its|their|such|er|es|dies\w*|dann|dabei|dazu|dafür|dadurch|damit|"
    r"hierzu|hierbei|dort|dessen|deren|ils?|elles?|cela|ceci|cette|ces|"
    r"but|and|so|or|otherwise|however|then|also|aber|und|oder|sonst|jedoch|allerdings|mais|et|sinon)\b",
    re.IGNORECASE,
)
"""Beginnings of units that need the unit before them; not “Sie”, which is polite address in German instructions."""
WHOLE = frozenset({"steps", "code"})
"""Kinds of passages that are not shortened for a second one."""


def with_leads(
    index: Index, query: FloatArray, candidates: Mapping[int, Candidate], formulation: Formulation | None
) -> list[Candidate]:
    """The candidates by their keys, each with the stretch of its passage that answers best, and its page or row."""
    units = index.unit_scores([*candidates], query)
    return [
        candidate
        if key not in units or is_pair(candidate.passage)
        else _with_lead(index, candidate, *units[key], formulation)
        for key, candidate in candidates.items()
    ]


def _with_lead(
    index: Index, candidate: Candidate, units: Sequence[Span], cosines: FloatArray, formulation: Formulation | None
) -> Candidate:
    passage = candidate.passage
    language = analysis_language(passage.source.details.language)
    context = {*terms(passage.source.title, language), *terms(" ".join(passage.place.heading), language)}
    content = formulation.content_in(language) if formulation else ()
    rarity = {term: rarity_of(index, term) for term in content}
    question = formulation.text if formulation else ""
    term = defined_term(question) or topic_of(question)
    sought = SoughtUnits(codes_in(question), bool(question) and not asks(question), term, question)
    scores = unit_scores(passage, units, cosines, rarity, language, context=context, sought=sought)
    is_whole = passage.place.kind in {*WHOLE, "table"} or (question and asks_for_steps(question))
    supports = None if is_whole else supporting(passage.text, units, cosines)
    scored = candidate.scored(candidate.score, supporting=supports)
    return with_best_lead(scored, Units(tuple(units), tuple(scores.tolist())), question)


def with_best_lead(candidate: Candidate, units: Units, question: str) -> Candidate:
    """The candidate with the lead that its units make for a question ("" if unknown), and its page or row."""
    passage, scores = candidate.passage, np.array(units.scores, np.float32)
    wants_steps, is_topic = not question or asks_for_steps(question), bool(question) and not asks(question)
    lead = lead_of(passage, units.spans, scores, asks_for_steps=wants_steps, is_topic=is_topic)
    place = cited_place(passage, units.spans, scores, lead)
    return replace(candidate.scored(candidate.score, lead=lead, units=units), passage=replace(passage, place=place))


def lead_of(
    passage: Passage,
    units: Sequence[Span],
    scores: FloatArray,
    *,
    width: int = WIDTH,
    asks_for_steps: bool = True,
    is_topic: bool = False,
) -> Span | None:
    """The best unit, grown towards its better neighbour to three units and `width` characters at most.

    The answer comes first: a unit before the best one must score nearly as high, or the lead would refer back to it.
    Code is not torn apart, nor are steps if the question asks for them or only names a topic: a lead among them, or in
    a numbered list, begins with the first; behind a long introduction only if the question asks for them. Other
    questions ask about one item of a list, such as a rule: mean score of twelve collections .7596 to .7629.

    Args:
        units: spans of the passage's text, in order.
        scores: of each unit, (U,).
        asks_for_steps: whether the question asks how to do something.
        is_topic: whether it asks nothing and only names a topic.
    """
    if not units:
        return None
    takes_all = asks_for_steps or is_topic
    is_whole = passage.place.kind in WHOLE and (takes_all or passage.place.kind != "steps")
    begin = _first_step(passage, units) if asks_for_steps and passage.place.kind == "steps" else 0
    first = last = max(begin, int(np.argmax(scores)))
    least = (ROW_ABOVE if passage.text.startswith("|", units[first][0]) else ABOVE) * scores[first]
    most = len(units) if is_whole else UNITS
    while last - first + 1 < most:
        refers_back = REFERS_BACK.match(passage.text, *units[first]) is not None
        before = (
            scores[first - 1]
            if first > 0 and fits(passage.text, (units[first - 1][0], units[last][1]), width)
            else -np.inf
        )
        after = (
            scores[last + 1]
            if last + 1 < len(units) and fits(passage.text, (units[first][0], units[last + 1][1]), width)
            else -np.inf
        )
        if before > -np.inf and (refers_back or (before >= least and before > after)):
            first -= 1
        elif after > -np.inf:
            last += 1
        else:
            break
    if is_whole:
        first = begin
    while takes_all and first > 0 and _is_later_step(passage.text[slice(*units[first])]):
        first -= 1
    return units[first][0], units[last][1]


def _first_step(passage: Passage, units: Sequence[Span]) -> int:
    """The first numbered item behind a long introduction, else the first unit."""
    numbered = (at for at, unit in enumerate(units) if _ITEM.match(passage.text, *unit))
    first = next(numbered, 0)
    return 0 if fits(passage.text, (0, units[first][0]), INTRODUCTION) else first


def _is_later_step(unit: str) -> bool:
    """Whether a unit is a numbered item after the first."""
    number = _ITEM.match(unit)
    return number is not None and int(number[1]) > 1


def fits(text: str, span: Span, width: int) -> bool:
    """Whether a span of Markdown has at most `width` characters besides the targets of its links."""
    return span[1] - span[0] <= width or len(_TARGET.sub("", text[slice(*span)])) <= width
