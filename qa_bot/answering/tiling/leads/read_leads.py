"""The leads of the first passages, chosen again after the units that may become the best were read.

    s'(u) = s(u) + .3 · Σ_{w ∈ q − h} c_w(u) / |q|

The score of a unit has the cosine of its vector and the words that it shares with the question. Here it gains by how
far its tokens cover the content words w of the question (`rankers.late_interaction`), but for those of the headings h:
"cool burns with tap water for 20 minutes" answers "I've hurt my hand on the hot pan, how long …".

Of 46 sets 34 of questions gain .0019 of points and twelve of dialogues .0024: 19 answers are better and four worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from qa_bot.answering.tiling.leads.lead import with_best_lead
from qa_bot.answering.verification.token_vectors import TokenVectors
from qa_bot.answering.verification.words.content_words import WORD, content_of
from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.text.markdown_text import context, unit_text
from qa_core.types import Candidate, FloatArray, Passage, Span, Units
from rankers.late_interaction import word_cover
from retrievers.formulate import Formulation

COVERED = 0.3
"""Weight of the cover of a unit."""
READ, RIVALS = 2, 4
"""Passages that are read, since an answer has stretches of two, and units of each."""


def with_read_leads(
    candidates: Sequence[Candidate], formulation: Formulation, reading: str, vectors: TokenVectors
) -> list[Candidate]:
    """The candidates, the first of them with leads that their tokens suggest.

    A row that fits best stays the lead: its cells say little without its header.

    Args:
        reading: the text whose words are covered.
    """
    read = [_with_read_lead(candidate, formulation, reading, vectors) for candidate in candidates[:READ]]
    return [*read, *candidates[READ:]]


def _with_read_lead(candidate: Candidate, formulation: Formulation, reading: str, vectors: TokenVectors) -> Candidate:
    passage, units = candidate.passage, candidate.signals.units
    if units is None or len(units.spans) < 2 or passage.place.kind == "code" or _is_row(passage, units):
        return candidate
    language = analysis_language(passage.source.details.language)
    words = content_of(reading, language, formulation.languages.question)
    of_headings = {*terms(" ".join([passage.source.title, *passage.place.heading]), language)}
    telling = [row for row, term in zip(words.rows, words.terms, strict=True) if term not in of_headings]
    if not telling:
        return candidate
    scores, gain = np.array(units.scores), COVERED / len(words.rows)
    rivals = _rivals(scores, gain * len(telling))
    if len(rivals) < 2:
        return candidate
    rows = vectors.of_words(reading, [match.span() for match in WORD.finditer(reading)])[telling]
    texts = [
        context(passage.source.title, passage.place.heading),
        *(unit_text(passage.text, units.spans[at]) for at in rivals),
    ]
    spans, tokens = vectors.tokens("\n".join(texts))
    starts = [*accumulate(len(text) + 1 for text in texts)]
    for at, start, end in zip(rivals, starts, starts[1:], strict=False):
        scores[at] += gain * _covers(rows, tokens, spans, (start, end))
    return with_best_lead(candidate, units._replace(scores=tuple(scores.tolist())), formulation.text)


def _rivals(scores: NDArray[np.float64], gain: float) -> list[int]:
    """The places of the best units (U,), in order, whose scores are within the most that a unit may gain."""
    best = np.argsort(-scores, kind="stable")[:RIVALS]
    return sorted(best[scores[best] > scores.max() - gain].tolist())


def _is_row(passage: Passage, units: Units) -> bool:
    return passage.text.startswith("|", units.spans[int(np.argmax(units.scores))][0])


def _covers(words: FloatArray, tokens: FloatArray, spans: Sequence[Span], unit: Span) -> float:
    """The sum of how far the tokens (T, D) in a unit cover each word (W, D)."""
    inside = [at for at, (first, last) in enumerate(spans) if unit[0] <= first < last <= unit[1]]
    return float(word_cover(words, tokens[inside], [False] * len(words)).sum())
