"""Clarification: a turn with several good title_facets, and what is asked when one of them is chosen.

A bare topic ("asthma", "headache treatment") may be what several documents tell different things about, and a name may
stand for several entities (`senses`). Whatever is offered was asked before, and answered as it says. A whole
question is never broad, and where one reading is much likelier, it is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from qa_bot.answering.stages.decide import Decision, prefers_fact
from qa_bot.answering.stages.owner_answers import is_owned
from qa_bot.conversation.clarification.bare_topics import (
    ChoiceWithTarget,
    Topic,
    defines,
    is_narrower,
    label,
    tidy,
    topic_of,
)
from qa_bot.documents.ingest.near_duplicates import near, super_shingles
from qa_core.types import Answer, Candidate, Choice
from retrievers.formulate import content_terms

if TYPE_CHECKING:
    from qa_bot.answering.graph.facts import FactResult, Facts
    from qa_bot.answering.stages.rank import Ranking

Ask = Callable[[str], Answer]
"""A question to its answer, without clarification."""

FEWEST, MOST = 2, 5
TRIED = 8
"""Choices that are asked before as many as there is room for are found."""
LONGEST_LABEL = 80
"""Characters of what a button says."""
LONGEST_TITLE = 200
"""Characters of a title that is asked as a question."""
NEAR = 0.55
"""Of the best document's score: documents below are other readings no longer."""
NEAR_SUBJECTS = 0.7
"""The same where a definition is asked for, and only the name is open."""
MANY = 7
"""With more readings than these, and no document about the topic itself, five of them would be a guess."""


class TitleFacet(NamedTuple):
    """What a title asks beyond the topic, and the best document that does."""

    rest: frozenset[str]
    candidate: Candidate

    @property
    def title(self) -> str:
        return tidy(self.candidate.passage.clue.title)


def clarification_choices(
    ranking: Ranking,
    decision: Decision,
    fact: FactResult | None,
    ask: Ask,
    *,
    facts: Facts | None = None,
    check: Callable[[], object] = lambda: None,
) -> tuple[Choice, ...]:
    """Two to five choices that lead to different good answers; none where there is nothing to ask.

    Args:
        ranking: to `[ranking] depth`, of a question without a body: who tells a story says enough.
        decision: whether documents answer it.
        fact: what the graph says, and `facts` the graph that said so.
        ask: a choice's question is asked by it before the choice is offered.
        check: called between questions, and may raise when there is no more time.
    """
    question, first = ranking.question, ranking.candidates[:1]
    if question.body.strip() or not question.title.strip() or any(map(is_owned, first)):
        return ()
    keep = partial(offered, ask=ask, check=check)
    named = None if fact is None or _is_titled(ranking, decision) else fact
    if named and facts and (found := keep(_senses(named, facts, check), answers=_is_fact)):
        return found
    topic = topic_of(question.title)
    if topic is None or (fact is not None and prefers_fact(fact, decision)):
        return ()
    if found := keep(documents(topic, ranking.candidates), answers=_is_passage):
        return found
    return keep(_topics(named, facts, topic, check), answers=_is_fact) if named and facts else ()


def documents(topic: Topic, candidates: Sequence[Candidate]) -> Iterator[ChoiceWithTarget]:
    """Choices among documents whose titles ask different things about a topic; what it is stands first, then what is
    asked about it, then what is narrower, each in the order of the ranking.

    A document that is about the topic itself is the answer, unless it only tells what that is and others tell more.
    Of near-duplicates the first is kept.
    """
    found = title_facets(topic, candidates, near=NEAR_SUBJECTS if topic.defined else NEAR)
    itself = [each for each in found if not each.rest]
    others = sorted((each for each in found if each.rest), key=lambda each: is_narrower(each.title, topic))
    if topic.defined:  # only the name may be open
        others = [each for each in others if is_narrower(each.title, topic)]
    if len(others) < FEWEST or not _is_open(topic, itself, others):
        return
    seen: list[tuple[int, int, int]] = []
    for each in (*itself, *others):
        sketch = super_shingles(each.candidate.passage.text)
        if not any(near(sketch, other) for other in seen):
            seen.append(sketch)
            yield Choice(label(each.title, topic), each.title), each.candidate.passage.source.title


