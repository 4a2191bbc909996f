"""A transformer that reads a question and a passage together and says whether they match (a cross-encoder).

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
from qa_core.encoders.mapped_tensors import map_tensors
from qa_core.encoders.onnx_export import load_model
from qa_core.encoders.sentence_layout import SentenceLayout, read_object
from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.networks.batching import batches, padded
from qa_core.networks.checkpoints import CARD, CONFIG, FORMAT, WEIGHTS, load_config, load_module, write_weights
from qa_core.networks.losses import pairwise_cross_entropy
from qa_core.networks.pair_tokens import PairConfig, PairRow, TextPair, pair_rows
from qa_core.training.loop import Progress, Training, train
from qa_core.training.schedules import triangle
from qa_core.types import FloatArray, IntArray

TRANSFORMER = "transformer"
"""Folder of the transformer inside that of the classifier."""
GRAPH, QUANTISED = "model.onnx", "model.int8.onnx"
"""What `rankers/answer_selection/cross_encoder.py` makes of the weights beside them; new weights do away with it."""
_FILES = (TRANSFORMER, CONFIG, WEIGHTS, CARD, GRAPH, QUANTISED)
_TOKENISER = ("config.json", "tokenizer.json", "words.txt")
_CHUNK = 1 << 13  # tokens at once, padding included: with six layers of 384 in training, about 1.5 GB
_BATCHES_ALIKE = 20  # batches' worth of pairs that are sorted by length together


@dataclass(frozen=True, slots=True)
class PairTuning:
    batch: int = 128  # pairs
    epochs: int = 10
    learning_rate: float = 1e-5
    warm_up: float = 0.1  # share of all steps
    clip: float = 1.0  # largest norm of all gradients together; 0 is off


@dataclass(frozen=True, slots=True)
class LabelledPairs:
    """Pairs, and for each whether it is a match."""

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
        sent = (torch.from_numpy(each).to(device) for each in (tokens, segments, mask.astype(np.bool_)))
        return cls(*sent)


class PairNetwork(nn.Module):
    """A transformer with one output."""

    def __init__(self, transformer: Any, *, dropout: float) -> None:
        super().__init__()
        self.transformer = transformer
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(transformer.config.hidden_size, 1)
        nn.init.normal_(self.output.weight, std=0.02)
        nn.init.zeros_(self.output.bias)
        self.told_segments = "token_type_ids" in inspect.signature(transformer.forward).parameters

    def forward(self, batch: PairBatch) -> Tensor:
        """Logits (B,)."""
        segments = {"token_type_ids": batch.segments} if self.told_segments else {}
        states = self.transformer(
            input_ids=batch.tokens, attention_mask=batch.mask.long(), return_dict=False, **segments
        )[0]  # (B, T, D)
        logits: Tensor = self.output(self.dropout(states[:, 0])).squeeze(1)
        return logits


@dataclass(frozen=True, slots=True, eq=False)
class PairClassifier:
    """A pair classifier with its reading of texts."""

    model: PairNetwork
    tokeniser: SubwordTokeniser
    config: PairConfig
    source: Path  # of the transformer's config and tokeniser

    @classmethod
    def of(cls, folder: Path, config: PairConfig) -> Self:
        """A new classifier over a transformer: a folder of its weights, or one in sentence-transformers layout.

        torch's global generator draws the output layer. Raises ModuleNotFoundError without the extra `minilm`,
        FileNotFoundError and ValueError for what is missing in the folder or does not fit.
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
        """What `save` wrote; errors as those of `of`, and ValueError for a model of another architecture."""
        config = load_config(folder, PairConfig)
        classifier = cls.of(current_folder(folder) / TRANSFORMER, config)
        load_module(folder, classifier.model.output)
        return classifier

    def save(self, folder: Path, *, card: str) -> None:
        """Write the model as a whole; a crash leaves the old one. Raises ValueError for NaN or infinity in it."""
        weights = self.model.state_dict()
        wrong = [name for name, each in weights.items() if each.is_floating_point() and not bool(each.isfinite().all())]
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
        """Token ids with the special tokens of the model's own tokeniser."""
        return pair_rows(self.tokeniser, pairs, max_length=self.config.max_length)

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        """Logits (N,), without dropout; neither the other pairs nor their order make a difference to one."""
        was_training = self.model.training
        self.model.eval()
        with torch.no_grad():
            scores: FloatArray = pair_logits(self.model, self.rows(pairs)).cpu().numpy()
        self.model.train(was_training)
        return scores


def probabilities(logits: FloatArray) -> FloatArray:
    """`σ(x)`, (N,), that never overflows."""
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
    """Train by binary cross-entropy; with held-out pairs the model ends with the weights of their lowest loss.

    Batches hold pairs of like length. `training` holds the classifier's network, and a saved run goes on with the same
    arguments. Raises ValueError where all pairs have one label.
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
        return alike([len(row.tokens) for row in rows], rng, size=tuning.batch)

    def loss(model: nn.Module, chosen: IntArray) -> Tensor:
        logits = pair_logits(model, [rows[place] for place in chosen])
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
    """Batches of an epoch."""
    return -(-len(examples) // tuning.batch)


def mean_loss(classifier: PairClassifier, examples: LabelledPairs) -> float:
    """Binary cross-entropy, in nats a pair."""
    logits = torch.from_numpy(classifier.score(examples.pairs))
    return float(pairwise_cross_entropy(logits, torch.tensor(examples.labels)))


def alike(lengths: Sequence[int], rng: np.random.Generator, *, size: int) -> Iterator[IntArray]:
    """Places of all pairs once, shuffled into batches of up to `size` whose lengths are alike."""
    order = rng.permutation(len(lengths))
    span = size * _BATCHES_ALIKE
    sorted_ = [
        stretch[np.argsort([lengths[place] for place in stretch], kind="stable")]
        for stretch in np.split(order, range(span, len(order), span))
    ]
    cut = [stretch[start : start + size] for stretch in sorted_ for start in range(0, len(stretch), size)]
    for place in rng.permutation(len(cut)):
        yield cut[place]


def pair_logits(model: nn.Module, rows: Sequence[PairRow]) -> Tensor:
    """(N,); where pairs are too many for one chunk, the graph of one chunk is alive at any time."""
    device = next(model.parameters()).device
    if not rows:
        return torch.zeros(0, device=device)
    order = batches([len(row.tokens) for row in rows], tokens=_CHUNK)
    replay: Callable[..., Tensor] = checkpoint
    parts = []
    for members in order:
        batch = PairBatch.of([rows[place] for place in members], device)
        if len(order) == 1 or not torch.is_grad_enabled():
            parts.append(model(batch))
        else:
            parts.append(replay(model, batch, use_reentrant=False))
    places = torch.tensor([place for members in order for place in members], device=device)
    return torch.cat(parts)[places.argsort()]


def _transformer(weights: Path) -> Any:
    if (weights / WEIGHTS).is_file():
        map_tensors(weights / WEIGHTS)  # tells of damage in words
    try:
        return load_model(weights, attention="sdpa")
    except ImportError as error:
        raise ModuleNotFoundError(
            f"Expected transformers to open {weights}, but it is not installed; run: pip install 'qa-bot[minilm]'"
        ) from error
