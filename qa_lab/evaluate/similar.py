"""`eval similar`: retrieval of questions with the same meaning (Gillick et al. 2018, §3.3).

Pairs labelled similar are edges; all questions of a connected component are relevant to each other. Every question of
such a pair is a query; the candidates are all questions of the data. The query itself is a relevant candidate: AP
divides by the size R of the component, so `identity`, which finds only the query, scores the mean of `1 / R`. All
systems are searched to depth 100; vectors exactly, unless `padded` compares with an approximate index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from qa_bot.home.encoders import STARTER, open_folder, resolve
from qa_core.measures.metrics import evaluate
from qa_core.measures.runs import run_of
from qa_core.text.analysis import terms, words
from qa_core.types import Encoder, FloatArray
from qa_core.vectors.word_vectors import WordVectors, read_vectors
from qa_lab.data.paraphrase_pairs import KEPT_ASIDE
from qa_lab.data.question_pairs import read_question_pairs, read_titles
from qa_lab.data.word_vectors import vectors_file
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.report import Row, compared
from qa_lab.evaluate.tfidf import TfIdf
from retrievers.engines.local.dense_writer import build
from retrievers.engines.local.keyword import KeywordIndex
from retrievers.engines.local.keyword_writer import Entry, KeywordWriter
from retrievers.training.questions import QuestionSet, folded, members
from retrievers.training.search import nearest

TASK = "similar"
MEASURES = ("AP@100", "R@10", "R@100")
COMPARED_BY = "AP@100"
DEPTH = 100
_BLOCK = 256  # questions searched at a time
_ENCODED = 10_000  # texts encoded at a time

every_term = partial(terms, stop=False)
"""Stems of all words: in short questions stop words matter."""


class Vectors(NamedTuple):
    """Vectors of the candidates by one system (N, D): unit or zero rows."""

    name: str
    encoder: str
    matrix: FloatArray


Lists = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Task:
    """Candidates by number, the numbers of the queries, and their relevant candidates."""

    texts: tuple[str, ...]
    queries: tuple[int, ...]
    qrels: dict[str, dict[str, int]]

    @classmethod
    def of(cls, questions: QuestionSet, *, limit: int | None = None) -> Task:
        """The first `limit` queries, by default all."""
        groups = members(questions.closure())
        queries = sorted((member, group) for group in groups.values() for member in group)[:limit]
        qrels = {str(query): {str(member): 1 for member in group} for query, group in queries}
        return cls(questions.texts, tuple(query for query, _ in queries), qrels)


def evaluate_similar(
    data: Path,
    *,
    models: Sequence[Path] = (),
    encoders: Sequence[str] = (),
    limit: int | None = None,
    held_out: float = 0.0,
    padded: int | None = None,
    padding: Sequence[Path] = (),
    home: Path | None = None,
    progress: Progress = silent,
) -> list[Row]:
    """A row for each system, models first and baselines last, compared with the first by AP@100.

    Args:
        data: data of `train similar`.
        models: folders of encoders; also one file or folder of word vectors for the rows `mean` and `IDF mean`, whose
            vectors are otherwise those of single words by the last encoder.
        encoders: names of encoders, by default `starter`.
        limit: largest number of queries.
        held_out: use only the share of the questions that `train similar` held out (`test` in its settings).
        padded: add titles of `padding` up to this number of candidates; each encoder has a row with an exact and one
            with an approximate index, instead of the baselines.
        home: folder of fetched encoders.

    Raises:
        TrainingDataError: without pairs of similar questions.
        DatasetError: for several files of word vectors.
        EncoderError: if an encoder cannot be opened.
    """
    folders, vectors = _divided(models)
    questions = read_question_pairs([data]).examples
    if held_out:
        _, questions = questions.split(held_out, salt=KEPT_ASIDE)
        if not len(questions):
            raise TrainingDataError(
                f"Expected similar questions in the {held_out:g} kept aside of {data}, but got none; keep more aside."
            )
    task = Task.of(questions, limit=limit)
    split = f"{held_out:g} kept aside" if held_out else ""
    with TemporaryDirectory() as folder:
        opened = list(_encoders(folders, encoders, home, Path(folder) / "models"))
        systems = (
            _systems(task, opened, vectors, Path(folder), progress)
            if padded is None
            else _padded(task, opened, padded, padding, Path(folder), progress)
        )
        rows = [_row(task, data.name, split, *system) for system in systems]
    return compared(rows, COMPARED_BY)


def _divided(models: Sequence[Path]) -> tuple[list[Path], Path | None]:
    """Folders of encoders, and the file of word vectors."""
    files = [file for model in models if (file := vectors_file(model))]
    if len(files) > 1:
        raise DatasetError(f"Expected one file of word vectors for similar, but got {len(files)}; name one at a time.")
    return [model for model in models if not vectors_file(model)], next(iter(files), None)


def _row(task: Task, data: str, split: str, engine: str, encoder: str, lists: Lists) -> Row:
    scores = evaluate(task.qrels, run_of(lists), MEASURES)
    return Row(TASK, data, split, engine, encoder, len(task.queries), scores)


def _encoders(
    models: Sequence[Path], names: Sequence[str], home: Path | None, cache: Path
) -> Iterator[tuple[str, Encoder]]:
    fetched = home / "models" if home else cache
    for folder in models:
        yield str(folder), open_folder(folder, models=cache)
    for name in dict.fromkeys(names) or (STARTER,):
        yield name, resolve(name, models=fetched)


def _systems(
    task: Task, encoders: Sequence[tuple[str, Encoder]], vectors: Path | None, folder: Path, progress: Progress
) -> Iterator[tuple[str, str, Lists]]:
    """Engine, encoder and lists: the encoders, then the baselines."""
    for name, encoder in encoders:
        yield "dense", name, _exactly(task, encoder.encode(list(task.texts)), progress)
    yield "BM25", "", _by_keywords(task, folder / "keyword", progress)
    yield "identity", "", {str(query): [str(query)] for query in task.queries}
    yield "TF-IDF", "", _by_tfidf(task, progress)
    for system in _means(task.texts, encoders[-1], vectors):
        yield system.name, system.encoder, _exactly(task, system.matrix, progress)


def _padded(
    task: Task,
    encoders: Sequence[tuple[str, Encoder]],
    count: int,
    padding: Sequence[Path],
    folder: Path,
    progress: Progress,
) -> Iterator[tuple[str, str, Lists]]:
    texts = [*task.texts, *islice(_others(task, padding), max(0, count - len(task.texts)))]
    for number, (name, encoder) in enumerate(encoders):
        matrix = np.empty((len(texts), encoder.dimension), dtype=np.float32)
        for start in range(0, len(texts), _ENCODED):
            matrix[start : start + _ENCODED] = encoder.encode(texts[start : start + _ENCODED])
            progress(f"encoded with {name}", min(start + _ENCODED, len(texts)))
        size = f"{len(texts):,} candidates"
        yield f"exact, {size}", name, _exactly(task, matrix, progress)
        yield f"inverted lists, {size}", name, _approximately(task, matrix, folder / f"ivf-{number}", progress)


def _others(task: Task, paths: Sequence[Path]) -> Iterator[str]:
    """Distinct titles that are not candidates yet."""
    seen = set(map(folded, task.texts))
    for text in read_titles(paths):
        if (key := folded(text)) not in seen:
            seen.add(key)
            yield text


def _by_keywords(task: Task, folder: Path, progress: Progress) -> Lists:
    with KeywordWriter(folder, analyser=every_term) as writer:
        writer.add(Entry(number, number, "", text) for number, text in enumerate(task.texts))
    index = KeywordIndex(folder, analyser=every_term)
    lists: Lists = {}
    for done, query in enumerate(task.queries, start=1):
        lists[str(query)] = [*map(str, index.search_text(task.texts[query], DEPTH).passages.tolist())]
        progress("asked of BM25", done)
    return lists


def _by_tfidf(task: Task, progress: Progress) -> Lists:
    index = TfIdf(task.texts, words)
    lists: Lists = {}
    for done, query in enumerate(task.queries, start=1):
        lists[str(query)] = list(map(str, index.search(task.texts[query], DEPTH).tolist()))
        progress("asked of TF-IDF", done)
    return lists


def _exactly(task: Task, matrix: FloatArray, progress: Progress) -> Lists:
    """Exact search by inner product; a query with a zero row finds nothing."""
    queries = [query for query in task.queries if matrix[query].any()]
    lists: Lists = {}
    for start in range(0, len(queries), _BLOCK):
        block = queries[start : start + _BLOCK]
        hits = nearest(matrix[block], matrix, DEPTH)
        lists |= {str(query): list(map(str, rows)) for query, rows in zip(block, hits, strict=True)}
        progress("asked of vectors", len(lists))
    return lists


def _approximately(task: Task, matrix: FloatArray, folder: Path, progress: Progress) -> Lists:
    """Approximate search by inverted lists, as in large indexes of the product."""
    index = build(folder, matrix, kind="ivf")
    lists: Lists = {}
    for start in range(0, len(task.queries), _BLOCK):
        block = list(task.queries[start : start + _BLOCK])
        _, rows = index.search(matrix[block], DEPTH)
        for query, hits in zip(block, rows.tolist(), strict=True):
            lists[str(query)] = [str(row) for row in hits if row >= 0]
        progress("asked of inverted lists", len(lists))
    return lists


def _means(texts: Sequence[str], encoder: tuple[str, Encoder], path: Path | None) -> Iterator[Vectors]:
    counts = [Counter(words(text)) for text in texts]
    known = sorted({word for bag in counts for word in bag})
    name = path.name if path else encoder[0]
    vectors = read_vectors(path, only=known) if path else WordVectors(tuple(known), encoder[1].encode(known))
    idf = TfIdf(texts, words).idf
    yield Vectors("mean", name, _mean(counts, vectors, dict.fromkeys(idf, 1.0)))
    yield Vectors("IDF mean", name, _mean(counts, vectors, idf))


def _mean(counts: Sequence[Counter[str]], vectors: WordVectors, weights: dict[str, float]) -> FloatArray:
    """`Σ_w n_w weight_w E_w`, of length 1; zero for a text without a known word."""
    sums = np.zeros((len(counts), vectors.dimension), dtype=np.float32)
    for row, terms_ in enumerate(counts):
        known = [word for word in terms_ if word in vectors]
        if known:
            factors = np.array([terms_[word] * weights[word] for word in known], dtype=np.float32)
            sums[row] = factors @ vectors.matrix[[vectors.index[word] for word in known]]
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    norms[norms == 0] = 1
    unit: FloatArray = sums / norms
    return unit
