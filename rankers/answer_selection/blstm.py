"""Stacked (bidirectional) LSTM over question and answer in one sequence (thesis, ch. 6.3.1).

    scorer = BLSTMScorer.of(pool.questions + pool.answers, CPU, pretrained=vectors)
    training = Training(scorer.model, optimiser(scorer, config), seed=1)
    for progress in train_blstm(training, scorer, pool, config, held_out=dev): ...
    scorer.score([("who wrote it", "it was written by Ann")])

Letters: B pairs, T steps, H hidden size of a direction. The words of the question, `<S>` and the words of the answer
are read one after another; every step says how likely the answer is right, and the mean of the steps is the score.
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
from qa_core.networks.checkpoints import VOCABULARY, load_config, load_tensors, load_vocabulary, save_model
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
"""What the steps of a pair are pooled to at test, in the order of `pools`."""
CHARACTERS = 32
"""Of a text, for each word that counts: a book need not be read to its end for its first words."""
_STEPS_A_BATCH = 8_192


@dataclass(frozen=True, slots=True)
class BLSTMConfig:
    """The sizes of the thesis (table 6.3); `CPU` is for one core."""

    vocabulary: int = 100_000  # words at most, special ones included
    dimension: int = 300  # of word vectors; those of the pretrained ones where there are any
    hidden: int = 500  # H, of a direction
    layers: int = 3
    bidirectional: bool = True
    dropout: float = 0.0  # between layers
    overlap: bool = False  # one more input a step: whether the word stands on the other side too; not in the thesis
    pretrained: bool = False  # E_pre
    tuned: bool = False  # E_tune; always there without E_pre
    length: float = 3.0  # of pretrained vectors on average, once scaled: about that of word2vec's
    gaussian: float = 0.1  # standard deviation of the first weights
    max_question: int = 64  # words that count
    max_answer: int = 128


PAPER = BLSTMConfig()
CPU = BLSTMConfig(hidden=48, max_question=24, max_answer=40)


@dataclass(frozen=True, slots=True)
class BLSTMTraining:
    """SGD with momentum 0.9 as in the thesis, or Adam."""

    pointwise: PointwiseConfig = field(default_factory=lambda: PointwiseConfig(epochs=10, patience=3, balanced=True))
    optimiser: Literal["sgd", "adam"] = "adam"
    learning_rate: float = 0.001
    momentum: float = 0.9  # of sgd


@dataclass(frozen=True, slots=True)
class Texts:
    """Numbers of words, one array a text, cut to what counts."""

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
            nn.init.zeros_(self.embedding.E_tune)  # begins as the pretrained vectors

    def forward(self, tokens: Tensor, mask: Tensor, overlap: Tensor | None = None) -> Tensor:
        """Tokens, mask and, where it is an input, overlap, all (B, T), to logits (B, T), 0 in the padding."""
        inputs = self.embedding(tokens)  # (B, T, D)
        if overlap is not None:
            inputs = torch.cat([inputs, overlap.to(inputs.dtype).unsqueeze(-1)], dim=-1)
        steps: Tensor = self.label(self.lstm(inputs, mask)).squeeze(-1)
        return steps.masked_fill(~mask, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class BLSTMScorer:
    """The score of a pair is the mean over its steps; case-folded words, unknown ones are `<unk>`."""

    model: StackedLSTM
    vocabulary: Vocabulary
    config: BLSTMConfig

    @classmethod
    def of(
        cls, texts: Iterable[str], config: BLSTMConfig, *, pretrained: WordVectors | None = None, minimum: int = 1
    ) -> Self:
        """A new one over the most frequent words of the texts and then those of the vectors.

        Args:
            texts: questions and answers; torch's generator draws the first weights.
            config: `vocabulary` is the number of words at most.
            pretrained: E_pre; words that it lacks start at zero there, `<S>` has a vector drawn by chance.
            minimum: times a word has to stand in the texts.

        Raises:
            ValueError: no word stands often enough.
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
        """Raises FileNotFoundError and ValueError that say what is missing or wrong."""
        config = load_config(folder, BLSTMConfig)
        return cls.filled(config, load_vocabulary(folder), load_tensors(folder), folder=folder)

    @classmethod
    def filled(cls, config: BLSTMConfig, tokens: Sequence[str], weights: Mapping[str, Tensor], *, folder: Path) -> Self:
        """Of a vocabulary and weights by name. Raises ValueError where they are not the network's, or not finite."""
        vocabulary = Vocabulary(tuple(tokens))
        if len(vocabulary) != config.vocabulary or vocabulary.tokens[: len(SPECIALS)] != SPECIALS:
            raise ValueError(
                f"{folder / VOCABULARY}: Expected {config.vocabulary} words that begin with {' '.join(SPECIALS)}, but "
                f"got {len(vocabulary)} that begin with {' '.join(vocabulary.tokens[: len(SPECIALS)])}; train it "
                "again."
            )
        if bad := [name for name, tensor in weights.items() if not bool(tensor.isfinite().all())]:
            raise ValueError(f"{folder}: Expected finite weights, but got NaN or infinity in {bad[0]}; train it again.")
        model = StackedLSTM(config)
        try:
            model.load_state_dict(dict(weights))
        except RuntimeError as error:
            raise ValueError(f"{folder}: Expected the weights of this network, but got others: {error}") from None
        return cls(model.eval(), vocabulary, config)

    def save(self, folder: Path, *, card: str) -> None:
        """Write a folder that `load` opens; an interrupted save leaves the old model."""
        weights: Mapping[str, Tensor] = self.model.state_dict()
        save_model(folder, config=self.config, weights=weights, vocabulary=self.vocabulary.tokens, card=card)

    def read(self, questions: Sequence[str], answers: Sequence[str]) -> Texts:
        """Numbers of the words that count."""
        config = self.config
        return Texts(
            [self._ids(text, config.max_question) for text in questions],
            [self._ids(text, config.max_answer) for text in answers],
        )

    def scores(self, texts: Texts, questions: IntArray, answers: IntArray) -> Tensor:
        """Means of the steps (N,) of pairs given by places, with gradients in training."""
        steps, mask = self._steps(texts, questions, answers)
        return steps.sum(1) / mask.sum(1)

    def pools(self, texts: Texts, questions: IntArray, answers: IntArray) -> FloatArray:
        """Mean, sum and largest of the steps, (N, 3), of pairs given by places; nothing is learned meanwhile."""
        found = np.zeros((len(questions), len(POOLS)), dtype=np.float32)
        pairs = zip(questions.tolist(), answers.tolist(), strict=True)
        lengths = [len(texts.questions[q]) + len(texts.answers[a]) + 1 for q, a in pairs]
        was_training = self.model.training
        self.model.eval()
        with torch.no_grad():
            for members in batches(lengths, tokens=_STEPS_A_BATCH):
                found[members] = _pooled(*self._steps(texts, questions[members], answers[members])).cpu().numpy()
        self.model.train(was_training)
        return found

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        """Scores (N,) of texts."""
        return score_pairs(self, pairs)

    def _steps(self, texts: Texts, questions: IntArray, answers: IntArray) -> tuple[Tensor, Tensor]:
        """Logits (B, T) and mask (B, T)."""
        device = self.model.label.weight.device
        pairs = [
            (texts.questions[q], texts.answers[a]) for q, a in zip(questions.tolist(), answers.tolist(), strict=True)
        ]
        ids, mask = padded([_joined(left, right) for left, right in pairs])
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
    """By cross-entropy of the mean of the steps; with held-out pairs the model of the highest MAP stays."""
    yield from train_pointwise(training, scorer, pool, config.pointwise, held_out=held_out)


