"""What replies come from: forward `p(T|S)`, backward `p(S|T)`, a language model `p(T)`, and an acceptor.

All speak one vocabulary. Forward sees the last turns of a conversation, backward tells the last of them from the reply.
Where there is a counting grid, forward hears where a hint falls on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from generators.conversation.acceptor import Acceptor, AcceptorConfig
from generators.conversation.detokenise import Casing, cut, readable, tokens
from generators.conversation.language_model import LanguageModel, LanguageModelConfig
from generators.conversation.padded_batches import SourceTarget, evaluating, row_scores, tensors
from generators.topics.counting_grid import CountingGrid
from generators.topics.steering import Steering
from qa_core.networks.checkpoints import (
    VOCABULARY,
    WEIGHTS,
    load_config,
    load_tensors,
    load_vocabulary,
    save_model,
    tensor_text,
    text_tensor,
)
from qa_core.networks.decoder_types import END_ID, SPECIALS, Seq2SeqConfig
from qa_core.networks.seq2seq import Seq2Seq, State
from qa_core.networks.vocabulary import Vocabulary
from qa_core.types import FloatArray, IntArray

TURN = "<turn>"
"""Stands between the turns of a source."""
CHAT_SPECIALS = (*SPECIALS, TURN)
BARRED = tuple(number for number in range(len(CHAT_SPECIALS)) if number != END_ID)
"""Words that no reply holds."""
_TURN_ID = CHAT_SPECIALS.index(TURN)
_CASING = "casing"
GRID = "grid"
"""The folder of the counting grid in that of a model."""
_GRID_CARD = "# Counting grid\n\nOf the chat model in the folder above, whose card says more.\n"
_CHARACTERS = 40  # of a text, for each word that counts: more are not even cut into words


@dataclass(frozen=True, slots=True)
class ChatConfig:
    """The sizes of the thesis."""

    network: Seq2SeqConfig = field(default_factory=lambda: Seq2SeqConfig(50_000))  # of forward and backward
    language: LanguageModelConfig = field(default_factory=lambda: LanguageModelConfig(50_000))
    acceptor: AcceptorConfig = field(default_factory=AcceptorConfig)
    turns: int = 2  # that forward sees
    max_source: int = 40  # words of a source that count, its last
    max_target: int = 30  # words of a reply that count, its first


@dataclass(frozen=True, slots=True, eq=False)
class ChatModel:
    forward: Seq2Seq
    backward: Seq2Seq
    language: LanguageModel
    acceptor: Acceptor
    vocabulary: Vocabulary
    casing: Casing
    config: ChatConfig
    steering: Steering | None = None

    @classmethod
    def of(
        cls,
        texts: Iterable[str],
        config: ChatConfig,
        *,
        minimum: int = 1,
        wanted: Iterable[str] = (),
        grid: CountingGrid | None = None,
    ) -> Self:
        """A new one over the most frequent words of texts; torch's generator draws its first weights.

        Args:
            config: `network.vocabulary` is the number of words at most, special ones included.
            minimum: times a word has to stand in the texts.
            wanted: texts whose words are known beyond that number, where they stand in the others `minimum` times.
            grid: what forward hears topics from.

        Raises:
            ValueError: no word stands often enough.
        """
        kept = [cut(text) for text in texts]
        counts = Counter(form.lower() for forms in kept for form in forms)
        size = config.network.vocabulary
        vocabulary = Vocabulary.from_counts(counts, size=size, minimum=minimum, specials=CHAT_SPECIALS)
        more = {word for text in wanted for word in tokens(text) if counts[word] >= minimum and word not in vocabulary}
        vocabulary = Vocabulary((*vocabulary.tokens, *sorted(more)))
        if len(vocabulary) == len(CHAT_SPECIALS):
            raise ValueError(
                f"Expected words that stand in the texts {minimum} times, but got none; train on more texts."
            )
        known = {word: form for word, form in Casing.of_cut(kept).forms.items() if word in vocabulary}
        return cls._made(vocabulary, Casing(known), config, grid)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises FileNotFoundError and ValueError that say what is missing or wrong."""
        config = load_config(folder, ChatConfig)
        vocabulary = Vocabulary(tuple(load_vocabulary(folder)))
        if len(vocabulary) != config.network.vocabulary or vocabulary.tokens[: len(CHAT_SPECIALS)] != CHAT_SPECIALS:
            raise ValueError(
                f"{folder / VOCABULARY}: Expected {config.network.vocabulary} words that begin with "
                f"{' '.join(CHAT_SPECIALS)}, but got {len(vocabulary)} that begin with "
                f"{' '.join(vocabulary.tokens[: len(CHAT_SPECIALS)])}; train or fetch the model again."
            )
        weights = load_tensors(folder)
        lines = weights.pop(_CASING, None)
        casing = Casing.parsed(tensor_text(None if lines is None else lines.numpy(), folder / WEIGHTS))
        grid = CountingGrid.load(folder / GRID) if config.network.topics else None
        if grid is not None and grid.config.cells != config.network.topics:
            raise ValueError(
                f"{folder / GRID}: Expected a grid of {config.network.topics} cells, but got {grid.config.cells}; "
                "train or fetch the model again."
            )
        model = cls._made(vocabulary, casing, config, grid)
        model._fill(weights, folder / WEIGHTS)
        return model

    def save(self, folder: Path, *, card: str, half: bool = False) -> None:
        """Write a folder that `load` opens; an interrupted save leaves the old model.

        Args:
            card: Markdown on data, seed, licence and figures.
            half: floats of 16 bits, for a file of half the size and scores that differ in the third digit.
        """
        weights: dict[str, Tensor | np.ndarray] = {
            name: tensor.half() if half else tensor for name, tensor in self._weights().items()
        }
        weights[_CASING] = text_tensor(self.casing.lines())
        if self.steering is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self.steering.grid.save(folder / GRID, card=_GRID_CARD)
        save_model(folder, config=self.config, weights=weights, vocabulary=self.vocabulary.tokens, card=card)

    def topic(self, hints: Sequence[str]) -> Tensor | None:
        """What forward hears of hints, (H, E), see `Steering.topic`; None where it hears no topics."""
        return None if self.steering is None else self.steering.topic(*hints).to(self.device)

    def start_state(
        self, context: Sequence[str], count: int, *, hints: Sequence[str] = (), forward: Seq2Seq | None = None
    ) -> State:
        """The state before the first word of `count` replies to the last turns, each hint having its share of them.

        Args:
            forward: a fine-tuned one in place of the model's own.
        """
        topic = self.topic(hints)
        kinds = 1 if topic is None else len(topic)
        source, mask = tensors([self.source(context)] * kinds, self.device)
        state = (forward or self.forward).start(source, mask, topic)
        return state.select(torch.arange(count) % kinds)

    @property
    def device(self) -> torch.device:
        return self.forward.output.bias.device

    @property
    def parameters(self) -> int:
        """Trained numbers, of all parts."""
        return sum(p.numel() for module in self._modules().values() for p in module.parameters())

    def to(self, device: torch.device) -> Self:
        for module in self._modules().values():
            module.to(device)
        return self

    def source(self, turns: Sequence[str]) -> IntArray:
        """Numbers of the words of the last turns, (T,), `<turn>` between them."""
        found: list[int] = []
        for turn in turns[-self.config.turns :]:
            found += [_TURN_ID] * bool(found) + self._ids(_tail(turn, self.config.max_source))
        return np.array(found[-self.config.max_source :], dtype=np.int64)

    def target(self, text: str) -> IntArray:
        """Numbers of the words of a reply, `</s>` at the end, (Q,)."""
        ids = self._ids(text[: self.config.max_target * _CHARACTERS])
        return np.append(np.array(ids[: self.config.max_target], dtype=np.int64), END_ID)

    def forward_row(self, turns: Sequence[str], reply: str) -> SourceTarget:
        """What `p(T|S)` is told."""
        return self.source(turns), self.target(reply)

    def backward_row(self, turns: Sequence[str], reply: str) -> SourceTarget:
        """What `p(S|T)` is told: the reply, and the last turn before it."""
        last = self._ids(_tail(turns[-1], self.config.max_target)) if turns else []
        return self.target(reply)[:-1], np.append(np.array(last[-self.config.max_target :], dtype=np.int64), END_ID)

    def language_row(self, text: str) -> SourceTarget:
        """What `p(T)` is told."""
        return np.zeros(0, dtype=np.int64), self.target(text)

    def log_forward(self, rows: Sequence[SourceTarget]) -> FloatArray:
        """`log p(T|S)` (N,) of rows."""
        return _scored(self.forward, rows, self.device)

    def log_backward(self, rows: Sequence[SourceTarget]) -> FloatArray:
        """`log p(S|T)` (N,) of backward rows."""
        return _scored(self.backward, rows, self.device)

    def log_language(self, rows: Sequence[SourceTarget]) -> FloatArray:
        """`log p(T)` (N,) of rows, whose sources have no say."""
        with evaluating(self.language):
            return row_scores(
                rows, lambda batch: self.language.log_likelihood(batch.target, batch.target_mask), self.device
            )

    def text(self, ids: Iterable[int]) -> str:
        """The readable text of word numbers."""
        return readable(self.vocabulary.words(ids), self.casing)

    @classmethod
    def _made(cls, vocabulary: Vocabulary, casing: Casing, config: ChatConfig, grid: CountingGrid | None) -> Self:
        told = replace(config.network, vocabulary=len(vocabulary))
        deaf = replace(told, topics=0, topic_width=0)
        network = deaf if grid is None else replace(told, topics=grid.config.cells)
        language = replace(config.language, vocabulary=len(vocabulary))
        parts = Seq2Seq(network).eval(), Seq2Seq(deaf).eval(), LanguageModel(language).eval()
        acceptor = Acceptor(config.acceptor).eval()
        steering = None if grid is None else Steering(grid, vocabulary)
        config = replace(config, network=network, language=language)
        return cls(*parts, acceptor, vocabulary, casing, config, steering)

    def _modules(self) -> dict[str, nn.Module]:
        return {name: getattr(self, name) for name in ("forward", "backward", "language", "acceptor")}

    def _weights(self) -> dict[str, Tensor]:
        """Each once, also where two layers share it."""
        return {
            f"{part}.{name}": tensor
            for part, module in self._modules().items()
            for name, tensor in (*module.named_parameters(), *module.named_buffers())
        }

    def _fill(self, weights: Mapping[str, Tensor], path: Path) -> None:
        own = self._weights()
        shapes = {name: tuple(tensor.shape) for name, tensor in weights.items()}
        wrong = [name for name in sorted(own.keys() | shapes) if name not in own or shapes.get(name) != own[name].shape]
        if wrong:
            raise ValueError(f"{path}: Expected the weights of this configuration, but got others: {', '.join(wrong)}.")
        if bad := [name for name, tensor in weights.items() if not bool(tensor.isfinite().all())]:
            raise ValueError(f"{path}: Expected finite weights, but got NaN or infinity in {bad[0]}; train it again.")
        with torch.no_grad():
            for name, tensor in own.items():
                tensor.copy_(weights[name])

    def _ids(self, text: str) -> list[int]:
        return self.vocabulary.ids(_words(text))


def _scored(model: Seq2Seq, rows: Sequence[SourceTarget], device: torch.device) -> FloatArray:
    with evaluating(model):
        return row_scores(
            rows, lambda row: model.log_likelihood(row.source, row.source_mask, row.target, row.target_mask), device
        )


@lru_cache(maxsize=4_096)  # a turn is the next one's context soon after it was a reply
def _words(text: str) -> tuple[str, ...]:
    return tuple(tokens(text))


def _tail(text: str, words: int) -> str:
    return text[-words * _CHARACTERS :]
