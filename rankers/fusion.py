"""Learned fusion: boosted trees (LambdaMART, Burges 2010) over the scores that all stages gave a question's candidates.

    fusion = LearnedFusion.fit(Scores(table, names, question), grades)
    fusion.score(Scores(table, names, question))
    fusion.rank(question, candidates)

Letters: N candidates of all questions together, F scores of each. Every score comes to the trees twice, as it is and
normalised over the candidates of its question. A stage that was skipped is NaN, and the trees have seen that. Scores
that alone order what is learnt from much worse than the best one does are left out: trees would find luck in them.

Trees that are told `places` start from the order that candidates have without them and only correct it, the less the
fewer examples there are (`rankers.rank_prior`).
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
from rankers.neural import SCORED_AT_ONCE, NeuralRanker, TextPair, asked, by_places, go_on
from rankers.rank_prior import RANK, RankPrior
from rankers.training.ndcg_by_feature import ndcg_by_feature

SIMILARITY = "passage_similarity"
"""How near passage and question are to an encoder: so the pipeline calls it, too."""


@dataclass(frozen=True, slots=True)
class FusionConfig:
    trees: GBDTConfig = field(
        default_factory=lambda: GBDTConfig("lambdarank", trees=300, leaves=4, learning_rate=0.01, features=0.3)
    )
    blanked: float = 0.2  # share of the stages that are missing in the second copy of a question; 0 makes none
    least: float = 0.5  # of the best stage's nDCG@10 that a stage needs alone, or trees are not shown it; 0 shows all


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What stages said of candidates."""

    table: FloatArray  # (N, F), NaN where a stage said nothing
    names: tuple[str, ...]  # F
    question: IntArray  # (N,), a number for each question

    def __post_init__(self) -> None:
        if self.table.shape != (len(self.question), len(self.names)):
            raise ValueError(
                f"Expected scores of shape ({len(self.question)}, {len(self.names)}), but got {self.table.shape}."
            )

    def at(self, rows: IntArray | NDArray[np.bool_]) -> Scores:
        return Scores(self.table[rows], self.names, self.question[rows])

    def only(self, names: Sequence[str]) -> Scores:
        """The columns named, in that order; one that is not there is NaN throughout."""
        table = np.full((len(self.table), len(names)), np.nan, dtype=np.float32)
        for place, name in enumerate(names):
            if name in self.names:
                table[:, place] = self.table[:, self.names.index(name)]
        return Scores(table, tuple(names), self.question)

    def blanked(self, share: float, rng: np.random.Generator) -> Scores:
        """A copy in which stages of a question are missing, so many at random; keyword features are one stage."""
        numbers = np.unique(self.question, return_inverse=True)[1]
        stages = {name: "keywords" if name in FEATURES else name for name in self.names}
        missing = {
            stage: rng.random(int(numbers.max(initial=-1)) + 1) < share for stage in dict.fromkeys(stages.values())
        }
        table = self.table.copy()
        for place, name in enumerate(self.names):
            table[missing[stages[name]][numbers], place] = np.nan
        return Scores(table, self.names, self.question)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where scores come from that no pipeline keeps with its candidates."""

    models: tuple[str, ...] = ()  # folders of rankers
    encoder: str = ""  # name of the encoder whose cosines are a score


@dataclass(frozen=True, slots=True)
class FusionModel:
    """Head of a fusion at rest."""

    names: tuple[str, ...]
    fusion: FusionConfig
    origin: Origin = field(default_factory=Origin)
    answers: int = 0  # that the keywords were counted in; 0 for none
    mean_length: float = 0.0
    places: RankPrior | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LearnedFusion:
    """A score for each candidate among those of its question; best asked with the candidates of a whole question."""

    trees: BoostedTrees
    names: tuple[str, ...]  # of the scores
    config: FusionConfig
    keywords: Keywords | None = None  # what FEATURES of candidates are taken from, where they are among the names
    origin: Origin = field(default_factory=Origin)
    places: RankPrior | None = None  # what the trees correct; scores are then expected shares

    @classmethod
    def fit(
        cls,
        scores: Scores,
        grades: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        config: FusionConfig | None = None,
        keywords: Keywords | None = None,
        origin: Origin | None = None,
        places: RankPrior | None = None,
    ) -> Self:
        """Grow the trees; the same scores and seed give the same ones.

        Args:
            grades: (N,), 0 for a wrong candidate, more for a better one; NaN leaves a candidate out, whose scores
                still count where those of its question are normalised.
            weights: (N,), how much a candidate counts; all the same by default.
            places: start from what is expected of the places in the column `RANK`; grades are then shares.

        Raises:
            ValueError: no two candidates differ in grade.
        """
        config = config or FusionConfig()
        judged = np.asarray(grades, dtype=np.float64)
        if judged.shape != scores.question.shape:
            raise ValueError(f"Expected {len(scores.question)} grades, but got shape {judged.shape}.")
        kept = ~np.isnan(judged)
        start = None if places is None else places.log_odds(_places(scores))[kept]
        scores = scores.only(_chosen(scores.at(kept), judged[kept], config.least))
        shares = np.ones(len(judged)) if weights is None else np.asarray(weights, dtype=np.float64)
        table, labels, groups, shares = _inputs(scores)[kept], judged[kept], scores.question[kept], shares[kept]
        if config.blanked:
            second = scores.blanked(config.blanked, np.random.default_rng(config.trees.seed))
            table = np.concatenate([table, _inputs(second)[kept]])
            groups = np.concatenate([groups, groups + int(groups.max(initial=0)) + 1])
            labels, shares = np.concatenate([labels, labels]), np.concatenate([shares, shares])
            start = None if start is None else np.concatenate([start, start])
        names = _columns(scores.names)
        trees = BoostedTrees.fit(
            table, labels, names=names, groups=groups, weights=shares, start=start, config=config.trees
        )
        return cls(trees, scores.names, config, keywords, origin or Origin(), places)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises FileNotFoundError and ValueError that say what is missing or wrong."""
        head, weights, source = load_config(folder, FusionModel), load_weights(folder), folder / WEIGHTS
        text = tensor_text(weights.get(TEXT), source)
        trees = BoostedTrees.of_text(text, _columns(head.names), head.fusion.trees, source=source)
        keywords = Keywords.unpacked(weights, head.answers, head.mean_length, source) if head.answers else None
        return cls(trees, head.names, head.fusion, keywords, head.origin, head.places)

    def save(self, folder: Path, *, card: str) -> None:
        """Write a folder that `load` opens; an interrupted save leaves the old fusion."""
        weights: dict[str, Any] = {TEXT: text_tensor(self.trees.text)}
        config = FusionModel(self.names, self.config, self.origin, places=self.places)
        if self.keywords is not None:
            weights |= self.keywords.packed()
            config = replace(config, answers=self.keywords.answers, mean_length=self.keywords.mean_length)
        save_model(folder, config=config, weights=weights, vocabulary=None, card=card)

    def score(self, scores: Scores) -> FloatArray:
        """(N,); a stage that the fusion knows and the scores lack counts as skipped."""
        found = self.trees.score(_inputs(scores.only(self.names)))
        return found if self.places is None else self.places.corrected(_places(scores), found)

    def rank(
        self, question: Question, candidates: Sequence[Candidate], *, check: Callable[[], object] = go_on
    ) -> list[Candidate]:
        """Candidates of one question, best first; equal scores keep their order."""
        check()
        scores = scores_of([each.signals.by_name() for each in candidates])
        if self.keywords is not None and candidates:
            pairs = [(asked(question), each.passage.text) for each in candidates]
            scores = joined(scores, self.keywords.features(pairs), FEATURES)
        if self.places is not None:
            scores = joined(scores, np.arange(len(candidates), dtype=np.float32)[:, None], (RANK,))
        found = [
            each.scored(score, learned=score)
            for each, score in zip(candidates, self.score(scores).tolist(), strict=True)
        ]
        return sorted(found, key=lambda candidate: -candidate.score)

    def importances(self) -> dict[str, float]:
        """Each stage's share of the gains, as it is and normalised together, largest first."""
        gains, columns = self.trees.importances(), _columns(self.names)
        both = zip(self.names, columns[: len(self.names)], columns[len(self.names) :], strict=True)
        shares = {name: gains[plain] + gains[within] for name, plain, within in both}
        return dict(sorted(shares.items(), key=lambda item: -item[1]))


