"""Learned fusion: boosted trees (LambdaMART, Burges 2010) over the scores of candidates by all stages.

    fusion = LearnedFusion.fit(Scores(table, names, question), grades)
    fusion.score(Scores(table, names, question))
    fusion.rank(question, candidates)

Letters: N candidates of all questions together, F scores of each. The trees get every score twice, raw and normalised
over the candidates of its question. The score of a skipped stage is NaN, which the trees see in training. A stage whose
score alone ranks the training data much worse than the best stage is left out, because trees would fit its noise.

Trees with a prior start from the original order of candidates and only correct it, the less the fewer examples they
have (`rankers.rank_prior`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qa_core.networks.checkpoints import WEIGHTS, load_config, load_weights, save_model, tensor_text, text_tensor
from qa_core.types import Candidate, FloatArray, IntArray, Question
from rankers.answer_selection.keyword_features import FEATURES, Encode, Keywords, cosines
from rankers.gbdt import TEXT, BoostedTrees, GBDTConfig, normalised
from rankers.neural import SCORING_BATCH, NeuralRanker, TextPair, distinct_texts, full_question, no_deadline
from rankers.rank_prior import RANK, RankPrior
from rankers.training.ndcg_by_feature import ndcg_by_feature

SIMILARITY = "passage_similarity"
"""Name of the similarity of passage and question by an encoder, as in the signals of candidates."""


@dataclass(frozen=True, slots=True)
class FusionConfig:
    trees: GBDTConfig = field(
        default_factory=lambda: GBDTConfig("lambdarank", trees=300, leaves=4, learning_rate=0.01, features=0.3)
    )
    blanked: float = 0.2  # share of the stages to mask in a second copy of each question; 0 makes no copy
    least: float = 0.5  # minimum nDCG@10 of a stage alone, as a share of the best one; 0 keeps all stages


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of candidates by several stages."""

    table: FloatArray  # (N, F), NaN for a missing score
    names: tuple[str, ...]  # F
    question: IntArray  # (N,), a number for each question

    def __post_init__(self) -> None:
        if self.table.shape != (len(self.question), len(self.names)):
            raise ValueError(
                f"Expected scores of shape ({len(self.question)}, {len(self.names)}), but got {self.table.shape}."
            )

    def at(self, rows: IntArray | NDArray[np.bool_]) -> Scores:
        return Scores(self.table[rows], self.names, self.question[rows])

    def select(self, names: Sequence[str]) -> Scores:
        """The named columns in this order; a missing column is NaN throughout."""
        table = np.full((len(self.table), len(names)), np.nan, dtype=np.float32)
        for column, name in enumerate(names):
            if name in self.names:
                table[:, column] = self.table[:, self.names.index(name)]
        return Scores(table, tuple(names), self.question)

    def mask_stages(self, share: float, rng: np.random.Generator) -> Scores:
        """A copy in which a random share of the stages of each question is NaN; keyword features are one stage."""
        numbers = np.unique(self.question, return_inverse=True)[1]
        stages = {name: "keywords" if name in FEATURES else name for name in self.names}
        missing = {
            stage: rng.random(int(numbers.max(initial=-1)) + 1) < share for stage in dict.fromkeys(stages.values())
        }
        table = self.table.copy()
        for column, name in enumerate(self.names):
            table[missing[stages[name]][numbers], column] = np.nan
        return Scores(table, self.names, self.question)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Sources of scores that candidates do not carry."""

    models: tuple[str, ...] = ()  # folders of rankers
    encoder: str = ""  # name of the encoder whose cosines are a score


@dataclass(frozen=True, slots=True)
class FusionModel:
    """Configuration of a saved fusion."""

    names: tuple[str, ...]
    fusion: FusionConfig
    origin: Provenance = field(default_factory=Provenance)
    answers: int = 0  # answers that the keywords were counted in; 0 without keywords
    mean_length: float = 0.0
    places: RankPrior | None = None  # the prior; saved models have this key


@dataclass(frozen=True, slots=True, eq=False)
class LearnedFusion:
    """Scores candidates relative to those of the same question, so it needs all candidates of a question."""

    trees: BoostedTrees
    names: tuple[str, ...]  # of the scores
    config: FusionConfig
    keywords: Keywords | None = None  # statistics of FEATURES, if they are among the names
    origin: Provenance = field(default_factory=Provenance)
    prior: RankPrior | None = None  # which the trees correct; scores are then probabilities

    @classmethod
    def fit(
        cls,
        scores: Scores,
        grades: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        config: FusionConfig | None = None,
        keywords: Keywords | None = None,
        origin: Provenance | None = None,
        prior: RankPrior | None = None,
    ) -> Self:
        """Train the trees; the same scores and seed give the same trees.

        Args:
            grades: (N,), 0 for a wrong candidate, more for a better one; NaN for an unlabelled candidate, which only
                takes part in the normalisation of scores.
            weights: (N,), of the candidates; by default equal.
            prior: the prior of the ranks in the column `RANK`; grades are then probabilities.

        Raises:
            ValueError: no two candidates differ in grade.
        """
        config = config or FusionConfig()
        judged = np.asarray(grades, dtype=np.float64)
        if judged.shape != scores.question.shape:
            raise ValueError(f"Expected {len(scores.question)} grades, but got shape {judged.shape}.")
        labelled = ~np.isnan(judged)
        start = None if prior is None else prior.log_odds(_ranks(scores))[labelled]
        scores = scores.select(_useful_stages(scores.at(labelled), judged[labelled], config.least))
        shares = np.ones(len(judged)) if weights is None else np.asarray(weights, dtype=np.float64)
        table, labels = _inputs(scores)[labelled], judged[labelled]
        groups, shares = scores.question[labelled], shares[labelled]
        if config.blanked:
            second = scores.mask_stages(config.blanked, np.random.default_rng(config.trees.seed))
            table = np.concatenate([table, _inputs(second)[labelled]])
            groups = np.concatenate([groups, groups + int(groups.max(initial=0)) + 1])
            labels, shares = np.concatenate([labels, labels]), np.concatenate([shares, shares])
            start = None if start is None else np.concatenate([start, start])
        names = _columns(scores.names)
        trees = BoostedTrees.fit(
            table, labels, names=names, groups=groups, weights=shares, start=start, config=config.trees
        )
        return cls(trees, scores.names, config, keywords, origin or Provenance(), prior)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises FileNotFoundError or ValueError for a missing, damaged or different model."""
        head, weights, source = load_config(folder, FusionModel), load_weights(folder), folder / WEIGHTS
        text = tensor_text(weights.get(TEXT), source)
        trees = BoostedTrees.of_text(text, _columns(head.names), head.fusion.trees, source=source)
        keywords = Keywords.unpacked(weights, head.answers, head.mean_length, source) if head.answers else None
        return cls(trees, head.names, head.fusion, keywords, head.origin, head.places)

    def save(self, folder: Path, *, card: str) -> None:
        """Write a folder that `load` opens; an interrupted save keeps the old fusion."""
        weights: dict[str, Any] = {TEXT: text_tensor(self.trees.text)}
        config = FusionModel(self.names, self.config, self.origin, places=self.prior)
        if self.keywords is not None:
            weights |= self.keywords.packed()
            config = replace(config, answers=self.keywords.answers, mean_length=self.keywords.mean_length)
        save_model(folder, config=config, weights=weights, vocabulary=None, card=card)

    def score(self, scores: Scores) -> FloatArray:
        """Scores (N,); missing columns count as skipped stages."""
        values = self.trees.score(_inputs(scores.select(self.names)))
        return values if self.prior is None else self.prior.corrected(_ranks(scores), values)

    def rank(
        self, question: Question, candidates: Sequence[Candidate], *, check: Callable[[], object] = no_deadline
    ) -> list[Candidate]:
        """Candidates of one question, best first; those with equal scores keep their order."""
        check()
        scores = scores_of([candidate.signals.by_name() for candidate in candidates])
        if self.keywords is not None and candidates:
            pairs = [(full_question(question), candidate.passage.text) for candidate in candidates]
            scores = with_columns(scores, self.keywords.features(pairs), FEATURES)
        if self.prior is not None:
            scores = with_columns(scores, np.arange(len(candidates), dtype=np.float32)[:, None], (RANK,))
        scored = [c.scored(s, learned=s) for c, s in zip(candidates, self.score(scores).tolist(), strict=True)]
        return sorted(scored, key=lambda candidate: -candidate.score)

    def importances(self) -> dict[str, float]:
        """Share of each stage, raw and normalised, in the gains, largest first."""
        gains, columns = self.trees.importances(), _columns(self.names)
        rows = zip(self.names, columns[: len(self.names)], columns[len(self.names) :], strict=True)
        shares = {name: gains[raw] + gains[within] for name, raw, within in rows}
        return dict(sorted(shares.items(), key=lambda item: -item[1]))


