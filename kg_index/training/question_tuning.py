"""Tunes a transformer end to end, so that a question's vector is near that of the right relation's words.

    module = QuestionNetwork(load_tunable(layout))
    data = TuningData.of(questions, reader.rows, CosineScorer(encode).relations)
    training = tuning_of(module, config, seed=1)
    for progress in tune(training, data, config): ...
    tuned_scorer(encode_tuned, encode, scale=module.scale.item(), keywords=module.keywords.item()).score([...], [pool])

The tuned transformer encodes questions only. Relations keep the vectors of the frozen one, so a step is cheap and
relations without examples keep their positions. The loss is a softmax over cosines, as in dual encoders, over the pool
and over all relations.
Letters: B questions, P relations of a pool, R relations of all pools, D vector size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from kg_index.relations.keywords import KeywordMatcher
from kg_index.relations.pools import PoolQuestion
from kg_index.relations.relation_scorers import Encode, without_slot
from qa_core.networks.batching import padded
from qa_core.training.loop import Progress, Training, train
from qa_core.training.schedules import triangle
from qa_core.training.transformer_tuning import TunedTransformer
from qa_core.types import FloatArray, IntArray

Rows = Callable[[Sequence[str]], Sequence[IntArray]]
"""From texts to token ids, including special ones."""
Vectors = Callable[[Sequence[str]], Mapping[str, FloatArray]]
"""From relations to vectors (D,) of their words."""

_SORTED = 16  # batches whose texts are sorted by length, as a trade-off of padding and randomness


@dataclass(frozen=True, slots=True)
class TuningConfig:
    """Settings, chosen on SimpleQuestions' development questions to take minutes on one core."""

    epochs: int = 2
    batch: int = 32  # distinct texts, each with all its questions
    learning_rate: float = 7e-5  # maximum
    warm_up: float = 0.1  # share of the steps
    frozen: int = 2  # lowest layers that are not trained; each of MiniLM's six saves a tenth of the time
    every: float = 0.2  # weight of the loss over all relations, relative to that over the pool
    decay: float = 0.01
    clip: float = 1.0  # maximum norm of the gradients


class QuestionNetwork(nn.Module):
    """`s q · r + k J(q, r)`, where q is the tuned transformer's vector and J the Jaccard of stems.

    Word embeddings are frozen: they are half of all weights, and few of them occur.
    """

    def __init__(
        self, encoder: TunedTransformer, *, scale: float = 20.0, keywords: float = 5.0, frozen: int = 0
    ) -> None:
        """Raises ValueError if the encoder has no more than `frozen` layers."""
        super().__init__()
        self.encoder = encoder
        self.scale = nn.Parameter(torch.tensor(scale))
        self.keywords = nn.Parameter(torch.tensor(keywords))
        encoder.model.get_input_embeddings().weight.requires_grad_(False)
        for layer in _layers(encoder, frozen):
            layer.requires_grad_(False)


def _layers(encoder: TunedTransformer, count: int) -> Sequence[nn.Module]:
    """The lowest `count` layers."""
    layers = getattr(getattr(encoder.model, "encoder", None), "layer", ())
    if count and not count < len(layers):
        raise ValueError(f"Expected fewer than {len(layers)} frozen layers, but got {count}; lower `frozen`.")
    return list(layers)[:count]


