"""`eval rewrite`: similarity of rewritten follow-ups to manual rewrites, and recall of the relevant documents.

Turns run in order; the history of a turn holds the earlier turns as the system rewrote them. First turns are never
rewritten and not counted. Each file has rows for raw turns, rewrites and, if documents are judged, manual rewrites.
`exact` compares words without case, `F1` bags of words; `changed` is the share of rewritten turns, `harm` that of
turns that annotators left unchanged, and `shift` that of first turns after another topic, with nothing to carry over.

TREC CAsT 2019 and 2020 have no answers, and we have no documents of theirs. Our dialogues (JSON lines) are answered by
the bot between the turns; `R@10` and `Success@10` measure its search for the relevant documents. Files of questions or
documents measure harm only: see `qa_lab.evaluate.followups.rewrite_harm`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from qa_bot.bot import Bot
from qa_bot.conversation.followups.mentions import Exchange
from qa_bot.conversation.followups.rewriter import Rewriter, Rewritten
from qa_core.measures.metrics import Score
from qa_core.measures.metrics import evaluate as measured
from qa_core.measures.runs import run_of
from qa_core.text.analysis import fold, words
from qa_lab.evaluate.evaluation_home import Flags, Progress, silent
from qa_lab.evaluate.followups.dialogues import Dialogue, Turn, first_turns, read_dialogues
from qa_lab.evaluate.followups.fitting import cross_fitted, token_f1
from qa_lab.evaluate.followups.history_entry import Remember, answered_history
from qa_lab.evaluate.followups.rewrite_harm import evaluate_rewrite_harm, holds_questions
from qa_lab.evaluate.report import Row, compared

log = logging.getLogger(__name__)

TASK = "rewrite"
COMPARED_BY = "F1"
RECALL = ("R@10", "Success@10")
DEPTH = 10

Search = Callable[[str], list[str]]
"""A question to ids of documents, best first."""


class RewriteResult(NamedTuple):
    """A turn and its rewrite."""

    turn: Turn
    rewritten: Rewritten
    milliseconds: float
    id: str = ""  # of the turn in the run


class RewriteSystem(NamedTuple):
    """A row: its name, and the question that it asks for a turn."""

    engine: str
    text: Callable[[RewriteResult], str]


TYPED = RewriteSystem("as typed", lambda result: result.turn.raw)
REWRITTEN = RewriteSystem("rewritten", lambda result: result.rewritten.text)
MANUAL = RewriteSystem("manual", lambda result: result.turn.manual)


def evaluate_rewrite(
    data: Path,
    *,
    part: str = "",
    limit: int | None = None,
    folds: int = 0,
    home: Path | None = None,
    flags: Flags | None = None,
    named: bool = True,
    progress: Progress = silent,
) -> list[Row]:
    """Rows for each file of conversations, compared with the raw turns by recall, or by token-F1 without judgements.

    Args:
        data: a file or folder for `read_dialogues`, or standalone questions.
        part: the half of our dialogues.
        limit: largest number of questions: the first turns of all dialogues that may be rewritten.
        folds: number of folds to cross-validate the scorer; 0 measures the shipped scorer.
        home: home of the bot that answers and searches; by default a temporary one with the starter collection.
        flags: configuration by `section.key`.
        named: use the entities that the home's graph knows.

    Raises:
        DialogueError: without data to measure on.
    """
    if holds_questions(data):
        return evaluate_rewrite_harm(data, limit=limit, progress=progress)
    groups = first_turns(read_dialogues(data, part=part), limit)
    if not any(turn.relevant for dialogues in groups.values() for dialogue in dialogues for turn in dialogue.turns):
        return [row for name, group in groups.items() for row in _of_file(name, group, folds=folds, progress=progress)]
    with _opened(home, flags or {}) as bot:
        return [row for name, group in groups.items() for row in _answered(name, part, group, bot, named, progress)]


def _of_file(name: str, dialogues: Sequence[Dialogue], *, folds: int, progress: Progress) -> list[Row]:
    parts = cross_fitted(dialogues, folds=folds) if folds else [(None, list(dialogues))]
    results: list[RewriteResult] = []
    shifted: list[bool] = []
    for scorer, held in parts:
        rewriter = Rewriter(scorer)
        for dialogue in held:
            results += converse(rewriter, dialogue)
            progress(f"rewrote turns of {name}", len(results))
        shifted += shifts(rewriter, held)
    systems = (TYPED, REWRITTEN)
    return compared(_rows(name, "held out" if folds else "", systems, results, {"shift": _score(shifted)}), COMPARED_BY)


def _answered(
    name: str, part: str, dialogues: Sequence[Dialogue], bot: Bot, named: bool, progress: Progress
) -> list[Row]:
    """Rows with recall, or without if the home holds no relevant document."""
    relevant = {id_ for dialogue in dialogues for turn in dialogue.turns for id_ in turn.relevant}
    held = bot.store.find(relevant).keys() & relevant
    if len(held) < len(relevant):
        log.warning(
            "%s: %d of %d relevant documents are not in the home; turns without others are not searched for. "
            "Add the documents and name the home with --home.",
            name,
            len(relevant) - len(held),
            len(relevant),
        )
    rewriter, remember = Rewriter(), answered_history(bot, named=named) if held else Exchange
    results: list[RewriteResult] = []
    for dialogue in dialogues:
        results += converse(rewriter, dialogue, remember)
        progress(f"ran turns of {name}", len(results))
    rows = [replace(row, query=dialogues[0].home) for row in _rows(name, part, (TYPED, REWRITTEN, MANUAL), results, {})]
    judged = [result for result in results if held.intersection(result.turn.relevant)]
    if not judged:
        return compared(rows, COMPARED_BY)
    recalls = [_recall(system, judged, searching(bot)) for system in (TYPED, REWRITTEN, MANUAL)]
    return compared(
        [replace(row, scores={**scores, **row.scores}) for row, scores in zip(rows, recalls, strict=True)], RECALL[0]
    )


def searching(bot: Bot) -> Search:
    """The bot's retrieval, as for its answers."""
    return lambda question: [hit.passage.source.document for hit in bot.search(question, top=DEPTH)]


