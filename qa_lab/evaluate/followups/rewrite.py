"""`eval rewrite`: do rewrites of follow-ups say what people's own rewrites say, and is the wanted document found?

Turns are asked in order, each after the turns before it as they were understood by the system itself. A dialogue's
first turn is never rewritten and is not counted. Rows for each file: the turns as they were typed, the rewrites and,
where documents are wanted, people's own rewrites. `exact` compares words whatever their case, `F1` bags of such words,
`changed` tells how many turns were rewritten, `harm` how many of those that people left as they are, and `shift` how
many of the topics' first turns when they are asked at the end of the topic before, where nothing carries over.

TREC CAsT 2019 and 2020 bring no answers and no documents that we have. Dialogues of our own (JSON lines) are answered
by the bot itself between the turns, and `R@10` tells which part of the wanted documents its search finds among the
first ten, `Success@10` whether any. Files of questions or documents measure harm alone: see
`qa_lab.evaluate.followups.rewrite_harm`.
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
from qa_lab.evaluate.followups.dialogues import Dialogue, Turn, read_dialogues
from qa_lab.evaluate.followups.history_entry import Tell, telling
from qa_lab.evaluate.followups.rewrite_harm import evaluate_standing_alone, holds_questions
from qa_lab.evaluate.report import Row, compared
from qa_lab.fit.fit_followups import cross_fitted, token_f1

log = logging.getLogger(__name__)

TASK = "rewrite"
COMPARED_BY = "F1"
FOUND = ("R@10", "Success@10")
DEPTH = 10

Search = Callable[[str], list[str]]
"""A question to ids of documents, best first."""


class Asked(NamedTuple):
    """A turn, what was made of it, how long that took in milliseconds, and the id that it is measured by."""

    turn: Turn
    said: Rewritten
    took: float
    id: str = ""


class Reading(NamedTuple):
    """A row: its name, and what it asks in place of the turn."""

    engine: str
    text: Callable[[Asked], str]


TYPED = Reading("as typed", lambda asked: asked.turn.raw)
REWRITTEN = Reading("rewritten", lambda asked: asked.said.text)
MANUAL = Reading("manual", lambda asked: asked.turn.manual)


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
    """Rows for each file of conversations, compared with the turns as typed: by recall where documents are wanted,
    else by token-F1.

    Args:
        data: a file or folder, as `read_dialogues` takes it; or questions that stand alone.
        part: of dialogues of our own, which half.
        limit: topics, or questions.
        folds: fit the scorer anew for so many parts, each on the others, and measure on what was held out; 0 measures
            the shipped scorer.
        home: who answers and searches; by default a temporary home with the starter collection.
        flags: configuration by `section.key`.
        named: whether the home's graph tells which names it knows.

    Raises:
        DialogueError: nothing to measure on.
    """
    if holds_questions(data):
        return evaluate_standing_alone(data, limit=limit, progress=progress)
    found = {name: dialogues[:limit] for name, dialogues in read_dialogues(data, part=part).items()}
    if not any(turn.wanted for dialogues in found.values() for dialogue in dialogues for turn in dialogue.turns):
        return [row for name, each in found.items() for row in _of_file(name, each, folds=folds, progress=progress)]
    with _opened(home, flags or {}) as bot:
        return [row for name, each in found.items() for row in _answered(name, part, each, bot, named, progress)]


def _of_file(name: str, dialogues: Sequence[Dialogue], *, folds: int, progress: Progress) -> list[Row]:
    parts = cross_fitted(dialogues, folds=folds) if folds else [(None, list(dialogues))]
    asked: list[Asked] = []
    shifted: list[bool] = []
    for scorer, held in parts:
        rewriter = Rewriter(scorer)
        for dialogue in held:
            asked += converse(rewriter, dialogue)
            progress(f"rewrote turns of {name}", len(asked))
        shifted += shifts(rewriter, held)
    readings = (TYPED, REWRITTEN)
    return compared(_rows(name, "held out" if folds else "", readings, asked, {"shift": _score(shifted)}), COMPARED_BY)


def _answered(
    name: str, part: str, dialogues: Sequence[Dialogue], bot: Bot, named: bool, progress: Progress
) -> list[Row]:
    """Rows with recall where the home holds wanted documents, and without where it holds none of them."""
    wanted = {id_ for dialogue in dialogues for turn in dialogue.turns for id_ in turn.wanted}
    held = bot.store.find(wanted).keys() & wanted
    if len(held) < len(wanted):
        log.warning(
            "%s: %d of %d wanted documents are not in the home, and turns that want only such are not searched for; "
            "add them there and name it with --home.",
            name,
            len(wanted) - len(held),
            len(wanted),
        )
    rewriter, tell = Rewriter(), telling(bot, named=named) if held else Exchange
    asked: list[Asked] = []
    for dialogue in dialogues:
        asked += converse(rewriter, dialogue, tell)
        progress(f"asked turns of {name}", len(asked))
    rows = [replace(row, query=dialogues[0].home) for row in _rows(name, part, (TYPED, REWRITTEN, MANUAL), asked, {})]
    sought = [each for each in asked if held.intersection(each.turn.wanted)]
    if not sought:
        return compared(rows, COMPARED_BY)
    found = [_found(reading, sought, searching(bot)) for reading in (TYPED, REWRITTEN, MANUAL)]
    return compared(
        [replace(row, scores={**scores, **row.scores}) for row, scores in zip(rows, found, strict=True)], FOUND[0]
    )


def searching(bot: Bot) -> Search:
    """The bot's whole retrieval, as its answers use it."""
    return lambda question: [each.passage.source.document for each in bot.search(question, top=DEPTH)]