@dataclass(frozen=True, slots=True, eq=False)
class FusedScorer:
    """A fusion with the sources of its scores, as a pair scorer.

    Unlike other pair scorers, its scores depend on the other pairs of a question, so it needs all of them.
    """

    fusion: LearnedFusion
    models: tuple[NeuralRanker, ...] = ()
    encode: Encode | None = None

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        """Scores (N,) of pairs, relative to those of the same question."""
        question = distinct_texts(pairs)[2]
        keywords = self.fusion.keywords
        return self.fusion.score(pair_scores(pairs, question, keywords, self.encode, self.models))


def pair_scores(
    pairs: Sequence[TextPair],
    question: IntArray,
    keywords: Keywords | None = None,
    encode: Encode | None = None,
    models: Sequence[NeuralRanker] = (),
) -> Scores:
    """Keyword features, cosines and scores of models, as far as given, of N pairs with question numbers (N,)."""
    scores = Scores(np.zeros((len(pairs), 0), dtype=np.float32), (), question)
    if keywords is not None:
        scores = with_columns(scores, keywords.features(pairs), FEATURES)
    if encode is not None:
        scores = with_columns(scores, cosines(pairs, encode)[:, None], (SIMILARITY,))
    for model in models:
        starts = range(0, len(pairs), SCORING_BATCH)
        parts = [model.scorer.score(pairs[start : start + SCORING_BATCH]) for start in starts]
        scores = with_columns(scores, np.concatenate([*parts, np.zeros(0, np.float32)])[:, None], (model.name,))
    return scores


