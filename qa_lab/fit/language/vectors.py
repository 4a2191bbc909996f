"""Fits vectors of new word pieces below an unchanged network.

A text of the further language shall have the sentence vector of its English translation (Reimers and Gurevych 2020),
and only the vectors of new pieces are learnt (Artetxe et al. 2020): English texts keep their vectors. Loss of a batch:
`d (1 − mean cos(s, t)) + λ CE(c S)`, where `s` are the vectors of the texts, `t` those of the translations and `S` the
cosines between them; other translations that nearly equal the right one are no negatives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.encoders.word_pieces import INSIDE
from qa_core.networks.batching import batches, padded
from qa_core.networks.poolings import mean_pool, unit
from qa_core.training.transformer_tuning import TunedTransformer
from qa_core.types import FloatArray
from qa_lab.fit.language.sources import english_of


@dataclass(frozen=True, slots=True)
class FitConfig:
    epochs: float = 1.5
    tokens: int = 3072  # of a batch
    rate: float = 2e-3
    warm_up: float = 0.03  # share of the steps
    distance: float = 3.0  # d
    contrast: float = 0.3  # λ
    scale: float = 20.0  # c
    same: float = 0.9  # cosine of translations from which they count as the same
    seed: int = 0


class FurtherWords(nn.Module):
    """The network with other vectors (N, D) of the words at some places (N,); only these learn."""

    def __init__(self, network: TunedTransformer, rows: Tensor, places: Sequence[int]) -> None:
        super().__init__()
        self.network = network.eval().requires_grad_(requires_grad=False)
        self.rows = nn.Embedding(len(rows), rows.shape[1], sparse=True, _weight=rows)
        self.known = network.model.embeddings.word_embeddings.weight  # (V, D)
        row_of = torch.full((max(len(self.known), max(places) + 1),), -1)
        row_of[torch.tensor(places)] = torch.arange(len(places))
        self.row_of: Tensor
        self.register_buffer("row_of", row_of, persistent=False)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Ids and mask (B, T) to unit vectors (B, D)."""
        rows = self.row_of[ids]
        known = self.known[ids.clamp(max=len(self.known) - 1)]
        vectors = torch.where((rows >= 0).unsqueeze(2), self.rows(rows.clamp(min=0)), known)
        states = self.network.model(inputs_embeds=vectors, attention_mask=mask.long(), return_dict=False)[0]
        return unit(mean_pool(states, mask))


@dataclass(frozen=True, slots=True)
class Batch:
    ids: Tensor  # (B, T)
    mask: Tensor  # (B, T)
    targets: Tensor  # (B, D), unit vectors of the translations

    def __len__(self) -> int:
        return len(self.ids)


def first_rows(
    pieces: Sequence[str], meanings: Mapping[str, Sequence[str]], words: Tensor, tokeniser: SubwordTokeniser
) -> Tensor:
    """Rows (N, D) to start from: mean vectors of the translations of a piece, else of what it was cut into before.

    Args:
        meanings: translations of each normalised word.
        words: the network's (V, D).
        tokeniser: of the network, without the new pieces.
    """

    def mean_of(text: str) -> Tensor | None:
        ids, _ = tokeniser.flat([text])
        return words[torch.from_numpy(ids)].mean(0) if len(ids) else None

    rows = []
    for piece in pieces:
        vectors = [vector for text in english_of(piece, meanings) if (vector := mean_of(text)) is not None]
        former = mean_of(piece.removeprefix(INSIDE))
        unmeant = words.mean(0) if former is None else former
        rows.append(torch.stack(vectors).mean(0) if vectors else unmeant)
    return torch.stack(rows)


def drawn_batches(
    rows: Sequence[Sequence[int]], targets: FloatArray, rng: np.random.Generator, *, tokens: int, pool: int = 20_000
) -> Iterator[Batch]:
    """Batches of texts of similar length, from random pools of texts, in random order."""
    order = rng.permutation(len(rows))
    for start in range(0, len(order), pool):
        members = order[start : start + pool]
        parts = batches([len(rows[i]) for i in members], tokens=tokens)
        for part in rng.permutation(len(parts)):
            chosen = members[parts[part]]
            yield Batch(*_tensors([rows[i] for i in chosen]), torch.from_numpy(targets[chosen].astype(np.float32)))


def distance_and_contrast(vectors: Tensor, targets: Tensor, config: FitConfig) -> Tensor:
    """The loss of unit vectors (B, D) and those of their translations, see above."""
    cosines = vectors @ targets.T
    same = targets @ targets.T > config.same
    same.fill_diagonal_(fill_value=False)
    contrast = functional.cross_entropy((config.scale * cosines).masked_fill(same, -1e4), torch.arange(len(cosines)))
    loss: Tensor = config.distance * (1 - cosines.diagonal().mean()) + config.contrast * contrast
    return loss


@torch.no_grad()
def encoded(model: nn.Module, rows: Sequence[Sequence[int]]) -> FloatArray:
    """Unit vectors (N, D) of rows of ids."""
    parts = batches([len(row) for row in rows], tokens=4096)
    vectors = [model(*_tensors([rows[i] for i in part])).numpy() for part in parts]
    order = np.argsort(np.concatenate([np.array(part) for part in parts]))
    return np.concatenate(vectors)[order].astype(np.float32)


def _tensors(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Ids and mask (B, T), true at real tokens."""
    ids, mask = padded(rows)
    return torch.from_numpy(ids), torch.from_numpy(mask.astype(bool))
