"""Gradient-boosted trees that score features (Friedman 2001; Wang 2018, §6.3.2). The only file that imports LightGBM.

    trees = BoostedTrees.fit(features, labels, names=names, config=GBDTConfig())
    trees.score(features), trees.importances()

Trees are saved as text in the format of LightGBM; nothing is pickled. A missing feature is NaN.
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
"""Name of the tensor, uint8, that stores the text of the trees in UTF-8."""
_NUMBERS = re.compile(r"^(threshold|leaf_value|leaf_weight|internal_value|split_gain)=(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GBDTConfig:
    """Defaults are few and small trees, because answer selection has few questions."""

    objective: Literal["binary", "regression", "lambdarank", "cross_entropy"] = "binary"
    trees: int = 200
    leaves: int = 8  # per tree, at most
    learning_rate: float = 0.05
    least: int = 20  # minimum examples in a leaf
    features: float = 0.7  # share of the features for each tree
    examples: float = 0.7  # share of the examples for each tree
    l2: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        wrong = [name for name in ("trees", "learning_rate", "least") if not getattr(self, name) > 0]
        wrong += [name for name in ("features", "examples") if not 0 < getattr(self, name) <= 1]
        wrong += ["leaves"] * (self.leaves < 2) + ["l2"] * (self.l2 < 0) + ["seed"] * (self.seed < 0)
        if wrong:
            got = ", ".join(f"{name} = {getattr(self, name)}" for name in wrong)
            raise ValueError(f"Expected sizes that trees can be grown with, but got {got}; correct them.")


@dataclass(frozen=True, slots=True)
class GBDTModel:
    """Configuration of saved trees."""

    names: tuple[str, ...]
    trees: GBDTConfig = field(default_factory=GBDTConfig)


@dataclass(frozen=True, slots=True, eq=False)
class BoostedTrees:
    """Trained trees; scores are log-odds, those of lambdarank, or regressed labels, without the initial scores."""

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
        """Train trees; the same data and seed give the same trees.

        Args:
            features: (N, F), NaN for a missing feature; infinity is refused.
            labels: (N,), right or wrong, grades for lambdarank, or probabilities for cross_entropy.
            names: names of the features.
            groups: (N,), the question of each example; lambdarank compares within it.
            weights: (N,), of the examples; by default equal.
            start: (N,), initial scores, to which the trees add; `score` does not include them.

        Raises:
            ValueError: wrong shapes, names or labels.
        """
        import lightgbm

        config = config or GBDTConfig()
        values = _checked(features, names)
        grades = np.asarray(labels, dtype=np.float64)
        _check_labels(grades, len(values))
        shares = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
        initial = np.zeros(len(values)) if start is None else np.asarray(start, dtype=np.float64)
        sizes = None
        if config.objective == "lambdarank":
            if groups is None:
                raise ValueError("Expected groups for lambdarank, but got none; give the question of each example.")
            order, sizes = _grouped(np.asarray(groups), len(values), config.seed)
            values, grades, shares, initial = values[order], grades[order], shares[order], initial[order]
        data = lightgbm.Dataset(
            values,
            grades,
            weight=None if weights is None else shares,
            group=sizes,
            init_score=None if start is None else initial,
            feature_name=list(names),
            params={"verbosity": -1},
        )
        return cls(lightgbm.train(_parameters(config), data, config.trees), tuple(names), config)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises FileNotFoundError or ValueError for a missing, damaged or different model."""
        head = load_config(folder, GBDTModel)
        text = tensor_text(load_weights(folder).get(TEXT), folder / WEIGHTS)
        return cls.of_text(text, head.names, head.trees, source=folder / WEIGHTS)

    @classmethod
    def of_text(cls, text: str, names: Sequence[str], config: GBDTConfig, *, source: Path) -> Self:
        """The inverse of `text`; raises ValueError for damaged trees, infinite numbers or other features."""
        import lightgbm

        if any(_invalid(match[1], _floats(match[2])) for match in _NUMBERS.finditer(text)):
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
        """The trees in the text format of LightGBM."""
        return str(self.booster.model_to_string(num_iteration=-1))

    def save(self, folder: Path, *, card: str) -> None:
        """Write a folder that `load` opens; an interrupted save keeps the old trees."""
        save_model(
            folder,
            config=GBDTModel(self.names, self.config),
            weights={TEXT: text_tensor(self.text)},
            vocabulary=None,
            card=card,
        )

    def score(self, features: FloatArray) -> FloatArray:
        """Scores (N,) of features (N, F); a missing feature is NaN."""
        values = _checked(features, self.names)
        if not len(values):
            return np.zeros(0, dtype=np.float32)
        raw: Any = self.booster.predict(values, raw_score=True, num_threads=1)
        scores: FloatArray = np.asarray(raw, dtype=np.float32)
        return scores

    def importances(self) -> dict[str, float]:
        """Share of each feature in all gains, largest first; all 0 if no tree has a split."""
        gains = np.asarray(self.booster.feature_importance("gain"), dtype=np.float64)
        shares = (gains / gains.sum() if gains.sum() > 0 else gains).tolist()
        return dict(sorted(zip(self.names, shares, strict=True), key=lambda item: -item[1]))


def normalised(features: FloatArray, groups: ArrayLike) -> FloatArray:
    """Features (N, F) standardised within their groups (N,): minus the mean, in standard deviations.

    A feature that is constant in a group becomes 0; NaN stays NaN. The result depends on the other candidates of a
    question, so it needs whole candidate lists.
    """
    numbers = np.unique(np.asarray(groups), return_inverse=True)[1]
    there = ~np.isnan(features)
    counts = _sums(there, numbers).clip(min=1)
    means = _sums(np.where(there, features, 0.0), numbers) / counts
    gaps = np.where(there, features - means[numbers], 0.0)
    spread = np.sqrt(_sums(gaps**2, numbers) / counts)[numbers]
    tiny = spread <= 1e-6 * np.maximum(1.0, np.abs(means[numbers]))
    standardised: FloatArray = np.where(there, np.where(tiny, 0.0, gaps / np.where(tiny, 1.0, spread)), np.nan)
    return standardised.astype(np.float32)


def _invalid(name: str, numbers: NDArray[np.float64]) -> bool:
    """Whether trees cannot contain these numbers; an infinite threshold is valid, as it separates missing values."""
    return bool((np.isnan(numbers) if name == "threshold" else ~np.isfinite(numbers)).any())


def _floats(text: str) -> NDArray[np.float64]:
    """Numbers of a line; NaN if it has anything else."""
    try:
        return np.array(text.split(), dtype=np.float64)
    except ValueError:
        return np.array([np.nan])


def _sums(values: NDArray[Any], numbers: IntArray) -> NDArray[np.float64]:
    """Sums (G, F) of values (N, F) by group number (N,)."""
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
        raise ValueError(f"Expected {count} labels, one per example, but got shape {labels.shape}.")
    if len(np.unique(labels)) < 2:
        raise ValueError(f"Expected right examples and wrong ones, but got {count} of one label; give both kinds.")


def _grouped(groups: NDArray[Any], count: int, seed: int) -> tuple[IntArray, IntArray]:
    """The order of examples by group, and the sizes of the groups.

    The order within a group is random, because an order with right answers first would leak the labels.
    """
    if groups.shape != (count,):
        raise ValueError(f"Expected {count} groups, one per example, but got shape {groups.shape}.")
    numbers = np.unique(groups, return_inverse=True)[1]
    by_group = np.argsort(numbers, kind="stable")
    keys = np.random.default_rng(seed).random(count)
    return by_group[np.lexsort((keys, numbers[by_group]))], np.bincount(numbers)
