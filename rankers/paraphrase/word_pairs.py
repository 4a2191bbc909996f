"""A pair scorer over the words of two texts: one of several networks, its vocabulary and its model folder.

scorer = WordPairs.of(EntailmentConfig, texts, WordSizes(), pretrained=vectors)
scorer.score([("how tall is it?", "what is its height?")])
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self, cast

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from qa_core.atomic import current_folder
from qa_core.encoders.trained_encoder import WordReader
from qa_core.networks.batching import batches
from qa_core.networks.checkpoints import (
    CONFIG,
    VOCABULARY,
    load_config,
    load_module,
    load_vocabulary,
    save_model,
)
from qa_core.networks.poolings import WordEmbedding, pad
from qa_core.networks.vocabulary import PAD, UNKNOWN, Vocabulary
from qa_core.text.analysis import words
from qa_core.types import FloatArray, IntArray
from qa_core.vectors.word_vectors import WordVectors
from rankers.neural import TextPair
from rankers.paraphrase.baselines import DecomposableAttention, DecomposableConfig, Siamese, SiameseConfig
from rankers.paraphrase.bilateral_matching import BilateralMatching, MatchingConfig
from rankers.paraphrase.contextual_words import Context, ContextEmbedding, ContextReader, Contextual, pad_states
from rankers.paraphrase.decomposition import DecompositionConfig, LexicalDecomposition
from rankers.paraphrase.entailment import DualEntailment, EntailmentConfig
from rankers.trainable import score_pairs

NetworkConfig = EntailmentConfig | SiameseConfig | DecomposableConfig | MatchingConfig | DecompositionConfig
Rows = Sequence[NDArray[Any]]
"""Word numbers (T,) of texts or, with a context, hidden states (T, C)."""

PERSPECTIVES = 20
_NETWORKS: dict[type[NetworkConfig], Callable[[Any], nn.Module]] = {
    EntailmentConfig: DualEntailment,
    SiameseConfig: Siamese,
    DecomposableConfig: DecomposableAttention,
    MatchingConfig: BilateralMatching,
    DecompositionConfig: LexicalDecomposition,
}
CONFIGS: dict[str, Callable[..., NetworkConfig]] = {
    "entailment": EntailmentConfig,
    "siamese": SiameseConfig,
    "siamese-cnn": partial(SiameseConfig, encoder="cnn"),
    "multi-perspective": partial(SiameseConfig, perspectives=PERSPECTIVES),
    "multi-perspective-cnn": partial(SiameseConfig, encoder="cnn", perspectives=PERSPECTIVES),
    "decomposable": DecomposableConfig,
    "bimpm": partial(MatchingConfig, perspectives=PERSPECTIVES),
    "ldc": DecompositionConfig,
}
"""Configuration by the name of the model."""
_CHARACTERS = 16  # of a text that are read, per word
_SAMPLE = 2_000  # texts, at most
_TOKENS = 1 << 13  # per batch in scoring, padding included


@dataclass(frozen=True, slots=True)
class WordSizes:
    """Sizes of a network over words."""

    vocabulary: int = 60_000  # words, at most
    minimum: int = 1  # occurrences of a word in the training texts
    dimension: int = 300  # of word vectors
    hidden: int = 300
    dropout: float = 0.2
    max_tokens: int = 64  # words of a text that are read


PAPER = WordSizes()
CPU = WordSizes(dimension=128, hidden=96, max_tokens=40)


@dataclass(frozen=True, slots=True, eq=False)
class WordPairs:
    """A trainable pair scorer (`rankers.trainable.Trainable`)."""

    model: nn.Module
    reader: WordReader | ContextReader
    config: NetworkConfig

    @classmethod
    def of(cls, kind: str, texts: Iterable[str], sizes: WordSizes, *, pretrained: WordVectors | None = None) -> Self:
        """An untrained network over the words of the texts; torch's generator draws its weights.

        Args:
            kind: a key of `CONFIGS`.
            pretrained: E_pre, whose dimension replaces that of the sizes; other words have zeros there.
        """
        counts = Counter(word for text in texts for word in words(text))
        specials = (PAD, UNKNOWN)
        vocabulary = Vocabulary.from_counts(
            counts, size=sizes.vocabulary + len(specials), minimum=sizes.minimum, specials=specials
        )
        config = CONFIGS[kind](
            len(vocabulary),
            pretrained.dimension if pretrained is not None else sizes.dimension,
            hidden=sizes.hidden,
            dropout=sizes.dropout,
            pretrained=pretrained is not None,
            max_tokens=sizes.max_tokens,
        )
        model: Any = network_of(config)
        if pretrained is not None:
            cast(WordEmbedding, model.embedding).set_pretrained(torch.from_numpy(pretrained.rows(vocabulary.tokens)))
        return cls(model, WordReader(vocabulary, config.max_tokens), config)

    @classmethod
    def in_context(
        cls, kind: str, texts: Sequence[str], sizes: WordSizes, encoder: Contextual, *, name: str, scale: float
    ) -> Self:
        """An untrained network over the hidden states of an encoder; a sample of the texts determines their main axes.

        Args:
            name: name of the encoder, by which a saved model finds it.
            scale: length of the word vectors.
        """
        reader = ContextReader(encoder, sizes.max_tokens)
        config = CONFIGS[kind](
            0,
            sizes.dimension,
            hidden=sizes.hidden,
            dropout=sizes.dropout,
            max_tokens=sizes.max_tokens,
            context=Context(encoder.dimension, name, encoder.fingerprint, scale),
        )
        model: Any = network_of(config)
        cast(ContextEmbedding, model.embedding).set_axes(reader.rows(texts[:: -(-len(texts) // _SAMPLE) or 1]))
        return cls(model, reader, config)

    @classmethod
    def load(cls, folder: Path, *, opened: Callable[[str], Contextual] | None = None) -> Self:
        """A saved model.

        Args:
            opened: opens an encoder by its name, for words in context.

        Raises:
            FileNotFoundError: the model does not exist.
            ValueError: it has another kind or vocabulary, contains NaN, or was trained with another encoder.
        """
        config = load_config(folder, _kind(folder))
        reader = _context(folder, config, opened) if config.context.size else _words(folder, config)
        model: Any = network_of(config)
        load_module(folder, model)
        model.eval()
        return cls(model, reader, config)

    def save(self, folder: Path, *, card: str) -> None:
        """Write the model; raises ValueError if it contains NaN or the folder has other contents."""
        tokens = self.reader.vocabulary.tokens if isinstance(self.reader, WordReader) else None
        save_model(folder, config=self.config, weights=self.model.state_dict(), vocabulary=tokens, card=card)

    def read(self, questions: Sequence[str], answers: Sequence[str]) -> tuple[Rows, Rows]:
        """Rows of the texts, truncated."""
        limit = _CHARACTERS * self.config.max_tokens
        first, second = (self.reader.rows([text[:limit] for text in texts]) for texts in (questions, answers))
        return first, second

    def scores(self, texts: Any, questions: IntArray, answers: IntArray) -> Tensor:
        """Logits (N,), with gradients in training; without gradients, in batches of similar length."""
        pairs = [(texts[0][q], texts[1][a]) for q, a in zip(questions.tolist(), answers.tolist(), strict=True)]
        if not pairs or torch.is_grad_enabled():
            return self._logits(pairs)
        order = batches([2 * max(map(len, pair)) for pair in pairs], tokens=_TOKENS)
        logits = torch.cat([self._logits([pairs[i] for i in members]) for members in order])
        positions = torch.tensor([i for members in order for i in members])
        return logits[positions.argsort()]

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        """Logits (N,) float32."""
        return score_pairs(self, pairs)

    def _logits(self, pairs: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> Tensor:
        if not pairs:
            return torch.zeros(0)
        rows = [*(first for first, _ in pairs), *(second for _, second in pairs)]
        tokens, mask = pad_states(rows) if self.config.context.size else pad([row.tolist() for row in rows])  # (2B, T)
        device = next(self.model.parameters()).device
        logits: Tensor = self.model(tokens.to(device), mask.to(device))
        return logits


def network_of(config: NetworkConfig) -> nn.Module:
    """An untrained network of this configuration."""
    return _NETWORKS[type(config)](config)


def _words(folder: Path, config: NetworkConfig) -> WordReader:
    vocabulary = Vocabulary(tuple(load_vocabulary(folder)))
    if len(vocabulary) != config.vocabulary:
        raise ValueError(
            f"{folder / VOCABULARY}: Expected {config.vocabulary} words, as {CONFIG} says, but got {len(vocabulary)}; "
            "take both files from the same model."
        )
    return WordReader(vocabulary, config.max_tokens)


def _context(folder: Path, config: NetworkConfig, opened: Callable[[str], Contextual] | None) -> ContextReader:
    context = config.context
    if opened is None:
        raise ValueError(f"{folder}: Expected the encoder {context.encoder!r} to read words in context with.")
    encoder = opened(context.encoder)
    if encoder.fingerprint != context.fingerprint:
        raise ValueError(
            f"{folder}: Expected the encoder {context.encoder!r} as it was in training, but its weights or settings "
            "have changed; restore it, or train again."
        )
    return ContextReader(encoder, config.max_tokens)


def _kind(folder: Path) -> type[NetworkConfig]:
    path = current_folder(folder) / CONFIG
    head = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    kinds = {config.__name__: config for config in _NETWORKS}
    return kinds.get(str(head.get("kind")), EntailmentConfig)  # its error names the expected kind