@dataclass(frozen=True, slots=True, eq=False)
class FusedScorer:
    """A fusion with all that its scores are taken from, as a pair scorer.

    Unlike those of other pair scorers its scores depend on the pairs beside: it is asked with all that a question has.
    """

    fusion: LearnedFusion
    models: tuple[NeuralRanker, ...] = ()
    encode: Encode | None = None

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        """(N,) of pairs, those of one question taken together."""
        question = by_places(pairs)[2]
        keywords = self.fusion.keywords
        return self.fusion.score(pair_scores(pairs, question, keywords, self.encode, self.models))


def pair_scores(
    pairs: Sequence[TextPair],
    question: IntArray,
    keywords: Keywords | None = None,
    encode: Encode | None = None,
    models: Sequence[NeuralRanker] = (),
) -> Scores:
    """Keyword features, cosines and scores of models, each where it is given, of N pairs and their questions (N,)."""
    scores = Scores(np.zeros((len(pairs), 0), dtype=np.float32), (), question)
    if keywords is not None:
        scores = joined(scores, keywords.features(pairs), FEATURES)
    if encode is not None:
        scores = joined(scores, cosines(pairs, encode)[:, None], (SIMILARITY,))
    for model in models:
        starts = range(0, len(pairs), SCORED_AT_ONCE)
        parts = [model.scorer.score(pairs[start : start + SCORED_AT_ONCE]) for start in starts]
        scores = joined(scores, np.concatenate([*parts, np.zeros(0, np.float32)])[:, None], (model.name,))
    return scores


