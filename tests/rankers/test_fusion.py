"""Learned fusion: what it learns, missing stages, and saving."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qa_core.types import Candidate, Clue, Passage, Question, Signals, Source
from rankers.answer_selection.keyword_features import FEATURES, Keywords
from rankers.fusion import (
    SIMILARITY,
    FusedScorer,
    FusionConfig,
    LearnedFusion,
    Provenance,
    Scores,
    concat_questions,
    cross_validated,
    pair_scores,
    scores_of,
)
from rankers.gbdt import GBDTConfig
from rankers.neural import NeuralRanker
from rankers.rank_prior import RANK, RankPrior

QUESTIONS, EACH = 60, 8
TREES = GBDTConfig(objective="lambdarank", trees=30, leaves=4, least=5)
CONFIG = FusionConfig(trees=TREES)


def toy(seed: int = 0) -> tuple[Scores, np.ndarray]:
    """Two stages that each know half of the grade, with a separate offset in each question, and a stage of noise."""
    rng = np.random.default_rng(seed)
    halves = rng.normal(size=(QUESTIONS, EACH, 2))
    grades = (halves.sum(axis=2).argmax(axis=1)[:, None] == np.arange(EACH)).astype(float)
    table = np.concatenate([halves + 5 * rng.normal(size=(QUESTIONS, 1, 2)), rng.normal(size=(QUESTIONS, EACH, 1))], 2)
    question = np.repeat(np.arange(QUESTIONS), EACH)
    return Scores(table.reshape(-1, 3).astype(np.float32), ("one", "other", "noise"), question), grades.ravel()


def first_right(scores: np.ndarray, grades: np.ndarray) -> float:
    """Share of the questions whose best candidate is right."""
    best = scores.reshape(-1, EACH).argmax(axis=1)
    return float(grades.reshape(-1, EACH)[np.arange(len(best)), best].mean())


def test_candidates_of_low_weight_are_ignored():
    """Half of the questions have inverted grades, but hardly any weight."""
    scores, grades = toy()
    inverted = scores.question % 2 == 0
    confused = np.where(inverted, 1 - grades, grades)
    wrong = LearnedFusion.fit(scores, confused, config=CONFIG)
    right = LearnedFusion.fit(scores, confused, weights=np.where(inverted, 0.001, 1.0), config=CONFIG)
    assert first_right(right.score(scores), grades) > first_right(wrong.score(scores), grades) + 0.2
    values = cross_validated(scores, confused, folds=3, weights=np.where(inverted, 0.001, 1.0), config=CONFIG)
    assert first_right(values, grades) > first_right(cross_validated(scores, confused, folds=3, config=CONFIG), grades)


def test_the_fusion_beats_its_stages():
    scores, grades = toy()
    values = cross_validated(scores, grades, folds=5, config=CONFIG)
    alone = [first_right(scores.table[:, stage], grades) for stage in (0, 1)]
    assert first_right(values, grades) > max(alone) + 0.1


def with_ranks(scores: Scores) -> Scores:
    """The scores with the ranks of candidates in their present order."""
    ranks = np.tile(np.arange(EACH, dtype=np.float32), QUESTIONS)
    return Scores(np.hstack([scores.table, ranks[:, None]]), (*scores.names, RANK), scores.question)


def test_trees_correct_a_prior_and_can_be_saved(tmp_path):
    """Grades equal to the prior change nothing; other grades are learned from the stages."""
    scores, grades = toy()
    prior, config = (
        RankPrior(0.5),
        FusionConfig(trees=replace(TREES, objective="cross_entropy"), blanked=0.0, least=0.0),
    )
    ranked = with_ranks(scores)
    expected = prior.expected(ranked.table[:, -1])
    unchanged = LearnedFusion.fit(ranked, expected, config=config, prior=prior)
    np.testing.assert_allclose(unchanged.score(ranked), expected, atol=1e-5)
    fusion = LearnedFusion.fit(ranked, grades, config=config, prior=prior)
    assert RANK not in fusion.names
    assert first_right(fusion.score(ranked), grades) > first_right(expected, grades) + 0.2
    assert ((fusion.score(ranked) > 0) & (fusion.score(ranked) < 1)).all()
    fusion.save(tmp_path / "fusion", card="")
    again = LearnedFusion.load(tmp_path / "fusion")
    assert again.prior == prior
    assert again.score(ranked).tolist() == fusion.score(ranked).tolist()
    seen = cross_validated(ranked, grades, folds=2, config=config, prior=prior)
    assert first_right(seen, grades) > first_right(expected, grades)


def test_a_prior_follows_the_order_of_the_candidates():
    """Candidates with equal scores keep their order, and their scores follow the prior."""
    scores, grades = toy()
    config = FusionConfig(trees=replace(TREES, objective="cross_entropy"), blanked=0.0, least=0.0)
    fusion = LearnedFusion.fit(with_ranks(scores), grades, config=config, prior=RankPrior(0.5))
    candidates = [
        Candidate(Passage(str(n), "text", Clue(), Source(str(n))), 0.0, Signals(rankers={"one": 1.0, "other": 1.0}))
        for n in range(3)
    ]
    ranked = fusion.rank(Question("why"), candidates)
    assert [candidate.passage.id for candidate in ranked] == ["0", "1", "2"]
    odds = [c.score / (1 - c.score) for c in ranked]
    # 1/2, 0.5 / log2(3) and 1/4 as odds, all multiplied by the same correction
    share = 0.5 / np.log2(3)
    np.testing.assert_allclose(np.array(odds) / odds[0], [1, share / (1 - share), 1 / 3], rtol=1e-4)


def test_cross_validation_scores_a_question_by_other_trees():
    scores, grades = toy()
    part = [number % 2 for number in range(QUESTIONS)]
    values = cross_validated(scores, grades, folds=2, config=CONFIG, part=part)
    even = scores.question % 2 == 0
    others = LearnedFusion.fit(scores.at(~even), grades[~even], config=CONFIG)
    assert values[even].tolist() == others.score(scores.at(even)).tolist()


def test_importances_ignore_noise():
    scores, grades = toy()
    fusion = LearnedFusion.fit(scores, grades, config=CONFIG)
    assert fusion.importances().keys() == {"one", "other", "noise"}
    assert list(fusion.importances())[-1] == "noise"
    assert sum(fusion.importances().values()) == pytest.approx(1)


def test_a_skipped_stage_leaves_the_others():
    scores, grades = toy()
    fusion = LearnedFusion.fit(scores, grades, config=CONFIG)
    late, late_grades = toy(seed=1)
    without = fusion.score(late.select(["one", "noise"]))
    assert np.isfinite(without).all()
    assert first_right(without, late_grades) > 2 / EACH
    constant = fusion.score(late.select([]))
    assert len(set(constant.tolist())) == 1


def backwards(scores: Scores, grades: np.ndarray) -> Scores:
    """The scores with a first stage that ranks the right candidate last."""
    table = np.hstack([-grades[:, None], scores.table]).astype(np.float32)
    return Scores(table, ("backwards", *scores.names), scores.question)


def test_a_stage_that_is_useless_alone_is_left_out():
    scores, grades = toy()
    more = backwards(scores, grades)
    fusion = LearnedFusion.fit(more, grades, config=CONFIG)
    assert fusion.names == scores.names
    assert fusion.score(more).tolist() == LearnedFusion.fit(scores, grades, config=CONFIG).score(scores).tolist()
    everything = LearnedFusion.fit(more, grades, config=replace(CONFIG, least=0.0))
    assert next(iter(everything.importances())) == "backwards", "trees may invert it"
    best = LearnedFusion.fit(more, grades, config=replace(CONFIG, least=1.0))
    assert len(best.names) == 1


def test_stages_are_chosen_without_the_held_out_questions():
    """A stage that is right only in the held-out half is left out."""
    scores, grades = toy()
    even = scores.question % 2 == 0
    leaked = np.where(even, grades, -grades)
    more = Scores(
        np.hstack([leaked[:, None], scores.table]).astype(np.float32), ("leaked", *scores.names), scores.question
    )
    part = [number % 2 for number in range(QUESTIONS)]
    values = cross_validated(more, grades, folds=2, config=CONFIG, part=part)
    without = cross_validated(scores, grades, folds=2, config=CONFIG, part=part)
    assert values[even].tolist() == without[even].tolist()
    assert first_right(values, grades) < 0.9


def test_stages_are_masked_for_whole_questions():
    scores, _ = toy()
    scores = replace(scores, names=("one", "bm25", "overlap"))
    masked = scores.mask_stages(0.5, np.random.default_rng(1))
    missing = np.isnan(masked.table).reshape(QUESTIONS, EACH, 3)
    assert (missing.all(axis=1) == missing.any(axis=1)).all()
    assert (missing[:, 0, 1] == missing[:, 0, 2]).all(), "keyword features are one stage"
    assert 0.3 < missing[:, 0, 0].mean() < 0.7


def test_unlabelled_candidates_are_left_out():
    scores, grades = toy()
    grades[::EACH] = np.nan
    fusion = LearnedFusion.fit(scores, grades, config=replace(CONFIG, blanked=0.0))
    assert np.isfinite(fusion.score(scores)).all()
    with pytest.raises(ValueError, match="Expected right examples and wrong ones"):
        LearnedFusion.fit(scores, np.full(len(grades), np.nan), config=CONFIG)
    with pytest.raises(ValueError, match="Expected 480 grades"):
        LearnedFusion.fit(scores, [1.0], config=CONFIG)


def test_a_loaded_fusion_is_the_same(tmp_path):
    scores, grades = toy()
    keywords = Keywords.of(["a red house", "a blue sky", "rain"])
    origin = Provenance(("/somewhere/ranker",), "starter")
    fusion = LearnedFusion.fit(scores, grades, config=CONFIG, keywords=keywords, origin=origin)
    fusion.save(tmp_path / "fusion", card="# Fusion")
    loaded = LearnedFusion.load(tmp_path / "fusion")
    assert loaded.score(scores).tolist() == fusion.score(scores).tolist()
    assert (loaded.names, loaded.config, loaded.origin) == (fusion.names, fusion.config, fusion.origin)
    assert loaded.keywords is not None
    pairs = [("is the house red", "a red house")]
    np.testing.assert_array_equal(loaded.keywords.features(pairs), keywords.features(pairs))
    assert loaded.importances() == fusion.importances()
    (tmp_path / "fusion" / "model.safetensors").write_bytes(b"?")
    with pytest.raises(ValueError, match=r"model\.safetensors"):
        LearnedFusion.load(tmp_path / "fusion")


def test_seeds_and_shapes():
    scores, grades = toy()
    one, again = (LearnedFusion.fit(scores, grades, config=CONFIG).score(scores).tolist() for _ in range(2))
    assert one == again
    with pytest.raises(ValueError, match=r"shape \(480, 2\)"):
        Scores(scores.table, ("one", "other"), scores.question)


def test_features_of_candidates_become_columns():
    one = scores_of([{"a": 1.0}, {"b": 2.0, "a": 3.0}])
    assert one.names == ("a", "b")
    np.testing.assert_array_equal(one.table, [[1, np.nan], [3, 2]])
    both = concat_questions([one, scores_of([{"c": 4.0}])])
    assert both.names == ("a", "b", "c")
    assert both.question.tolist() == [0, 0, 1]
    np.testing.assert_array_equal(both.table[2], [np.nan, np.nan, 4])
    assert concat_questions([]).table.shape == (0, 0)


def candidate(name: str, text: str, **features: float) -> Candidate:
    return Candidate(Passage(name, text, Clue(), Source(name)), 0.0, Signals(rankers=features))


def test_candidates_of_a_pipeline_are_ranked():
    scores, grades = toy()
    fusion = LearnedFusion.fit(scores, grades, config=CONFIG)
    candidates = [candidate("low", "x", one=-2.0, other=-2.0), candidate("high", "y", one=2.0, other=2.0)]
    ranked = fusion.rank(Question("why?"), candidates)
    assert [candidate.passage.id for candidate in ranked] == ["high", "low"]
    assert ranked[0].signals.learned == ranked[0].score > ranked[1].score
    assert fusion.rank(Question("why?"), []) == []


class Length:
    """A pair scorer that prefers long answers."""

    def score(self, pairs):
        return np.array([len(answer) for _, answer in pairs], dtype=np.float32)


def test_pairs_are_scored_relative_to_their_question():
    pairs = [(f"what is the {i}th house", f"the {'very ' * n}red house {i}") for i in range(30) for n in range(4)]
    grades = [n == 3 for _ in range(30) for n in range(4)]
    question = np.repeat(np.arange(30), 4)
    keywords = Keywords.of([answer for _, answer in pairs])
    model = NeuralRanker("length", Length())

    def encode(texts):
        return np.ones((len(texts), 1), dtype=np.float32)

    scores = pair_scores(pairs, question, keywords, encode, [model])
    assert scores.names == (*FEATURES, SIMILARITY, "length")
    fusion = LearnedFusion.fit(scores, grades, config=CONFIG, keywords=keywords)
    scorer = FusedScorer(fusion, (model,), encode)
    order = np.random.default_rng(0).permutation(len(pairs))
    values = scorer.score([pairs[i] for i in order])
    assert values.tolist() == fusion.score(scores)[order].tolist(), "in any order"
    assert scorer.score(pairs).reshape(30, 4).argmax(axis=1).tolist() == [3] * 30
    assert len(scorer.score([])) == 0
