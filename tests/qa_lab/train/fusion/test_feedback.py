"""What is learnt from voices, what it cannot learn, and how it compares; small numbers by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from qa_bot.home.store import Feedback, Turn
from qa_bot.home.store.records import Vote
from qa_bot.interleaving.challenger import TEAM, fingerprint
from qa_bot.interleaving.team_draft import Interleaved
from qa_lab.data.fusion_data import FusionTrainingData
from qa_lab.train.fusion.dawid_skene import STRANGER
from qa_lab.train.fusion.feedback import (
    Comparison,
    VotedData,
    compare,
    document_credits,
    measured,
    stages,
    trial_of,
    with_votes,
)
from qa_lab.train.fusion.fusion_settings import CORRECTING
from qa_lab.train.fusion.votes import VoterOpinion, VoteSettings
from rankers.fusion import FusionConfig, LearnedFusion, Scores, cross_validated
from rankers.rank_prior import RANK

SETTINGS = VoteSettings(drafts=5)
QUESTIONS, EACH = 40, 6
KEYS = [f"q{number}" for number in range(QUESTIONS)]
ONE = STRANGER / (1 - STRANGER)


def lessons(seed: int = 0) -> FusionTrainingData:
    """Questions with candidates d0, d1, … in the order of the formulas, each scored by a stage and by noise.

    The stage tells what is good: it is above 0 for half of the candidates.
    """
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(QUESTIONS * EACH, 2)).astype(np.float32)
    question = np.repeat(np.arange(QUESTIONS), EACH)
    candidates = tuple(f"d{number}" for _ in range(QUESTIONS) for number in range(EACH))
    return FusionTrainingData(Scores(table, ("stage", "noise"), question), np.zeros(len(question)), candidates, {})


def order(sample: FusionTrainingData) -> np.ndarray:
    """(N,), scores of the formulas."""
    return -np.tile(np.arange(EACH), QUESTIONS).astype(np.float32)


def voted(sample: FusionTrainingData, votes: list[VoterOpinion]) -> VotedData:
    return with_votes(sample, votes, KEYS, present=order(sample), settings=SETTINGS)


def honest(sample: FusionTrainingData, *, voters: int, seed: int = 0, hostile: float = 0.0) -> list[VoterOpinion]:
    """Each voter on the first documents of all questions, right nine times in ten; the hostile say the opposite."""
    rng = np.random.default_rng(seed)
    result = []
    for voter in range(voters):
        turned = rng.random() < hostile
        for number, key in enumerate(KEYS):
            good = sample.scores.table[number * EACH, 0] > 0
            right = (rng.random() < 0.9) != turned
            result.append(VoterOpinion(f"v{voter}", (key, "d0"), bool(good) == right))
    return result


def learnt(sample: VotedData, trees: int = 100) -> LearnedFusion:
    config = replace(CORRECTING, trees=replace(CORRECTING.trees, trees=trees, features=1.0))
    lessons = sample.data
    return LearnedFusion.fit(lessons.scores, lessons.grades, weights=lessons.weights, config=config, prior=sample.prior)


def test_grades_and_weights_by_hand():
    # two up and one down, and one more of each: the first place is good with 3/5; a voice up multiplies odds by 7 / 3
    votes = [
        VoterOpinion("a", ("q0", "d0"), True),
        VoterOpinion("b", ("q1", "d0"), True),
        VoterOpinion("c", ("q2", "d2"), False),
    ]
    sample = voted(lessons(), votes)
    assert sample.prior.first == pytest.approx(3 / 5)
    odds = 3 / 2 * ONE
    assert sample.data.grades[0] == pytest.approx(odds / (1 + odds))
    # the third place lets expect 0.6 / log2(4) = 0.3, a voice against it divides the odds
    odds = 3 / 7 / ONE
    assert sample.data.grades[2 * EACH + 2] == pytest.approx(odds / (1 + odds))
    assert sample.data.grades[3 * EACH] == pytest.approx(0.6)
    assert sample.data.weights is not None
    assert sample.data.weights[[0, 1, 2 * EACH + 2]].tolist() == [0.5, SETTINGS.unvoted, 0.5]
    assert (sample.questions, sample.votes, sample.voters) == (3, 3, 3)


def test_trees_see_scores_of_stages_and_no_ids():
    sample = lessons()
    votes = honest(sample, voters=3)
    first = learnt(voted(sample, votes))
    assert set(first.names) == {"stage", "noise"}
    renamed = replace(sample, candidates=tuple(f"other-{vote}" for vote in sample.candidates))
    moved = [replace(vote, item=(vote.item[0], f"other-{vote.item[1]}")) for vote in votes]
    scores = voted(sample, votes).data.scores
    assert learnt(voted(renamed, moved)).score(scores).tolist() == first.score(scores).tolist()


def test_votes_teach_what_the_stage_tells():
    """On other questions, whose candidates have no votes, the first candidate is good more often than before."""
    sample, late = lessons(), lessons(seed=1)
    fusion = learnt(voted(sample, honest(sample, voters=10)))
    good = (late.scores.table[:, 0] > 0).reshape(QUESTIONS, EACH)
    best = fusion.score(voted(late, []).data.scores).reshape(QUESTIONS, EACH).argmax(axis=1)
    assert good[np.arange(QUESTIONS), best].mean() > good[:, 0].mean() + 0.3


def test_hostile_voters_do_not_turn_it_round():
    sample, late = lessons(), lessons(seed=1)
    fusion = learnt(voted(sample, honest(sample, voters=10, hostile=0.3)))
    good = (late.scores.table[:, 0] > 0).reshape(QUESTIONS, EACH)
    best = fusion.score(voted(late, []).data.scores).reshape(QUESTIONS, EACH).argmax(axis=1)
    assert good[np.arange(QUESTIONS), best].mean() > good[:, 0].mean() + 0.2


@pytest.mark.parametrize("votes", [1, 1000])
def test_one_conversation_promotes_no_passage_for_everyone(votes):
    """Thirty questions whose first document is liked, and one conversation for the last document of another."""
    sample = lessons()
    liked = [VoterOpinion(f"v{number}", (f"q{number}", "d0"), True) for number in range(30)]
    bad = [VoterOpinion("bad", ("q35", f"d{EACH - 1}"), True)] * votes
    scores = learnt(voted(sample, [*liked, *bad])).score(voted(sample, []).data.scores).reshape(QUESTIONS, EACH)
    assert scores.argmax(axis=1)[35] != EACH - 1
    last = scores.argmax(axis=1) == EACH - 1
    before = learnt(voted(sample, liked)).score(voted(sample, []).data.scores).reshape(QUESTIONS, EACH)
    assert last.sum() <= (before.argmax(axis=1) == EACH - 1).sum()


def test_nothing_said_leaves_the_order_as_it_was():
    sample = voted(lessons(), [VoterOpinion("a", ("nowhere", "d0"), True)])
    order = learnt(sample).score(sample.data.scores).reshape(QUESTIONS, EACH)
    assert (order.argsort(axis=1, kind="stable")[:, ::-1] == np.arange(EACH)).all()


def test_credit_is_what_a_document_is_worth_more_than_an_unknown_one():
    # one voice up, one down, each half believed: 0.7 and 0.3, on average 0.5
    votes = [VoterOpinion("a", ("q0", "d0"), True), VoterOpinion("b", ("q1", "d3"), False)]
    credit = document_credits(voted(lessons(), votes), SETTINGS)
    assert credit[0] == {"d0": pytest.approx(0.1)}
    assert credit[1] == {"d3": pytest.approx(-0.1)}
    assert credit[2] == {}
    liked = document_credits(voted(lessons(), votes[:1]), SETTINGS)
    assert liked[0] == {"d0": pytest.approx(0.1)}, "what is liked is better, also where everything is"
    disliked = document_credits(voted(lessons(), [votes[1], VoterOpinion("a", ("q0", "d0"), False)]), SETTINGS)
    assert disliked[0] == {"d0": pytest.approx(0)}, "where nothing is liked, another may be as bad"


def test_a_ranking_wins_where_it_leaves_what_was_voted_down_and_loses_where_it_leaves_what_was_liked():
    sample = lessons()
    votes = [VoterOpinion(f"v{number}", (f"q{number}", "d0"), number >= 4) for number in range(8)]
    left = order(sample)
    left[[number * EACH for number in (0, 1, 2, 7)]] = -EACH  # three that were voted down, and a liked one
    result = compare(voted(sample, votes), left, settings=SETTINGS, seed=0)
    assert (result.interleaved.wins, result.interleaved.losses, result.interleaved.ties) == (3, 1, QUESTIONS - 4)
    # 2 · (C(4, 0) + C(4, 1)) / 16; credits are 0.5 · (0.7 − 0.5) a question, twice as much in each draft but one
    assert result.interleaved.p == 10 / 16
    assert result.interleaved.margin == pytest.approx((3 - 1) * 0.1 / QUESTIONS)
    assert result.better
    assert result.shortcomings == []
    same = compare(voted(sample, votes), order(sample), settings=SETTINGS, seed=0)
    assert same.interleaved.ties == QUESTIONS
    assert not same.better


def test_only_documents_that_were_voted_on_are_measured():
    """The liked one of two is second: gains 0.7 and 0.3, discounts 1 and 1 / log2(3)."""
    sample = voted(lessons(), [VoterOpinion("a", ("q0", "d1"), False), VoterOpinion("b", ("q0", "d4"), True)])
    ideal = 0.7 + 0.3 / math.log2(3)
    worse, best = measured(sample, [sample.present, -sample.present])
    assert worse == pytest.approx((0.3 + 0.7 / math.log2(3)) / ideal)
    assert best == pytest.approx(1)
    alone = stages(sample)
    assert alone.keys() == {"stage", "noise"}
    assert all(value in (pytest.approx(worse), pytest.approx(1)) for value in alone.values())


def test_what_speaks_against_a_ranking_is_told():
    result = Comparison(Interleaved(2, 5, 3, 0.45, -0.02), 0.7, 0.8, 40, 12)
    assert not result.better
    assert result.shortcomings == [
        "it wins 2 questions and loses 5",
        "its credit is -0.020 a question",
        "its nDCG@10 is 0.700, the present one's 0.800",
    ]
    assert "by 40 votes of 12 voters: 2 questions won, 5 lost, 3 even (p = 0.45 by the sign test)" in result.text()


def test_a_trial_has_one_voice_a_conversation():
    table = np.arange(8, dtype=np.float32)[:, None]
    config = FusionConfig(trees=replace(CORRECTING.trees, objective="lambdarank", trees=2, least=1), blanked=0.0)
    fusion = LearnedFusion.fit(Scores(table, ("stage",), np.arange(8) // 4), [0, 1] * 4, config=config)
    name = fingerprint(fusion)

    def voted(conversation: str | None, team: float, vote: Vote, by: str = name) -> tuple[Turn, Feedback]:
        trace = {"models": {"challenger": by}, "candidates": [{"document": "d", TEAM: team}]}
        answer = {"sources": [{"document": "d", "span": (0, 9)}], "trace": trace}
        return Turn("t", "why", answer, "", conversation), Feedback("t", vote, "", 0.0)

    for_it = [voted("loud", 1.0, "up")] * 50
    against = [voted("one", 0.0, "up"), voted("two", 1.0, "down"), voted(None, 1.0, "down"), voted(None, 1.0, "down")]
    even = [voted("even", 1.0, "up"), voted("even", 0.0, "up")]
    result = trial_of([*for_it, *against, *even, voted("three", 1.0, "up", by="another")], fusion)
    assert (result.wins, result.losses, result.ties) == (1, 3, 1)
    text = replace(Comparison(Interleaved.of([]), 1.0, 1.0, 9, 5), tried=result).text_of_trial()
    assert "voters for it 1, against it 3, even 1 (p = 0.62); it is not better so far" in text


def test_questions_with_votes_are_spread_over_the_parts():
    sample = voted(lessons(), [VoterOpinion("a", (f"q{number}", "d0"), True) for number in (1, 6, 11, 16)])
    parts = sample.parts(2)
    assert [parts[number] for number in (1, 6, 11, 16)] == [0, 1, 0, 1]
    assert sorted(set(parts)) == [0, 1]
    result = cross_validated(
        sample.data.scores,
        sample.data.grades,
        folds=2,
        config=CORRECTING,
        weights=sample.data.weights,
        prior=sample.prior,
        part=parts,
    )
    assert result.shape == (QUESTIONS * EACH,)
    assert RANK in sample.data.scores.names