@dataclass(frozen=True, eq=False)
class TuningData:
    """Questions as token ids and relation ids."""

    tokens: list[IntArray]  # of distinct texts
    members: list[IntArray]  # questions of each text
    which: IntArray  # (N,) text of each question
    words: Tensor  # (R, D)
    pools: list[IntArray]  # rows of words
    gold: IntArray  # (N,) index of the right relation in its pool
    shared: list[FloatArray]  # Jaccard of stems, by pool

    @classmethod
    def of(cls, questions: Sequence[PoolQuestion], rows: Rows, vectors: Vectors) -> TuningData:
        """Raises ValueError for no questions."""
        if not questions:
            raise ValueError("Expected questions with pools, but got none; give some.")
        texts = [without_slot(question.template) for question in questions]
        distinct = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        pool_names = dict.fromkeys(name for question in questions for name in question.pool)
        names = {name: row for row, name in enumerate(pool_names)}
        known = vectors(list(names))
        members: list[list[int]] = [[] for _ in distinct]
        for number, text in enumerate(texts):
            members[distinct[text]].append(number)
        return cls(
            list(rows(list(distinct))),
            [np.array(numbers, dtype=np.int64) for numbers in members],
            np.array([distinct[text] for text in texts], dtype=np.int64),
            torch.from_numpy(np.array([known[name] for name in names], dtype=np.float32)),
            [np.array([names[name] for name in question.pool], dtype=np.int64) for question in questions],
            np.array([question.gold_index for question in questions], dtype=np.int64),
            KeywordMatcher().score([q.template for q in questions], [q.pool for q in questions]),
        )

    def batches(self, size: int, rng: np.random.Generator) -> list[IntArray]:
        """Batches of the questions of `size` texts of similar length, in random order."""
        batches: list[IntArray] = []
        order = rng.permutation(len(self.tokens))
        for part in np.array_split(order, max(1, len(order) // (size * _SORTED))):
            lengths = [len(self.tokens[text]) for text in part]
            ordered = part[np.argsort(lengths, kind="stable")]
            for texts in np.array_split(ordered, max(1, len(part) // size)):
                batches.append(np.concatenate([self.members[text] for text in texts]))
        return [batches[i] for i in rng.permutation(len(batches))]


def tuning_of(module: QuestionNetwork, config: TuningConfig, *, seed: int) -> Training:
    """The state of a run of `tune`, with AdamW; the two factors have a higher rate and no weight decay."""
    weights = [weight for weight in module.encoder.parameters() if weight.requires_grad]
    groups = [
        {"params": weights, "lr": config.learning_rate, "weight_decay": config.decay},
        {"params": [module.scale, module.keywords], "lr": 0.01, "weight_decay": 0.0},
    ]
    return Training(module, torch.optim.AdamW(groups), seed=seed)


def tune(
    training: Training,
    data: TuningData,
    config: TuningConfig,
    *,
    evaluate: Callable[[QuestionNetwork], float] | None = None,
) -> Iterator[Progress]:
    """Train an `QuestionNetwork` by cross-entropy; with `evaluate` (higher is better), the best epoch is restored."""
    usual = len(data.which) / len(data.tokens) * config.batch  # questions of a batch
    parts = max(1, len(data.tokens) // (config.batch * _SORTED))
    sizes = [len(part) for part in np.array_split(np.arange(len(data.tokens)), parts)]
    steps = sum(max(1, size // config.batch) for size in sizes)

    def loss(module: nn.Module, members: IntArray) -> Tensor:
        assert isinstance(module, QuestionNetwork)
        # scaled by the size, so that each question has the same weight in any batch
        return batch_loss(module, data, members, every=config.every) * (len(members) / usual)

    def evaluated(module: nn.Module) -> float:
        assert isinstance(module, QuestionNetwork)
        assert evaluate is not None
        return evaluate(module)

    yield from train(
        training,
        lambda _, rng: data.batches(config.batch, rng),
        loss,
        epochs=config.epochs,
        evaluate=evaluated if evaluate else None,
        clip=config.clip,
        schedule=triangle(steps * config.epochs, warm_up=config.warm_up),
        report_every=20,
        steps_per_epoch=steps,
    )
    training.model.eval()


def batch_loss(module: QuestionNetwork, data: TuningData, members: IntArray, *, every: float) -> Tensor:
    """Mean cross-entropy of some questions over their pools, plus `every` times that over all relations."""
    texts, owner = np.unique(data.which[members], return_inverse=True)
    tokens, mask = padded([data.tokens[text] for text in texts])
    vectors = module.encoder(torch.from_numpy(tokens), torch.from_numpy(mask).bool())[torch.from_numpy(owner)]  # (B, D)
    pools, real = padded([data.pools[member] for member in members])  # (B, P)
    shared = np.zeros(pools.shape, dtype=np.float32)
    shared[real.astype(bool)] = np.concatenate([data.shared[member] for member in members])
    cosines = module.scale * vectors @ data.words.T  # (B, R)
    rows, gold = torch.from_numpy(pools), torch.from_numpy(data.gold[members])
    logits = cosines.gather(1, rows) + module.keywords * torch.from_numpy(shared)
    logits = logits.masked_fill(torch.from_numpy(real == 0), torch.finfo(logits.dtype).min)
    right = rows.gather(1, gold[:, None]).squeeze(1)
    return functional.cross_entropy(logits, gold) + every * functional.cross_entropy(cosines, right)


def network_vectors(module: QuestionNetwork, rows: Rows, dimension: int) -> Encode:
    """The encoder of a network in training; zero rows for blank texts, as `TransformerEncoder`."""

    def encode(texts: Sequence[str]) -> FloatArray:
        result = np.zeros((len(texts), dimension), dtype=np.float32)
        filled = [i for i, text in enumerate(texts) if text.strip()]
        tokens = rows([texts[i] for i in filled])
        order = sorted(range(len(filled)), key=lambda i: len(tokens[i]))
        with torch.no_grad():
            for start in range(0, len(order), 64):
                part = order[start : start + 64]
                ids, mask = padded([tokens[i] for i in part])
                vectors = module.encoder(torch.from_numpy(ids), torch.from_numpy(mask).bool())
                result[[filled[i] for i in part]] = vectors.numpy()
        return result

    return encode