def title_facets(topic: Topic, candidates: Sequence[Candidate], *, near: float) -> list[TitleFacet]:
    """The best document for each thing that titles with all terms of the topic ask beyond it, best first.

    `near` is the part of the best score that it takes. Titles that ask more than another one does are narrower, and
    left out; where the title of the very best document is none of these, nothing is found.
    """
    found: dict[frozenset[str], Candidate] = {}
    for place, each in enumerate(candidates):
        title = frozenset(content_terms(each.passage.clue.title))
        if topic.terms <= title and each.score >= near * candidates[0].score:
            found.setdefault(title - topic.terms, each)
        elif not place:
            return []
    rests = [rest for rest in found if rest]
    return [
        TitleFacet(rest, candidate)
        for rest, candidate in found.items()
        if len(candidate.passage.clue.title) <= LONGEST_TITLE and not any(other < rest for other in rests)
    ]


def offered(
    asked: Iterable[ChoiceWithTarget],
    *,
    ask: Ask,
    answers: Callable[[Answer, str], bool],
    check: Callable[[], object] = lambda: None,
) -> tuple[Choice, ...]:
    """Choices whose questions have different answers, each the one that is meant, as `answers` tells; none for one."""
    kept: dict[str, Choice] = {}
    labels, questions = set[str](), set[str]()
    for choice, meant in islice(asked, TRIED):
        told = Choice(shown(choice.text), choice.question.strip())
        said, wanted = told.text.casefold(), told.question.casefold()
        if len(kept) == MOST or not (said and wanted) or said in labels or wanted in questions:
            continue
        check()
        answer = ask(told.question)
        if answer.answered and answer.text not in kept and answers(answer, meant):
            kept[answer.text] = told
            labels.add(said)
            questions.add(wanted)
    return tuple(kept.values()) if len(kept) >= FEWEST else ()


def shown(text: str) -> str:
    """One line of at most 80 characters that begins with a capital: "iris" does, "iPhone" stays."""
    line = " ".join(text.split())
    line = line[:1].upper() + line[1:] if line.partition(" ")[0].islower() else line
    return line if len(line) <= LONGEST_LABEL else f"{line[: LONGEST_LABEL - 1].rstrip()}…"


def _is_open(topic: Topic, itself: Sequence[TitleFacet], others: Sequence[TitleFacet]) -> bool:
    if not itself:
        return len(others) <= MANY
    asking = [each for each in others if not is_narrower(each.title, topic)]
    return not topic.defined and len(asking) >= FEWEST and defines(itself[0].title, topic)


def _is_passage(answer: Answer, title: str) -> bool:
    return answer.kind == "passage" and answer.sources[0].title == title


def _is_fact(answer: Answer, text: str) -> bool:
    return answer.kind == "fact" and answer.text == text


def _is_titled(ranking: Ranking, decision: Decision) -> bool:
    """Whether a document answers whose title has all terms of the question."""
    asked = frozenset(ranking.formulation.content_terms)
    return decision.accepted and asked.issubset(content_terms(ranking.candidates[0].passage.clue.title))


def _senses(fact: FactResult, facts: Facts, check: Callable[[], object]) -> Iterable[ChoiceWithTarget]:
    from qa_bot.conversation.clarification.ambiguous_entities import senses

    return senses(fact, facts, check=check)


def _topics(fact: FactResult, facts: Facts, topic: Topic, check: Callable[[], object]) -> Iterable[ChoiceWithTarget]:
    from qa_bot.conversation.clarification.ambiguous_entities import topics

    return topics(fact, facts, topic.terms, defined=topic.defined, check=check)
