"""Finds the choices to offer for a turn with several good interpretations.

Several documents may ask different things about a bare topic ("asthma", "headache treatment"), and several entities may
share a name. Each choice is answered before it is offered. Whole questions get no choices, nor do turns with one
interpretation that is much likelier.
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
from retrievers.question_terms import content_terms

if TYPE_CHECKING:
    from qa_bot.answering.graph.facts import FactResult, Facts
    from qa_bot.answering.stages.rank import Ranking

Ask = Callable[[str], Answer]
"""Answers a question, without clarification."""

FEWEST, MOST = 2, 5
TRIED = 8
"""Most choices that are answered to find `MOST` good ones."""
LONGEST_LABEL = 80
"""Characters of a button's label."""
LONGEST_TITLE = 200
"""Characters of a title that is used as a question."""
NEAR = 0.55
"""Share of the best document's score; lower documents are ignored."""
NEAR_SUBJECTS = 0.7
"""The same for definitions, where only the name is ambiguous."""
MANY = 7
"""Most facets without a document about the topic itself; five of more would be a guess."""


class TitleFacet(NamedTuple):
    """The terms of a title beyond the topic, and the best document with such a title."""

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
    """Two to five choices that lead to different good answers, or none.

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
    if named and facts and (choices := keep(_senses(named, facts, check), answers=_is_fact)):
        return choices
    topic = topic_of(question.title)
    if topic is None or (fact is not None and prefers_fact(fact, decision)):
        return ()
    if choices := keep(documents(topic, ranking.candidates), answers=_is_passage):
        return choices
    return keep(_topics(named, facts, topic, check), answers=_is_fact) if named and facts else ()


def documents(topic: Topic, candidates: Sequence[Candidate]) -> Iterator[ChoiceWithTarget]:
    """Choices among documents whose titles ask different things about a topic.

    First the topic itself, then questions about it, then narrower topics, each in ranked order. A document about the
    topic itself is the answer, unless it only defines the topic and others say more. Near-duplicates are left out.
    """
    facets = title_facets(topic, candidates, near=NEAR_SUBJECTS if topic.defined else NEAR)
    itself = [facet for facet in facets if not facet.rest]
    others = sorted((facet for facet in facets if facet.rest), key=lambda facet: is_narrower(facet.title, topic))
    if topic.defined:  # only the name is ambiguous
        others = [facet for facet in others if is_narrower(facet.title, topic)]
    if len(others) < FEWEST or not _is_open(topic, itself, others):
        return
    seen: list[tuple[int, int, int]] = []
    for facet in (*itself, *others):
        sketch = super_shingles(facet.candidate.passage.text)
        if not any(near(sketch, other) for other in seen):
            seen.append(sketch)
            yield Choice(label(facet.title, topic), facet.title), facet.candidate.passage.source.title


def title_facets(topic: Topic, candidates: Sequence[Candidate], *, near: float) -> list[TitleFacet]:
    """The facets of titles with all terms of the topic, each with its best document, best first.

    `near` is the share of the best score that a document needs. Facets that contain another one are left out. There
    are none if the title of the best document lacks a term of the topic.
    """
    by_rest: dict[frozenset[str], Candidate] = {}
    for rank, candidate in enumerate(candidates):
        title = frozenset(content_terms(candidate.passage.clue.title))
        if topic.terms <= title and candidate.score >= near * candidates[0].score:
            by_rest.setdefault(title - topic.terms, candidate)
        elif not rank:
            return []
    rests = [rest for rest in by_rest if rest]
    return [
        TitleFacet(rest, candidate)
        for rest, candidate in by_rest.items()
        if len(candidate.passage.clue.title) <= LONGEST_TITLE and not any(other < rest for other in rests)
    ]


def offered(
    proposals: Iterable[ChoiceWithTarget],
    *,
    ask: Ask,
    answers: Callable[[Answer, str], bool],
    check: Callable[[], object] = lambda: None,
) -> tuple[Choice, ...]:
    """The choices with distinct answers that `answers` accepts for their targets; none if fewer than two are left."""
    by_answer: dict[str, Choice] = {}
    labels, questions = set[str](), set[str]()
    for proposal, target in islice(proposals, TRIED):
        choice = Choice(shown(proposal.text), proposal.question.strip())
        label_key, question_key = choice.text.casefold(), choice.question.casefold()
        is_new = label_key and question_key and label_key not in labels and question_key not in questions
        if len(by_answer) == MOST or not is_new:
            continue
        check()
        answer = ask(choice.question)
        if answer.answered and answer.text not in by_answer and answers(answer, target):
            by_answer[answer.text] = choice
            labels.add(label_key)
            questions.add(question_key)
    return tuple(by_answer.values()) if len(by_answer) >= FEWEST else ()


def shown(text: str) -> str:
    """One line of at most 80 characters that begins with a capital: "iris" does, "iPhone" stays."""
    line = " ".join(text.split())
    line = line[:1].upper() + line[1:] if line.partition(" ")[0].islower() else line
    return line if len(line) <= LONGEST_LABEL else f"{line[: LONGEST_LABEL - 1].rstrip()}…"


def _is_open(topic: Topic, itself: Sequence[TitleFacet], others: Sequence[TitleFacet]) -> bool:
    if not itself:
        return len(others) <= MANY
    asking = [facet for facet in others if not is_narrower(facet.title, topic)]
    return not topic.defined and len(asking) >= FEWEST and defines(itself[0].title, topic)


def _is_passage(answer: Answer, title: str) -> bool:
    return answer.kind == "passage" and answer.sources[0].title == title


def _is_fact(answer: Answer, text: str) -> bool:
    return answer.kind == "fact" and answer.text == text


def _is_titled(ranking: Ranking, decision: Decision) -> bool:
    """Whether a document answers whose title has all terms of the question."""
    stems = frozenset(ranking.formulation.content_terms)
    return decision.accepted and stems.issubset(content_terms(ranking.candidates[0].passage.clue.title))


def _senses(fact: FactResult, facts: Facts, check: Callable[[], object]) -> Iterable[ChoiceWithTarget]:
    from qa_bot.conversation.clarification.ambiguous_entities import senses

    return senses(fact, facts, check=check)


def _topics(fact: FactResult, facts: Facts, topic: Topic, check: Callable[[], object]) -> Iterable[ChoiceWithTarget]:
    from qa_bot.conversation.clarification.ambiguous_entities import topics

    return topics(fact, facts, topic.terms, defined=topic.defined, check=check)
