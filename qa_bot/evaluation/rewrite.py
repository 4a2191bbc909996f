"""`eval rewrite`: do rewrites of follow-ups say what people's own rewrites say (TREC CAsT 2019 and 2020)?

Turns are asked in order, each after the turns before it as they were understood by the system itself; there are no
answers between them. A topic's first turn is never rewritten and is not counted. Two rows for each file: the turns as
they were typed, and the rewrites. `exact` compares words whatever their case, `F1` bags of such words, `changed` tells
how many turns were rewritten, `harm` how many of those that people left as they are, and `shift` how many of the
topics' first turns when they are asked at the end of the topic before, where nothing carries over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from qa_bot.evaluation.indexed import Progress, silent
from qa_bot.evaluation.report import Row, compared
from qa_bot.followups.dialogues import Dialogue, Turn, read_dialogues
from qa_bot.followups.fitting import cross_fitted, token_f1
from qa_bot.followups.mentions import Exchange
from qa_bot.followups.rewriter import Rewriter, Rewritten
from qa_core.metrics import Score
from qa_core.text import fold, words

TASK = "rewrite"
COMPARED_BY = "F1"


class Asked(NamedTuple):
    """A turn, what was made of it, and how long that took in milliseconds."""

    turn: Turn
    said: Rewritten
    took: float


def evaluate_rewrite(data: Path, *, limit: int | None = None, folds: int = 0, progress: Progress = silent) -> list[Row]:
    """Two rows for each file of conversations: the turns as typed, and the rewrites, compared by token-F1.

    Args:
        data: a file or folder, as `read_dialogues` takes it.
        limit: topics.
        folds: fit the scorer anew for so many parts, each on the others, and measure on what was held out; 0 measures
            the shipped scorer.

    Raises:
        DialogueError: nothing to measure on.
    """
    rows: list[Row] = []
    for name, dialogues in read_dialogues(data).items():
        chosen = dialogues[:limit]
        parts = cross_fitted(chosen, folds=folds) if folds else [(None, chosen)]
        asked: list[Asked] = []
        shifted: list[bool] = []
        for scorer, held in parts:
            rewriter = Rewriter(scorer)
            for dialogue in held:
                asked += converse(rewriter, dialogue)
                progress(f"rewrote turns of {name}", len(asked))
            shifted += shifts(rewriter, held)
        rows += compared(_rows(name, "held out" if folds else "", asked, shifted), COMPARED_BY)
    return rows


def converse(rewriter: Rewriter, dialogue: Dialogue) -> list[Asked]:
    """The turns of a dialogue but the first, in order."""
    history = [Exchange(dialogue.turns[0].raw)]
    asked: list[Asked] = []
    for turn in dialogue.turns[1:]:
        start = time.perf_counter()
        said = rewriter.rewrite(turn.raw, history)
        asked.append(Asked(turn, said, 1000 * (time.perf_counter() - start)))
        history.append(Exchange(said.text))
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


def _rows(name: str, split: str, asked: Sequence[Asked], shifted: Sequence[bool]) -> list[Row]:
    def row(engine: str, read: Callable[[Asked], str], more: Mapping[str, Score]) -> Row:
        scores = {
            "F1": _score(token_f1(read(each), each.turn.manual) for each in asked),
            "exact": _score(exactly(read(each), each.turn.manual) for each in asked),
        }
        return Row(TASK, name, split, engine, "", len(asked), {**scores, **more})

    of_all = {
        "changed": _score(float(each.said.changed) for each in asked),
        "harm": _score(float(each.said.changed) for each in asked if each.turn.stands_alone),
        "shift": _score(map(float, shifted)),
        "ms": Score(float(np.median([each.took for each in asked])) if asked else float("nan"), float("nan"), {}),
    }
    nothing = {name: Score(0.0, float("nan"), {}) for name in of_all}
    return [row("as typed", lambda each: each.turn.raw, nothing), row("rewritten", lambda each: each.said.text, of_all)]


def _score(values: Iterable[float]) -> Score:
    return Score.of({str(place): value for place, value in enumerate(values)})
