"""Trains the relation network on weighted mappings of mined templates, in phases.

    table = TemplateTable.load(path)
    for phase, progress in train_phases(table, detector_of, matcher.overlap, seed=1): ...

In Wang (2018), ch. 4.3.5, the first model learns from `F × K`, the second from `F × (l(r, T) + α)` with the likelihoods
of the first; Adam, learning rate 0.001, batches of 2,000 mappings.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from kg_index.relations.relation_network import RelationDetector
from kg_index.relations.template_text import NO_PATH, path_steps
from kg_index.relations.templates import TemplateTable
from kg_index.training.mapping_weights import f_weights, k_weights, s_weights
from qa_core.training.loop import Progress, Training, seed_everything, train
from qa_core.types import FloatArray, IntArray

Phase = Literal["uniform", "F", "F×K", "F×(l+α)"]
_AT_ONCE = 4_096  # templates
_SORTED = 20  # batches whose templates are sorted by length, to halve the padding
NewDetector = Callable[[Mapping[str, int], Sequence[str]], RelationDetector]
"""From counts of words and names of relations to an untrained detector."""


@dataclass(frozen=True, slots=True)
class RelationTraining:
    """Wang's settings; `epochs` is not given there."""

    epochs: int = 10
    batch: int = 2_000  # mappings
    learning_rate: float = 0.001
    alpha: float = 0.1
    silent: float = 1.0  # mappings to "no path found" per other mapping, at most


PAPER = RelationTraining()


@dataclass(frozen=True, eq=False)
class Examples:
    """E weighted mappings from N templates to relations, grouped by template."""

    templates: list[IntArray]  # word ids
    owner: IntArray  # (E,) indices of templates, sorted
    relation: IntArray  # (E,)
    weight: FloatArray  # (E,) 1 on average

    def __len__(self) -> int:
        return len(self.owner)


def shortened(table: TemplateTable, *, steps: int, words: int) -> TemplateTable:
    """The table without relations of more steps and templates of more words."""
    short = {name for name in table.relations if name == NO_PATH or len(path_steps(name)) <= steps}
    rows = (row for row in table.rows() if row.relation in short and row.template.count(" ") < words)
    return TemplateTable.of(rows)


def uniform_weights(table: TemplateTable) -> FloatArray:
    """Equal weights (E,)."""
    return np.ones(len(table.relation), dtype=np.float32)


def examples_of(
    detector: RelationDetector, table: TemplateTable, weights: FloatArray, *, silent: float = math.inf, seed: int = 0
) -> Examples:
    """Mappings with positive weights to relations that the detector knows.

    Of the many mappings to "no path found", `silent` per other mapping are drawn and weighted up: the expected loss
    stays the same, but an epoch takes a fraction of the time.

    Raises ValueError for negative or non-finite weights, and if no mapping is left.
    """
    if not bool(np.isfinite(weights).all()) or bool((weights < 0).any()):
        raise ValueError("Expected weights of 0 or more, but got NaN, infinity or less; check the table's counts.")
    classes_by_name = {name: i for i, name in enumerate(detector.relations)}
    classes = np.array([classes_by_name.get(name, -1) for name in table.relations], dtype=np.int64)[table.relation]
    weights, chosen = _thinned(weights, classes, classes_by_name.get(NO_PATH, -2), silent, seed)
    if not len(chosen):
        raise ValueError(
            "Expected mappings with a weight above 0, but got none; mine more pairs, or pairs about the graph."
        )
    templates, owner = np.unique(table.owners()[chosen], return_inverse=True)
    rows = detector.read(table.template(i) for i in templates.tolist())
    return Examples(rows, owner.reshape(-1), classes[chosen], weights[chosen] / weights[chosen].mean())


def _thinned(
    weights: FloatArray, classes: IntArray, silent_class: int, silent: float, seed: int
) -> tuple[FloatArray, IntArray]:
    """Weights (E,) and the sorted indices (M,) of the chosen mappings."""
    usable = np.flatnonzero((weights > 0) & (classes >= 0))
    no_path, with_path = usable[classes[usable] == silent_class], usable[classes[usable] != silent_class]
    if math.isinf(silent) or len(no_path) <= silent * len(with_path):
        return weights, usable
    drawn = np.random.default_rng(seed).choice(no_path, math.ceil(silent * len(with_path)), replace=False)
    scaled = weights.copy()
    scaled[drawn] *= len(no_path) / max(1, len(drawn))
    return scaled, np.sort(np.concatenate([drawn, with_path]))


def loss_of(detector: RelationDetector, examples: Examples, members: IntArray) -> Tensor:
    """`−Σ_i w_i log p(r_i | T_i) / M` over mappings `members` (M,)."""
    templates, which = np.unique(examples.owner[members], return_inverse=True)
    logits = detector.logits([examples.templates[i] for i in templates.tolist()])  # (B, R)
    rows, classes = torch.from_numpy(which.reshape(-1)), torch.from_numpy(examples.relation[members])
    picked = torch.log_softmax(logits, dim=1)[rows.to(logits.device), classes.to(logits.device)]  # (M,)
    return -(torch.from_numpy(examples.weight[members]).to(logits.device) * picked).mean()


def training_of(detector: RelationDetector, config: RelationTraining, *, seed: int) -> Training:
    """The state of a run of `fit`, with Adam."""
    optimiser = torch.optim.Adam(detector.network.parameters(), lr=config.learning_rate)
    return Training(detector.network, optimiser, seed=seed)