def optimiser(scorer: BLSTMScorer, config: BLSTMTraining) -> torch.optim.Optimizer:
    """Over what can be trained."""
    trained = [p for p in scorer.model.parameters() if p.requires_grad]
    if config.optimiser == "sgd":
        return torch.optim.SGD(trained, lr=config.learning_rate, momentum=config.momentum)
    return torch.optim.Adam(trained, lr=config.learning_rate)


def parameters(scorer: BLSTMScorer) -> int:
    """Numbers that are trained: E_pre is none of them."""
    return sum(p.numel() for p in scorer.model.parameters() if p.requires_grad)


def _pooled(steps: Tensor, mask: Tensor) -> Tensor:
    """(B, T) to (B, 3); there is always the step of `<S>`."""
    total = steps.sum(1)
    largest = steps.masked_fill(~mask, torch.finfo(steps.dtype).min).amax(1)
    return torch.stack([total / mask.sum(1), total, largest], dim=1)


def _joined(question: IntArray, answer: IntArray) -> IntArray:
    return np.concatenate([question, [SEPARATOR_ID], answer])


def _overlap(question: IntArray, answer: IntArray) -> IntArray:
    """1 where a known word stands on both sides."""
    left = np.isin(question, answer) & (question >= len(SPECIALS))
    right = np.isin(answer, question) & (answer >= len(SPECIALS))
    return np.concatenate([left, [False], right]).astype(np.int64)


def _vocabulary(texts: Iterable[str], config: BLSTMConfig, minimum: int, pretrained: WordVectors | None) -> Vocabulary:
    counts = Counter(word for text in texts for word in words(text))
    own = Vocabulary.from_counts(counts, size=config.vocabulary, minimum=minimum, specials=SPECIALS)
    if len(own) == len(SPECIALS):
        raise ValueError(f"Expected a word that stands {minimum} times in the texts, but got none; give more texts.")
    if pretrained is None:
        return own
    more = [word for word in pretrained.words if word not in own]
    return Vocabulary((*own.tokens, *more[: max(0, config.vocabulary - len(own))]))


def _rows(vocabulary: Vocabulary, vectors: WordVectors, length: float) -> Tensor:
    """(V, D), scaled so that the words are of this length on average, as is `<S>`.

    Unit vectors under weights of 0.1 leave the gates half open, and the first epochs learn next to nothing.
    """
    rows = np.zeros((len(vocabulary), vectors.dimension), dtype=np.float32)
    for place, word in enumerate(vocabulary.tokens):
        if word in vectors:
            rows[place] = vectors.vector(word)
    filled = torch.from_numpy(rows)
    lengths = filled.norm(dim=1)
    if bool((lengths > 0).any()):
        filled *= length / lengths[lengths > 0].mean()
    drawn = torch.randn(vectors.dimension)
    filled[SEPARATOR_ID] = drawn / drawn.norm() * length
    return filled
