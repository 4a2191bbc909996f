"""`eval phrases`: correlation of phrase scores with human scores, or separation of paraphrases from mismatched pairs.

A file with human scores is used completely (Spearman; AUC of the upper half of the scale). A paraphrase database
without them is measured on the tenth that `train phrases` holds out by a hash; each pair gets a mismatched one that
looks similar (`paired_negatives.py`). All rows use the pairs whose words all compared vectors have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from qa_bot.home.encoders import STARTER
from qa_bot.home.starter import ENCODER
from qa_core.measures.metrics import Score
from qa_core.measures.pair_measures import auc, rank_correlation
from qa_core.training.loop import seed_everything
from qa_core.vectors.word_vectors import WordVectors
from qa_lab.data.phrases.phrase_pairs import PhrasePair, annotated, read_phrase_pairs
from qa_lab.data.phrases.phrase_preparation import TEST, Phrased, Preparation, parts, phrased, prepared
from qa_lab.data.phrases.phrase_words import start_vectors
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.report import Row, compared
from qa_lab.evaluate.words.paired_negatives import SEED, with_mismatched
from qa_lab.evaluate.words.phrase_errors import Analysis, analysed
from qa_lab.evaluate.words.surface_baselines import (
    lemmatised_overlap,
    ridge_regression,
    strict_overlap,
    support_vector_regression,
)
from retrievers.training.phrases.phrase_model import PhraseModel

TASK = "phrases"
WORDS = 50_000
OVERLAP = Preparation().overlap
Scorer = Callable[[Sequence[Phrased]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class System:
    """A scorer of pairs, with the engine and the vectors that name its row."""

    engine: str
    vectors: str
    score: Scorer


def evaluate_phrases(
    data: Path,
    *,
    models: Sequence[Path] = (),
    encoders: Sequence[str] = (),
    limit: int | None = None,
    overlap: float = OVERLAP,
    seed: int = SEED,
    progress: Progress = silent,
) -> list[Row]:
    """A row for each system, compared with the first by AUC: untrained vectors, trained models, and surface baselines.

    Args:
        models: folders of `train phrases`.
        encoders: word vectors or static encoders, measured by sums and untrained networks; by default the starter.
        limit: largest number of pairs, mismatched ones included.
        overlap: use only pairs of a database whose overlap is lower; above 1 uses all, which is harder because
            mismatched pairs share as many words.

    Raises:
        DatasetError: without pairs, or if all are of one kind.
    """
    sources = {name: start_vectors(_vectors_path(name), limit=WORDS, norm=1.0) for name in encoders or (STARTER,)}
    trained = {str(folder): PhraseModel.load(folder) for folder in models}
    known = [set(vectors.words) for vectors in sources.values()] + [set(model.words) for model in trained.values()]
    pairs = judged(
        data, known=lambda word: all(word in words for words in known), limit=limit, overlap=overlap, seed=seed
    )
    rows = []
    for done, system in enumerate(_systems(sources, trained, pairs, seed), 1):
        scores = figures(list(system.score(pairs)), pairs)
        rows.append(Row(TASK, data.name, "", system.engine, system.vectors, len(pairs), scores))
        progress("measured", done)
    return compared(rows, "AUC")


def errors_of(
    data: Path,
    model: Path,
    *,
    encoder: str = STARTER,
    lexicon: Sequence[Path] = (),
    limit: int | None = None,
    overlap: float = OVERLAP,
    seed: int = SEED,
) -> Analysis:
    """Errors of a trained model compared with the addition of untrained vectors.

    Args:
        lexicon: databases whose pairs of words are equivalent; by default the data.

    Raises:
        DatasetError: without pairs, or if all are of one kind.
    """
    vectors, trained = start_vectors(_vectors_path(encoder), limit=WORDS, norm=1.0), PhraseModel.load(model)
    known = _in_both(vectors, trained)
    pairs = judged(data, known=known, limit=limit, overlap=overlap, seed=seed)
    read = read_phrase_pairs(lexicon or [data])
    return analysed(
        pairs,
        (f"addition, {encoder}", _by(PhraseModel.of(vectors, "addition"))(pairs)),
        (f"{trained.network.composition}, {model.name}", _by(trained)(pairs)),
        equivalent=[(pair.left, pair.right) for pair in read.examples],
    )


def _in_both(vectors: WordVectors, trained: PhraseModel) -> Callable[[str], bool]:
    return lambda word: word in vectors and word in trained.words


def judged(
    data: Path,
    *,
    known: Callable[[str], bool],
    limit: int | None = None,
    overlap: float = OVERLAP,
    seed: int = SEED,
) -> list[Phrased]:
    """Pairs with gold, read or built. Raises DatasetError without pairs of both kinds."""
    try:
        read = read_phrase_pairs([data])
    except (TrainingDataError, FileNotFoundError) as error:
        raise DatasetError(str(error)) from None
    pairs = _scored(read.examples) if annotated(read.examples) else _built(read.examples, known, overlap, seed)
    pairs = pairs[:limit]
    if len(set(_positives(pairs))) < 2:
        raise DatasetError(
            f"Expected pairs of phrases of both kinds in {data}, but got {len(pairs)} that can be measured; name a "
            "file with different scores, or a larger database."
        )
    return pairs


def figures(scores: Sequence[float], pairs: Sequence[Phrased]) -> dict[str, Score]:
    """AUC and Spearman, and Spearman of each group if there are groups."""
    gold = [pair.gold or 0.0 for pair in pairs]
    scores_by_name = {"AUC": auc(scores, _positives(pairs)), "Spearman": _correlation(scores, gold)}
    for group in dict.fromkeys(pair.group for pair in pairs if pair.group):
        rows = [i for i, pair in enumerate(pairs) if pair.group == group]
        scores_by_name[f"Spearman {group}"] = _correlation([scores[i] for i in rows], [gold[i] for i in rows])
    return scores_by_name


def _correlation(scores: Sequence[float], gold: Sequence[float]) -> Score:
    return rank_correlation(scores, gold) if len(gold) > 1 else Score(math.nan, math.nan, {})


def _positives(pairs: Sequence[Phrased]) -> list[bool]:
    """Whether each pair is in the upper half of the scale."""
    gold = [pair.gold or 0.0 for pair in pairs]
    middle = (min(gold) + max(gold)) / 2 if gold else 0.0
    return [value > middle for value in gold]


def _scored(pairs: Sequence[PhrasePair]) -> list[Phrased]:
    return [item for pair in pairs if (item := _with_words(pair)) is not None]


def _with_words(pair: PhrasePair) -> Phrased | None:
    try:
        return phrased(pair)
    except ValueError:
        return None


def _built(examples: Sequence[PhrasePair], known: Callable[[str], bool], overlap: float, seed: int) -> list[Phrased]:
    pairs = prepared(examples, Preparation(overlap=overlap), known=known).pairs
    return with_mismatched(parts(pairs, test=TEST, dev=0).test, seed=seed, known={pair.key for pair in pairs})


def _systems(
    sources: dict[str, WordVectors], trained: dict[str, PhraseModel], pairs: Sequence[Phrased], seed: int
) -> Iterator[System]:
    for name, vectors in sources.items():
        seed_everything(seed)
        yield System("addition", name, _by(PhraseModel.of(vectors, "addition")))
        yield System("recursive, untrained", name, _by(PhraseModel.of(vectors, "recursive")))
    for name, model in trained.items():
        yield System(f"{model.network.composition}, trained", name, _by(model))
        if model.network.composition == "recursive":
            yield System("addition of its vectors", name, _by(PhraseModel.of(model.word_vectors(), "addition")))
    yield System("word overlap, strict", "", strict_overlap)
    yield System("word overlap, lemmatised", "", lemmatised_overlap)
    if len(pairs) >= 10:
        yield System("regression on surface features", "", ridge_regression)
        yield System("ε-SVR on surface features", "", support_vector_regression)


def _by(model: PhraseModel) -> Scorer:
    return lambda pairs: model.scores([(pair.left, pair.right) for pair in pairs]).tolist()


def _vectors_path(name: str) -> Path:
    return ENCODER if name == STARTER else Path(name).expanduser()