def _found(reading: Reading, sought: Sequence[Asked], search: Search) -> dict[str, Score]:
    wanted = {each.id: dict.fromkeys(each.turn.wanted, 1) for each in sought}
    return measured(wanted, run_of({each.id: search(reading.text(each)) for each in sought}), FOUND)


@contextmanager
def _opened(home: Path | None, flags: Flags) -> Iterator[Bot]:
    """The home's bot; without a home one that has the starter collection."""
    with (
        TemporaryDirectory(prefix="qa-bot-evaluation-") as folder,
        Bot.open(home or Path(folder), flags=flags, record=False) as bot,
    ):
        yield bot


def converse(rewriter: Rewriter, dialogue: Dialogue, tell: Tell = Exchange) -> list[Asked]:
    """The turns of a dialogue but the first, in order, each after what was told to those before."""
    history = [tell(dialogue.turns[0].raw)]
    asked: list[Asked] = []
    for place, turn in enumerate(dialogue.turns[1:], start=2):
        start = time.perf_counter()
        said = rewriter.rewrite(turn.raw, history)
        asked.append(Asked(turn, said, 1000 * (time.perf_counter() - start), f"{dialogue.name}_{place}"))
        history.append(tell(said.text))
    return asked


def shifts(rewriter: Rewriter, dialogues: Sequence[Dialogue]) -> list[bool]:
    """Whether each dialogue's first turn is changed after the whole of the dialogue before."""
    return [
        rewriter.rewrite(after.turns[0].raw, [Exchange(turn.manual) for turn in before.turns]).changed
        for before, after in pairwise(dialogues)
    ]


def exactly(text: str, wanted: str) -> float:
    """1 where two texts have the same words in the same order, whatever their case, else 0."""
    return float(words(fold(text)) == words(fold(wanted)))


def _rows(
    name: str, split: str, readings: Sequence[Reading], asked: Sequence[Asked], more: Mapping[str, Score]
) -> list[Row]:
    of_rewrites = {
        "changed": _score(each.said.changed for each in asked),
        "harm": _score(each.said.changed for each in asked if each.turn.stands_alone),
        **more,
        "ms": Score(float(np.median([each.took for each in asked])) if asked else float("nan"), float("nan"), {}),
    }
    nothing = {name: Score(0.0, float("nan"), {}) for name in of_rewrites}

    def row(reading: Reading) -> Row:
        scores = {
            "F1": _score(token_f1(reading.text(each), each.turn.manual) for each in asked),
            "exact": _score(exactly(reading.text(each), each.turn.manual) for each in asked),
        }
        also = of_rewrites if reading is REWRITTEN else nothing
        return Row(TASK, name, split, reading.engine, "", len(asked), {**scores, **also})

    return [row(reading) for reading in readings]


def _score(values: Iterable[float]) -> Score:
    return Score.of({str(place): float(value) for place, value in enumerate(values)})
