"""A stacked (bidirectional) LSTM ranker over question and answer in one sequence (Wang 2018, §6.3.1).

    scorer = BLSTMScorer.of(pool.questions + pool.answers, CPU, pretrained=vectors)
    training = Training(scorer.model, optimiser(scorer, config), seed=1)
    for progress in train_blstm(training, scorer, pool, config, held_out=dev): ...
    scorer.score([("who wrote it", "it was written by Ann")])

Letters: B pairs, T steps, H hidden size per direction. The input is the words of the question, `<S>` and the words of
the answer. Every step predicts whether the answer is right; the score is the mean over the steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self

import numpy as np
import torch
from torch import Tensor, nn

from qa_core.networks.batching import batches, padded
from qa_core.networks.checkpoints import (
    VOCABULARY,
    load_config,
    load_tensors,
    load_vocabulary,
    save_model,
)
from qa_core.networks.poolings import MaskedLSTM, WordEmbedding
from qa_core.networks.vocabulary import PAD, UNKNOWN, Vocabulary
from qa_core.text.analysis import words
from qa_core.training.loop import Progress, Training
from qa_core.types import FloatArray, IntArray
from qa_core.vectors.word_vectors import WordVectors
from rankers.neural import TextPair
from rankers.trainable import score_pairs
from rankers.training.answer_pool import AnswerPool
from rankers.training.pair_training import PointwiseConfig, train_pointwise

SEPARATOR = "<S>"
SPECIALS = (PAD, UNKNOWN, SEPARATOR)
SEPARATOR_ID = SPECIALS.index(SEPARATOR)
POOLS = ("blstm_mean", "blstm_sum", "blstm_max")
"""Names of the columns of `pools`."""
CHARACTERS = 32
"""Characters of a text that are read, per word."""
_STEPS_A_BATCH = 8_192


@dataclass(frozen=True, slots=True)
class BLSTMConfig:
    """The sizes of Wang (2018, table 6.3); `CPU` is for one core."""

    vocabulary: int = 100_000  # words at most, special ones included
    dimension: int = 300  # of word vectors; pretrained vectors bring theirs
    hidden: int = 500  # H, per direction
    layers: int = 3
    bidirectional: bool = True
    dropout: float = 0.0  # between layers
    overlap: bool = False  # whether a further input says if the other side has the word too; ours
    pretrained: bool = False  # E_pre
    tuned: bool = False  # E_tune; always true without E_pre
    length: float = 3.0  # mean length to scale pretrained vectors to, about that of word2vec
    gaussian: float = 0.1  # standard deviation of the initial weights
    max_question: int = 64  # words read
    max_answer: int = 128


PAPER = BLSTMConfig()
CPU = BLSTMConfig(hidden=48, max_question=24, max_answer=40)


@dataclass(frozen=True, slots=True)
class BLSTMTraining:
    """SGD with momentum 0.9 (Wang 2018), or Adam."""

    pointwise: PointwiseConfig = field(default_factory=lambda: PointwiseConfig(epochs=10, patience=3, balanced=True))
    optimiser: Literal["sgd", "adam"] = "adam"
    learning_rate: float = 0.001
    momentum: float = 0.9  # of sgd


FAITHFUL_TRAINING = BLSTMTraining(PointwiseConfig(epochs=10, patience=3, clip=0.0), "sgd", 0.01)
"""SGD over all pairs in random order, as in the paper, which gives neither rate nor batch nor epochs."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Word numbers, an array per text, truncated."""

    questions: list[IntArray]
    answers: list[IntArray]


