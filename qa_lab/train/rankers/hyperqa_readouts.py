"""Norms that a HyperQA model has learned: figures of the paper's sections 5.1 to 5.3, as pictures and JSON.

All norms are those before the constraint to the ball, after which most are 1.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from qa_core.measures.plots import draw_histograms, draw_neighbours
from qa_core.types import FloatArray
from rankers.answer_selection.frozen_words import read_words, word_counts
from rankers.answer_selection.hyperqa import HyperQA
from rankers.training.answer_pool import AnswerPool

NORMS, FLAT, SOLID, TABLE = FILES = ("norms.png", "tsne-2d.png", "tsne-3d.png", "readouts.json")
BANDS = 6  # of width 1; the last includes all above it
LEVELS = 5  # of norm, for the words of a pair
_SHOWN = 20  # words of a band
_PAIRS = 20
_POINTS = 400  # of each side in a picture


def write_readouts(out: Path, scorer: HyperQA, pool: AnswerPool, *, seed: int = 0) -> None:
    """Write `FILES` for a pool's texts. Raises ModuleNotFoundError without the extra `plots`."""
    rng = np.random.default_rng(seed)
    questions, answers = scorer.sums(pool.questions), scorer.sums(pool.answers)
    norms = {"questions": _norms(questions), "answers": _norms(answers)}
    readouts = {
        "norms": {side: {"mean": _mean(values), "count": len(values)} for side, values in norms.items()},
        "bands": bands(scorer, pool),
        "pairs": [levels(scorer, *pair) for pair in islice(_right(pool), _PAIRS)],
    }
    (out / TABLE).write_text(json.dumps(readouts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    draw_histograms(out / NORMS, norms, label="norm before the constraint")
    sides = {"questions": _some(questions, rng), "answers": _some(answers, rng)}
    for name, dimensions in ((FLAT, 2), (SOLID, 3)):
        draw_neighbours(out / name, sides, dimensions=dimensions, seed=seed)


def bands(scorer: HyperQA, pool: AnswerPool) -> dict[str, dict[str, object]]:
    """Words of a pool by band of their projected norm, 0–1 to 5 and above: their count, and the most frequent ones."""
    stand = word_counts((*pool.questions, *pool.answers), scorer.source, limit=scorer.config.shape.max_words)
    words = sorted(stand, key=lambda word: (-stand[word], word))
    band = np.minimum(scorer.word_norms(words).astype(int), BANDS - 1)
    table: dict[str, dict[str, object]] = {}
    for number in range(BANDS):
        members = [word for word, its in zip(words, band.tolist(), strict=True) if its == number]
        name = f"{number}-{number + 1}" if number < BANDS - 1 else f"{number} and above"
        table[name] = {"count": len(members), "words": members[:_SHOWN]}
    return table


def levels(scorer: HyperQA, question: str, answer: str) -> dict[str, object]:
    """Words of a pair by level of norm, H1 the lowest; levels have equal width between the least and largest norm."""
    most = scorer.config.shape.max_words
    sides = {
        "question": read_words(question, scorer.source, limit=most),
        "answer": read_words(answer, scorer.source, limit=most),
    }
    words = list(dict.fromkeys([*sides["question"], *sides["answer"]]))
    norms = dict(zip(words, scorer.word_norms(words).tolist(), strict=True))
    least, largest = min(norms.values(), default=0.0), max(norms.values(), default=0.0)
    width = (largest - least) / LEVELS or 1.0
    level = {word: min(int((norm - least) / width), LEVELS - 1) for word, norm in norms.items()}
    table = {
        f"H{number + 1}": {
            side: [word for word in dict.fromkeys(texts) if level[word] == number] for side, texts in sides.items()
        }
        for number in range(LEVELS)
    }
    return {"question": question, "answer": answer, "levels": table}


def _right(pool: AnswerPool) -> Sequence[tuple[str, str]]:
    return [pair for pair, label in zip(pool.pairs(), pool.label.tolist(), strict=True) if label]


def _some(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    chosen: FloatArray = points[np.sort(rng.permutation(len(points))[:_POINTS])]
    return chosen


def _norms(points: FloatArray) -> FloatArray:
    norms: FloatArray = np.linalg.norm(points, axis=1)
    return norms


def _mean(norms: FloatArray) -> float:
    return round(float(norms.mean()), 4) if len(norms) else 0.0
