"""What could be asked instead, after a question that was refused or answered unsurely.

The nearest documents say what they are about: titles and headings that are questions, otherwise the headings of the
nearest passages. Each is searched before it is offered, and only offered if it is answered surely.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import PurePosixPath

from qa_bot.answering.ask import Ask
from qa_bot.answering.clock import Clock
from qa_bot.answering.corridor import Corridor
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.stages.compose import TILED
from qa_bot.conversation.clarification.offering import shown
from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.types import Answer, AnswerSource, Choice, Passage, Question
from retrievers.formulate import asks
from retrievers.question_terms import content_terms

MOST = 3
TRIED = 4
"""Most questions that are searched to find good ones: each costs about as much as the user's."""
LONGEST = 200
"""Characters of a question that is offered."""
LEVEL = " › "
_OPENING = re.compile(r"(?:how|what|where|when|who|which|wie|was|wo|wann|wer)\b.{0,20}", re.IGNORECASE)
"""A heading above the rests of questions, such as “How do I…”."""

BestPassage = Callable[[str], Passage | None]
"""The passage that answers a question surely; None if there is none."""


def with_suggestions(corridor: Corridor, ask: Ask, answer: Answer, clock: Clock) -> Answer:
    """The answer with what could be asked instead, if it is a refusal or unsure and there is time to find out."""
    is_refusal = answer.kind == "none" and not answer.choices
    if not (ask.suggest and answer.sources and (is_refusal or answer.unsure)):
        return answer

    def find(share: Deadline) -> tuple[Choice, ...]:
        return suggestions(answer, partial(_best_passage, corridor, ask, share))

    none: tuple[Choice, ...] = ()
    choices = clock.run_quick("suggest", find, none)
    timed = replace(answer, timings=clock.report(), skipped=tuple(clock.skipped))
    return replace(timed, choices=choices, suggested=True) if choices else timed


def suggestions(answer: Answer, best_passage: BestPassage) -> tuple[Choice, ...]:
    """Up to three questions that are answered surely, each by another passage than those of the given answer.

    Args:
        answer: a refusal, or an unsure answer.
        best_passage: searches a question; it may raise when there is no more time.
    """
    shown_ids = {source.id for source in answer.sources if source.span is not None}
    choices: dict[str, Choice] = {}
    for choice, source in islice(proposals(answer.standalone, answer.sources), TRIED):
        passage = best_passage(choice.question)
        is_its_own = passage is not None and passage.source.document == source.document
        if passage is not None and is_its_own and passage.id not in shown_ids:
            choices.setdefault(passage.id, choice)
        if len(choices) == MOST:
            break
    return tuple(choices.values())


def proposals(question: str, sources: Sequence[AnswerSource]) -> Iterator[tuple[Choice, AnswerSource]]:
    """A choice for each source whose title or headings share a content word with the question, without repetitions."""
    seen = {question.casefold()}
    for source in sources:
        text = _named(source)
        if 0 < len(text) <= LONGEST and text.casefold() not in seen and _shares_a_word(question, source):
            seen.add(text.casefold())
            yield Choice(shown(text), text), source


def _named(source: AnswerSource) -> str:
    """The question that a source answers, or its title and last heading; "" if it has neither.

    A title such as "error_codes_en" is the name of a file, and names no topic.
    """
    above, last = ("", "", *source.heading)[-2:]
    if asks(last):
        opens = _OPENING.fullmatch(above) and not _OPENING.match(last)
        return f"{above.rstrip(' .…')} {last[:1].lower()}{last[1:]}" if opens else last
    if asks(source.title):
        return source.title
    is_of_file = "_" in source.title and source.title.endswith(PurePosixPath(source.document).stem)
    return LEVEL.join(dict.fromkeys(filter(None, ("" if is_of_file else source.title, last))))


def _shares_a_word(question: str, source: AnswerSource) -> bool:
    language = analysis_language(source.language)
    named = terms(f"{source.title} {' '.join(source.heading)}", language)
    return not set(content_terms(question, language)).isdisjoint(named)


def _best_passage(corridor: Corridor, ask: Ask, deadline: Deadline, question: str) -> Passage | None:
    deadline.check()
    clock = corridor.start(deadline)
    alone = Ask(Question(question), precision=ask.precision, scope=ask.scope)
    ranking = corridor.verify(corridor.rank(alone.question, clock, depth=TILED, scope=alone.scope), clock, alone)
    decision = corridor.decide(ranking, ask.precision)
    return ranking.candidates[0].passage if decision.sure else None