def scores_of(features: Sequence[Any], question: int = 0) -> Scores:
    """The features of one question's candidates as scores; one that a candidate lacks is NaN."""
    names = tuple(sorted({name for each in features for name in each}))
    rows = [[each.get(name, np.nan) for name in names] for each in features]
    table = np.array(rows, dtype=np.float32).reshape(len(features), len(names))
    return Scores(table, names, np.full(len(features), question, dtype=np.int64))


def joined(scores: Scores, table: FloatArray, names: Sequence[str]) -> Scores:
    """The scores with further columns (N, G)."""
    return Scores(np.hstack([scores.table, table]), (*scores.names, *names), scores.question)


def together(several: Sequence[Scores]) -> Scores:
    """Scores of several questions, numbered in this order; columns that some of them lack are NaN there."""
    names = tuple(dict.fromkeys(name for each in several for name in each.names))
    tables = [each.only(names).table for each in several]
    question = np.repeat(np.arange(len(several)), [len(each.table) for each in several])
    return Scores(np.concatenate(tables) if tables else np.zeros((0, 0), np.float32), names, question)


def cross_validated(
    scores: Scores,
    grades: ArrayLike,
    *,
    folds: int,
    config: FusionConfig,
    weights: ArrayLike | None = None,
    places: RankPrior | None = None,
    part: Sequence[int] | None = None,
) -> FloatArray:
    """Scores (N,), each question's by trees that did not see it: of `folds` parts of the questions one after another.

    Args:
        weights: (N,), how much a candidate counts where trees are grown.
        places: what the trees correct.
        part: (Q,), the part of each question in ascending order of its number; by default they take turns.
    """
    judged = np.asarray(grades, dtype=np.float64)
    shares = np.ones(len(judged)) if weights is None else np.asarray(weights, dtype=np.float64)
    numbers = np.unique(scores.question, return_inverse=True)[1]
    turns = np.arange(int(numbers.max(initial=-1)) + 1) % folds if part is None else np.asarray(part)
    own: NDArray[np.int64] = turns[numbers]
    found = np.zeros(len(numbers), dtype=np.float32)
    for number in np.unique(own):
        held = own == number
        fusion = LearnedFusion.fit(scores.at(~held), judged[~held], weights=shares[~held], config=config, places=places)
        found[held] = fusion.score(scores.at(held))
    return found


def _chosen(scores: Scores, grades: NDArray[np.float64], least: float) -> list[str]:
    """Names of the stages that alone come to this share of the best one's nDCG@10."""
    stages = scores.only([name for name in scores.names if name != RANK])
    alone = ndcg_by_feature(stages.table, grades, stages.question)
    wanted = least * alone.max(initial=0.0)
    return [name for name, found in zip(stages.names, alone.tolist(), strict=True) if found >= wanted]


def _places(scores: Scores) -> FloatArray:
    """(N,), NaN where nothing says in which order candidates came."""
    places: FloatArray = scores.only((RANK,)).table[:, 0]
    return places


def _inputs(scores: Scores) -> FloatArray:
    """(N, 2 F), what the trees are given."""
    return np.hstack([scores.table, normalised(scores.table, scores.question)]).astype(np.float32)


def _columns(names: Sequence[str]) -> list[str]:
    """Names of the trees' inputs as LightGBM takes them, none twice: letters and digits only."""
    found: list[str] = []
    for place, name in enumerate([*names, *(f"{name} within" for name in names)]):
        plain = "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in name)
        found.append(plain if plain not in found else f"{plain}_{place}")
    return found
