"""Measures that choose the best epoch of word vectors: on lists of scored word pairs, or on held-out paraphrases."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from qa_core.measures.pair_measures import auc
from qa_core.vectors.word_vectors import WordVectors
from qa_lab.data.paraphrases import WordPair
from qa_lab.data.splitting import split_by_hash
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.words.similarities import SimilarityList, read_lists
from qa_lab.evaluate.words.words import correlation

SIM_REL, SPEARMAN, AUC = "spearman SIM − REL", "spearman", "AUC"


@dataclass(frozen=True, slots=True)
class Selection:
    """A measure, the higher the better, and further figures by name."""

    name: str
    measure: Callable[[WordVectors], float]
    figures: Callable[[WordVectors], Mapping[str, float]]


def lists_selection(path: Path, start: WordVectors, *, by: Literal["sim-rel", "spearman"]) -> Selection:
    """ρ of a list, the mean ρ of several, or ρ(SIM) − ρ(REL) of WS-353's two parts.

    Raises:
        TrainingDataError: the lists cannot be read, or `start` knows fewer than two pairs of one.
    """
    try:
        lists = read_lists(path)
    except DatasetError as error:
        raise TrainingDataError(str(error)) from None
    if by == "sim-rel":
        lists = [_part(lists, part, path) for part in ("sim", "rel")]
    unknown = [scored.name for scored in lists if math.isnan(correlation(scored, start)[0])]
    if unknown:
        raise TrainingDataError(
            f"Expected start vectors of the words of {', '.join(unknown)}, but got too few for a correlation; name "
            "other lists with --dev or other vectors with --base."
        )

    def figures(vectors: WordVectors) -> dict[str, float]:
        return {scored.name: correlation(scored, vectors)[0] for scored in lists}

    if by == "sim-rel":
        sim, rel = (scored.name for scored in lists)
        return Selection(SIM_REL, lambda vectors: (by_list := figures(vectors))[sim] - by_list[rel], figures)
    return Selection(SPEARMAN, lambda vectors: float(np.mean(list(figures(vectors).values()))), figures)


def held_out_pairs(pairs: Sequence[WordPair], share: float) -> tuple[list[WordPair], list[WordPair]]:
    """Training pairs and held-out ones, by a hash of the pair.

    Raises:
        TrainingDataError: one side has fewer than two pairs.
    """
    parts = split_by_hash(pairs, share, lambda pair: "\t".join(sorted(pair)))
    if min(map(len, parts)) < 2:
        raise TrainingDataError(
            f"Expected pairs to train on and to hold out, but got {len(parts[0])} and {len(parts[1])}; name a list of "
            "scored words with --dev PATH or another share."
        )
    return parts


def pairs_selection(held_out: Sequence[WordPair], *, seed: int) -> Selection:
    """AUC of held-out paraphrases against random pairs of their words."""
    known = {frozenset(pair) for pair in held_out}
    order = np.random.default_rng(seed).permutation(len(held_out)).tolist()
    shuffled = [(held_out[number][0], held_out[order[i - 1]][1]) for i, number in enumerate(order)]
    wrong = [pair for pair in shuffled if pair[0] != pair[1] and frozenset(pair) not in known]
    if not wrong:
        raise TrainingDataError(
            f"Expected held-out pairs of different words, but got {len(held_out)} that share their words; "
            "name a list of scored words with --dev PATH or a larger share."
        )
    labels = [True] * len(held_out) + [False] * len(wrong)

    def measure(vectors: WordVectors) -> float:
        return auc([vectors.cosine(*pair) for pair in (*held_out, *wrong)], labels).mean

    return Selection(AUC, measure, lambda _: {})


def _part(lists: Sequence[SimilarityList], part: str, path: Path) -> SimilarityList:
    """The list with `part` as a word of its name."""
    named = [scored for scored in lists if part in re.split(r"[^a-z]+", scored.name.lower())]
    if len(named) != 1:
        raise TrainingDataError(
            f"Expected one list with {part.upper()} in its name in {path} to select by sim-rel, but got {len(named)}; "
            "name a folder with WS-353's two parts, or set select = 'spearman'."
        )
    return named[0]
