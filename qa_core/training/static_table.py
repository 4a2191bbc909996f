"""The table of a static encoder in training, and how it is saved."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.atomic import atomic_folder
from qa_core.encoders.mapped_tensors import write_tensors
from qa_core.encoders.static_encoder import KIND, StaticEncoder, sha256
from qa_core.networks.poolings import unit
from qa_core.types import FloatArray, Side

FILES = ("model.safetensors", "config.json", "tokenizer.json", "words.txt", "README.md")
_EXTENSIBLE = ("WordPiece", "WordLevel")


class StaticTable(nn.Module):
    """`Σ_t E_t / |Σ_t E_t|` over a text's tokens; training drops tokens with probability `dropout`."""

    def __init__(self, rows: FloatArray, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.E = nn.Parameter(torch.tensor(rows))  # (V, D)
        self.dropout = dropout

    def forward(self, tokens: Tensor, mask: Tensor, *, side: Side = "question") -> Tensor:  # noqa: ARG002 one table, both sides
        """Tokens (B, T) int64 and mask (B, T) to unit vectors (B, D); zero for a text without tokens."""
        if self.training and self.dropout:
            mask = mask & (torch.rand(mask.shape, device=mask.device) >= self.dropout)
        lengths = mask.sum(1)  # (B,)
        begins = lengths.cumsum(0) - lengths
        return unit(functional.embedding_bag(tokens[mask], self.E, begins, mode="sum"))


def weighted_rows(encoder: StaticEncoder) -> FloatArray:
    """The rows (V, D) of an encoder times their weights."""
    rows: FloatArray = encoder.table.astype(np.float32) * encoder.scale[:, None]
    return rows


def read_tokeniser(folder: Path) -> dict[str, Any]:
    """The content of `tokenizer.json`."""
    content: dict[str, Any] = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    return content


def with_words(tokeniser: Mapping[str, Any], words: Sequence[str]) -> dict[str, Any]:
    """A tokeniser with additional words as tokens; their ids follow the existing ones.

    Raises ValueError for a tokeniser without words, and for a word that is a token already.
    """
    model = tokeniser["model"]
    if words and model.get("type") not in _EXTENSIBLE:
        raise ValueError(
            f"Expected a tokeniser of {' or '.join(_EXTENSIBLE)} to add words to, but got {model.get('type')}; "
            "set new_words = 0."
        )
    vocabulary: dict[str, int] = model["vocab"]
    known = [word for word in words if word in vocabulary]
    if known:
        raise ValueError(f"Expected new words, but got {known[0]!r}, which is a token already; leave it out.")
    added = {word: len(vocabulary) + i for i, word in enumerate(words)}
    return {**tokeniser, "model": {**model, "vocab": {**vocabulary, **added}}}


def extended_rows(encoder: StaticEncoder, words: Sequence[str]) -> FloatArray:
    """Rows (V + W, D): a new word starts as the sum of its former pieces, so that no text's vector changes."""
    rows = weighted_rows(encoder)
    ids, lengths = encoder.tokeniser.flat(words)
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    new = [rows[ids[first:last]].sum(0) for first, last in pairwise(bounds)]
    return np.vstack([rows, *new]) if new else rows


def save_static(
    folder: Path,
    *,
    tokeniser: Mapping[str, Any],
    rows: FloatArray,
    words: Iterable[str],
    card: str,
    made_with: Mapping[str, object],
) -> None:
    """Write a folder that `StaticEncoder.load` opens; an interrupted save leaves the old one.

    Args:
        rows: (V, D), stored as int8 with a scale per row.
        words: lower-case words that count as known although they have several tokens.
        made_with: settings and figures, stored in `config.json`.
    """
    if not np.isfinite(rows).all():
        raise ValueError("Expected finite vectors, but got NaN or infinity; train again with a lower learning rate.")
    with atomic_folder(folder, FILES) as new:
        write_tensors(new / "model.safetensors", _quantised(rows))
        config = {"kind": KIND, "weights_sha256": sha256(new / "model.safetensors"), "made_with": dict(made_with)}
        (new / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        (new / "tokenizer.json").write_text(json.dumps(tokeniser, ensure_ascii=False), encoding="utf-8")
        (new / "words.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
        (new / "README.md").write_text(card, encoding="utf-8")


def _quantised(rows: FloatArray) -> dict[str, np.ndarray[Any, Any]]:
    steps = np.abs(rows).max(1) / 127  # (V,)
    steps[steps == 0] = 1
    return {"vectors": np.round(rows / steps[:, None]).astype(np.int8), "scale": steps.astype(np.float32)}