def _recall(system: RewriteSystem, results: Sequence[RewriteResult], search: Search) -> dict[str, Score]:
    qrels = {result.id: dict.fromkeys(result.turn.relevant, 1) for result in results}
    return measured(qrels, run_of({result.id: search(system.text(result)) for result in results}), RECALL)


@contextmanager
def _opened(home: Path | None, flags: Flags) -> Iterator[Bot]:
    """The home's bot; without a home, one with the starter collection."""
    with (
        TemporaryDirectory(prefix="qa-bot-evaluation-") as folder,
        Bot.open(home or Path(folder), flags=flags, record=False) as bot,
    ):
        yield bot


def converse(rewriter: Rewriter, dialogue: Dialogue, remember: Remember = Exchange) -> list[RewriteResult]:
    """Rewrites of all turns but the first, in order; each history holds the earlier turns as rewritten."""
    history = [remember(dialogue.turns[0].raw)]
    results: list[RewriteResult] = []
    for number, turn in enumerate(dialogue.turns[1:], start=2):
        start = time.perf_counter()
        rewritten = rewriter.rewrite(turn.raw, history)
        results.append(
            RewriteResult(turn, rewritten, 1000 * (time.perf_counter() - start), f"{dialogue.name}_{number}")
        )
        history.append(remember(rewritten.text))
    return results


def shifts(rewriter: Rewriter, dialogues: Sequence[Dialogue]) -> list[bool]:
    """Whether the first turn of each dialogue is changed if the previous dialogue is its history."""
    return [
        rewriter.rewrite(after.turns[0].raw, [Exchange(turn.manual) for turn in before.turns]).changed
        for before, after in pairwise(dialogues)
    ]


def exact_match(text: str, expected: str) -> float:
    """1 if two texts have the same words in the same order, without case; otherwise 0."""
    return float(words(fold(text)) == words(fold(expected)))


def _rows(
    name: str, split: str, systems: Sequence[RewriteSystem], results: Sequence[RewriteResult], more: Mapping[str, Score]
) -> list[Row]:
    of_rewrites = {
        "changed": _score(result.rewritten.changed for result in results),
        "harm": _score(result.rewritten.changed for result in results if result.turn.stands_alone),
        **more,
        "ms": Score(
            float(np.median([result.milliseconds for result in results])) if results else float("nan"), float("nan"), {}
        ),
    }
    nothing = {name: Score(0.0, float("nan"), {}) for name in of_rewrites}

    def row(system: RewriteSystem) -> Row:
        scores = {
            "F1": _score(token_f1(system.text(result), result.turn.manual) for result in results),
            "exact": _score(exact_match(system.text(result), result.turn.manual) for result in results),
        }
        also = of_rewrites if system is REWRITTEN else nothing
        return Row(TASK, name, split, system.engine, "", len(results), {**scores, **also})

    return [row(system) for system in systems]


def _score(values: Iterable[float]) -> Score:
    return Score.of({str(number): float(value) for number, value in enumerate(values)})
