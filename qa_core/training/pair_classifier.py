"""A cross-encoder: a transformer that reads a question and a passage together and scores their match.

`[CLS] question [SEP] passage [SEP]` → hidden state of `[CLS]` → dropout → linear → logit `x` (Chiu and Shinzato 2022,
§3.2); `σ(x)` is the probability of a match.

    classifier = PairClassifier.of(folder, PairConfig(max_length=96))
    training = Training(classifier.model, optimiser(classifier, tuning), seed=1)
    for progress in train_pairs(training, classifier, examples, tuning, held_out=dev):
        print(progress)
    classifier.save(out, card="# …")
    logits = PairClassifier.load(out).score([("why do cats sleep?", "They hunt at dawn.")])
"""

from __future__ import annotations

import inspect
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from qa_core.atomic import atomic_folder, current_folder
from qa_core.encoders.graphs.export import load_model
from qa_core.encoders.mapped_tensors import map_tensors
from qa_core.encoders.pair_tokens import PairConfig, PairRow, TextPair, pair_rows
from qa_core.encoders.sentence_layout import SentenceLayout, read_object
from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.networks.batching import batches, padded
from qa_core.networks.checkpoints import (
    CARD,
    CONFIG,
    FORMAT,
    WEIGHTS,
    check_finite,
    load_config,
    load_module,
    write_weights,
)
from qa_core.networks.losses import pairwise_cross_entropy
from qa_core.training.loop import Progress, Training, train
from qa_core.training.schedules import triangle
from qa_core.types import FloatArray, IntArray

TRANSFORMER = "transformer"
"""Subfolder of the transformer."""
GRAPH, QUANTISED = "model.onnx", "model.int8.onnx"
"""Graphs that `rankers/answer_selection/cross_encoder.py` exports from the weights; saving new weights removes them."""
_FILES = (TRANSFORMER, CONFIG, WEIGHTS, CARD, GRAPH, QUANTISED)
_TOKENISER = ("config.json", "tokenizer.json", "words.txt")
_CHUNK = 1 << 13  # tokens of a chunk, with padding: about 1.5 GB in training for six layers of 384
_POOL = 20  # batches whose pairs are sorted by length together


@dataclass(frozen=True, slots=True)
class PairTuning:
    batch: int = 128  # pairs
    epochs: int = 10
    learning_rate: float = 1e-5
    warm_up: float = 0.1  # share of all steps
    clip: float = 1.0  # largest norm of the whole gradient; 0: no clipping


@dataclass(frozen=True, slots=True)
class LabelledPairs:
    """Pairs, each labelled as a match or not."""

    pairs: tuple[TextPair, ...]
    labels: tuple[bool, ...]

    def __post_init__(self) -> None:
        if len(self.pairs) != len(self.labels) or not self.pairs:
            raise ValueError(
                f"Expected a label for each pair and at least one pair, but got {len(self.pairs)} pairs and "
                f"{len(self.labels)} labels."
            )

    def __len__(self) -> int:
        return len(self.pairs)


@dataclass(frozen=True, slots=True, eq=False)
class PairBatch:
    """Tokens and segments (B, T) int64, mask (B, T) true at real tokens."""

    tokens: Tensor
    segments: Tensor
    mask: Tensor

    @classmethod
    def of(cls, rows: Sequence[PairRow], device: torch.device) -> Self:
        tokens, mask = padded([row.tokens for row in rows])
        segments, _ = padded([row.segments for row in rows])
        return cls(*(torch.from_numpy(array).to(device) for array in (tokens, segments, mask.astype(np.bool_))))


class PairNetwork(nn.Module):
    """A transformer with one output unit."""

    def __init__(self, transformer: Any, *, dropout: float) -> None:
        super().__init__()
        self.transformer = transformer
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(transformer.config.hidden_size, 1)
        nn.init.normal_(self.output.weight, std=0.02)
        nn.init.zeros_(self.output.bias)
        self.has_segments = "token_type_ids" in inspect.signature(transformer.forward).parameters

    def forward(self, batch: PairBatch) -> Tensor:
        """Logits (B,)."""
        segments = {"token_type_ids": batch.segments} if self.has_segments else {}
        states = self.transformer(
            input_ids=batch.tokens, attention_mask=batch.mask.long(), return_dict=False, **segments
        )[0]  # (B, T, D)
        logits: Tensor = self.output(self.dropout(states[:, 0])).squeeze(1)
        return logits


