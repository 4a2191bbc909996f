"""A transformer tuned end to end: the vector of a question comes to lie near those of the right relation's words.

    module = QuestionNetwork(load_tunable(layout))
    data = TuningData.of(questions, reader.rows, CosineScorer(encode).relations)
    training = tuning_of(module, config, seed=1)
    for progress in tune(training, data, config): ...
    tuned_scorer(encode_tuned, encode, scale=module.scale.item(), keywords=module.keywords.item()).score([...], [pool])

Only questions are read by the tuned transformer. Vectors of relations' words stay those of the frozen one, so that a
step costs as many tokens as its questions have, and relations without examples keep their place.
Letters: B questions, P relations of a pool, R relations of all pools, D vector size.
No paper: a softmax over cosines as in dual encoders, over the pool and beside it over all relations.
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
"""Texts to token ids, special ones included."""
Vectors = Callable[[Sequence[str]], Mapping[str, FloatArray]]
"""Relations to vectors of their words (D,)."""

_SORTED = 16  # batches whose texts are sorted by length together: little padding, and still much chance


@dataclass(frozen=True, slots=True)
class TuningConfig:
    """How to tune; chosen on SimpleQuestions' development questions, and to take minutes on one core."""

    epochs: int = 2
    batch: int = 32  # distinct texts, each with all questions that read so
    learning_rate: float = 7e-5  # at its highest
    warm_up: float = 0.1  # share of the steps
    frozen: int = 2  # lowest layers that stay as they are: the time falls by a tenth for each of MiniLM's six
    every: float = 0.2  # weight of the loss over all relations beside that over the pool
    decay: float = 0.01
    clip: float = 1.0  # the largest norm of all gradients


class QuestionNetwork(nn.Module):
    """`s q · r + k J(q, r)`: q the tuned transformer's vector, J the Jaccard of stems; word vectors stay."""

    def __init__(
        self, encoder: TunedTransformer, *, scale: float = 20.0, keywords: float = 5.0, frozen: int = 0
    ) -> None:
        """Raises ValueError where no more than `frozen` layers are found."""
        super().__init__()
        self.encoder = encoder
        self.scale = nn.Parameter(torch.tensor(scale))
        self.keywords = nn.Parameter(torch.tensor(keywords))
        encoder.model.get_input_embeddings().weight.requires_grad_(False)  # half of all weights, and few of them met
        for layer in _layers(encoder, frozen):
            layer.requires_grad_(False)


def _layers(encoder: TunedTransformer, count: int) -> Sequence[nn.Module]:
    """The lowest ones."""
    layers = getattr(getattr(encoder.model, "encoder", None), "layer", ())
    if count and not count < len(layers):
        raise ValueError(f"Expected fewer than {len(layers)} frozen layers, but got {count}; lower `frozen`.")
    return list(layers)[:count]


