"""Learned fusion: what it learns, what it does without a stage, and that it comes back from disk as it was."""

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
    Origin,
    Scores,
    cross_validated,
    pair_scores,
    scores_of,
    together,
)
from rankers.gbdt import GBDTConfig
from rankers.neural import NeuralRanker
from rankers.rank_prior import RANK, RankPrior

QUESTIONS, EACH = 60, 8
TREES = GBDTConfig(objective="lambdarank", trees=30, leaves=4, least=5)
CONFIG = FusionConfig(trees=TREES)


def toy(seed: int = 0) -> tuple[Scores, np.ndarray]:
    """Two stages that each know half of what makes a candidate right, at a level of its own in each question, and
    noise."""
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


def test_what_counts_for_nothing_is_not_learnt_from():
    """Half of the questions are graded the wrong way round; with them weighted down the right way is learnt."""
    scores, grades = toy()
    turned = scores.question % 2 == 0
    confused = np.where(turned, 1 - grades, grades)
    wrong = LearnedFusion.fit(scores, confused, config=CONFIG)
    right = LearnedFusion.fit(scores, confused, weights=np.where(turned, 0.001, 1.0), config=CONFIG)
    assert first_right(right.score(scores), grades) > first_right(wrong.score(scores), grades) + 0.2
    found = cross_validated(scores, confused, folds=3, weights=np.where(turned, 0.001, 1.0), config=CONFIG)
    assert first_right(found, grades) > first_right(cross_validated(scores, confused, folds=3, config=CONFIG), grades)


def test_two_halves_are_more_than_either():
    scores, grades = toy()
    found = cross_validated(scores, grades, folds=5, config=CONFIG)
    alone = [first_right(scores.table[:, place], grades) for place in (0, 1)]
    assert first_right(found, grades) > max(alone) + 0.1


def placed(scores: Scores) -> Scores:
    """With the places of candidates as they stand."""
    places = np.tile(np.arange(EACH, dtype=np.float32), QUESTIONS)
    return Scores(np.hstack([scores.table, places[:, None]]), (*scores.names, RANK), scores.question)


def test_trees_correct_an_order_and_come_back_from_disk(tmp_path):
    """Shares that places let expect are left alone; where a stage knows more, it is learnt."""
    scores, grades = toy()
    places, config = (
        RankPrior(0.5),
        FusionConfig(trees=replace(TREES, objective="cross_entropy"), blanked=0.0, least=0.0),
    )
    given = placed(scores)
    expected = places.expected(given.table[:, -1])
    still = LearnedFusion.fit(given, expected, config=config, places=places)
    np.testing.assert_allclose(still.score(given), expected, atol=1e-5)
    fusion = LearnedFusion.fit(given, grades, config=config, places=places)
    assert RANK not in fusion.names
    assert first_right(fusion.score(given), grades) > first_right(expected, grades) + 0.2
    assert ((fusion.score(given) > 0) & (fusion.score(given) < 1)).all()
    fusion.save(tmp_path / "fusion", card="")
    again = LearnedFusion.load(tmp_path / "fusion")
    assert again.places == places
    assert again.score(given).tolist() == fusion.score(given).tolist()
    seen = cross_validated(given, grades, folds=2, config=config, places=places)
    assert first_right(seen, grades) > first_right(expected, grades)


def test_a_corrected_order_is_that_of_the_candidates_given():
    """Alike to every stage, they stay as they were; the scores are what is expected of their places."""
    scores, grades = toy()
    config = FusionConfig(trees=replace(TREES, objective="cross_entropy"), blanked=0.0, least=0.0)
    fusion = LearnedFusion.fit(placed(scores), grades, config=config, places=RankPrior(0.5))
    candidates = [
        Candidate(Passage(str(n), "text", Clue(), Source(str(n))), 0.0, Signals(rankers={"one": 1.0, "other": 1.0}))
        for n in range(3)
    ]
    ranked = fusion.rank(Question("why"), candidates)
    assert [each.passage.id for each in ranked] == ["0", "1", "2"]
    odds = [each.score / (1 - each.score) for each in ranked]
    # the shares 1/2, 0.5 / log2(3) and 1/4 in odds, all of them multiplied by what was learnt
    share = 0.5 / np.log2(3)
    np.testing.assert_allclose(np.array(odds) / odds[0], [1, share / (1 - share), 1 / 3], rtol=1e-4)


def test_a_question_is_scored_by_trees_that_did_not_see_it():
    scores, grades = toy()
    part = [number % 2 for number in range(QUESTIONS)]
    found = cross_validated(scores, grades, folds=2, config=CONFIG, part=part)
    even = scores.question % 2 == 0
    others = LearnedFusion.fit(scores.at(~even), grades[~even], config=CONFIG)
    assert found[even].tolist() == others.score(scores.at(even)).tolist()


def test_the_level_of_a_question_does_not_matter_within_it():
    scores, grades = toy()
    fusion = LearnedFusion.fit(scores, grades, config=CONFIG)
    assert fusion.importances().keys() == {"one", "other", "noise"}
    assert list(fusion.importances())[-1] == "noise"
    assert sum(fusion.importances().values()) == pytest.approx(1)


def test_a_skipped_stage_leaves_what_the_others_know():
    scores, grades = toy()
    fusion = LearnedFusion.fit(scores, grades, config=CONFIG)
    late, late_grades = toy(seed=1)
    without = fusion.score(late.only(["one", "noise"]))
    assert np.isfinite(without).all()
    assert first_right(without, late_grades) > 2 / EACH
    nothing = fusion.score(late.only([]))
    assert len(set(nothing.tolist())) == 1, "what nobody scored is all the same"