@dataclass(frozen=True, slots=True, eq=False)
class PairClassifier:
    """A pair network with its tokeniser."""

    model: PairNetwork
    tokeniser: SubwordTokeniser
    config: PairConfig
    source: Path  # of the transformer's config and tokeniser

    @classmethod
    def of(cls, folder: Path, config: PairConfig) -> Self:
        """A new classifier over a transformer: a folder of weights, or one in sentence-transformers layout.

        The output layer is drawn by torch's global generator. Raises ModuleNotFoundError without the extra `minilm`,
        and FileNotFoundError or ValueError for missing or unsuitable files.
        """
        weights = SentenceLayout.read(folder).weights if (folder / "modules.json").is_file() else folder
        positions = read_object(weights / "config.json").get("max_position_embeddings", config.max_length)
        if not 8 <= config.max_length <= positions:
            raise ValueError(
                f"Expected a max_length from 8 to {positions}, the positions of {weights}, but got {config.max_length}."
            )
        tokeniser = SubwordTokeniser.load(weights, max_length=config.max_length)
        if len(joined := tokeniser.tokenizer.encode("", "").tokens) < 2:
            raise ValueError(
                f"Expected special tokens around two texts from {weights / 'tokenizer.json'}, but got {joined}; choose "
                "a transformer that was trained on pairs of texts."
            )
        return cls(PairNetwork(_transformer(weights), dropout=config.dropout), tokeniser, config, weights)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open a saved model. Raises the errors of `of`, and ValueError for another architecture or NaN."""
        config = load_config(folder, PairConfig)
        classifier = cls.of(current_folder(folder) / TRANSFORMER, config)
        load_module(folder, classifier.model.output)
        check_finite(dict(classifier.model.named_parameters()), folder)
        return classifier

    def save(self, folder: Path, *, card: str) -> None:
        """Write the model; a crash leaves the old one. Raises ValueError for NaN or infinity in the weights."""
        weights = self.model.state_dict()
        wrong = [name for name, weight in weights.items() if weight.is_floating_point() and not weight.isfinite().all()]
        if wrong:
            raise ValueError(
                f"Expected finite weights, but got NaN or infinity in {wrong[0]!r}; train with a lower learning rate."
            )
        head = {"format": FORMAT, "kind": PairConfig.__name__, "config": asdict(self.config)}
        with atomic_folder(folder, _FILES) as new:
            (new / TRANSFORMER).mkdir()
            for name in _TOKENISER:
                if (self.source / name).is_file():
                    shutil.copyfile(self.source / name, new / TRANSFORMER / name)
            write_weights(new / TRANSFORMER / WEIGHTS, self.model.transformer.state_dict())
            write_weights(new / WEIGHTS, self.model.output.state_dict())
            (new / CONFIG).write_text(json.dumps(head, indent=2) + "\n", encoding="utf-8")
            (new / CARD).write_text(card, encoding="utf-8")

    def rows(self, pairs: Sequence[TextPair]) -> list[PairRow]:
        """Token ids with the special tokens of the model's tokeniser."""
        return pair_rows(self.tokeniser, pairs, max_length=self.config.max_length)

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        """Logits (N,), without dropout; the score of a pair does not depend on the other pairs."""
        was_training = self.model.training
        self.model.eval()
        with torch.no_grad():
            scores: FloatArray = pair_logits(self.model, self.rows(pairs)).cpu().numpy()
        self.model.train(was_training)
        return scores


def probabilities(logits: FloatArray) -> FloatArray:
    """`σ(x)`, (N,), without overflow."""
    shares: FloatArray = 0.5 * (1 + np.tanh(0.5 * logits, dtype=np.float32))
    return shares


# --- training -------------------------------------------------------------------------------------------------------


