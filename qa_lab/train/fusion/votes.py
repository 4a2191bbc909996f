"""From people's votes to what they say together of a document as an answer to a question.

Votes can be noise, or meant ill. So

- one conversation has one voice: its last vote on the same question and document counts, once;
- whoever votes a lot does not count for more than `per_voter` voices;
- a vote without a conversation could be anybody's, also the same person's as the one before: it counts half, and all of
  them on one question and document together count no more than one conversation. A conversation is no proof of a person
  either, anyone can begin another: where strangers may vote, a token keeps them out;
- of an answer that was put together from several documents each gets its share of the vote, by the text it gave;
- voters who contradict the others are believed less (`qa_lab.train.fusion.dawid_skene`);
- a single voice counts, for what is learnt is how stages are weighed, and different questions confirm each other there;
  but only with `n / (n + agree − 1)` of the weight that many agreeing ones come to.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from qa_bot.home.question_key import question_key
from qa_lab.train.fusion.dawid_skene import Votes, reliability

if TYPE_CHECKING:
    from qa_bot.home.store import Feedback, Turn

ANONYMOUS = 0.5
"""How much a vote counts that belongs to no conversation."""
KINDS = ("passage", "styled")
"""Answers that votes on say something of documents; not facts, and not what the bot says of itself."""

Item = tuple[str, str]
"""A question, by its key, and a document."""


@dataclass(frozen=True, slots=True)
class VoteSettings:
    least: int = 20  # questions with votes, without which nothing is learnt
    agree: int = 2  # conversations of one mind from which a vote is more than half believed
    per_voter: int = 10  # voices that one conversation comes to at most
    unvoted: float = 0.05  # how firmly a document that nobody voted on keeps to what its place lets expect
    drafts: int = 100  # pairs of interleaved lists of a question


@dataclass(frozen=True, slots=True)
class VoterOpinion:
    """What one voter says of a document as an answer to a question."""

    voter: str
    item: Item
    up: bool
    weight: float = 1.0
    known: bool = True  # whether the voter is a conversation


@dataclass(frozen=True, slots=True)
class Opinion:
    """What all say together."""

    evidence: float  # log-odds that the document is a good answer; 0 where nobody has said more for than against
    voices: float  # that said something, by their weight


def voices(voted: Sequence[tuple[Turn, Feedback]]) -> list[VoterOpinion]:
    """One for each voter, question and document: the last."""
    last: dict[tuple[str, Item], VoterOpinion] = {}
    for turn, given in sorted(voted, key=lambda each: each[1].created):
        known = turn.conversation is not None
        voter = turn.conversation if turn.conversation is not None else turn.id
        key = question_key(turn.rewritten or turn.question)
        for document, share in _shares(turn).items():
            last[voter, (key, document)] = VoterOpinion(voter, (key, document), given.vote == "up", share, known)
    return list(last.values())


def opinions(given: Sequence[VoterOpinion], *, per_voter: float) -> dict[Item, Opinion]:
    """What is said of each item, by all voices on it."""
    weighed = bounded(given, per_voter=per_voter)
    if not weighed:
        return {}
    items = {item: number for number, item in enumerate(dict.fromkeys(each.item for each in weighed))}
    voters = {voter: number for number, voter in enumerate(dict.fromkeys(each.voter for each in weighed))}
    item = np.array([items[each.item] for each in weighed])
    weight = np.array([each.weight for each in weighed])
    up = np.array([each.up for each in weighed])
    found = reliability(Votes(item, np.array([voters[each.voter] for each in weighed]), up, weight))
    told = zip(items, found.evidence.tolist(), np.bincount(item, weight).tolist(), strict=True)
    return {item: Opinion(evidence, count) for item, evidence, count in told}


def bounded(given: Sequence[VoterOpinion], *, per_voter: float) -> list[VoterOpinion]:
    """Voices with the weight that is left of each when nobody counts for too much."""
    nameless = Counter(each.item for each in given if not each.known)
    weighed = [
        each if each.known else replace(each, weight=each.weight * min(ANONYMOUS, 1 / nameless[each.item]))
        for each in given
    ]
    said: defaultdict[str, float] = defaultdict(float)
    for each in weighed:
        said[each.voter] += each.weight
    return [replace(each, weight=each.weight * min(1.0, per_voter / said[each.voter])) for each in weighed]


def first_place(given: Sequence[VoterOpinion]) -> float:
    """The share of good answers among those that were voted on, of one up and one down more than there are.

    What is voted on is mostly what stands first.
    """
    total = sum(each.weight for each in given)
    return (1 + sum(each.weight for each in given if each.up)) / (2 + total)


def shrinkage(opinion: Opinion, *, agree: int) -> float:
    """How much an opinion counts beside others, `n / (n + agree − 1)` of n voices."""
    return opinion.voices / (opinion.voices + agree - 1)


def _shares(turn: Turn) -> dict[str, float]:
    """Of the text of an answer, by document; nothing of an answer that was not made from documents."""
    if turn.answer.get("kind") not in KINDS:
        return {}
    lengths = Counter[str]()
    for source in turn.answer.get("sources", ()):
        if (span := source.get("span")) is not None:
            lengths[source["document"]] += span[1] - span[0]
    whole = lengths.total()
    return {document: length / whole for document, length in lengths.items() if length > 0}
