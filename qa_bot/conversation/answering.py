"""A turn of a conversation: understood after the turns before it, then answered by search or by talk."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

from qa_bot.answering.ask import Ask
from qa_bot.answering.clock import Clock
from qa_bot.answering.corridor import Corridor
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.events import Listener, Understood, ignore_event
from qa_bot.conversation.clarification.interpose import clarify
from qa_bot.conversation.clarification.suggesting import with_suggestions
from qa_bot.conversation.followups import Rewriter
from qa_bot.conversation.memory import RememberedTurn
from qa_bot.conversation.replies import ANSWERS_AGAIN, reply
from qa_bot.conversation.session_votes import SessionVotes
from qa_bot.conversation.understanding import UnderstoodTurn, read
from qa_core.text.small_talk import language_of_talk, recognise
from qa_core.types import Answer, Question
from retrievers.long_questions import TITLE, bounded, shortened

REST = "rest of the body"
"""Among the skipped parts of an answer whose question had a body above the bound."""


@cache
def rewriter() -> Rewriter:
    """The shipped rewriter of follow-up questions, loaded once."""
    return Rewriter()


def answer_turn(
    corridor: Corridor, ask: Ask, past: Sequence[RememberedTurn], deadline: Deadline, listen: Listener = ignore_event
) -> Answer:
    """The answer to a turn.

    Args:
        past: the turns before it, oldest first. If `ask.understood` is given, they change nothing.

    Raises:
        Cancelled: the caller cancelled the question.
    """
    began = time.monotonic()
    original, ask = ask.question, _bounded(ask)
    turn = _understood(corridor, ask, past, deadline)
    took = round(time.monotonic() - began, 6)
    clock = corridor.start(deadline, listen)
    if turn.talk is not None:
        answer = reply(turn.talk, past, corridor.knowledge, language_of_talk(ask.question.title))
        ask = replace(ask, persona="") if turn.talk in ANSWERS_AGAIN else ask
        answer = corridor.answer_talk(ask, answer, clock)
    else:
        answer = _searched(corridor, ask, turn, past, clock)
    timings = {"understand": took, **answer.timings, "total": round(answer.timings["total"] + took, 6)}
    return replace(_with_cut(answer, original, ask.question), timings=timings)


def answer_alone(corridor: Corridor, ask: Ask, deadline: Deadline, listen: Listener = ignore_event) -> Answer:
    """The answer to a question outside conversations, after misspelt words were corrected.

    Raises:
        Cancelled: the caller cancelled the question.
    """
    clock = corridor.start(deadline, listen)
    original, ask = ask.question, _bounded(ask)
    title = ask.question.title
    corrected = ask.understood or (corridor.corrected(title) if deadline.left() > 0 else title)
    if corrected != title:
        clock.listen(Understood(corrected))
    answer = corridor.answer(replace(ask, question=replace(ask.question, title=corrected)), clock)
    answer = replace(answer, understood=corrected if corrected != title else "")
    return _with_cut(with_suggestions(corridor, ask, answer, clock), original, ask.question)


def replayed(corridor: Corridor, ask: Ask, deadline: Deadline) -> list[RememberedTurn]:
    """The turns of a conversation that the client keeps; an earlier answer is made again if a later turn needs it."""
    past: list[RememberedTurn] = []
    for turn in ask.history or ():
        question = Question(shortened(turn.question, TITLE))
        earlier = Ask(
            question, persona=ask.persona, hint=ask.hint, cell=ask.cell, top=ask.top, trace=True, scope=ask.scope
        )
        before = tuple(past)
        understood = _understood(corridor, earlier, before, deadline)
        past.append(
            RememberedTurn(
                question=question.title,
                understood=understood.question,
                shown=understood.shown,
                reply=turn.reply,
                title=turn.title,
                recall=partial(answer_turn, corridor, earlier, before, deadline),
                talk=recognise(question.title),
                asks_back=turn.asks_back,
            )
        )
    return past


def _bounded(ask: Ask) -> Ask:
    """The same with a question of bounded length."""
    return replace(ask, question=bounded(ask.question), understood=shortened(ask.understood, TITLE))


def _with_cut(answer: Answer, original: Question, searched: Question) -> Answer:
    """The answer to the original question; if that was cut, it says so.

    A cut title is understood as what was searched, the rest of a cut body is among the skipped parts, and the trace has
    both as they were searched.
    """
    answer = replace(answer, question=original.title)
    if len(original.title) <= TITLE and len(original.body) == len(searched.body):
        return answer
    cut = {"title": searched.title, "body": searched.body}
    trace = None if answer.trace is None else {**answer.trace, "searched": cut}
    is_cut = len(original.title) > TITLE
    skipped = (*answer.skipped, REST) if len(original.body) > len(searched.body) else answer.skipped
    understood = answer.understood or (searched.title if is_cut else "")
    return replace(answer, understood=understood, trace=trace, skipped=skipped)


def _understood(corridor: Corridor, ask: Ask, past: Sequence[RememberedTurn], deadline: Deadline) -> UnderstoodTurn:
    """What a turn means; the turn itself if there is no time to find out."""
    if ask.understood:
        return UnderstoodTurn(ask.understood, settled=True)
    if ask.question.body.strip() or deadline.left() <= 0:  # a question with details stands alone
        return UnderstoodTurn(ask.question.title)
    return read(corridor.corrected(ask.question.title), past, rewriter(), corridor.entities)


def _searched(
    corridor: Corridor, ask: Ask, turn: UnderstoodTurn, past: Sequence[RememberedTurn], clock: Clock
) -> Answer:
    title = ask.question.title
    changed = turn.question != title
    if changed:
        clock.listen(Understood(turn.shown or turn.question))
    standalone = replace(ask, question=replace(ask.question, title=turn.question), readings=turn.readings)
    votes = SessionVotes.of(past)
    asks_back = not turn.settled and not ask.question.body.strip()
    interpose = partial(clarify, corridor=corridor, preferences=votes, scope=ask.scope) if asks_back else None
    answer = corridor.answer(standalone, clock, preferences=votes, interpose=interpose)
    if changed:
        searched = turn.question if turn.shown else ""
        answer = replace(answer, understood=turn.shown or turn.question, searched=searched)
    return with_suggestions(corridor, ask, answer, clock)
