"""What trainable rankers over frozen word vectors share: they are read, scored, saved and loaded alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from torch import Tensor, nn

from qa_core.networks.checkpoints import load_config
from qa_core.types import FloatArray, IntArray
from rankers.answer_selection.frozen_words import (
    FrozenWords,
    Texts,
    WordsConfig,
    load_network,
    load_words,
    read_texts,
    save_with_words,
)
from rankers.neural import TextPair
from rankers.trainable import score_pairs


class Shape(Protocol):
    """Sizes of a network."""

    @property
    def max_words(self) -> int: ...


class RankerConfig(Protocol):
    """A dataclass whose name is the kind of a model."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def words(self) -> WordsConfig: ...

    @property
    def shape(self) -> Shape: ...


Network = TypeVar("Network", bound=nn.Module)
Config = TypeVar("Config", bound=RankerConfig)


@dataclass(frozen=True, eq=False)
class WordRanker(ABC, Generic[Network, Config]):
    """A trainable pair scorer (`rankers.trainable.Trainable`); words without a vector are ignored."""

    model: Network
    source: FrozenWords
    config: Config

    config_type: ClassVar[type[Any]]

    @classmethod
    @abstractmethod
    def of(cls, source: FrozenWords, shape: Any) -> Self:
        """An untrained ranker; global generators draw its weights. Raises ValueError for impossible sizes."""

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises FileNotFoundError or ValueError for a missing, damaged or different model."""
        config = load_config(folder, cls.config_type)
        ranker = cls.of(load_words(folder, config.words), config.shape)
        load_network(folder, ranker.model, ranker.source)
        ranker.model.eval()
        return ranker

    def save(self, folder: Path, *, card: str) -> None:
        save_with_words(folder, self.model, self.source, config=self.config, card=card)

    @property
    def parameters(self) -> int:
        """Number of trainable weights."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    def read(self, questions: Sequence[str], answers: Sequence[str]) -> Texts:
        return read_texts(self.source, questions, answers, limit=self.config.shape.max_words)

    @abstractmethod
    def scores(self, texts: Texts, questions: IntArray, answers: IntArray) -> Tensor:
        """Scores (N,) of pairs of texts that were read, by their numbers (N,)."""

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        """Scores (N,) float32."""
        return score_pairs(self, pairs)
