"""Training relation detection: weighted examples from templates in three phases, or annotated pools.

    table = TemplateTable.load(path)
    for phase, progress in train_phases(table, detector_of, matcher.overlap, seed=1): ...

Thesis, ch. 4.3.5: the first model learns from `F × K`, a second one from `F × (l(r, T) + α)` by the likelihoods of the
first; Adam, learning rate 0.001, batches of 2,000 mappings.
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
_ALIKE = 20  # batches whose templates are put in order of length: half as much padding
NewDetector = Callable[[Mapping[str, int], Sequence[str]], RelationDetector]
"""From counts of words and the names of relations to a detector with fresh weights."""


@dataclass(frozen=True, slots=True)
class RelationTraining:
    """The settings of the thesis but `epochs`, which it does not tell."""

    epochs: int = 10
    batch: int = 2_000  # mappings, or questions with a pool
    learning_rate: float = 0.001
    alpha: float = 0.1
    silent: float = 1.0  # templates with "no path found" alone, at most so many for each with a path


PAPER = RelationTraining()


@dataclass(frozen=True, eq=False)
class Examples:
    """E weighted mappings from N templates to relations; several mappings of a template stand together."""

    templates: list[IntArray]  # numbers of words
    owner: IntArray  # (E,) places of templates, in order
    relation: IntArray  # (E,)
    weight: FloatArray  # (E,) 1 on average

    def __len__(self) -> int:
        return len(self.owner)


def shortened(table: TemplateTable, *, steps: int, words: int) -> TemplateTable:
    """Without relations of more steps, and without templates of more words, which few questions are alike."""
    short = {name for name in table.relations if name == NO_PATH or len(path_steps(name)) <= steps}
    kept = (row for row in table.rows() if row.relation in short and row.template.count(" ") < words)
    return TemplateTable.of(kept)


def uniform_weights(table: TemplateTable) -> FloatArray:
    """(E,): every mapping counts as much as any other."""
    return np.ones(len(table.relation), dtype=np.float32)


def examples_of(
    detector: RelationDetector, table: TemplateTable, weights: FloatArray, *, silent: float = math.inf, seed: int = 0
) -> Examples:
    """Mappings with a weight above 0 to relations that the detector knows.

    Of the mappings to "no path found", which are most of all, `silent` for each other one are drawn and weigh the more
    for it: the loss stays the same on average, an epoch takes a fraction of the time.

    Raises ValueError for weights that are negative or not finite, and where none is left.
    """
    if not bool(np.isfinite(weights).all()) or bool((weights < 0).any()):
        raise ValueError("Expected weights of 0 or more, but got NaN, infinity or less; check the table's counts.")
    numbers = {name: place for place, name in enumerate(detector.relations)}
    classes = np.array([numbers.get(name, -1) for name in table.relations], dtype=np.int64)[table.relation]
    weights, kept = _thinned(weights, classes, numbers.get(NO_PATH, -2), silent, seed)
    if not len(kept):
        raise ValueError(
            "Expected mappings with a weight above 0, but got none; mine more pairs, or pairs about the graph."
        )
    places, owner = np.unique(table.owners()[kept], return_inverse=True)
    rows = detector.read(table.template(place) for place in places.tolist())
    return Examples(rows, owner.reshape(-1), classes[kept], weights[kept] / weights[kept].mean())


def _thinned(
    weights: FloatArray, classes: IntArray, silent_class: int, silent: float, seed: int
) -> tuple[FloatArray, IntArray]:
    """Weights (E,) and the places that stay (M,), in order."""
    kept = np.flatnonzero((weights > 0) & (classes >= 0))
    quiet, telling = kept[classes[kept] == silent_class], kept[classes[kept] != silent_class]
    if math.isinf(silent) or len(quiet) <= silent * len(telling):
        return weights, kept
    drawn = np.random.default_rng(seed).choice(quiet, math.ceil(silent * len(telling)), replace=False)
    more = weights.copy()
    more[drawn] *= len(quiet) / max(1, len(drawn))
    return more, np.sort(np.concatenate([drawn, telling]))


def loss_of(detector: RelationDetector, examples: Examples, members: IntArray) -> Tensor:
    """`−Σ_i w_i log p(r_i | T_i) / |i|` over some mappings (M,); where there are pools, `p` is over these."""
    places, which = np.unique(examples.owner[members], return_inverse=True)
    logits = detector.logits([examples.templates[place] for place in places.tolist()])  # (B, R)
    rows, classes = torch.from_numpy(which.reshape(-1)), torch.from_numpy(examples.relation[members])
    picked = torch.log_softmax(logits, dim=1)[rows.to(logits.device), classes.to(logits.device)]  # (M,)
    return -(torch.from_numpy(examples.weight[members]).to(logits.device) * picked).mean()


def fit(
    detector: RelationDetector,
    examples: Examples,
    config: RelationTraining = PAPER,
    *,
    seed: int,
    evaluate: Callable[[RelationDetector], float] | None = None,
    patience: int | None = None,
) -> Iterator[Progress]:
    """Train on the examples; with `evaluate` the best epoch stays."""
    optimiser = torch.optim.Adam(detector.network.parameters(), lr=config.learning_rate)

    def loss(_: nn.Module, members: IntArray) -> Tensor:
        return loss_of(detector, examples, members)

    yield from train(
        Training(detector.network, optimiser, seed=seed),
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
    """Train a fresh detector a phase; the last one that is yielded is the result.

    Args:
        new: makes a detector from counts of words and the relations' names.
        overlap: `K` of a template and a relation.
        phases: in their order; `F×(l+α)` takes the likelihoods of the detector of the phase before it.
        classes: relations found with the most templates; rarer ones are left out.

    Raises:
        ValueError: for a table without mappings that weigh anything, or with `F×(l+α)` as the first phase.
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


