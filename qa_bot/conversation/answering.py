"""A turn of a conversation answered: understood after what was said, then looked up, or replied to where it is talk."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from qa_bot.answering.deadline import Deadline
from qa_bot.answering.events import Listener, Understood, nobody
from qa_bot.conversation.followups import Rewriter
from qa_bot.conversation.memory import RememberedTurn
from qa_bot.conversation.replies import ANSWERS_AGAIN, reply
from qa_bot.conversation.session_votes import SessionVotes
from qa_bot.conversation.talk import recognise
from qa_bot.conversation.understanding import UnderstoodTurn, read
from qa_core.types import Answer, Question

if TYPE_CHECKING:
    from qa_bot.answering.pipeline import Pipeline, Wanted


class How(NamedTuple):
    """What holds for an answer, whatever is asked."""

    deadline: Deadline
    top: int = 10
    trace: bool = False
    voice: Wanted | None = None
    listen: Listener = nobody


class ClientTurn(NamedTuple):
    """A turn as a client tells of it that keeps the conversation itself."""

    question: str
    said: str
    """What was answered, without a persona's sentence; "" for none."""
    asks_back: bool = False
    title: str = ""
    """Of the document that the answer came from, where somebody knows."""


@cache
def rewriter() -> Rewriter:
    """The shipped one, for everybody."""
    return Rewriter()


def answer_turn(
    pipeline: Pipeline, asked: Question, past: Sequence[RememberedTurn], how: How, *, understood: str = ""
) -> Answer:
    """An answer to a turn, without an id.

    Args:
        past: what was said before, oldest first.
        understood: what is asked, where the asker said so; nothing is rewritten then, nor taken for talk.

    Raises:
        Cancelled: nobody wants the answer any more, says the deadline.
    """
    began = time.monotonic()
    reading = _reading(pipeline, asked, past, understood)
    took = round(time.monotonic() - began, 6)
    if reading.talk is not None:
        answer = reply(reading.talk, past, pipeline.knowledge)
        voice = None if reading.talk in ANSWERS_AGAIN else how.voice
        told = pipeline.say(asked, answer, deadline=how.deadline, voice=voice, listen=how.listen)
    else:
        told = _looked_up(pipeline, asked, reading, past, how)
    timings = {"understand": took, **told.timings, "total": round(told.timings["total"] + took, 6)}
    return replace(told, timings=timings)


def replayed(pipeline: Pipeline, exchanged: Sequence[ClientTurn], how: How) -> list[RememberedTurn]:
    """What was said, as a client tells it; an answer is made again where a later turn speaks of it."""
    past: list[RememberedTurn] = []
    quiet = how._replace(listen=nobody, trace=True)
    for each in exchanged:
        asked, before = Question(each.question), tuple(past)
        past.append(
            RememberedTurn(
                question=each.question,
                understood=_reading(pipeline, asked, before, "").question,
                said=each.said,
                title=each.title,
                recall=partial(answer_turn, pipeline, asked, before, quiet),
                talk=recognise(each.question),
                asks_back=each.asks_back,
            )
        )
    return past


def _reading(pipeline: Pipeline, asked: Question, past: Sequence[RememberedTurn], understood: str) -> UnderstoodTurn:
    if understood:
        return UnderstoodTurn(understood, settled=True)
    if asked.body.strip():  # who writes so much says what is meant
        return UnderstoodTurn(asked.title)
    return read(asked.title, past, rewriter(), pipeline.entities)


def _looked_up(
    pipeline: Pipeline, asked: Question, reading: UnderstoodTurn, past: Sequence[RememberedTurn], how: How
) -> Answer:
    changed = reading.question != asked.title
    if changed:
        how.listen(Understood(reading.question))
    answer = pipeline.ask(
        replace(asked, title=reading.question),
        deadline=how.deadline,
        top=how.top,
        trace=how.trace,
        voice=how.voice,
        taste=SessionVotes.of(past),
        clarify=not reading.settled and not asked.body.strip(),
        listen=how.listen,
    )
    return replace(answer, question=asked.title, understood=reading.question if changed else "")