def fit(
    detector: RelationDetector,
    examples: Examples,
    config: RelationTraining = PAPER,
    *,
    seed: int,
    training: Training | None = None,
    evaluate: Callable[[RelationDetector], float] | None = None,
    patience: int | None = None,
) -> Iterator[Progress]:
    """Train on the examples.

    Args:
        training: the state of a resumed run, whose seed is used.
        evaluate: higher is better; the weights of the best epoch are restored.
    """

    def loss(_: nn.Module, members: IntArray) -> Tensor:
        return loss_of(detector, examples, members)

    yield from train(
        training or training_of(detector, config, seed=seed),
        lambda _epoch, rng: _batches(examples, config.batch, rng),
        loss,
        epochs=config.epochs,
        evaluate=None if evaluate is None else lambda _: evaluate(detector),
        patience=patience,
    )
    detector.network.eval()


def train_phases(
    table: TemplateTable,
    new: NewDetector,
    overlap: Callable[[str, str], int],
    config: RelationTraining = PAPER,
    *,
    seed: int,
    phases: Sequence[Phase] = ("F×K", "F×(l+α)"),
    classes: int = 10_000,
) -> Iterator[tuple[Phase, RelationDetector, Progress]]:
    """Train a new detector in each phase; the last yielded one is the result.

    Args:
        overlap: `K` of a template and a relation.
        phases: in order; `F×(l+α)` uses the likelihoods of the previous phase's detector.
        classes: number of relations, those with the most templates.

    Raises ValueError for a table without positive weights, or with `F×(l+α)` as the first phase.
    """
    relations, counts, f = frequent(table, classes), word_counts(table.templates()), f_weights(table)
    before: RelationDetector | None = None
    for phase in phases:
        weights = _weights(phase, table, f, overlap, before, config.alpha)
        seed_everything(seed)
        detector = new(counts, relations)
        examples = examples_of(detector, table, weights, silent=config.silent, seed=seed)
        for progress in fit(detector, examples, config, seed=seed):
            yield phase, detector, progress
        before = detector


def adjust_prior(detector: RelationDetector, templates: Sequence[str], *, share: float) -> RelationDetector:
    """Reduce the prior of relations that the mined pairs ask for often: `log p(r|T) − share · log mean_T p(r|T)`.

    With `share` 1 all relations are equally likely a priori, with 0 the detector is unchanged.
    """
    total = np.zeros(len(detector.relations))
    for first in range(0, len(templates), _AT_ONCE):
        total += np.exp(detector.log_likelihoods(templates[first : first + _AT_ONCE])).sum(0, dtype=np.float64)
    often = torch.from_numpy(np.log(np.maximum(total / max(1, len(templates)), 1e-9)))
    network = copy.deepcopy(detector.network)
    with torch.no_grad():
        network.output.bias.sub_(share * often.to(network.output.bias))
    return replace(detector, network=network)


def likelihoods(detector: RelationDetector, table: TemplateTable, *, at_once: int = _AT_ONCE) -> FloatArray:
    """`l(r, T)` of each mapping (E,); 0 for relations unknown to the detector."""
    classes_by_name = {name: i for i, name in enumerate(detector.relations)}
    classes = np.array([classes_by_name.get(name, -1) for name in table.relations], dtype=np.int64)
    result = np.zeros(len(table.relation), dtype=np.float32)
    for first in range(0, len(table), at_once):
        last = min(first + at_once, len(table))
        rows = detector.log_likelihoods([table.template(i) for i in range(first, last)])
        mappings = np.arange(table.bounds[first], table.bounds[last])
        owner = np.repeat(np.arange(last - first), np.diff(table.bounds[first : last + 1]))
        which = classes[table.relation[mappings]]
        result[mappings] = np.where(which >= 0, np.exp(rows[owner, which]), 0.0)
    return result


def frequent(table: TemplateTable, most: int) -> list[str]:
    """The relations with the most templates, possibly including "no path found"."""
    spread = np.bincount(table.relation, minlength=len(table.relations))
    return [table.relations[i] for i in np.argsort(-spread, kind="stable")[:most].tolist()]


def word_counts(templates: Iterable[str]) -> Counter[str]:
    return Counter(word for template in templates for word in template.split())


def _weights(
    phase: Phase,
    table: TemplateTable,
    f: FloatArray,
    overlap: Callable[[str, str], int],
    before: RelationDetector | None,
    alpha: float,
) -> FloatArray:
    match phase:
        case "uniform":
            return uniform_weights(table)
        case "F":
            return f
        case "F×K":
            return f * k_weights(table, overlap)
    if before is None:
        raise ValueError("Expected a phase before F×(l+α), whose likelihoods it takes, but got it as the first.")
    return s_weights(f, likelihoods(before, table), alpha=alpha)


def _batches(examples: Examples, size: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Batches of about `size` mappings of whole templates, with templates of similar length together."""
    starts = np.searchsorted(examples.owner, np.arange(len(examples.templates) + 1))  # (N + 1,)
    lengths = np.array([len(row) for row in examples.templates])
    order = rng.permutation(len(examples.templates))
    number = max(1, round(len(examples) / size))
    some = np.array_split(order, math.ceil(number / _SORTED))
    groups = [
        group
        for part in some
        for group in np.array_split(part[np.argsort(lengths[part], kind="stable")], math.ceil(number / len(some)))
        if len(group)
    ]
    for i in rng.permutation(len(groups)).tolist():
        spans = [np.arange(starts[template], starts[template + 1]) for template in np.sort(groups[i]).tolist()]
        yield np.concatenate(spans)
