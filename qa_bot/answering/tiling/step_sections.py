"""Instructions whose steps are sections, "Step 1: Unpack", "Step 2: Connect": they are answered in order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from qa_bot.answering.tiling.opinions import Sentences, Tile, Tiling, cut
from qa_bot.answering.tiling.question_parts import asks_for_steps
from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.types import Candidate, Passage
from retrievers.engines.index import Index
from retrievers.question_terms import content_terms

_STEP = re.compile(r"\W*(?:step|schritt|étape)\s+(\d{1,2})\b", re.IGNORECASE)
FEWEST = 2
"""Sections with steps at least."""
MOST = 500
"""Passages of a document whose sections are looked through."""
GAP = "\n\n"


def step_sections(best: Passage, index: Index, question: str) -> list[Passage]:
    """The passages of the steps that `best` is one of, in order; empty unless the question asks for all of them.

    The steps have the same headings above them, are numbered from 1 without a gap, and the question has no word that
    only the step of `best` has in its heading: "How do I connect the hose?" is answered by that step.
    """
    depth = _depth(best)
    if depth is None or not asks_for_steps(question) or _STEP.search(question) or _is_of_step(best, depth, question):
        return []
    parents = best.place.heading[:depth]
    steps: dict[int, list[Passage]] = {}
    for passage in of_document(best, index):
        if _depth(passage) == depth and passage.place.heading[:depth] == parents:
            steps.setdefault(_number(passage, depth), []).append(passage)
    numbers = sorted(steps)
    is_whole = len(numbers) >= FEWEST and numbers == [*range(1, len(numbers) + 1)]
    return [passage for number in numbers for passage in steps[number]] if is_whole else []


def tile_steps(best: Candidate, steps: Sequence[Passage], *, limit: int, sentences: Sentences) -> Tiling | None:
    """Steps in order, each below its heading, in at most `limit` characters; None if two of them do not fit.

    They are one tile, whose passage has the text of all: they are of one document.
    """
    text, headings = "", 0
    for passage in steps:
        heading = f"**{passage.place.heading[_depth(passage) or 0]}**{GAP}"
        is_new = heading not in text
        label = f"{GAP if text else ''}{heading if is_new else ''}"
        part = cut(passage.text, limit - len(text) - len(label), sentences, may_split=False)
        if part is None:
            break
        text += label + passage.text[slice(*part)]
        headings += is_new
        if part[1] < len(passage.text.rstrip()):
            break
    if headings < FEWEST:
        return None
    whole = (0, len(text))
    return Tiling(text, (Tile(replace(best, passage=replace(best.passage, text=text)), whole, whole),), whole)


def of_document(best: Passage, index: Index) -> list[Passage]:
    """The passages of the document that a passage is of, in its order; none of a large one."""
    keys = index.passages_of(np.asarray(index.named(best.source.document), np.int64))[0].tolist()
    if len(keys) > MOST:
        return []
    passages = index.passages(keys)
    return [passages[key] for key in keys if key in passages and passages[key].source == best.source]


def _depth(passage: Passage) -> int | None:
    """The place of a step among the headings; None without one."""
    return next((at for at, heading in enumerate(passage.place.heading) if _STEP.match(heading)), None)


def _number(passage: Passage, depth: int) -> int:
    number = _STEP.match(passage.place.heading[depth])
    assert number is not None, "the heading at this depth is a step's"
    return int(number[1])


def _is_of_step(best: Passage, depth: int, question: str) -> bool:
    """Whether a word of the question is in the heading of a step and not in those above it."""
    language = analysis_language(best.source.details.language)
    above = " ".join((best.source.title, *best.place.heading[:depth]))
    of_step = {*terms(best.place.heading[depth], language)} - {*terms(above, language)}
    return not of_step.isdisjoint(content_terms(question, language))