def scores_of(features: Sequence[Any], question: int = 0) -> Scores:
    """The features of the candidates of one question as scores; a missing feature is NaN."""
    names = tuple(sorted({name for row in features for name in row}))
    rows = [[row.get(name, np.nan) for name in names] for row in features]
    table = np.array(rows, dtype=np.float32).reshape(len(features), len(names))
    return Scores(table, names, np.full(len(features), question, dtype=np.int64))


def with_columns(scores: Scores, table: FloatArray, names: Sequence[str]) -> Scores:
    """The scores with more columns (N, G)."""
    return Scores(np.hstack([scores.table, table]), (*scores.names, *names), scores.question)


def concat_questions(several: Sequence[Scores]) -> Scores:
    """Scores of several questions, numbered in this order; missing columns are NaN."""
    names = tuple(dict.fromkeys(name for scores in several for name in scores.names))
    tables = [scores.select(names).table for scores in several]
    question = np.repeat(np.arange(len(several)), [len(table) for table in tables])
    return Scores(np.concatenate(tables) if tables else np.zeros((0, 0), np.float32), names, question)


def cross_validated(
    scores: Scores,
    grades: ArrayLike,
    *,
    folds: int,
    config: FusionConfig,
    weights: ArrayLike | None = None,
    prior: RankPrior | None = None,
    part: Sequence[int] | None = None,
) -> FloatArray:
    """Scores (N,) by cross-validation: the trees for a question are trained on the other folds.

    Args:
        weights: (N,), of the candidates in training.
        prior: which the trees correct.
        part: (Q,), the fold of each question in ascending order of its number; by default in turn.
    """
    judged = np.asarray(grades, dtype=np.float64)
    shares = np.ones(len(judged)) if weights is None else np.asarray(weights, dtype=np.float64)
    numbers = np.unique(scores.question, return_inverse=True)[1]
    turns = np.arange(int(numbers.max(initial=-1)) + 1) % folds if part is None else np.asarray(part)
    fold: NDArray[np.int64] = turns[numbers]
    values = np.zeros(len(numbers), dtype=np.float32)
    for number in np.unique(fold):
        held = fold == number
        fusion = LearnedFusion.fit(scores.at(~held), judged[~held], weights=shares[~held], config=config, prior=prior)
        values[held] = fusion.score(scores.at(held))
    return values


def _useful_stages(scores: Scores, grades: NDArray[np.float64], min_share: float) -> list[str]:
    """Names of the stages whose nDCG@10 alone is at least this share of the best one."""
    stages = scores.select([name for name in scores.names if name != RANK])
    alone = ndcg_by_feature(stages.table, grades, stages.question)
    bound = min_share * alone.max(initial=0.0)
    return [name for name, ndcg in zip(stages.names, alone.tolist(), strict=True) if ndcg >= bound]


def _ranks(scores: Scores) -> FloatArray:
    """Original ranks (N,), NaN if unknown."""
    ranks: FloatArray = scores.select((RANK,)).table[:, 0]
    return ranks


def _inputs(scores: Scores) -> FloatArray:
    """The inputs (N, 2 F) of the trees."""
    return np.hstack([scores.table, normalised(scores.table, scores.question)]).astype(np.float32)


def _columns(names: Sequence[str]) -> list[str]:
    """Distinct names of the inputs of the trees in letters and digits, as LightGBM requires."""
    columns: list[str] = []
    for i, name in enumerate([*names, *(f"{name} within" for name in names)]):
        plain = "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in name)
        columns.append(plain if plain not in columns else f"{plain}_{i}")
    return columns
