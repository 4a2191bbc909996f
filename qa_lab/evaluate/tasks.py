"""Runs an evaluation task by name; each task is imported when it runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from qa_lab.evaluate.datasets import Dataset, DatasetError, read_dataset
from qa_lab.evaluate.report import Row
from qa_lab.evaluate.systems import System

if TYPE_CHECKING:
    from qa_lab.data.answer_sets import Keep


WITH_MODELS = ("similar", "words", "phrases", "answers", "paraphrase", "relations", "liveqa", "dialogue")


class Similar(NamedTuple):
    """Options of `similar`; see `qa_lab.evaluate.similar`."""

    held_out: float = 0.0
    padded: int | None = None
    padding: Sequence[Path] = ()


class Phrases(NamedTuple):
    """Options of `phrases`; see `qa_lab.evaluate.words.phrases`."""

    overlap: float = 0.5
    errors: bool = False


class Calibrated(NamedTuple):
    """Options of `liveqa --calibration`; see `qa_lab.evaluate.liveqa.abstention`."""

    off_topic: Path | None = None
    out: Path | None = None


def measure(
    task: str,
    data: Path,
    *,
    split: str,
    engines: Sequence[str],
    models: Sequence[Path],
    limit: int | None,
    relevant: int,
    summary: bool,
    run: Path | None,
    similar: Similar,
    phrases: Phrases,
    keep: Keep,
    relations: Path | None,
    calibrated: Calibrated | None = None,
    **common: Any,
) -> list[Row]:
    """The rows of a task.

    Args:
        engines: by default those of the task.
        common: `encoders`, `home` and `progress`, the arguments of every task over documents.
    """
    _check(task, engines, models, calibrated)
    chosen: dict[str, Any] = {**common, "engines": engines} if engines else common
    match task:
        case "words":
            from qa_lab.evaluate.words.words import evaluate_words

            return evaluate_words(data, models=models, limit=limit, **_without_home(common))
        case "phrases":
            return _phrases(data, models, run, limit=limit, options=phrases, **_without_home(common))
        case "similar":
            return _similar(data, models, limit=limit, **similar._asdict(), **common)
        case "answers":
            from qa_lab.evaluate.answers import evaluate_answers

            return evaluate_answers(data, models=models, limit=limit, keep=keep, **common)
        case "paraphrase" | "dialogue":
            return _held_out(task, data, models, limit=limit, held_out=similar.held_out, **common)
        case "relations" | "linking" | "facts":
            return _of_graph(task, data, relations, models, limit=limit, **common)
        case "rewrite":
            return _rewrite(data, part=split, limit=limit, **common)
        case "known-item":
            from qa_lab.evaluate.known_item import evaluate_known_item

            return evaluate_known_item(data, **({**chosen, "limit": limit} if limit else chosen))
    halved = -(-limit // 2) if limit and calibrated else limit
    dataset = read_dataset(data, split=split, limit=halved)
    if task == "liveqa":
        options: dict[str, Any] = {"limit": limit, "summary": summary, "relevant": relevant, "run": run}
        return _liveqa(dataset, models, engines, calibrated, **options, **common)
    from qa_lab.evaluate.retrieval import evaluate_retrieval

    return evaluate_retrieval(dataset, relevant=relevant, run=run, **chosen)


def _of_graph(
    task: str, data: Path, relations: Path | None, models: Sequence[Path], *, limit: int | None, **common: Any
) -> list[Row]:
    """Tasks over a graph: relations, entity linking and facts."""
    if task == "relations":
        from qa_lab.evaluate.graph.relations import evaluate_relations

        return evaluate_relations(data, relations=relations, models=models, limit=limit, **common)
    if common.pop("encoders", None):
        raise DatasetError(f"Expected no --encoder for {task}, which uses none; leave it out.")
    if task == "facts":
        from qa_lab.evaluate.graph.facts import evaluate_facts

        return evaluate_facts(data, limit=limit, **common)
    from qa_lab.evaluate.graph.linking import evaluate_linking

    return evaluate_linking(data, limit=limit, **common)


def _similar(data: Path, models: Sequence[Path], **common: Any) -> list[Row]:
    """Models that are files or folders of word vectors are for the means of words."""
    from qa_lab.data.word_vectors import vectors_file
    from qa_lab.evaluate.similar import evaluate_similar

    files = [file for model in models if (file := vectors_file(model))]
    if len(files) > 1:
        raise DatasetError(f"Expected one file of word vectors for similar, but got {len(files)}; name one at a time.")
    folders = [model for model in models if not vectors_file(model)]
    return evaluate_similar(data, models=folders, vectors=files[0] if files else None, **common)


def _rewrite(data: Path, *, part: str, limit: int | None, **common: Any) -> list[Row]:
    """Rewriting of follow-up questions."""
    from qa_lab.evaluate.followups.rewrite import evaluate_rewrite

    if common.pop("encoders", None):
        raise DatasetError("Expected no --encoder for rewrite, which uses the configured one; leave it out.")
    return evaluate_rewrite(data, part=part, limit=limit, **common)


def _held_out(task: str, data: Path, models: Sequence[Path], **common: Any) -> list[Row]:
    """Tasks on the share of the data that training held out."""
    if task == "paraphrase":
        from qa_lab.evaluate.words.paraphrase import evaluate_paraphrase

        return evaluate_paraphrase(data, models=models, **common)
    from qa_lab.evaluate.dialogue import evaluate_dialogue

    if common.pop("encoders", None):
        raise DatasetError("Expected no --encoder for dialogue, which uses none; name chat models by --model.")
    return evaluate_dialogue(data, models=models, **_without_home(common))


def _liveqa(
    dataset: Dataset,
    models: Sequence[Path],
    engines: Sequence[str],
    calibrated: Calibrated | None,
    *,
    limit: int | None,
    **common: Any,
) -> list[Row]:
    """Rows of the corridor; with rankers, rows of the same candidates in every order."""
    if "plain" in engines and not models:
        raise DatasetError("Expected the engine keyword, dense or hybrid for liveqa, but got plain.")
    if calibrated is not None:
        return _abstention(dataset, models, engines, calibrated, limit=limit, **common)
    if models:
        from qa_lab.evaluate.liveqa.reranking import evaluate_reranking

        options = {name: common[name] for name in ("encoders", "home", "progress") if name in common}
        return evaluate_reranking(dataset, models=models, **options)
    from qa_lab.evaluate.liveqa.liveqa import evaluate_liveqa

    return evaluate_liveqa(dataset, **({**common, "engines": engines} if engines else common))


def _abstention(
    dataset: Dataset,
    models: Sequence[Path],
    engines: Sequence[str],
    options: Calibrated,
    *,
    summary: bool,
    relevant: int,
    run: Path | None,
    **common: Any,
) -> list[Row]:
    """Quality of abstentions; the task defines which grade is right."""
    from qa_lab.evaluate.liveqa.abstention import evaluate_abstention
    from qa_lab.evaluate.liveqa.off_topic import beside

    if models or summary or run or relevant != 1:
        raise DatasetError(
            "Expected --calibration without --model, --summary, --relevant and --run; leave them out, and name "
            "rankers in the home's ranking.models."
        )
    off_topic = options.off_topic or beside(dataset.corpus.parent)
    chosen: dict[str, Any] = {**common, "engines": engines} if engines else common
    return evaluate_abstention(dataset, off_topic=off_topic, out=options.out, **chosen)


def _check(task: str, engines: Sequence[str], models: Sequence[Path], calibrated: Calibrated | None) -> None:
    if unknown := [engine for engine in engines if engine not in get_args(System)]:
        raise DatasetError(f"Expected {unknown[0]} with workplace, but got it with {task}; name another engine.")
    if models and task not in WITH_MODELS:
        raise DatasetError(
            f"Expected --encoder for {task}, but got --model; an encoder's folder is named with --encoder."
        )
    if calibrated is not None and task != "liveqa":
        raise DatasetError(f"Expected --calibration with liveqa, but got it with {task}; leave it out.")


def _phrases(
    data: Path,
    models: Sequence[Path],
    run: Path | None,
    *,
    limit: int | None,
    options: Phrases,
    **common: Any,
) -> list[Row]:
    """The rows; for the first model, optionally the reranked pairs in `run` and its errors on stderr."""
    from qa_lab.evaluate.words.phrase_ranking import rank_phrases
    from qa_lab.evaluate.words.phrases import errors_of, evaluate_phrases

    if (run or options.errors) and not models:
        raise DatasetError(
            "Expected --model DIR, whose scores --run writes and whose errors --errors shows, but got none."
        )
    rows = evaluate_phrases(data, models=models, limit=limit, overlap=options.overlap, **common)
    if run:
        ranked = rank_phrases(data, models[0], run, limit=limit)
        sys.stderr.write(
            f"{ranked.pairs:,} pairs are in {run}, best first; {len(ranked.rejects):,} could not be read.\n"
        )
    if options.errors:
        sys.stderr.write(f"{errors_of(data, models[0], limit=limit, overlap=options.overlap).text()}\n")
    return rows


def _without_home(common: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in common.items() if name != "home"}
