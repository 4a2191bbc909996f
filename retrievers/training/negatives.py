"""Hard negatives: answers that look right for a question but belong to others, mined by BM25 or by an encoder.

An unlabelled answer may still be right. `trusted` therefore drops answers that an encoder scores above a right one, by
the rule of the self-learning filter, which the SLAM loss applies again at every step.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from qa_core.types import FloatArray
from retrievers.engines.local.keyword import KeywordIndex
from retrievers.engines.local.keyword_writer import Entry, KeywordWriter
from retrievers.training.examples import Examples
from retrievers.training.search import nearest

Mined = list[list[int]]
"""Numbers of wrong answers of each question, the most similar first."""


def by_keywords(examples: Examples, k: int) -> Mined:
    """The k answers that BM25 ranks highest for each question, without its right ones."""
    depth = _depth(examples, k)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "keyword")
        with KeywordWriter(path) as writer:
            writer.add(Entry(number, number, "", text) for number, text in enumerate(examples.answers))
        index = KeywordIndex(path)
        ranked = [index.search_text(text, depth).passages.tolist() for text in examples.questions]
    return _without_right(examples, ranked, k)


def by_vectors(examples: Examples, questions: FloatArray, answers: FloatArray, k: int) -> Mined:
    """The k answers nearest to each question, without its right ones, by vectors (Q, D) and (A, D)."""
    return _without_right(examples, nearest(questions, answers, _depth(examples, k)), k)


def trusted(
    examples: Examples, mined: Sequence[Sequence[int]], questions: FloatArray, answers: FloatArray, *, margin: float
) -> Mined:
    """Mined negatives `n` of `q` with `⟨q, n⟩ ≤ max ⟨q, a⟩ + margin` over its right answers `a`."""
    plausible: Mined = []
    for vector, right, wrong in zip(questions, examples.right(), mined, strict=True):
        bound = max((float(vector @ answers[answer]) for answer in right), default=float("inf")) + margin
        plausible.append([answer for answer in wrong if float(vector @ answers[answer]) <= bound])
    return plausible


def _depth(examples: Examples, k: int) -> int:
    return k + max(map(len, examples.right()), default=0)


def _without_right(examples: Examples, ranked: Sequence[Sequence[int]], k: int) -> Mined:
    return [
        [answer for answer in answers if answer not in right][:k]
        for answers, right in zip(ranked, examples.right(), strict=True)
    ]
