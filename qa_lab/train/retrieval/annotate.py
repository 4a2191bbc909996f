"""`train annotate`: bi-encoders trained on labels of a cross-encoder for new queries, and their comparison.

The folder that is written holds the known models (`known-bi`, `known-cross`), a new bi-encoder for each way to label
(`given`, `intersection`, `top-1`, `cross-encoder`), every judged candidate (`labels.jsonl`), the pairs of each way
(`pairs/`, which `train dense` reads) and the comparison. A resumed run continues with the unfinished model.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from qa_core.atomic import atomic_file
from qa_core.measures.metrics import paired_bootstrap
from qa_core.training.pair_classifier import LabelledPairs, mean_loss, probabilities
from qa_core.types import FloatArray
from qa_lab.errors import RunError, TrainingDataError
from qa_lab.train.retrieval.annotation_data import read_matching
from qa_lab.train.retrieval.annotation_models import (
    PAGE,
    Hits,
    Task,
    bi_encoder,
    cross_encoder,
    finder,
    folder_of,
    opened,
)
from qa_lab.train.retrieval.annotation_models import hits as hits_of
from qa_lab.train.retrieval.annotation_report import (
    VERSUS,
    AnnotationOutcome,
    Contrast,
    CrossQuality,
    Improved,
    Trained,
    markdown,
)
from qa_lab.train.retrieval.annotation_settings import (
    CROSS,
    GIVEN,
    IMPROVED_BI,
    IMPROVED_CROSS,
    INTERSECTION,
    KNOWN_BI,
    KNOWN_CROSS,
    TOP,
    AnnotateConfig,
    settings,
    stages,
    ways,
)
from qa_lab.train.training_run import TrainingRun
from qa_lab.train.verb import Job, TrainVerb
from retrievers.training.annotation import (
    Label,
    Retrieved,
    Search,
    agreed_pairs,
    agreement,
    balanced,
    by_distance,
    candidates,
    human_pairs,
    known_matches,
    label_candidates,
    matched_pairs,
    top_pairs,
)
from retrievers.training.examples import Examples

log = logging.getLogger(__name__)

LABELS, PAIRS, RESULT = "labels.jsonl", "pairs", "comparison.json"
BOOTSTRAP_SEED = 20170815


def _train(job: Job[AnnotateConfig]) -> AnnotationOutcome:
    """Run the three steps; epochs of progress reports are counted over all models."""
    config = job.settings
    data, matching = read_matching(
        job.request, questions=config.questions, development=config.development, limit=config.queries
    )
    job.on_read(data)
    return _annotated(Task(job, matching))


ANNOTATE = TrainVerb(_train, settings, lambda config, _: sum(count for _, count in stages(config)), "P@1")


def _annotated(task: Task) -> AnnotationOutcome:
    run = _begin(task)
    search = finder(task, _known_bi(task))
    sample, held_out = _cross_examples(task, search)
    known_cross = cross_encoder(task, KNOWN_CROSS, sample, held_out)
    train, dev = _labels(task, search, known_cross)
    hits = {KNOWN_BI: hits_of(task, search)}
    rows = tuple(_row(task, way, train, dev, hits) for way in ways(task.config))
    outcome = AnnotationOutcome(
        answers=len(task.data.examples.answers),
        queries=_sizes(task),
        test=len(task.data.test),
        seed=task.request.seed,
        top=task.config.top,
        known=hits[KNOWN_BI].accuracy.mean,
        reach=_reach(task, train),
        cross=_cross_quality(task, known_cross, sample, held_out, train),
        rows=rows,
        contrasts=tuple(_contrast(hits, base, name) for name, base in VERSUS.items() if {name, base} <= hits.keys()),
        improved=_improved(task, sample, held_out, train, dev, hits) if task.config.improve else None,
    )
    (task.out / RESULT).write_text(json.dumps(outcome.as_dict(), indent=2) + "\n", encoding="utf-8")
    (task.out / PAGE).write_text(markdown(outcome), encoding="utf-8")
    run.remove_state()
    return outcome


# --- the three steps ------------------------------------------------------------------------------------------------


def _known_bi(task: Task) -> Path:
    """Step 1: a given encoder, or one trained on the pairs of the first set."""
    if task.config.known:
        return folder_of(task.config.known, task.request)
    queries = task.data.known_bi
    return bi_encoder(task, KNOWN_BI, task.known_pairs(queries.train), task.known_pairs(queries.dev))


def _cross_examples(task: Task, search: Search) -> tuple[LabelledPairs, LabelledPairs | None]:
    """Step 2: candidates that the known bi-encoder finds for the second set, right and wrong."""
    queries, most = task.data.known_cross, task.config.cross_pairs
    share = len(queries.dev) / max(1, len(queries.train))
    train, held_out = (candidates(search, task.texts(part), task.config.top) for part in (queries.train, queries.dev))
    sample = _sampled(task, train, known_matches(train, task.data.right), most=most)
    if sample is None:
        raise TrainingDataError(
            f"Expected right answers among the candidates of {len(queries.train)} queries, but the known bi-encoder "
            "finds none; give more pairs, or raise `top`."
        )
    return sample, _sampled(task, held_out, known_matches(held_out, task.data.right), most=round(most * share))


def _sampled(task: Task, results: Sequence[Retrieved], matches: Sequence[bool], *, most: int) -> LabelledPairs | None:
    rng = np.random.default_rng(task.request.seed)
    sample = balanced(matches, rng, most=most, minimum_positives=task.config.minimum_positives)
    if not sample:
        return None
    pairs = task.pairs(results[number] for number in sample)
    return LabelledPairs(tuple((p.question, p.answer) for p in pairs), tuple(matches[number] for number in sample))


def _labels(task: Task, search: Search, known_cross: Path) -> tuple[list[Label], list[Label]]:
    """Step 3: labels of the known cross-encoder for the candidates of the third set, training and development."""
    parts = (task.data.new.train, task.data.new.dev)
    results = [candidates(search, task.texts(part), task.config.top) for part in parts]
    judges = _saved_judgements(task, sum(map(len, results))) or _judges(task, known_cross)
    right = task.data.right if task.data.labelled else None
    texts, answers = task.data.texts, task.data.examples.answers
    train, dev = (label_candidates(part, judges, texts, answers, right=right) for part in results)
    _write_labels(task, [*train, *dev])
    return train, dev


def _judges(task: Task, known_cross: Path) -> Callable[[Sequence[tuple[str, str]]], FloatArray]:
    classifier = opened(task, known_cross)

    def score(pairs: Sequence[tuple[str, str]]) -> FloatArray:
        log.info("%d candidates are judged", len(pairs))
        return probabilities(classifier.score(pairs))

    return score


def _saved_judgements(task: Task, count: int) -> Callable[[Sequence[tuple[str, str]]], FloatArray] | None:
    """The judgements of an interrupted run, in the same order; None if it was interrupted before."""
    path = task.out / LABELS
    if not path.is_file():
        return None
    chances = [json.loads(line)["probability"] for line in path.read_text(encoding="utf-8").splitlines()]
    if len(chances) != count:
        raise RunError(f"Expected {count} labels in {path}, but got {len(chances)}; leave --resume out.")
    left = iter(chances)
    return lambda pairs: np.array([next(left) for _ in pairs], dtype=np.float32)


def _row(task: Task, way: str, train: Sequence[Label], dev: Sequence[Label], hits: dict[str, Hits]) -> Trained:
    """A new bi-encoder by one way to label, if that gives enough pairs."""
    chosen, held_out = (_positives(task, way, labels) for labels in (train, dev))
    pairs = task.pairs(chosen)
    _write_lines(task.out / PAIRS / f"{way}.jsonl", [{"question": p.question, "answer": p.answer} for p in pairs])
    queries = len({match.query for match in chosen})
    try:
        Examples.of(pairs)
    except ValueError as error:
        log.warning("No encoder %s: %s", way, error)
        return Trained(way, len(pairs), queries, None, None, reason="too few pairs")
    hits[way] = hits_of(task, finder(task, bi_encoder(task, way, pairs, task.pairs(held_out))))
    return Trained(way, len(pairs), queries, hits[way].accuracy.mean, hits[way].accuracy.standard_error)


def _positives(task: Task, way: str, labels: Sequence[Label]) -> list[Retrieved]:
    threshold = task.config.threshold
    chosen: Mapping[str, Callable[[], list[Retrieved]]] = {
        GIVEN: lambda: human_pairs(labels),
        INTERSECTION: lambda: agreed_pairs(labels, threshold=threshold),
        TOP: lambda: top_pairs(labels),
        CROSS: lambda: matched_pairs(labels, threshold=threshold),
    }
    return chosen[way]()


def _improved(
    task: Task,
    sample: LabelledPairs,
    held_out: LabelledPairs | None,
    train: Sequence[Label],
    dev: Sequence[Label],
    hits: Mapping[str, Hits],
) -> Improved:
    """The known models trained again with the new labels added (Chiu and Shinzato 2022, §5.3)."""
    way = INTERSECTION if task.data.labelled else CROSS
    new, new_dev = _positives(task, way, train), _positives(task, way, dev)
    queries = task.data.known_bi
    pairs = [*task.known_pairs(queries.train), *task.pairs(new)]
    dev_pairs = [*task.known_pairs(queries.dev), *task.pairs(new_dev)]
    bi = hits_of(task, finder(task, bi_encoder(task, IMPROVED_BI, pairs, dev_pairs)))
    results, positive = [label.retrieved for label in train], set(new)
    more = _sampled(task, results, [result in positive for result in results], most=task.config.cross_pairs)
    both = LabelledPairs((*sample.pairs, *more.pairs), (*sample.labels, *more.labels)) if more else sample
    cross = cross_encoder(task, IMPROVED_CROSS, both, held_out)
    return Improved(
        bi_before=hits[KNOWN_BI].accuracy.mean,
        bi_after=bi.accuracy.mean,
        cross_before=_loss(task, task.out / KNOWN_CROSS, held_out),
        cross_after=_loss(task, cross, held_out),
        pairs=len(both),
        positives=sum(both.labels),
    )


# --- figures --------------------------------------------------------------------------------------------------------


def _sizes(task: Task) -> dict[str, int]:
    data = task.data
    named = {"known bi-encoder": data.known_bi, "known cross-encoder": data.known_cross, "new bi-encoders": data.new}
    return {name: len(queries.train) for name, queries in named.items()}


def _reach(task: Task, labels: Sequence[Label]) -> float | None:
    """Share of the new queries whose candidates include a given answer."""
    if not task.data.labelled:
        return None
    return len({label.retrieved.query for label in labels if label.human}) / len(task.data.new.train)


def _cross_quality(
    task: Task, known_cross: Path, sample: LabelledPairs, held_out: LabelledPairs | None, labels: Sequence[Label]
) -> CrossQuality:
    loss = _loss(task, known_cross, held_out)
    agreed, matched, labelled = (len(_positives(task, way, labels)) for way in (INTERSECTION, CROSS, GIVEN))
    return CrossQuality(
        pairs=len(sample),
        positives=sum(sample.labels),
        loss=loss,
        precision=agreed / matched if task.data.labelled and matched else None,
        recall=agreed / labelled if task.data.labelled and labelled else None,
    )


def _loss(task: Task, folder: Path, held_out: LabelledPairs | None) -> float | None:
    return mean_loss(opened(task, folder), held_out) if held_out is not None else None


def _contrast(hits: Mapping[str, Hits], baseline: str, name: str) -> Contrast:
    first, second = hits[baseline], hits[name]
    return Contrast(
        baseline,
        name,
        agreement(first.right, second.right),
        tuple(by_distance(first.right, second.right, first.distances)),
        paired_bootstrap(second.accuracy.per_query, first.accuracy.per_query, seed=BOOTSTRAP_SEED),
    )


# --- the folder -----------------------------------------------------------------------------------------------------


def _begin(task: Task) -> TrainingRun:
    """Resume the saved run, or remove an earlier one."""
    run = TrainingRun(task.out, task.identity)
    if not task.request.resume:
        _clear(task)
        run.begin()
        run.write_identity()
    elif (task.out / RESULT).is_file():
        raise RunError(f"Expected an unfinished run in {task.out}, but got a finished run; leave --resume out.")
    else:
        run.check()
    return run


def _clear(task: Task) -> None:
    """Remove the files of an earlier run."""
    run = TrainingRun(task.out, {})
    if not run.saved and not (task.out / RESULT).is_file():
        return
    models = (KNOWN_BI, KNOWN_CROSS, GIVEN, INTERSECTION, TOP, CROSS, IMPROVED_BI, IMPROVED_CROSS)
    for name in (*models, PAIRS, run.state.name):
        shutil.rmtree(task.out / name, ignore_errors=True)
    for name in (LABELS, RESULT, PAGE):
        (task.out / name).unlink(missing_ok=True)


def _write_labels(task: Task, labels: Sequence[Label]) -> None:
    """Write every judged candidate; not as `question` and `answer`, since most are not pairs to train on."""
    texts, answers = task.data.texts, task.data.examples.answers
    rows = [
        {
            "query": texts[label.retrieved.query],
            "candidate": answers[label.retrieved.answer],
            "rank": label.retrieved.rank,
            "closeness": label.retrieved.closeness,
            "probability": label.probability,
            "match": label.probability > task.config.threshold,
            "given": label.human,
        }
        for label in labels
    ]
    _write_lines(task.out / LABELS, rows)


def _write_lines(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    path.parent.mkdir(exist_ok=True)
    with atomic_file(path) as file:
        file.writelines(f"{json.dumps(row, ensure_ascii=False)}\n".encode() for row in rows)
