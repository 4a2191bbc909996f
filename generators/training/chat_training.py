"""Training of a chat model's networks by the likelihood of their targets, and examples for its acceptor.

Forward comes first: the language model and the backward model start from its weights of the same shape. Words mean the
same to all of them, which saves most of their training time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from generators.conversation.chat_text import BARRED
from generators.conversation.padded_batches import SourceTarget, row_scores, shuffled_batches
from generators.inference.acceptor import acceptor_features
from generators.topics.steering import Steering
from generators.training.acceptor_training import Examples
from generators.training.language_network import LanguageNetwork
from generators.training.sampled_softmax import HEAD, sampled_loss, tail_sample
from generators.training.topic_batches import SHARE, with_topics
from generators.training.torch_networks import evaluating
from qa_core.networks.seq2seq import Seq2Seq
from qa_core.networks.translator import Columns
from qa_core.training.loop import Progress, Training, train
from qa_core.types import IntArray

_LOWEST = 0.02  # share of the learning rate that a run ends with
_ACCEPTOR_BATCH = 64


@dataclass(frozen=True, slots=True)
class PartConfig:
    """Training of one network; the defaults follow Wang (2018), ch. 2.2.3, where it names them."""

    batch: int = 64  # rows
    epochs: int = 10
    rows: int = 1_000_000  # of an epoch at most, drawn anew for each
    patience: int = 2  # epochs without a lower perplexity on held-out rows
    learning_rate: float = 0.002
    schedule: Literal["linear", "constant"] = "linear"  # the rate falls to almost 0, or stays as in Wang (2018)
    topics: float = SHARE  # of the replies that come with their topics in training; 1 in Wang (2018)
    clip: float = 5.0  # largest norm of all gradients
    sampled: int = 0  # sample of rare words in the softmax while training; 0 uses all words


def optimiser(weights: Iterable[Tensor], config: PartConfig) -> torch.optim.Optimizer:
    """Adam over those weights."""
    return torch.optim.Adam(weights, lr=config.learning_rate, fused=True)


def train_part(
    training: Training,
    rows: Sequence[SourceTarget],
    config: PartConfig,
    *,
    held_out: Sequence[SourceTarget],
    steering: Steering | None = None,
    report_every: int = 50,
) -> Iterator[Progress]:
    """Train an encoder-decoder or a language model; keep the weights of the lowest held-out perplexity.

    Only `training`, which holds the model, changes: a saved run continues with the same arguments. With `steering`, a
    share of the rows get topics, and perplexity is the geometric mean of that with topics and that without; if all rows
    get them, it is that with topics.
    Raises ValueError if there are no rows.
    """
    if not rows or not held_out:
        raise ValueError(f"Expected rows to train on and to hold out, but got {len(rows)} and {len(held_out)}.")
    device = next(training.model.parameters()).device

    def row_batches(rng: np.random.Generator) -> Iterator[IntArray]:
        drawn = rng.permutation(len(rows))[: config.rows]
        return (drawn[chosen] for chosen in shuffled_batches([rows[i] for i in drawn], rng, size=config.batch))

    def batches(_epoch: int, rng: np.random.Generator) -> Iterator[Columns]:
        drawn = (Columns.of([rows[i] for i in chosen], device) for chosen in row_batches(rng))
        return (with_topics(steering, batch, rng, share=config.topics) for batch in drawn)

    def measured(model: nn.Module) -> float:
        if steering is not None and config.topics == 1:
            return perplexity(model, held_out, steering=steering)
        without = perplexity(model, held_out)
        return without if steering is None else math.sqrt(without * perplexity(model, held_out, steering=steering))

    steps = sum(1 for _ in row_batches(np.random.default_rng(training.seed)))
    total = config.epochs * steps

    yield from train(
        training,
        batches,
        lambda model, batch: _loss(model, batch, config.sampled),
        epochs=config.epochs,
        evaluate=measured,
        mode="min",
        patience=config.patience,
        clip=config.clip,
        schedule=lambda step: 1.0 if config.schedule == "constant" else max(_LOWEST, 1 - step / total),
        report_every=report_every,
        steps_per_epoch=steps,
    )


def perplexity(model: nn.Module, rows: Sequence[SourceTarget], *, steering: Steering | None = None) -> float:
    """`exp(−1/T Σ log p)` over the T target tokens of rows, `</s>` included; `steering` gives each row its topics."""
    device = next(model.parameters()).device
    with evaluating(model):
        totals = row_scores(
            rows, lambda batch: _likelihoods(model, with_topics(steering, Columns.of(batch, device))).cpu().numpy()
        )
    return math.exp(-float(totals.sum(dtype=np.float64)) / sum(len(target) for _, target in rows))


def begin_from(model: nn.Module, other: nn.Module) -> list[str]:
    """Copy the other's weights of the same name and shape; return their names."""
    theirs = dict(other.named_parameters(remove_duplicate=False))
    copied = []
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            source: Tensor | None = theirs.get(_role(name))
            if source is not None and source.dim() == tensor.dim() == 2:
                source = source[:, : tensor.shape[1]]  # without a decoder's topics
            if source is not None and source.shape == tensor.shape:
                tensor.copy_(source)
                copied.append(name)
        if isinstance(model, LanguageNetwork) and isinstance(other, Seq2Seq):
            state_weight = other.attention.W_c.weight[:, -other.config.hidden :]  # of the decoder's state
            if state_weight.shape == model.z.weight.shape:
                model.z.weight.copy_(state_weight)
                copied.append("z.weight")
    return copied


