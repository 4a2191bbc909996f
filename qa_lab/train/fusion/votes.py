"""From votes to the joint opinion of all voters on a document as an answer to a question.

Votes can be noise or malicious. Therefore

- one conversation is one voter: its last vote on the same question and document counts, once;
- a voter with many votes counts as `per_voter` votes at most;
- a vote without a conversation could come from the same person as the one before: it counts half, and all of them on
  one question and document together count as one conversation at most. A conversation does not prove a person either,
  since anyone can begin another: where strangers may vote, a token keeps them out;
- if an answer was composed from several documents, each gets a share of the vote, by its length in the answer;
- voters who contradict the others are believed less (`qa_lab.train.fusion.dawid_skene`);
- a single vote counts, since the model learns weights of stages, which votes on other questions confirm; but only with
  `n / (n + agree − 1)` of the weight of many agreeing votes.
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
"""Weight of a vote that belongs to no conversation."""
KINDS = ("passage", "styled")
"""Kinds of answers whose votes judge documents; facts and small talk are not among them."""

Item = tuple[str, str]
"""A question, by its key, and a document."""


@dataclass(frozen=True, slots=True)
class VoteSettings:
    least: int = 20  # questions with votes that training needs
    agree: int = 2  # agreeing conversations from which a vote counts more than half
    per_voter: int = 10  # votes that one conversation counts as, at most
    unvoted: float = 0.05  # weight of the expectation by rank for documents without votes
    drafts: int = 100  # pairs of interleaved lists of a question


@dataclass(frozen=True, slots=True)
class VoterOpinion:
    """The vote of one voter on a document as an answer to a question."""

    voter: str
    item: Item
    up: bool
    weight: float = 1.0
    known: bool = True  # whether the voter is a conversation


@dataclass(frozen=True, slots=True)
class Opinion:
    """The joint opinion of all voters."""

    evidence: float  # log-odds that the document is a good answer; 0 if votes cancel out
    weight: float  # of all votes


def voter_opinions(votes: Sequence[tuple[Turn, Feedback]]) -> list[VoterOpinion]:
    """The last vote of each voter on each question and document."""
    last: dict[tuple[str, Item], VoterOpinion] = {}
    for turn, feedback in sorted(votes, key=lambda vote: vote[1].created):
        known = turn.conversation is not None
        voter = turn.conversation if turn.conversation is not None else turn.id
        key = question_key(turn.rewritten or turn.question)
        for document, share in _shares(turn).items():
            last[voter, (key, document)] = VoterOpinion(voter, (key, document), feedback.vote == "up", share, known)
    return list(last.values())


def joint_opinions(votes: Sequence[VoterOpinion], *, per_voter: float) -> dict[Item, Opinion]:
    """The opinion on each item that has votes."""
    weighed = bounded(votes, per_voter=per_voter)
    if not weighed:
        return {}
    items = {item: number for number, item in enumerate(dict.fromkeys(vote.item for vote in weighed))}
    voters = {voter: number for number, voter in enumerate(dict.fromkeys(vote.voter for vote in weighed))}
    item = np.array([items[vote.item] for vote in weighed])
    weight = np.array([vote.weight for vote in weighed])
    up = np.array([vote.up for vote in weighed])
    evidence = reliability(Votes(item, np.array([voters[vote.voter] for vote in weighed]), up, weight)).evidence
    rows = zip(items, evidence.tolist(), np.bincount(item, weight).tolist(), strict=True)
    return {item: Opinion(log_odds, total) for item, log_odds, total in rows}


def bounded(votes: Sequence[VoterOpinion], *, per_voter: float) -> list[VoterOpinion]:
    """The votes with weights that keep every voter within bounds."""
    anonymous = Counter(vote.item for vote in votes if not vote.known)
    weighed = [
        vote if vote.known else replace(vote, weight=vote.weight * min(ANONYMOUS, 1 / anonymous[vote.item]))
        for vote in votes
    ]
    totals: defaultdict[str, float] = defaultdict(float)
    for vote in weighed:
        totals[vote.voter] += vote.weight
    return [replace(vote, weight=vote.weight * min(1.0, per_voter / totals[vote.voter])) for vote in weighed]


def first_rank_share(votes: Sequence[VoterOpinion]) -> float:
    """The share of good answers at rank 1: that of votes up, smoothed by one vote up and one down.

    Most votes are on the first document.
    """
    return (1 + sum(vote.weight for vote in votes if vote.up)) / (2 + sum(vote.weight for vote in votes))


def shrinkage(opinion: Opinion, *, agree: int) -> float:
    """Weight of an opinion of n votes, `n / (n + agree − 1)`."""
    return opinion.weight / (opinion.weight + agree - 1)


def _shares(turn: Turn) -> dict[str, float]:
    """Share of each document in the text of an answer; empty if the answer was not composed from documents."""
    if turn.answer.get("kind") not in KINDS:
        return {}
    lengths = Counter[str]()
    for source in turn.answer.get("sources", ()):
        if (span := source.get("span")) is not None:
            lengths[source["document"]] += span[1] - span[0]
    whole = lengths.total()
    return {document: length / whole for document, length in lengths.items() if length > 0}
