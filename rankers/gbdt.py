"""Gradient-boosted trees over features to one score (Friedman 2001; thesis, ch. 6.3.2). The one door of LightGBM.

    trees = BoostedTrees.fit(features, labels, names=names, config=GBDTConfig())
    trees.score(features), trees.importances()

Trees at rest are text, LightGBM's own format; nothing is pickled. A feature may be missing (NaN).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qa_core.networks.checkpoints import WEIGHTS, load_config, load_weights, save_model, tensor_text, text_tensor
from qa_core.types import FloatArray, IntArray

if TYPE_CHECKING:
    from lightgbm import Booster

TEXT = "trees"
"""Name of the tensor, uint8, that holds the trees' text in UTF-8."""
_NUMBERS = re.compile(r"^(threshold|leaf_value|leaf_weight|internal_value|split_gain)=(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GBDTConfig:
    """Few and small trees, since answer selection has few questions."""

    objective: Literal["binary", "lambdarank", "cross_entropy"] = "binary"
    trees: int = 200
    leaves: int = 8  # of a tree, at most
    learning_rate: float = 0.05
    least: int = 20  # examples in a leaf
    features: float = 0.7  # share of the features that a tree may look at
    examples: float = 0.7  # share of the examples that a tree is grown on
    l2: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        wrong = [name for name in ("trees", "learning_rate", "least") if not getattr(self, name) > 0]
        wrong += [name for name in ("features", "examples") if not 0 < getattr(self, name) <= 1]
        wrong += ["leaves"] * (self.leaves < 2) + ["l2"] * (self.l2 < 0) + ["seed"] * (self.seed < 0)
        if wrong:
            told = ", ".join(f"{name} = {getattr(self, name)}" for name in wrong)
            raise ValueError(f"Expected sizes that trees can be grown with, but got {told}; correct them.")


@dataclass(frozen=True, slots=True)
class GBDTModel:
    """Head of trees at rest."""

    names: tuple[str, ...]
    trees: GBDTConfig = field(default_factory=GBDTConfig)


@dataclass(frozen=True, slots=True, eq=False)
class BoostedTrees:
    """Grown trees; scores are log-odds, or lambdarank's scores, less where they were grown from."""

    booster: Booster
    names: tuple[str, ...]
    config: GBDTConfig

    @classmethod
    def fit(
        cls,
        features: FloatArray,
        labels: ArrayLike,
        *,
        names: Sequence[str],
        groups: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        start: ArrayLike | None = None,
        config: GBDTConfig | None = None,
    ) -> Self:
        """Grow trees. The same data and seed give the same trees.

        Args:
            features: (N, F), NaN where there is none; infinity is refused.
            labels: (N,), right or wrong, grades for lambdarank, or shares for cross_entropy.
            names: of the features.
            groups: (N,), the question of each example; lambdarank compares within it.
            weights: (N,), how much an example counts; all the same by default.
            start: (N,), scores that the trees add to, and that `score` leaves out.

        Raises:
            ValueError: shapes, names or labels do not do.
        """
        import lightgbm

        config = config or GBDTConfig()
        values = _checked(features, names)
        grades = np.asarray(labels, dtype=np.float64)
        _check_labels(grades, len(values))
        shares = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
        begun = np.zeros(len(values)) if start is None else np.asarray(start, dtype=np.float64)
        sizes = None
        if config.objective == "lambdarank":
            if groups is None:
                raise ValueError("Expected groups for lambdarank, but got none; tell the question of each example.")
            order, sizes = _grouped(np.asarray(groups), len(values), config.seed)
            values, grades, shares, begun = values[order], grades[order], shares[order], begun[order]
        data = lightgbm.Dataset(
            values,
            grades,
            weight=None if weights is None else shares,
            group=sizes,
            init_score=None if start is None else begun,
            feature_name=list(names),
            params={"verbosity": -1},
        )
        return cls(lightgbm.train(_parameters(config), data, config.trees), tuple(names), config)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises FileNotFoundError and ValueError that say what is missing or wrong."""
        head = load_config(folder, GBDTModel)
        text = tensor_text(load_weights(folder).get(TEXT), folder / WEIGHTS)
        return cls.of_text(text, head.names, head.trees, source=folder / WEIGHTS)

    @classmethod
    def of_text(cls, text: str, names: Sequence[str], config: GBDTConfig, *, source: Path) -> Self:
        """From `text`; raises ValueError for damage, numbers that are not finite, or trees over other features."""
        import lightgbm

        if any(_wrong(found[1], _floats(found[2])) for found in _NUMBERS.finditer(text)):
            raise ValueError(f"{source}: Expected finite trees, but got NaN or infinity; train them again.")
        try:
            booster = lightgbm.Booster(model_str=text)
        except (lightgbm.basic.LightGBMError, ValueError) as error:
            raise ValueError(f"{source}: Expected trees, but got damaged ones ({error}); train them again.") from None
        if (known := booster.feature_name()) != list(names):
            raise ValueError(
                f"{source}: Expected trees over {', '.join(names)}, but got some over {', '.join(known)}; train again."
            )
        return cls(booster, tuple(names), config)

    @property
    def text(self) -> str:
        """LightGBM's text format."""
        return str(self.booster.model_to_string(num_iteration=-1))

    def save(self, folder: Path, *, card: str) -> None:
        """Write a folder that `load` opens; an interrupted save leaves the old trees."""
        save_model(
            folder,
            config=GBDTModel(self.names, self.config),
            weights={TEXT: text_tensor(self.text)},
            vocabulary=None,
            card=card,
        )

    def score(self, features: FloatArray) -> FloatArray:
        """Scores (N,) of features (N, F); NaN is a missing one."""
        values = _checked(features, self.names)
        if not len(values):
            return np.zeros(0, dtype=np.float32)
        found: Any = self.booster.predict(values, raw_score=True, num_threads=1)
        scores: FloatArray = np.asarray(found, dtype=np.float32)
        return scores

    def importances(self) -> dict[str, float]:
        """Each feature's share of all gains, largest first; all 0 where no tree has a split."""
        gains = np.asarray(self.booster.feature_importance("gain"), dtype=np.float64)
        shares = (gains / gains.sum() if gains.sum() > 0 else gains).tolist()
        return dict(sorted(zip(self.names, shares, strict=True), key=lambda item: -item[1]))


def normalised(features: FloatArray, groups: ArrayLike) -> FloatArray:
    """Each feature less its mean over the pair's group, in standard deviations: (N, F) and (N,) to (N, F).

    What is the same throughout a group becomes 0, NaN stays NaN. For whole candidate lists only: the result depends on
    the other candidates of a question.
    """
    numbers = np.unique(np.asarray(groups), return_inverse=True)[1]
    there = ~np.isnan(features)
    counts = _sums(there, numbers).clip(min=1)
    means = _sums(np.where(there, features, 0.0), numbers) / counts
    gaps = np.where(there, features - means[numbers], 0.0)
    spread = np.sqrt(_sums(gaps**2, numbers) / counts)[numbers]
    tiny = spread <= 1e-6 * np.maximum(1.0, np.abs(means[numbers]))
    found: FloatArray = np.where(there, np.where(tiny, 0.0, gaps / np.where(tiny, 1.0, spread)), np.nan)
    return found.astype(np.float32)


def _wrong(name: str, numbers: NDArray[np.float64]) -> bool:
    """Whether trees cannot hold such numbers; an infinite threshold parts what is missing from what is there."""
    return bool((np.isnan(numbers) if name == "threshold" else ~np.isfinite(numbers)).any())


def _floats(text: str) -> NDArray[np.float64]:
    """Numbers of a line; what is none is NaN."""
    try:
        return np.array(text.split(), dtype=np.float64)
    except ValueError:
        return np.array([np.nan])


def _sums(values: NDArray[Any], numbers: IntArray) -> NDArray[np.float64]:
    """Of each group, (G, F)."""
    sums = np.zeros((int(numbers.max(initial=-1)) + 1, values.shape[1]))
    np.add.at(sums, numbers, values)
    return sums


def _parameters(config: GBDTConfig) -> dict[str, Any]:
    return {
        "objective": config.objective,
        "num_leaves": config.leaves,
        "learning_rate": config.learning_rate,
        "min_data_in_leaf": config.least,
        "feature_fraction": config.features,
        "bagging_fraction": config.examples,
        "bagging_freq": 1,
        "lambda_l2": config.l2,
        "seed": config.seed,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "verbosity": -1,
    }


def _checked(features: FloatArray, names: Sequence[str]) -> FloatArray:
    if features.ndim != 2 or features.shape[1] != len(names):
        raise ValueError(f"Expected features of shape (N, {len(names)}), but got {features.shape}.")
    if np.isinf(features).any():
        column = int(np.flatnonzero(np.isinf(features).any(0))[0])
        raise ValueError(f"Expected finite features or NaN, but got infinity in {names[column]}.")
    return features


def _check_labels(labels: NDArray[np.float64], count: int) -> None:
    if labels.shape != (count,):
        raise ValueError(f"Expected {count} labels, one an example, but got shape {labels.shape}.")
    if len(np.unique(labels)) < 2:
        raise ValueError(f"Expected right examples and wrong ones, but got {count} of one label; give both kinds.")


def _grouped(groups: NDArray[Any], count: int, seed: int) -> tuple[IntArray, IntArray]:
    """The order in which groups stand together, and their sizes.

    Within a group by chance: where files list right answers first, the order would tell what is to be learnt.
    """
    if groups.shape != (count,):
        raise ValueError(f"Expected {count} groups, one an example, but got shape {groups.shape}.")
    numbers = np.unique(groups, return_inverse=True)[1]
    together = np.argsort(numbers, kind="stable")
    drawn = np.random.default_rng(seed).random(count)
    return together[np.lexsort((drawn, numbers[together]))], np.bincount(numbers)