def optimiser(classifier: PairClassifier, tuning: PairTuning) -> torch.optim.Optimizer:
    """Adam over all weights."""
    return torch.optim.Adam(classifier.model.parameters(), lr=tuning.learning_rate)


def train_pairs(
    training: Training,
    classifier: PairClassifier,
    examples: LabelledPairs,
    tuning: PairTuning,
    *,
    held_out: LabelledPairs | None = None,
    report_every: int = 10,
) -> Iterator[Progress]:
    """Train by binary cross-entropy; with held-out pairs, keep the weights of the epoch with their lowest loss.

    Batches hold pairs of similar length. `training` holds the classifier's network; resume a saved run with the same
    arguments. Raises ValueError if all pairs have the same label.
    """
    if len(set(examples.labels)) < 2:
        raise ValueError(
            f"Expected pairs that match and pairs that do not, but all {len(examples)} have the label "
            f"{examples.labels[0]}; give both kinds."
        )
    rows = classifier.rows(examples.pairs)
    labels = torch.tensor(examples.labels)
    total = tuning.epochs * steps(examples, tuning)

    def drawn(_epoch: int, rng: np.random.Generator) -> Iterable[IntArray]:
        return similar_length_batches([len(row.tokens) for row in rows], rng, size=tuning.batch)

    def loss(model: nn.Module, chosen: IntArray) -> Tensor:
        logits = pair_logits(model, [rows[i] for i in chosen])
        return pairwise_cross_entropy(logits, labels[chosen].to(logits.device))

    yield from train(
        training,
        drawn,
        loss,
        epochs=tuning.epochs,
        evaluate=(lambda _: mean_loss(classifier, held_out)) if held_out is not None else None,
        mode="min",
        clip=tuning.clip or None,
        schedule=triangle(total, warm_up=tuning.warm_up),
        report_every=report_every,
        steps_per_epoch=steps(examples, tuning),
    )


def steps(examples: LabelledPairs, tuning: PairTuning) -> int:
    """Number of batches in an epoch."""
    return -(-len(examples) // tuning.batch)


def mean_loss(classifier: PairClassifier, examples: LabelledPairs) -> float:
    """Mean binary cross-entropy per pair, in nats."""
    logits = torch.from_numpy(classifier.score(examples.pairs))
    return float(pairwise_cross_entropy(logits, torch.tensor(examples.labels)))


def similar_length_batches(lengths: Sequence[int], rng: np.random.Generator, *, size: int) -> Iterator[IntArray]:
    """Every position once, in random batches of up to `size` positions with similar lengths."""
    order = rng.permutation(len(lengths))
    pools = [
        pool[np.argsort([lengths[i] for i in pool], kind="stable")]
        for pool in np.split(order, range(size * _POOL, len(order), size * _POOL))
    ]
    cut = [pool[start : start + size] for pool in pools for start in range(0, len(pool), size)]
    for number in rng.permutation(len(cut)):
        yield cut[number]


def pair_logits(model: nn.Module, rows: Sequence[PairRow]) -> Tensor:
    """Logits (N,), in chunks; in training only one chunk's graph is in memory at a time."""
    device = next(model.parameters()).device
    if not rows:
        return torch.zeros(0, device=device)
    order = batches([len(row.tokens) for row in rows], tokens=_CHUNK)
    replay: Callable[..., Tensor] = checkpoint
    parts = []
    for members in order:
        batch = PairBatch.of([rows[i] for i in members], device)
        if len(order) == 1 or not torch.is_grad_enabled():
            parts.append(model(batch))
        else:
            parts.append(replay(model, batch, use_reentrant=False))
    positions = torch.tensor([i for members in order for i in members], device=device)
    return torch.cat(parts)[positions.argsort()]


def _transformer(weights: Path) -> Any:
    if (weights / WEIGHTS).is_file():
        map_tensors(weights / WEIGHTS)  # raises a readable error for a damaged file
    try:
        return load_model(weights, attention="sdpa")
    except ImportError as error:
        raise ModuleNotFoundError(
            f"Expected transformers to open {weights}, but it is not installed; run: pip install 'qa-bot[minilm]'"
        ) from error