@dataclass(frozen=True, eq=False)
class TuningData:
    """Questions as token ids and numbers of relations."""

    tokens: list[IntArray]  # of distinct texts
    asked: list[IntArray]  # by text the questions that read so
    which: IntArray  # (N,) text of each question
    words: Tensor  # (R, D)
    pools: list[IntArray]  # rows of words
    places: IntArray  # (N,) of the right one in its pool
    shared: list[FloatArray]  # by pool the Jaccard of stems

    @classmethod
    def of(cls, questions: Sequence[PoolQuestion], rows: Rows, vectors: Vectors) -> TuningData:
        """Raises ValueError for no questions."""
        if not questions:
            raise ValueError("Expected questions with pools, but got none; give some.")
        texts = [without_slot(each.template) for each in questions]
        distinct = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        names = {name: place for place, name in enumerate(dict.fromkeys(n for each in questions for n in each.pool))}
        known = vectors(list(names))
        asked: list[list[int]] = [[] for _ in distinct]
        for number, text in enumerate(texts):
            asked[distinct[text]].append(number)
        return cls(
            list(rows(list(distinct))),
            [np.array(each, dtype=np.int64) for each in asked],
            np.array([distinct[text] for text in texts], dtype=np.int64),
            torch.from_numpy(np.array([known[name] for name in names], dtype=np.float32)),
            [np.array([names[name] for name in each.pool], dtype=np.int64) for each in questions],
            np.array([each.gold_index for each in questions], dtype=np.int64),
            KeywordMatcher().score([each.template for each in questions], [each.pool for each in questions]),
        )

    def batches(self, size: int, rng: np.random.Generator) -> list[IntArray]:
        """Questions by batches of `size` texts of about the same length, all in chance order."""
        found: list[IntArray] = []
        order = rng.permutation(len(self.tokens))
        for part in np.array_split(order, max(1, len(order) // (size * _SORTED))):
            lengths = [len(self.tokens[text]) for text in part]
            ordered = part[np.argsort(lengths, kind="stable")]
            for texts in np.array_split(ordered, max(1, len(part) // size)):
                found.append(np.concatenate([self.asked[text] for text in texts]))
        return [found[place] for place in rng.permutation(len(found))]


def tuning_of(module: QuestionNetwork, config: TuningConfig, *, seed: int) -> Training:
    """With AdamW, for `tune`; what a saved run goes on with. The two factors learn fast and do not decay."""
    weights = [each for each in module.encoder.parameters() if each.requires_grad]
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
    """Train an `QuestionNetwork` by cross-entropy; with `evaluate`, the higher the better, the best epoch stays."""
    usual = len(data.which) / len(data.tokens) * config.batch  # questions of a batch
    parts = max(1, len(data.tokens) // (config.batch * _SORTED))
    sizes = [len(part) for part in np.array_split(np.arange(len(data.tokens)), parts)]
    steps = sum(max(1, size // config.batch) for size in sizes)

    def loss(module: nn.Module, members: IntArray) -> Tensor:
        assert isinstance(module, QuestionNetwork), "made by tuning_of"
        # a sum, so that each question counts as much wherever it stands
        return batch_loss(module, data, members, every=config.every) * (len(members) / usual)

    def evaluated(module: nn.Module) -> float:
        assert isinstance(module, QuestionNetwork), "made by tuning_of"
        assert evaluate is not None, "there is something to evaluate by"
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
    """Mean cross-entropy over the pools of some questions, and `every` times that over all relations, by words."""
    texts, owner = np.unique(data.which[members], return_inverse=True)
    tokens, mask = padded([data.tokens[text] for text in texts])
    vectors = module.encoder(torch.from_numpy(tokens), torch.from_numpy(mask).bool())[torch.from_numpy(owner)]  # (B, D)
    pools, real = padded([data.pools[each] for each in members])  # (B, P)
    shared = np.zeros(pools.shape, dtype=np.float32)
    shared[real.astype(bool)] = np.concatenate([data.shared[each] for each in members])
    cosines = module.scale * vectors @ data.words.T  # (B, R)
    rows, places = torch.from_numpy(pools), torch.from_numpy(data.places[members])
    logits = cosines.gather(1, rows) + module.keywords * torch.from_numpy(shared)
    logits = logits.masked_fill(torch.from_numpy(real == 0), torch.finfo(logits.dtype).min)
    right = rows.gather(1, places[:, None]).squeeze(1)
    return functional.cross_entropy(logits, places) + every * functional.cross_entropy(cosines, right)


def network_vectors(module: QuestionNetwork, rows: Rows, dimension: int) -> Encode:
    """The encoder of a network in training, for measuring; zero rows for blank texts as `TransformerEncoder` gives."""

    def encode(texts: Sequence[str]) -> FloatArray:
        found = np.zeros((len(texts), dimension), dtype=np.float32)
        filled = [place for place, text in enumerate(texts) if text.strip()]
        tokens = rows([texts[place] for place in filled])
        order = sorted(range(len(filled)), key=lambda place: len(tokens[place]))
        with torch.no_grad():
            for start in range(0, len(order), 64):
                part = order[start : start + 64]
                ids, mask = padded([tokens[place] for place in part])
                vectors = module.encoder(torch.from_numpy(ids), torch.from_numpy(mask).bool())
                found[[filled[place] for place in part]] = vectors.numpy()
        return found

    return encode
