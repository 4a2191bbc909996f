"""`eval words`: correlation of cosines of word vectors with human scores of word pairs (Spearman's ρ), by list."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from qa_bot.home.encoders import STARTER
from qa_bot.home.folder import Home, HomeError
from qa_core.measures.metrics import Score, spearman
from qa_core.measures.significance import dependent_correlations
from qa_core.vectors.word_vectors import WordVectors
from qa_lab.data.word_vectors import word_vectors
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.report import Row
from qa_lab.evaluate.words.similarities import SimilarityList, read_lists

TASK = "words"
SPEARMAN, COVERED, P = "spearman", "covered", "p"
NO_ERROR = float("nan")


def evaluate_words(
    data: Path,
    *,
    models: Sequence[Path] = (),
    encoders: Sequence[str] = (),
    limit: int | None = None,
    progress: Progress = silent,
) -> list[Row]:
    """A row for each model (by default the starter): ρ of the list, or of several lists their mean and each one.

    Pairs with a word that a model does not know are left out for that model; `covered` is the share of the others. With
    several models, `p` of each list is that of ρ not above the first model's (Steiger 1980), on pairs that both know.

    Args:
        data: a list, or a folder of lists, in a published format (`qa_lab.evaluate.words.similarities`).
        models: files of word vectors, or folders with one.
        encoders: names of encoders, which encode single words.
        limit: largest number of pairs, the first of all lists.

    Raises:
        DatasetError: if a list or a model cannot be read.
    """
    lists = first_pairs(read_lists(data), limit)
    words = tuple(dict.fromkeys(word for scored in lists for word in scored.words))
    sources = [*map(str, models), *encoders] or [STARTER]
    vectors = dict(_opened(sources, words, progress))
    rows = [row(data.stem, lists, source, vectors[source]) for source in vectors]
    if len(rows) == 1:
        return rows
    first = next(iter(vectors))
    return [
        replace(made, scores={**made.scores, **_tested(lists, vectors[made.encoder], vectors[first])}) for made in rows
    ]


def first_pairs(lists: Sequence[SimilarityList], limit: int | None) -> list[SimilarityList]:
    """The first `limit` pairs in the order of the lists; lists of which none is left are left out."""
    remaining = sum(len(scored.pairs) for scored in lists) if limit is None else limit
    chosen = []
    for scored in lists:
        if pairs := scored.pairs[:remaining]:
            chosen.append(SimilarityList(scored.name, pairs))
        remaining -= len(pairs)
    return chosen


def row(name: str, lists: Sequence[SimilarityList], source: str, vectors: WordVectors) -> Row:
    """ρ (for several lists, their mean and each), and the share of covered pairs."""
    results = {scored.name: correlation(scored, vectors) for scored in lists}
    single = {f"{SPEARMAN} {scored.name}": _score(*results[scored.name], len(scored.pairs)) for scored in lists}
    pairs = sum(len(scored.pairs) for scored in lists)
    covered = sum(results[scored.name][1] * len(scored.pairs) for scored in lists) / pairs
    rhos = [rho for rho, _ in results.values()]
    scores = {SPEARMAN: Score(float(np.mean(rhos)), NO_ERROR, {}), **single}
    if len(lists) == 1:
        scores = {SPEARMAN: next(iter(single.values()))}
    return Row(TASK, name, "", "", source, pairs, {**scores, COVERED: Score(covered, NO_ERROR, {})})


def _tested(lists: Sequence[SimilarityList], vectors: WordVectors, first: WordVectors) -> dict[str, Score]:
    names = [f"{P} {scored.name}" for scored in lists] if len(lists) > 1 else [P]
    values = [not_better(scored, vectors, first) for scored in lists]
    return {name: Score(value, NO_ERROR, {}) for name, value in zip(names, values, strict=True)}


def not_better(scored: SimilarityList, vectors: WordVectors, first: WordVectors) -> float:
    """One-tailed p that the vectors are not better than `first`, over the pairs that both know; NaN for themselves."""
    if vectors is first:
        return float("nan")
    pairs = [pair for pair in scored.pairs if all(w in v for v in (vectors, first) for w in (pair.left, pair.right))]
    if len(pairs) < 2:
        return float("nan")
    ours, others = ([table.cosine(pair.left, pair.right) for pair in pairs] for table in (vectors, first))
    gold = [pair.score for pair in pairs]
    return dependent_correlations(spearman(ours, gold), spearman(others, gold), spearman(ours, others), len(pairs))


def _score(rho: float, covered: float, count: int) -> Score:
    return Score(rho, spearman_error(rho, round(covered * count)), {})


def correlation(scored: SimilarityList, vectors: WordVectors) -> tuple[float, float]:
    """ρ over the pairs whose words both have a vector (NaN for fewer than two), and their share."""
    pairs = [pair for pair in scored.pairs if pair.left in vectors and pair.right in vectors]
    if len(pairs) < 2:
        return float("nan"), len(pairs) / len(scored.pairs)
    cosines = [vectors.cosine(pair.left, pair.right) for pair in pairs]
    return spearman(cosines, [pair.score for pair in pairs]), len(pairs) / len(scored.pairs)


def spearman_error(rho: float, count: int) -> float:
    """`(1 − ρ²) √((1 + ρ²/2) / (n − 3))`: the standard error via Fisher's z (Bonett and Wright 2000)."""
    return float((1 - rho**2) * ((1 + rho**2 / 2) / (count - 3)) ** 0.5) if count > 3 else float("nan")


def _opened(sources: Sequence[str], words: Sequence[str], progress: Progress) -> Iterator[tuple[str, WordVectors]]:
    with models_folder() as models:
        for done, source in enumerate(sources, 1):
            try:
                yield source, word_vectors(source, words, models=models)
            except (ValueError, OSError) as error:
                raise DatasetError(str(error)) from error
            progress("models opened", done)


@contextmanager
def models_folder() -> Iterator[Path]:
    """The folder of exported encoder graphs: the home's, so that they are exported once, or a temporary one."""
    try:
        models = Home.open().models
        models.mkdir(exist_ok=True)
    except (HomeError, OSError):
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
    else:
        yield models
