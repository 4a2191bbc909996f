"""Trains an encoder-decoder by the likelihood of its targets; measures perplexity on held-out pairs.

translator = Translator.of(texts, TranslatorConfig(Seq2SeqConfig(20_000)))
training = Training(translator.model, optimiser(translator, config), seed=1)
for progress in train_translator(training, translator, pairs, config, held_out=dev):
    print(progress)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from qa_core.networks.seq2seq import Seq2Seq
from qa_core.networks.translator import Columns, Translator
from qa_core.training.loop import Progress, Training, train
from qa_core.types import IntArray

TextPair = tuple[str, str]
"""Source and target."""
Rows = tuple[IntArray, IntArray]
_POOL = 50  # batches whose pairs are sorted by length together


@dataclass(frozen=True, slots=True)
class LikelihoodConfig:
    """The defaults follow Wang (2018), ch. 6.4, where it names them."""

    batch: int = 200  # pairs
    epochs: int = 10
    patience: int = 2  # epochs without a lower held-out perplexity
    learning_rate: float = 0.002
    clip: float = 5.0  # largest norm of the whole gradient


def optimiser(translator: Translator, config: LikelihoodConfig) -> torch.optim.Optimizer:
    """Adam over the trainable weights."""
    trained = (p for p in translator.model.parameters() if p.requires_grad)
    return torch.optim.Adam(trained, lr=config.learning_rate, fused=True)


def train_translator(
    training: Training,
    translator: Translator,
    pairs: Sequence[TextPair],
    config: LikelihoodConfig,
    *,
    held_out: Sequence[TextPair] = (),
    report_every: int = 10,
) -> Iterator[Progress]:
    """Train on pairs of source and target; with held-out pairs, keep the weights of their lowest perplexity.

    `training` holds the translator's model and all state; resume a saved run with the same arguments. Raises ValueError
    if no pair has a target.
    """
    rows = _rows(translator, pairs)
    if not rows:
        raise ValueError(f"Expected pairs with a target, but got none among {len(pairs)}; give other pairs.")

    def drawn(_epoch: int, rng: np.random.Generator) -> Iterator[Columns]:
        for chosen in length_batches([len(s) + len(t) for s, t in rows], rng, size=config.batch):
            yield Columns.of([rows[i] for i in chosen], translator.device)

    yield from train(
        training,
        drawn,
        negative_log_likelihood,
        epochs=config.epochs,
        evaluate=(lambda _: perplexity(translator, held_out)) if held_out else None,
        mode="min",
        patience=config.patience if held_out else None,
        clip=config.clip,
        report_every=report_every,
        steps_per_epoch=-(-len(rows) // config.batch),
    )


def negative_log_likelihood(model: nn.Module, batch: Columns) -> Tensor:
    """`−1/T Σ log p` over the T target tokens of a batch."""
    assert isinstance(model, Seq2Seq)
    total = model.log_likelihood(batch.source, batch.source_mask, batch.target, batch.target_mask).sum()
    return -total / batch.target_mask.sum()


def perplexity(translator: Translator, pairs: Sequence[TextPair]) -> float:
    """`exp(−1/T Σ log p)` over the T target tokens of all pairs, `</s>` included."""
    if not pairs:
        raise ValueError("Expected pairs to measure the perplexity of, but got none; give at least one.")
    totals, tokens = translator.log_likelihoods(*zip(*pairs, strict=True))
    return math.exp(-float(totals.sum(dtype=np.float64)) / int(tokens.sum()))


def length_batches(lengths: Sequence[int], rng: np.random.Generator, *, size: int) -> Iterator[IntArray]:
    """Every position once, in random batches of `size` (the last may be smaller) with similar lengths."""
    order = rng.permutation(len(lengths))
    for start in range(0, len(order), _POOL * size):
        pool = order[start : start + _POOL * size]
        pool = pool[np.argsort([lengths[i] for i in pool], kind="stable")]
        batches = [pool[first : first + size] for first in range(0, len(pool), size)]
        for number in rng.permutation(len(batches)):
            yield batches[number]


def _rows(translator: Translator, pairs: Sequence[TextPair]) -> list[Rows]:
    """Word ids of the pairs whose target has a word."""
    sources, targets = zip(*pairs, strict=True) if pairs else ((), ())
    columns = zip(translator.sources(sources), translator.targets(targets), strict=True)
    return [(source, target) for source, target in columns if len(target) > 1]
