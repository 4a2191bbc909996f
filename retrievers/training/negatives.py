"""Hard negatives: answers that look right for a question and are not its own, by BM25 or by an encoder.

An answer nobody marked as right may be right all the same. `trusted` drops those that an encoder scores above the
question's own answer, by the rule of the self-learning filter; the SLAM loss applies that rule anew at every step.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from qa_core.types import FloatArray
from retrievers.engines.local.keyword import Entry, KeywordIndex, KeywordWriter
from retrievers.training.examples import Examples
from retrievers.training.search import nearest

Mined = list[list[int]]
"""For each question wrong answers by number, the most alike first."""


def by_keywords(examples: Examples, k: int) -> Mined:
    """The k answers that BM25 ranks highest for each question, its right ones left out."""
    most = _depth(examples, k)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "keyword")
        with KeywordWriter(path) as writer:
            writer.add(Entry(number, number, "", text) for number, text in enumerate(examples.answers))
        index = KeywordIndex(path)
        found = [index.search_text(text, most).passages.tolist() for text in examples.questions]
    return _without_right(examples, found, k)


def by_vectors(examples: Examples, questions: FloatArray, answers: FloatArray, k: int) -> Mined:
    """The k answers nearest to each question, its right ones left out; vectors (Q, D) and (A, D)."""
    return _without_right(examples, nearest(questions, answers, _depth(examples, k)), k)


def trusted(
    examples: Examples, mined: Sequence[Sequence[int]], questions: FloatArray, answers: FloatArray, *, margin: float
) -> Mined:
    """Mined negatives `n` of `q` with `⟨q, n⟩ ≤ max ⟨q, a⟩ + margin` over its right answers `a`."""
    kept: Mined = []
    for vector, right, wrong in zip(questions, examples.right(), mined, strict=True):
        bound = max((float(vector @ answers[answer]) for answer in right), default=float("inf")) + margin
        kept.append([answer for answer in wrong if float(vector @ answers[answer]) <= bound])
    return kept


def _depth(examples: Examples, k: int) -> int:
    return k + max(map(len, examples.right()), default=0)


def _without_right(examples: Examples, found: Sequence[Sequence[int]], k: int) -> Mined:
    return [
        [answer for answer in answers if answer not in right][:k]
        for answers, right in zip(found, examples.right(), strict=True)
    ]
