"""`eval relations`: measures relation detection on questions with pools of relations.

After trained scorers come untrained ones: chance, the number of shared words (Wang (2018), table 4.2), stems by
Jaccard, the cosine of question and relation for each encoder, and the sum of these. Wang's network has two more rows,
in which shared words, as in table 4.2, or keywords decide first. `accuracy` counts a tie of n relations as 1/n,
`accuracy_strict` as wrong. If the named home has a graph, `accuracy_covered` is over the questions whose right relation
is one of its predicates, and `accuracy_uncovered` over the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kg_index.relations.keywords import KeywordMatcher
from kg_index.relations.pools import PoolQuestion, read_pools, read_relations
from kg_index.relations.relation_network import RelationDetector
from kg_index.relations.relation_scorers import KEYWORDS, CosineScorer, KeywordFirst, RelationScorer, WeightedSumScorer
from qa_bot.answering.graph.relation_folders import open_head, open_scorer
from qa_bot.documents.graph import open_graph
from qa_bot.home.encoders import STARTER, resolve
from qa_bot.home.folder import Home
from qa_core.measures.metrics import Score
from qa_core.types import FloatArray
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.report import Row, compared

__all__ = ["MEASURE", "TASK", "Chance", "evaluate_relations", "measured", "open_head", "open_scorer"]

TASK = "relations"
MEASURE = "accuracy"
_AT_ONCE = 1_000  # questions


class Chance:
    """Scores all relations equally."""

    def score(self, _templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[FloatArray]:
        return [np.zeros(len(pool), dtype=np.float32) for pool in pools]


def evaluate_relations(
    data: Path,
    *,
    relations: Path | None,
    models: Sequence[Path] = (),
    encoders: Sequence[str] = (),
    limit: int | None = None,
    home: Path | None = None,
    progress: Progress = silent,
) -> list[Row]:
    """A row for each scorer, compared with the first by accuracy.

    Args:
        data: lines `gold TAB pool TAB question` with numbers of relations, the mention as `#head_entity#`.
        relations: file of their names, one a line, numbered from 1.
        models: folders of trained scorers.
        encoders: names of encoders, by default `starter`.
        home: the home with fetched encoders and the graph of covered relations.

    Raises:
        TrainingDataError: a file is malformed, or no names are given.
        EncoderError: an encoder cannot be opened.
    """
    if relations is None:
        raise TrainingDataError("Expected the names of relations, but got none; name them by --relations NAMES.txt.")
    try:
        questions = read_pools(data, read_relations(relations))[:limit]
    except ValueError as error:
        raise TrainingDataError(str(error)) from None
    if not questions:
        raise TrainingDataError(f"Expected questions with pools in {data}, but got none.")
    covered = _covered(questions, home)
    with TemporaryDirectory() as folder:
        rows = [
            Row(TASK, data.name, "all", name, encoder, len(questions), measured(scorer, questions, progress, covered))
            for name, encoder, scorer in _scorers(models, encoders, (home or Path(folder)) / "models")
        ]
    return compared(rows, MEASURE)


def measured(
    scorer: RelationScorer,
    questions: Sequence[PoolQuestion],
    progress: Progress = silent,
    covered: Collection[str] | None = None,
) -> dict[str, Score]:
    """Accuracies by question, also of covered and uncovered relations if `covered` is given."""
    shared: dict[str, float] = {}
    strict: dict[str, float] = {}
    for start in range(0, len(questions), _AT_ONCE):
        part = questions[start : start + _AT_ONCE]
        scores = scorer.score([question.template for question in part], [question.pool for question in part])
        for number, (question, row) in enumerate(zip(part, scores, strict=True), start=start):
            best = row == row.max()
            right = bool(best[question.gold_index])
            shared[str(number)] = right / int(best.sum())
            strict[str(number)] = float(right and best.sum() == 1)
        progress("scored", start + len(part))
    measures = {MEASURE: Score.of(shared), f"{MEASURE}_strict": Score.of(strict)}
    if covered is not None:
        inside = {key for key in shared if questions[int(key)].gold in covered}
        measures[f"{MEASURE}_covered"] = Score.of({key: shared[key] for key in shared if key in inside})
        measures[f"{MEASURE}_uncovered"] = Score.of({key: shared[key] for key in shared if key not in inside})
    return measures


def _covered(questions: Sequence[PoolQuestion], home: Path | None) -> set[str] | None:
    """The right relations that are predicates of the home's graph; None without a graph."""
    if home is None or not Home(home).graph.is_dir():
        return None
    with open_graph(Home(home)) as graph:
        return {gold for gold in {question.gold for question in questions} if graph.triples.id_of(gold) is not None}


def _scorers(
    trained: Sequence[Path], encoders: Sequence[str], models: Path
) -> Iterator[tuple[str, str, RelationScorer]]:
    stems, words = KeywordMatcher(), KeywordMatcher(plain=True)
    for folder in trained:
        scorer, name = open_scorer(folder, models), folder.resolve().name
        yield name, "", scorer
        if isinstance(scorer, RelationDetector):
            yield f"{name}, shared words first", "", KeywordFirst(scorer, words)
            yield f"{name}, keywords first", "", KeywordFirst(scorer, stems)
    yield "chance", "", Chance()
    yield "shared words", "", words
    yield "keywords", "", stems
    cosines = []
    for name in dict.fromkeys(encoders) or (STARTER,):
        cosines.append(CosineScorer(resolve(name, models=models).encode))
        yield "cosine", name, cosines[-1]
    yield "together", "", WeightedSumScorer([*((cosine, 1.0 / len(cosines)) for cosine in cosines), (stems, KEYWORDS)])
