"""A transformer in sentence-transformers layout in training, and how it is saved."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from qa_core.atomic import atomic_folder
from qa_core.encoders.graphs.export import load_model
from qa_core.encoders.sentence_layout import Pooling, SentenceLayout
from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.networks.checkpoints import write_weights
from qa_core.networks.poolings import mean_pool, unit
from qa_core.types import IntArray, Side

WEIGHTS, CARD = "model.safetensors", "README.md"
_STALE = ("onnx", "openvino", "*.bin", "*.pt", "*.h5", "*.msgpack", "*.ot", ".*", "curve.*")
"""Files beside the weights that were derived from the old weights."""


class TunedTransformer(nn.Module):
    """Pooled hidden states of unit length."""

    def __init__(self, model: Any, *, pooling: Pooling) -> None:
        super().__init__()
        self.model = model
        self.pooling = pooling

    def forward(self, tokens: Tensor, mask: Tensor, *, side: Side = "question") -> Tensor:  # noqa: ARG002 the prompt already marks the side
        """Tokens (B, T) int64, special ones included, and mask (B, T) to unit vectors (B, D)."""
        states = self.model(input_ids=tokens, attention_mask=mask.long(), return_dict=False)[0]  # (B, T, D)
        return unit(states[:, 0] if self.pooling == "cls" else mean_pool(states, mask))


class TransformerReader:
    """Texts to token ids, after the prompt of their side."""

    def __init__(self, layout: SentenceLayout) -> None:
        self.layout = layout
        self.tokeniser = SubwordTokeniser.load(layout.weights, max_length=layout.max_length)

    def rows(self, texts: Sequence[str], *, side: Side) -> list[IntArray]:
        prompt = self.layout.question_prompt if side == "question" else self.layout.answer_prompt
        return [np.array(row, dtype=np.int64) for row in self.tokeniser.sequences([prompt + text for text in texts])]


def load_tunable(layout: SentenceLayout) -> TunedTransformer:
    """Raises ModuleNotFoundError without the extra `minilm`, ValueError if weights and configuration differ."""
    try:
        model = load_model(layout.weights, attention="sdpa")
    except ImportError as error:
        raise ModuleNotFoundError(
            f"Expected transformers to train {layout.folder}, but it is not installed; run: pip install "
            "'qa-bot[minilm]'"
        ) from error
    return TunedTransformer(model, pooling=layout.pooling)


def save_tuned(folder: Path, module: TunedTransformer, *, layout: SentenceLayout, card: str) -> None:
    """Copy the base folder with the new weights, without files derived from the old; a crash leaves the old model."""
    inner = layout.weights.relative_to(layout.folder)
    weights: dict[str, Tensor] = module.model.state_dict()
    if not all(bool(weight.isfinite().all()) for weight in weights.values() if weight.is_floating_point()):
        raise ValueError("Expected finite weights, but got NaN or infinity; train again with a lower learning rate.")
    ignored = shutil.ignore_patterns(WEIGHTS, *_STALE)
    names = {path.name for path in layout.folder.iterdir()}
    first = [name for name in ("modules.json",) if name in names]  # a plain transformer has none
    files = (*first, *sorted(names - ignored("", [*names]) - {*first}), CARD, WEIGHTS)
    with atomic_folder(folder, files) as new:
        shutil.copytree(layout.folder, new, ignore=ignored, dirs_exist_ok=True)
        write_weights(new / inner / WEIGHTS, weights)
        (new / CARD).write_text(card, encoding="utf-8")
