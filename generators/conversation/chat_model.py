"""The conversation model that replies are drawn from: `p(T|S)`, `p(S|T)`, `p(T)` and an acceptor, without torch.

All share one vocabulary. Forward `p(T|S)` reads the last turns of a conversation; backward `p(S|T)` predicts the last
turn from the reply. If the model has a counting grid, forward also reads the topics of a hint.
`generators/training/trainable_chat.py` is the same model in torch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from generators.conversation.chat_text import CHAT_SPECIALS, ChatConfig, ChatText
from generators.conversation.detokenise import Casing
from generators.conversation.padded_batches import SourceTarget, columns, masked, row_scores
from generators.inference.acceptor import Acceptor
from generators.inference.encoder_decoder import DecoderState, EncoderDecoder, part
from generators.inference.language_model import LanguageModel
from generators.inference.shapes import Shapes, acceptor_shapes, encoder_decoder_shapes, language_model_shapes
from generators.topics.counting_grid import CountingGrid
from generators.topics.steering import Steering, TopicHint
from qa_core.networks.checkpoints import (
    VOCABULARY,
    WEIGHTS,
    load_config,
    load_vocabulary,
    load_weights,
    save_model,
    tensor_text,
    text_tensor,
)
from qa_core.networks.vocabulary import Vocabulary
from qa_core.types import FloatArray

PARTS = ("forward", "backward", "language", "acceptor")
GRID = "grid"
"""Folder of the counting grid within that of a model."""
_CASING = "casing"
_GRID_CARD = "# Counting grid\n\nOf the chat model in the folder above, whose card says more.\n"


@dataclass(frozen=True, eq=False)
class ChatModel(ChatText):
    forward: EncoderDecoder
    backward: EncoderDecoder
    language: LanguageModel
    acceptor: Acceptor
    steering: Steering | None = None

    @classmethod
    def of(cls, text: ChatText, weights: Mapping[str, NDArray[Any]], grid: CountingGrid | None) -> Self:
        """A model with weights of 16 or 32 bits, named "forward.output.bias" and so on."""
        config, floats = text.config, {name: array.astype(np.float32) for name, array in weights.items()}
        backward = replace(config.network, topics=0, topic_width=0)
        return cls(
            text.vocabulary,
            text.casing,
            config,
            EncoderDecoder(config.network, part(floats, "forward")),
            EncoderDecoder(backward, part(floats, "backward")),
            LanguageModel(config.language, part(floats, "language")),
            Acceptor(part(floats, "acceptor")),
            None if grid is None else Steering(grid, text.vocabulary),
        )

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises FileNotFoundError and ValueError that name what is missing or wrong."""
        config = load_config(folder, ChatConfig)
        vocabulary = Vocabulary(tuple(load_vocabulary(folder)))
        if len(vocabulary) != config.network.vocabulary or vocabulary.tokens[: len(CHAT_SPECIALS)] != CHAT_SPECIALS:
            raise ValueError(
                f"{folder / VOCABULARY}: Expected {config.network.vocabulary} words that begin with "
                f"{' '.join(CHAT_SPECIALS)}, but got {len(vocabulary)} that begin with "
                f"{' '.join(vocabulary.tokens[: len(CHAT_SPECIALS)])}; train or fetch the model again."
            )
        weights = load_weights(folder)
        casing = Casing.parsed(tensor_text(weights.pop(_CASING, None), folder / WEIGHTS))
        grid = CountingGrid.load(folder / GRID) if config.network.topics else None
        if grid is not None and grid.config.cells != config.network.topics:
            raise ValueError(
                f"{folder / GRID}: Expected a grid of {config.network.topics} cells, but got {grid.config.cells}; "
                "train or fetch the model again."
            )
        _check_weights(weights, shapes_of(config), folder / WEIGHTS)
        return cls.of(ChatText(vocabulary, casing, config), weights, grid)

    def save(self, folder: Path, *, card: str, half: bool = False) -> None:
        """Write a folder that `load` opens; an interrupted save leaves the old model.

        Args:
            card: Markdown on data, seed, licence and figures.
            half: floats of 16 bits, for a file of half the size and scores that differ in the third digit.
        """
        kind = np.float16 if half else np.float32
        weights: dict[str, NDArray[Any]] = {name: array.astype(kind) for name, array in self.weights().items()}
        weights[_CASING] = text_tensor(self.casing.lines())
        if self.steering is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self.steering.grid.save(folder / GRID, card=_GRID_CARD)
        save_model(folder, config=self.config, weights=weights, vocabulary=self.vocabulary.tokens, card=card)

    def weights(self) -> dict[str, FloatArray]:
        """All weights, named "forward.output.bias" and so on."""
        return {f"{name}.{key}": array for name in PARTS for key, array in getattr(self, name).weights.items()}

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the vocabulary and of all weights rounded to 16 bits, so that saving with `half` keeps it."""
        digest = hashlib.blake2b("\n".join(self.vocabulary.tokens).encode(), digest_size=8)
        for weights in (self.forward.weights, self.backward.weights, self.language.weights):
            for name, array in sorted(weights.items()):
                digest.update(name.encode())
                digest.update(np.ascontiguousarray(array, dtype=np.float16).data)
        return digest.hexdigest()

    def start_state(
        self,
        context: Sequence[str],
        count: int,
        *,
        hints: Sequence[TopicHint] = (),
        forward: EncoderDecoder | None = None,
    ) -> DecoderState:
        """The state before the first word of `count` replies to the last turns; the hints share the replies evenly.

        Args:
            forward: a fine-tuned network in place of the model's own.
        """
        topic = None if self.steering is None else self.steering.topic(*hints)
        kinds = 1 if topic is None else len(topic)
        source, mask = masked([self.source(context)] * kinds)
        state = (forward or self.forward).start(source, mask, topic)
        return state.select(np.arange(count) % kinds)

    def log_forward(self, rows: Sequence[SourceTarget]) -> FloatArray:
        """`log p(T|S)` (N,) of forward rows."""
        return row_scores(rows, lambda batch: self.forward.log_likelihood(*columns(batch)))

    def log_backward(self, rows: Sequence[SourceTarget]) -> FloatArray:
        """`log p(S|T)` (N,) of backward rows."""
        return row_scores(rows, lambda batch: self.backward.log_likelihood(*columns(batch)))

    def log_language(self, rows: Sequence[SourceTarget]) -> FloatArray:
        """`log p(T)` (N,) of the targets of rows."""
        return row_scores(rows, lambda batch: self.language.log_likelihood(*columns(batch)[2:]))


def shapes_of(config: ChatConfig) -> Shapes:
    """The weights that a model of these sizes has."""
    parts = {
        "forward": encoder_decoder_shapes(config.network),
        "backward": encoder_decoder_shapes(replace(config.network, topics=0, topic_width=0)),
        "language": language_model_shapes(config.language),
        "acceptor": acceptor_shapes(config.acceptor),
    }
    return {f"{name}.{key}": shape for name, shapes in parts.items() for key, shape in shapes.items()}


def _check_weights(weights: Mapping[str, NDArray[Any]], shapes: Shapes, path: Path) -> None:
    """Raises ValueError for weights that are missing, unknown or of another shape."""
    names = sorted(weights.keys() | shapes)
    wrong = [name for name in names if name not in weights or shapes.get(name) != weights[name].shape]
    if wrong:
        raise ValueError(f"{path}: Expected the weights of this configuration, but got others: {', '.join(wrong)}.")