def evened(detector: RelationDetector, templates: Sequence[str], *, share: float) -> RelationDetector:
    """One to which relations are not likelier because the pairs that were mined asked for them more.

    What people will ask of an entity is not known: with `share` 1 every relation is as likely as any other before the
    question is read, with 0 they are as among the templates, `log p(r|T) − share · log mean_T p(r|T)` over them.
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
    """`l(r, T)` of each mapping, (E,); 0 for relations that the detector does not know."""
    numbers = {name: place for place, name in enumerate(detector.relations)}
    classes = np.array([numbers.get(name, -1) for name in table.relations], dtype=np.int64)
    found = np.zeros(len(table.relation), dtype=np.float32)
    for first in range(0, len(table), at_once):
        last = min(first + at_once, len(table))
        rows = detector.log_likelihoods([table.template(place) for place in range(first, last)])
        own = np.arange(table.bounds[first], table.bounds[last])
        owner = np.repeat(np.arange(last - first), np.diff(table.bounds[first : last + 1]))
        which = classes[table.relation[own]]
        found[own] = np.where(which >= 0, np.exp(rows[owner, which]), 0.0)
    return found


def frequent(table: TemplateTable, most: int) -> list[str]:
    """Names of the relations with the most templates, "no path found" among them."""
    spread = np.bincount(table.relation, minlength=len(table.relations))
    return [table.relations[place] for place in np.argsort(-spread, kind="stable")[:most].tolist()]


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
    """Mappings of whole templates, about `size` a batch; of some batches' templates those alike in length together."""
    starts = np.searchsorted(examples.owner, np.arange(len(examples.templates) + 1))  # (N + 1,)
    lengths = np.array([len(row) for row in examples.templates])
    order = rng.permutation(len(examples.templates))
    number = max(1, round(len(examples) / size))
    some = np.array_split(order, math.ceil(number / _ALIKE))
    groups = [
        group
        for each in some
        for group in np.array_split(each[np.argsort(lengths[each], kind="stable")], math.ceil(number / len(some)))
        if len(group)
    ]
    for place in rng.permutation(len(groups)).tolist():
        group = groups[place]
        spans = [np.arange(starts[place], starts[place + 1]) for place in np.sort(group).tolist()]
        yield np.concatenate(spans)
