"""The evaluations that rows name: each takes the path of its data, and is imported when a row needs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from qa_lab.evaluate.report import Row


def evaluation(task: str) -> Callable[..., list[Row]]:
    """The evaluation of a task of `qa-bot eval`; its options are keywords."""
    match task:
        case "answers":
            from qa_lab.evaluate.answers import evaluate_answers

            return evaluate_answers
        case "dialogue":
            from qa_lab.evaluate.dialogue import evaluate_dialogue

            return evaluate_dialogue
        case "known-item":
            from qa_lab.evaluate.known_item import evaluate_known_item

            return evaluate_known_item
        case "liveqa":
            return _liveqa
        case "paraphrase":
            from qa_lab.evaluate.words.paraphrase import evaluate_paraphrase

            return evaluate_paraphrase
        case "phrases":
            from qa_lab.evaluate.words.phrases import evaluate_phrases

            return evaluate_phrases
        case "relations":
            from qa_lab.evaluate.graph.relations import evaluate_relations

            return evaluate_relations
        case "similar":
            from qa_lab.evaluate.similar import evaluate_similar

            return evaluate_similar
        case "words":
            from qa_lab.evaluate.words.words import evaluate_words

            return evaluate_words
    raise ValueError(f"Expected a task that a row can name, but got {task!r}; add it here.")


def _liveqa(data: Path, *, limit: int | None = None, models: Sequence[Path] = (), **options: Any) -> list[Row]:
    """The whole bot; with models, the same candidates in every order."""
    from qa_lab.evaluate.datasets import SPLIT, read_dataset

    dataset = read_dataset(data, split=SPLIT, limit=limit)
    if models:
        from qa_lab.evaluate.liveqa.reranking import evaluate_reranking

        return evaluate_reranking(dataset, models=models, **options)
    from qa_lab.evaluate.liveqa.liveqa import evaluate_liveqa

    return evaluate_liveqa(dataset, **options)