def backwards(scores: Scores, grades: np.ndarray) -> Scores:
    """With a stage before the others that puts the right candidate last."""
    table = np.hstack([-grades[:, None], scores.table]).astype(np.float32)
    return Scores(table, ("backwards", *scores.names), scores.question)


def test_a_stage_that_is_no_good_alone_is_not_shown_to_the_trees():
    scores, grades = toy()
    more = backwards(scores, grades)
    fusion = LearnedFusion.fit(more, grades, config=CONFIG)
    assert fusion.names == scores.names
    assert fusion.score(more).tolist() == LearnedFusion.fit(scores, grades, config=CONFIG).score(scores).tolist()
    everything = LearnedFusion.fit(more, grades, config=replace(CONFIG, least=0.0))
    assert next(iter(everything.importances())) == "backwards", "trees may turn it round"
    best = LearnedFusion.fit(more, grades, config=replace(CONFIG, least=1.0))
    assert len(best.names) == 1


def test_stages_are_chosen_without_the_questions_that_are_scored():
    """A stage that is right in the held-out half alone stays out, however good it looks over all."""
    scores, grades = toy()
    even = scores.question % 2 == 0
    told = np.where(even, grades, -grades)
    more = Scores(np.hstack([told[:, None], scores.table]).astype(np.float32), ("told", *scores.names), scores.question)
    part = [number % 2 for number in range(QUESTIONS)]
    found = cross_validated(more, grades, folds=2, config=CONFIG, part=part)
    without = cross_validated(scores, grades, folds=2, config=CONFIG, part=part)
    assert found[even].tolist() == without[even].tolist()
    assert first_right(found, grades) < 0.9


def test_blanks_are_drawn_for_whole_questions():
    scores, _ = toy()
    scores = replace(scores, names=("one", "bm25", "overlap"))
    blanked = scores.blanked(0.5, np.random.default_rng(1))
    missing = np.isnan(blanked.table).reshape(QUESTIONS, EACH, 3)
    assert (missing.all(axis=1) == missing.any(axis=1)).all()
    assert (missing[:, 0, 1] == missing[:, 0, 2]).all(), "keyword features go together"
    assert 0.3 < missing[:, 0, 0].mean() < 0.7


def test_what_nobody_judged_is_left_out():
    scores, grades = toy()
    grades[::EACH] = np.nan
    fusion = LearnedFusion.fit(scores, grades, config=replace(CONFIG, blanked=0.0))
    assert np.isfinite(fusion.score(scores)).all()
    with pytest.raises(ValueError, match="Expected right examples and wrong ones"):
        LearnedFusion.fit(scores, np.full(len(grades), np.nan), config=CONFIG)
    with pytest.raises(ValueError, match="Expected 480 grades"):
        LearnedFusion.fit(scores, [1.0], config=CONFIG)


def test_saved_and_loaded_it_is_the_same(tmp_path):
    scores, grades = toy()
    keywords = Keywords.of(["a red house", "a blue sky", "rain"])
    origin = Origin(("/somewhere/ranker",), "starter")
    fusion = LearnedFusion.fit(scores, grades, config=CONFIG, keywords=keywords, origin=origin)
    fusion.save(tmp_path / "fusion", card="# Fusion")
    loaded = LearnedFusion.load(tmp_path / "fusion")
    assert loaded.score(scores).tolist() == fusion.score(scores).tolist()
    assert (loaded.names, loaded.config, loaded.origin) == (fusion.names, fusion.config, fusion.origin)
    assert loaded.keywords is not None
    asked = [("is the house red", "a red house")]
    np.testing.assert_array_equal(loaded.keywords.features(asked), keywords.features(asked))
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
    both = together([one, scores_of([{"c": 4.0}])])
    assert both.names == ("a", "b", "c")
    assert both.question.tolist() == [0, 0, 1]
    np.testing.assert_array_equal(both.table[2], [np.nan, np.nan, 4])
    assert together([]).table.shape == (0, 0)


def candidate(name: str, text: str, **features: float) -> Candidate:
    return Candidate(Passage(name, text, Clue(), Source(name)), 0.0, Signals(rankers=features))


def test_candidates_of_a_pipeline_are_ranked():
    scores, grades = toy()
    fusion = LearnedFusion.fit(scores, grades, config=CONFIG)
    candidates = [candidate("low", "x", one=-2.0, other=-2.0), candidate("high", "y", one=2.0, other=2.0)]
    ranked = fusion.rank(Question("why?"), candidates)
    assert [each.passage.id for each in ranked] == ["high", "low"]
    assert ranked[0].signals.learned == ranked[0].score > ranked[1].score
    assert fusion.rank(Question("why?"), []) == []


class Length:
    """A pair scorer: the longer the better."""

    def score(self, pairs):
        return np.array([len(answer) for _, answer in pairs], dtype=np.float32)


def test_pairs_are_scored_with_those_of_their_question():
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
    found = scorer.score([pairs[place] for place in order])
    assert found.tolist() == fusion.score(scores)[order].tolist(), "in any order"
    assert scorer.score(pairs).reshape(30, 4).argmax(axis=1).tolist() == [3] * 30
    assert len(scorer.score([])) == 0