def acceptor_examples(
    forward: nn.Module,
    language: nn.Module,
    rows: Sequence[SourceTarget],
    *,
    generator: torch.Generator,
    limit: int = 50_000,
    steering: Steering | None = None,
    topics: float = SHARE,
) -> Examples:
    """Each true next word of forward rows, up to `limit`, and with it a word drawn from the forward network there.

    With `steering`, the share `topics` of the rows get the topics of their targets.
    """
    device = next(forward.parameters()).device
    batches: list[tuple[Tensor, Tensor]] = []
    count, rng = 0, np.random.default_rng(generator.initial_seed())
    with evaluating(forward), evaluating(language):
        for start in range(0, len(rows), _ACCEPTOR_BATCH):
            batch = with_topics(steering, Columns.of(rows[start : start + _ACCEPTOR_BATCH], device), rng, share=topics)
            batches.append(_features_of(forward, language, batch, generator))
            count += len(batches[-1][0]) // 2
            if count >= limit:
                break
    if not batches:
        return Examples(torch.zeros(0, 3), torch.zeros(0))
    features, right = (torch.cat(part) for part in zip(*batches, strict=True))
    return Examples(features[: 2 * limit], right[: 2 * limit])


def _features_of(forward: Any, language: Any, batch: Columns, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Features (2N, 3) and labels (2N,) of the true words that can be drawn at all, and of drawn ones."""
    log_p = forward.token_distributions(batch.source, batch.source_mask, batch.target, batch.target_mask, batch.topic)
    prior = language.token_distributions(batch.target, batch.target_mask)
    true = batch.target[batch.target_mask]  # (N,)
    fair = ~torch.isin(true, torch.tensor(BARRED, device=true.device))
    log_p, prior, true = barred(log_p[fair]).cpu(), prior[fair].cpu(), true[fair].cpu()
    drawn = torch.multinomial(log_p.exp(), 1, generator=generator)  # (N, 1)
    words = torch.cat([true.unsqueeze(1), drawn], dim=1)  # (N, 2)
    features = torch.from_numpy(acceptor_features(log_p.numpy(), prior.numpy(), words.numpy()))
    right = torch.tensor([1.0, 0.0]).expand(words.shape)
    return features.reshape(-1, 3), right.reshape(-1)


def barred(log_p: Tensor) -> Tensor:
    """Distributions (B, V) without the words that are never drawn."""
    log_p = log_p.index_fill(1, torch.tensor(BARRED, device=log_p.device), -torch.inf)
    return log_p.log_softmax(1)


def _loss(model: nn.Module, batch: Columns, sampled: int) -> Tensor:
    """`−1/T Σ log p` over the T target tokens of a batch; an estimate if words are sampled."""
    assert isinstance(model, Seq2Seq | LanguageNetwork)
    words = model.config.vocabulary
    if not sampled or HEAD + sampled >= words:
        return -_likelihoods(model, batch).sum() / batch.target_mask.sum()
    if isinstance(model, LanguageNetwork):
        z = model.before_softmax(batch.target, batch.target_mask)
    else:
        z = model.before_softmax(batch.source, batch.source_mask, batch.target, batch.target_mask, batch.topic)
    sample = tail_sample(words, sampled).to(z.device)
    return sampled_loss(z, model.output.weight, model.output.bias, batch.target[batch.target_mask], sample)


def _likelihoods(model: nn.Module, batch: Columns) -> Tensor:
    if isinstance(model, LanguageNetwork):
        return model.log_likelihood(batch.target, batch.target_mask)
    assert isinstance(model, Seq2Seq)
    return model.log_likelihood(batch.source, batch.source_mask, batch.target, batch.target_mask, batch.topic)


def _role(name: str) -> str:
    """The name of an encoder-decoder's weight that corresponds to one of a language model."""
    for prefix, other in (("words.", "target."), ("lstm.", "decoder.")):
        if name.startswith(prefix):
            return other + name.removeprefix(prefix)
    return name