class StackedLSTM(nn.Module):
    """Tokens of pairs to a score at every step."""

    def __init__(self, config: BLSTMConfig) -> None:
        super().__init__()
        self.config = config
        tuned = config.tuned or not config.pretrained
        self.embedding = WordEmbedding(config.vocabulary, config.dimension, pretrained=config.pretrained, tuned=tuned)
        self.lstm = MaskedLSTM(
            config.dimension + config.overlap,
            config.hidden,
            layers=config.layers,
            dropout=config.dropout,
            bidirectional=config.bidirectional,
        )
        self.label = nn.Linear(self.lstm.output_size, 1)
        for parameter in self.parameters():
            nn.init.normal_(parameter, 0.0, config.gaussian)
        if self.embedding.E_pre is not None and self.embedding.E_tune is not None:
            nn.init.zeros_(self.embedding.E_tune)  # starts from the pretrained vectors

    def forward(self, tokens: Tensor, mask: Tensor, overlap: Tensor | None = None) -> Tensor:
        """Tokens, mask and, if it is an input, overlap, all (B, T), to logits (B, T), 0 in the padding."""
        inputs = self.embedding(tokens)  # (B, T, D)
        if overlap is not None:
            inputs = torch.cat([inputs, overlap.to(inputs.dtype).unsqueeze(-1)], dim=-1)
        steps: Tensor = self.label(self.lstm(inputs, mask)).squeeze(-1)
        return steps.masked_fill(~mask, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class BLSTMScorer:
    """Scores a pair by the mean over its steps; words are case-folded, unknown ones are `<unk>`."""

    model: StackedLSTM
    vocabulary: Vocabulary
    config: BLSTMConfig

    @classmethod
    def of(
        cls, texts: Iterable[str], config: BLSTMConfig, *, pretrained: WordVectors | None = None, minimum: int = 1
    ) -> Self:
        """An untrained scorer over the most frequent words of the texts and then those of the vectors.

        Args:
            texts: questions and answers; torch's generator draws the weights.
            config: `vocabulary` is the maximum number of words.
            pretrained: E_pre; other words have zeros there, `<S>` a random vector.
            minimum: occurrences of a word in the texts.

        Raises:
            ValueError: no word occurs often enough.
        """
        vocabulary = _vocabulary(texts, config, minimum, pretrained)
        dimension = pretrained.dimension if pretrained is not None else config.dimension
        shape = replace(config, vocabulary=len(vocabulary), dimension=dimension, pretrained=pretrained is not None)
        model = StackedLSTM(shape)
        if pretrained is not None:
            model.embedding.set_pretrained(_rows(vocabulary, pretrained, config.length))
        return cls(model, vocabulary, shape)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises FileNotFoundError or ValueError for a missing, damaged or different model."""
        config = load_config(folder, BLSTMConfig)
        return cls.filled(config, load_vocabulary(folder), load_tensors(folder), folder=folder)

    @classmethod
    def filled(cls, config: BLSTMConfig, tokens: Sequence[str], weights: Mapping[str, Tensor], *, folder: Path) -> Self:
        """A scorer with these words and weights. Raises ValueError if they do not fit the network or are not finite."""
        vocabulary = Vocabulary(tuple(tokens))
        if len(vocabulary) != config.vocabulary or vocabulary.tokens[: len(SPECIALS)] != SPECIALS:
            raise ValueError(
                f"{folder / VOCABULARY}: Expected {config.vocabulary} words that begin with {' '.join(SPECIALS)}, but "
                f"got {len(vocabulary)} that begin with {' '.join(vocabulary.tokens[: len(SPECIALS)])}; train it "
                "again."
            )
        model = StackedLSTM(config)
        try:
            model.load_state_dict(dict(weights))
        except RuntimeError as error:
            raise ValueError(f"{folder}: Expected the weights of this network, but got others: {error}") from None
        return cls(model.eval(), vocabulary, config)

    def save(self, folder: Path, *, card: str) -> None:
        """Write a folder that `load` opens; an interrupted save keeps the old model."""
        weights: Mapping[str, Tensor] = self.model.state_dict()
        save_model(folder, config=self.config, weights=weights, vocabulary=self.vocabulary.tokens, card=card)

    def read(self, questions: Sequence[str], answers: Sequence[str]) -> Texts:
        """Word numbers of the texts, truncated."""
        config = self.config
        return Texts(
            [self._ids(text, config.max_question) for text in questions],
            [self._ids(text, config.max_answer) for text in answers],
        )

    def scores(self, texts: Texts, questions: IntArray, answers: IntArray) -> Tensor:
        """Means (N,) over the steps of pairs, with gradients in training."""
        steps, mask = self._steps(texts, questions, answers)
        return steps.sum(1) / mask.sum(1)

    def pools(self, texts: Texts, questions: IntArray, answers: IntArray) -> FloatArray:
        """Mean, sum and maximum (N, 3) over the steps of pairs, without gradients."""
        table = np.zeros((len(questions), len(POOLS)), dtype=np.float32)
        pairs = zip(questions.tolist(), answers.tolist(), strict=True)
        lengths = [len(texts.questions[q]) + len(texts.answers[a]) + 1 for q, a in pairs]
        was_training = self.model.training
        self.model.eval()
        with torch.no_grad():
            for members in batches(lengths, tokens=_STEPS_A_BATCH):
                table[members] = _pooled(*self._steps(texts, questions[members], answers[members])).cpu().numpy()
        self.model.train(was_training)
        return table

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        """Scores (N,) of texts."""
        return score_pairs(self, pairs)

    def _steps(self, texts: Texts, questions: IntArray, answers: IntArray) -> tuple[Tensor, Tensor]:
        """Logits (B, T) and mask (B, T)."""
        device = self.model.label.weight.device
        pairs = [
            (texts.questions[q], texts.answers[a]) for q, a in zip(questions.tolist(), answers.tolist(), strict=True)
        ]
        ids, mask = padded([_concat(left, right) for left, right in pairs])
        overlap = None
        if self.config.overlap:
            overlap = torch.from_numpy(padded([_overlap(left, right) for left, right in pairs])[0]).to(device)
        real = torch.from_numpy(mask).bool().to(device)
        return self.model(torch.from_numpy(ids).to(device), real, overlap), real

    def _ids(self, text: str, limit: int) -> IntArray:
        return np.array(self.vocabulary.ids(words(text[: limit * CHARACTERS])[:limit]), dtype=np.int64)


def train_blstm(
    training: Training,
    scorer: BLSTMScorer,
    pool: AnswerPool,
    config: BLSTMTraining,
    *,
    held_out: AnswerPool | None = None,
) -> Iterator[Progress]:
    """Train by cross-entropy of the mean over the steps; with held-out pairs it ends with the best MAP."""
    yield from train_pointwise(training, scorer, pool, config.pointwise, held_out=held_out)


def optimiser(scorer: BLSTMScorer, config: BLSTMTraining) -> torch.optim.Optimizer:
    """Adam or SGD over the trainable weights."""
    trainable = [p for p in scorer.model.parameters() if p.requires_grad]
    if config.optimiser == "sgd":
        return torch.optim.SGD(trainable, lr=config.learning_rate, momentum=config.momentum)
    return torch.optim.Adam(trainable, lr=config.learning_rate)


def parameters(scorer: BLSTMScorer) -> int:
    """Number of trainable weights, without E_pre."""
    return sum(p.numel() for p in scorer.model.parameters() if p.requires_grad)


def _pooled(steps: Tensor, mask: Tensor) -> Tensor:
    """Steps (B, T) to mean, sum and maximum (B, 3); every pair has the step of `<S>`."""
    total = steps.sum(1)
    maximum = steps.masked_fill(~mask, torch.finfo(steps.dtype).min).amax(1)
    return torch.stack([total / mask.sum(1), total, maximum], dim=1)


def _concat(question: IntArray, answer: IntArray) -> IntArray:
    return np.concatenate([question, [SEPARATOR_ID], answer])


def _overlap(question: IntArray, answer: IntArray) -> IntArray:
    """1 for known words that are on both sides."""
    left = np.isin(question, answer) & (question >= len(SPECIALS))
    right = np.isin(answer, question) & (answer >= len(SPECIALS))
    return np.concatenate([left, [False], right]).astype(np.int64)


def _vocabulary(texts: Iterable[str], config: BLSTMConfig, minimum: int, pretrained: WordVectors | None) -> Vocabulary:
    counts = Counter(word for text in texts for word in words(text))
    vocabulary = Vocabulary.from_counts(counts, size=config.vocabulary, minimum=minimum, specials=SPECIALS)
    if len(vocabulary) == len(SPECIALS):
        raise ValueError(f"Expected a word that occurs {minimum} times in the texts, but got none; give more texts.")
    if pretrained is None:
        return vocabulary
    further = [word for word in pretrained.words if word not in vocabulary]
    return Vocabulary((*vocabulary.tokens, *further[: max(0, config.vocabulary - len(vocabulary))]))


def _rows(vocabulary: Vocabulary, vectors: WordVectors, length: float) -> Tensor:
    """Vectors (V, D), scaled to this mean length, which is also that of `<S>`.

    Unit vectors with initial weights of 0.1 leave the gates half open, so the first epochs learn hardly anything.
    """
    table = torch.from_numpy(vectors.rows(vocabulary.tokens))
    lengths = table.norm(dim=1)
    if bool((lengths > 0).any()):
        table *= length / lengths[lengths > 0].mean()
    separator = torch.randn(vectors.dimension)
    table[SEPARATOR_ID] = separator / separator.norm() * length
    return table
