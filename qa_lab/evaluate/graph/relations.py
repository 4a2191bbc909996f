"""`eval relations`: which relation does a question ask for, among those of its entity? Accuracy over pools.

After trained scorers come rows that were trained on nothing: chance, the number of shared words (thesis, table 4.2),
stems by Jaccard, the cosine of question and relation for each encoder, and all of these together. `accuracy` counts a
tie of n relations as 1/n, which is what drawing one of them gives; `accuracy_strict` counts it as wrong. Where the home
that is named has a graph, `accuracy_covered` is of the questions whose right relation is one of its predicates, and
`accuracy_uncovered` of the others. The network of the thesis has a second row, where keywords decide first.
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
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.report import Row, compared
from qa_lab.train.errors import TrainingDataError

__all__ = ["MEASURE", "TASK", "Chance", "evaluate_relations", "measured", "open_head", "open_scorer"]

TASK = "relations"
MEASURE = "accuracy"
_AT_ONCE = 1_000  # questions


class Chance:
    """Scores that tell nothing."""

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
    """A row for each way to score, compared with the first by accuracy.

    Args:
        data: lines `gold TAB pool TAB question` with numbers of relations, the mention as `#head_entity#`.
        relations: their names, one a line, the first is 1.
        models: folders of trained scorers, measured first.
        encoders: names of encoders, `starter` where none is named.
        home: where encoders that were fetched lie, and whose graph tells covered relations.

    Raises:
        TrainingDataError: a file is malformed, told with its line, or no names are given.
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
    """Accuracy, ties shared and ties wrong, question by question; apart for `covered` relations if they are told."""
    shared: dict[str, float] = {}
    strict: dict[str, float] = {}
    for start in range(0, len(questions), _AT_ONCE):
        part = questions[start : start + _AT_ONCE]
        scores = scorer.score([each.template for each in part], [each.pool for each in part])
        for number, (each, own) in enumerate(zip(part, scores, strict=True), start=start):
            best = own == own.max()
            right = bool(best[each.gold_index])
            shared[str(number)] = right / int(best.sum())
            strict[str(number)] = float(right and best.sum() == 1)
        progress("scored", start + len(part))
    found = {MEASURE: Score.of(shared), f"{MEASURE}_strict": Score.of(strict)}
    if covered is not None:
        inside = {key for key in shared if questions[int(key)].gold in covered}
        found[f"{MEASURE}_covered"] = Score.of({key: shared[key] for key in shared if key in inside})
        found[f"{MEASURE}_uncovered"] = Score.of({key: shared[key] for key in shared if key not in inside})
    return found


def _covered(questions: Sequence[PoolQuestion], home: Path | None) -> set[str] | None:
    """Right relations that the home's graph has as predicates; None without a graph."""
    if home is None or not Home(home).graph.is_dir():
        return None
    with open_graph(Home(home)) as graph:
        return {gold for gold in {each.gold for each in questions} if graph.triples.id_of(gold) is not None}


def _scorers(
    trained: Sequence[Path], encoders: Sequence[str], models: Path
) -> Iterator[tuple[str, str, RelationScorer]]:
    stems = KeywordMatcher()
    for folder in trained:
        scorer, name = open_scorer(folder, models), folder.resolve().name
        yield name, "", scorer
        if isinstance(scorer, RelationDetector):
            yield f"{name}, keywords first", "", KeywordFirst(scorer, stems)
    yield "chance", "", Chance()
    yield "shared words", "", KeywordMatcher(jaccard=False, stemmed=False)
    yield "keywords", "", stems
    cosines = []
    for name in dict.fromkeys(encoders) or (STARTER,):
        cosines.append(CosineScorer(resolve(name, models=models).encode))
        yield "cosine", name, cosines[-1]
    yield "together", "", WeightedSumScorer([*((each, 1.0 / len(cosines)) for each in cosines), (stems, KEYWORDS)])
