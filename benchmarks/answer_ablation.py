"""Whole answers with one part of the answering off at a time, over all development collections:

    QA_BOT_DATA=… python benchmarks/answer_ablation.py
    QA_BOT_DATA=… python benchmarks/answer_ablation.py --collection notes --improved

A collection is indexed once and asked with each part off, questions and dialogues. It prints the mean points of the
answers of each collection, and the mean of the collections. Without an engine's part the confidence is the one that
was fitted to all of them, so a row also shows what the confidence loses.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any
from unittest.mock import patch

from qa_bot.answering import corridor
from qa_bot.answering.ask import Ask
from qa_bot.answering.clock import Clock
from qa_bot.answering.stages import passages
from qa_bot.answering.tiling import lead
from qa_bot.answering.verification import verify
from qa_bot.bot import Bot
from qa_bot.home.config import load_config
from qa_bot.home.encoders import STARTER
from qa_core.types import FloatArray, Passage, Question, Span
from qa_lab.evaluate.evaluation_home import evaluation_home, improve
from qa_lab.evaluate.workplace.grading import POINTS, grade
from qa_lab.evaluate.workplace.questions import GradedQuestion, read_questions
from qa_lab.fit.passage_rows import DevelopmentCollection, collections
from qa_lab.reference.encoders import choose
from qa_lab.reference.replies import Reply
from rankers.passage_evidence import PAIRS, PROSE

PATIENCE = 60.0


def first_unit(_passage: Passage, units: Sequence[Span], _scores: FloatArray) -> Span | None:
    """The beginning of a passage in place of its lead."""
    return units[0] if units else None


def without_readings(whole: corridor.Corridor, ask: Ask, clock: Clock, *rest: Any) -> Any:
    """A follow-up is searched in one reading."""
    return _decided(whole, replace(ask, readings=()), clock, *rest)


_decided = corridor.Corridor._decided


@dataclass(frozen=True, slots=True)
class Part:
    """What is off: configuration, or attributes that are replaced."""

    name: str
    flags: Mapping[str, object] = field(default_factory=dict)
    replaced: Sequence[tuple[object, str, object]] = ()


def without(*channels: str) -> list[tuple[object, str, object]]:
    """The weights of passages without some channels of evidence."""
    return [
        (passages, name, {channel: 0.0 if channel in channels else w for channel, w in weights.items()})
        for name, weights in (("PROSE", PROSE), ("PAIRS", PAIRS))
    ]


PARTS = (
    Part("nothing"),
    Part("reading the first passages", {"ranking.effort": "low"}),
    Part("their new order by cover", replaced=[(verify, "COVER_WEIGHT", 0.0)]),
    Part("pieces of words", replaced=without("pieces")),
    Part("vectors of sentences", replaced=without("unit")),
    Part("vectors of passages", replaced=without("passage")),
    Part("titles as fields of their own", replaced=without("title", "title words")),
    Part("the penalty of archived pages", replaced=[(passages, "ARCHIVED", 0.0)]),
    Part("the second passage", replaced=[(lead, "_second", lambda *_: None)]),
    Part("the choice of a lead", replaced=[(passages, "lead_of", first_unit)]),
    Part("readings of follow-ups", replaced=[(corridor.Corridor, "_decided", without_readings)]),
)


@contextmanager
def off(part: Part) -> Iterator[None]:
    with ExitStack() as stack:
        for owner, name, value in part.replaced:
            stack.enter_context(patch.object(owner, name, value))
        yield


def main() -> None:
    options = _arguments()
    chosen = [c for c in collections() if not options.collection or c.name in options.collection]
    points = {collection.name: _points(collection, improved=options.improved) for collection in chosen}
    print(" | ".join(["without", *points, "mean"]))  # noqa: T201 (a tool run by hand)
    for part in PARTS:
        row = [of[part.name] for of in points.values()]
        print(" | ".join([part.name, *(f"{mean:.3f}" for mean in row), f"{fmean(row):.3f}"]))  # noqa: T201


def _points(collection: DevelopmentCollection, *, improved: bool) -> dict[str, float]:
    """Mean points of the answers by the name of the part that is off."""
    choice = choose(STARTER)
    questions = [*read_questions(collection.questions)]
    if collection.dialogues.exists():
        questions += read_questions(collection.dialogues)
    opening = evaluation_home(
        [collection.documents], collection=collection.name, encoders=[choice.configured], flags=choice.flags
    )
    means = {}
    with opening as held:
        if improved:
            improve(held.home, load_config(held.home.path, flags=choice.flags))
        for part in PARTS:
            flags = {**choice.flags, **part.flags}
            with off(part), Bot.open(held.home.path, flags=flags, record=False) as bot:
                means[part.name] = fmean(_graded(bot, question) for question in questions)
    return means


def _graded(bot: Bot, question: GradedQuestion) -> float:
    turn = question.turn
    ask = Ask(Question(turn.question, turn.body), conversation=turn.dialogue or None)
    answer = bot.ask(ask, deadline=PATIENCE)
    reply = Reply(bool(answer.text), answer.text, tuple(source.document for source in answer.sources))
    return POINTS[grade(question, reply)]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collection", action="append", help="its name; by default all")
    parser.add_argument("--improved", action="store_true", help="with better vectors")
    return parser.parse_args()


if __name__ == "__main__":
    main()
