"""A small network over a frozen encoder's vectors of templates and of relations' words; trains in a minute on a CPU.

    head = RelationHead.of(encoder.encode, relations)
    for progress in fit_head(head, labelled(questions), seed=1): ...
    head.score(["who wrote <m>"], [pool])

An untrained head scores as cosine and keywords together; relations without examples are scored by their words.
B templates, P relations of a pool, D vector size, R relations with a row, H hidden size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from kg_index.relations.keywords import KeywordMatcher, PredicateWords, RelationWords
from kg_index.relations.relation_scorers import CosineScorer, Encode, without_slot
from qa_core.networks.checkpoints import load_config, load_tensors, save_model, tensor_text, text_tensor
from qa_core.types import FloatArray, IntArray

_RELATIONS = "relations"
_AT_ONCE = 512
_NONE = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class HeadConfig:
    dimension: int  # D
    relations: int  # R
    hidden: int = 512  # H
    dropout: float = 0.2
    scale: float = 20.0  # initial weight of the cosine
    keywords: float = 5.0  # initial weight of the Jaccard of stems
    context: bool = False  # whether W also reads the mean of the pool's relations, which hints at the entity's type
    encoder: str = ""  # name of the encoder
    fingerprint: str = ""  # of the encoder in training


class HeadNetwork(nn.Module):
    """`s (q + f(q)) · r + k J(q, r) + relu(W q) · c_r + b_r`, where `f`, the rows `c` and the biases `b` start at 0.

    With context, `W [q; p]` where p is the normalised mean of the pool's r: "where from" differs for person and band.
    """

    def __init__(self, config: HeadConfig) -> None:
        super().__init__()
        self.asked = nn.Sequential(  # f; saved models have this name
            nn.Linear(config.dimension, config.hidden),
            nn.ReLU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.hidden, config.dimension),
        )
        read = config.dimension * (1 + config.context)
        self.context = config.context
        self.hidden = nn.Sequential(nn.Linear(read, config.hidden), nn.ReLU(), nn.Dropout(config.dropout))
        self.rows = nn.Embedding(config.relations + 1, config.hidden, padding_idx=0)  # row 0: relations without one
        self.often = nn.Embedding(config.relations + 1, 1, padding_idx=0)
        self.scale = nn.Parameter(torch.tensor(config.scale))
        self.keywords = nn.Parameter(torch.tensor(config.keywords))
        for weights in (*self.asked[3].parameters(), self.rows.weight, self.often.weight):
            nn.init.zeros_(weights)

    def forward(self, queries: Tensor, owner: Tensor, words: Tensor, numbers: Tensor, shared: Tensor) -> Tensor:
        """Logits (L,) of L relations.

        Args:
            queries: vectors of templates (B, D).
            owner: the template of each relation (L,).
            words: vectors of the relations' words (L, D).
            numbers: their rows in the network (L,), 0 without one.
            shared: Jaccard of the stems of template and relation (L,).
        """
        cosines = ((queries + self.asked(queries))[owner] * words).sum(1)
        read = torch.cat([queries, _means(words, owner, len(queries))], dim=1) if self.context else queries
        by_row: Tensor = (self.hidden(read)[owner] * self.rows(numbers)).sum(1) + self.often(numbers).squeeze(1)
        logits: Tensor = self.scale * cosines + self.keywords * shared + by_row
        return logits


def _means(words: Tensor, owner: Tensor, count: int) -> Tensor:
    """Normalised means (B, D) of the relations of each of `count` templates; zero for an empty pool."""
    return nn.functional.normalize(words.new_zeros(count, words.shape[1]).index_add(0, owner, words))


@dataclass(frozen=True, eq=False)
class RelationHead:
    """A network with its encoder and the relations that have a row."""

    network: HeadNetwork
    encode: Encode
    relations: tuple[str, ...]
    config: HeadConfig
    words: RelationWords = field(default_factory=PredicateWords)
    _cosine: CosineScorer = field(init=False, repr=False)
    _matcher: KeywordMatcher = field(init=False, repr=False)
    _numbers: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_cosine", CosineScorer(self.encode, self.words))
        object.__setattr__(self, "_matcher", KeywordMatcher(self.words))
        object.__setattr__(self, "_numbers", {name: row for row, name in enumerate(self.relations, 1)})

    @classmethod
    def of(
        cls,
        encode: Encode,
        relations: Iterable[str],
        *,
        words: RelationWords | None = None,
        hidden: int = 512,
        context: bool = False,
        encoder: str = "",
        fingerprint: str = "",
    ) -> Self:
        """A new head; torch's generator draws its weights. `encoder` and `fingerprint` are saved with it."""
        known = tuple(dict.fromkeys(relations))
        size = encode(["a"]).shape[1]
        config = HeadConfig(size, len(known), hidden, context=context, encoder=encoder, fingerprint=fingerprint)
        return cls(HeadNetwork(config).eval(), encode, known, config, words or PredicateWords())

    @classmethod
    def load(cls, folder: Path, encode: Encode, *, words: RelationWords | None = None) -> Self:
        """Open a saved head with its encoder. Raises FileNotFoundError, or ValueError if the files do not fit."""
        config, tensors = load_config(folder, HeadConfig), load_tensors(folder)
        listed = tensors.pop(_RELATIONS, None)
        text = tensor_text(None if listed is None else listed.numpy(), folder)
        relations = tuple(text.split("\n")) if text else ()
        if len(relations) != config.relations or encode(["a"]).shape[1] != config.dimension:
            raise ValueError(
                f"{folder}: Expected {config.relations} relations and an encoder of {config.dimension} numbers, but "
                f"got {len(relations)} and {encode(['a']).shape[1]}; use the encoder it was trained on, or train again."
            )
        network = HeadNetwork(config)
        try:
            network.load_state_dict(tensors)
        except RuntimeError as error:
            raise ValueError(f"{folder}: Expected the weights of this network, but got others: {error}") from None
        return cls(network.eval(), encode, relations, config, words or PredicateWords())

    def save(self, folder: Path, *, card: str) -> None:
        """Write a folder that `load` opens, without the encoder. Raises ValueError for NaN."""
        names = torch.from_numpy(text_tensor("\n".join(self.relations)))
        save_model(folder, config=self.config, weights={**self.network.state_dict(), _RELATIONS: names}, card=card)

    def score(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> list[FloatArray]:
        """Logits (P,) for the relations of each pool."""
        scores: list[FloatArray] = []
        for start in range(0, len(templates), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            data = self.read(templates[part], pools[part])
            with torch.no_grad():
                logits = self.logits(data, np.arange(len(data.pools))).cpu().numpy()
            scores += [row[: len(pool)] for row, pool in zip(logits, data.pools, strict=True)]
        return scores

    def read(self, templates: Sequence[str], pools: Sequence[Sequence[str]]) -> HeadData:
        """Encode templates and the relations of their pools."""
        distinct = {text: row for row, text in enumerate(dict.fromkeys(map(without_slot, templates)))}
        names = {name: row for row, name in enumerate(dict.fromkeys(name for pool in pools for name in pool), 1)}
        vectors = self._cosine.relations(list(names))
        width = self.config.dimension
        words = np.vstack([np.zeros((1, width), dtype=np.float32), *(vectors[name] for name in names)])
        return HeadData(
            torch.from_numpy(np.asarray(self.encode(list(distinct)), dtype=np.float32).reshape(-1, width)),
            np.array([distinct[without_slot(template)] for template in templates], dtype=np.int64),
            torch.from_numpy(words),
            torch.tensor([0, *(self._numbers.get(name, 0) for name in names)]),
            [np.array([names[name] for name in pool], dtype=np.int64) for pool in pools],
            self._matcher.score(templates, pools),
        )

    def logits(self, data: HeadData, members: IntArray) -> Tensor:
        """Logits (B, P) of some templates, with the lowest float as padding."""
        pools = [data.pools[member] for member in members.tolist()]
        lengths = np.array([len(pool) for pool in pools], dtype=np.int64)
        mask = torch.from_numpy(np.arange(lengths.max(initial=1)) < lengths[:, None])  # (B, P)
        flat = torch.from_numpy(np.concatenate([*pools, np.zeros(0, dtype=np.int64)]))  # (L,)
        owner = torch.from_numpy(np.repeat(np.arange(len(pools)), lengths))
        shared = torch.from_numpy(np.concatenate([*(data.shared[member] for member in members.tolist()), _NONE]))
        queries = data.queries[torch.from_numpy(data.which[members])]
        logits: Tensor = self.network(queries, owner, data.words[flat], data.numbers[flat], shared)
        return logits.new_full(mask.shape, torch.finfo(logits.dtype).min).masked_scatter(mask, logits)


@dataclass(frozen=True, eq=False)
class HeadData:
    """Encoded templates and pools."""

    queries: Tensor  # (Q, D) of distinct templates
    which: IntArray  # (N,) rows of queries
    words: Tensor  # (1 + M, D) of distinct relations; the first is padding
    numbers: Tensor  # (1 + M,) their rows in the network
    pools: list[IntArray]  # rows of words
    shared: list[FloatArray]  # Jaccard of stems, by pool
