"""`eval sentiment`: accuracy of a unigram network over frozen word vectors (Wieting et al. 2015, §5.5; Kim 2014).

    f_j = max_i ReLU(w_j · v_i + b_j) over the words i of a sentence,    p(positive) = σ(u · dropout(f) + c)

Better vectors of words make better filters, since these are places in the space of the words. The best of the measured
weights on development sentences are tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_bot.home.encoders import STARTER
from qa_core.measures.metrics import Score
from qa_core.networks.batching import padded
from qa_core.text.analysis import words as words_of
from qa_core.training.loop import Training, seed_everything, train
from qa_core.types import IntArray
from qa_core.vectors.word_vectors import WordVectors
from qa_lab.data.formats.sentiment import Sentence, read_sentences
from qa_lab.data.splitting import dev_share, normalised, split_by_hash
from qa_lab.data.word_vectors import word_vectors
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.report import Row, compared
from qa_lab.evaluate.words.words import models_folder

TASK, ACCURACY = "sentiment", "accuracy"
SEED = 1


@dataclass(frozen=True, slots=True)
class SentimentConfig:
    """The settings of the paper."""

    filters: int = 200
    dropout: float = 0.5
    learning_rate: float = 0.1  # of AdaGrad
    batch: int = 10
    epochs: int = 30
    measured: int = 3_000  # examples between two looks at the development sentences


class UnigramNetwork(nn.Module):
    """Letters: N sentences of up to T words, D the dimension, F filters."""

    def __init__(self, dimension: int, config: SentimentConfig) -> None:
        super().__init__()
        self.filters = nn.Linear(dimension, config.filters)
        self.output = nn.Linear(config.filters, 1)
        self.dropout = config.dropout

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """Logits (N,) of vectors (N, T, D), of which the mask (N, T) is true at words."""
        matches = functional.relu(self.filters(vectors)) * mask.unsqueeze(-1)  # (N, T, F)
        features = functional.dropout(matches.amax(1), self.dropout, self.training)  # (N, F)
        logits: Tensor = self.output(features).squeeze(-1)
        return logits


@dataclass(frozen=True, slots=True)
class _Read:
    """Sentences as numbers of known words, and their labels."""

    words: list[IntArray]
    labels: Tensor  # (N,)

    def batch(self, rows: Sequence[int], table: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors (B, T, D) and mask (B, T)."""
        ids, mask = padded([self.words[row] for row in rows])
        return table[torch.from_numpy(ids)], torch.from_numpy(mask).bool()


def evaluate_sentiment(
    data: Path,
    *,
    dev: str = "0.1",
    test: str = "0.1",
    models: Sequence[Path] = (),
    encoders: Sequence[str] = (),
    limit: int | None = None,
    seed: int = SEED,
    config: SentimentConfig | None = None,
    progress: Progress = silent,
) -> list[Row]:
    """A row for each source of word vectors, by default the starter, compared with the first.

    Args:
        data: sentences to train on.
        dev, test: files with others, or shares of the data.
        models: files of word vectors, or folders with one.
        encoders: names of encoders, which encode single words.
        limit: largest number of tested sentences.

    Raises:
        DatasetError: a file or a source of vectors cannot be read, or a part is empty.
    """
    try:
        train_part, dev_part, test_part = _parts(data, dev, test)
    except TrainingDataError as error:
        raise DatasetError(str(error)) from error
    test_part = test_part[:limit]
    words = tuple(
        dict.fromkeys(w for part in (train_part, dev_part, test_part) for s in part for w in words_of(s.text))
    )
    rows = []
    for source in [*map(str, models), *encoders] or [STARTER]:
        try:
            with models_folder() as folder:
                vectors = word_vectors(source, words, models=folder)
        except (ValueError, OSError) as error:
            raise DatasetError(str(error)) from error
        score = accuracy_of(vectors, train_part, dev_part, test_part, config or SentimentConfig(), seed, progress)
        rows.append(Row(TASK, data.name, "", "unigram network", source, len(test_part), {ACCURACY: score}))
    return compared(rows, ACCURACY)


def accuracy_of(
    vectors: WordVectors,
    train_part: Sequence[Sentence],
    dev_part: Sequence[Sentence],
    test_part: Sequence[Sentence],
    config: SentimentConfig,
    seed: int,
    progress: Progress = silent,
) -> Score:
    """Accuracy on the test sentences of the weights that are best on the development sentences."""
    table = torch.from_numpy(np.ascontiguousarray(vectors.matrix, dtype=np.float32))
    read, dev_read, test_read = (_read(part, vectors) for part in (train_part, dev_part, test_part))
    seed_everything(seed)
    model = UnigramNetwork(table.shape[1], config)
    optimiser = torch.optim.Adagrad(model.parameters(), lr=config.learning_rate)
    training = Training(model, optimiser, seed=seed)
    size = min(config.measured, len(read.words))

    def batches(_epoch: int, rng: np.random.Generator) -> Iterator[IntArray]:
        rows = rng.permutation(len(read.words))[:size]
        return (rows[start : start + config.batch] for start in range(0, size, config.batch))

    def loss(network: nn.Module, rows: IntArray) -> Tensor:
        logits = network(*read.batch(rows.tolist(), table))
        return functional.binary_cross_entropy_with_logits(logits, read.labels[torch.from_numpy(rows)])

    looks = -(-config.epochs * len(read.words) // size)
    for report in train(training, batches, loss, epochs=looks, evaluate=lambda _: _right(model, dev_read, table).mean):
        progress("looks at development sentences", report.epoch)
    model.eval()
    return _right(model, test_read, table)


def _right(model: UnigramNetwork, read: _Read, table: Tensor) -> Score:
    right: list[float] = []
    with torch.no_grad():
        for start in range(0, len(read.words), 500):
            rows = range(start, min(start + 500, len(read.words)))
            positive = model(*read.batch(rows, table)) > 0
            right += (positive == read.labels[start : rows.stop].bool()).float().tolist()
    return Score.of({str(row): value for row, value in enumerate(right)})


def _read(sentences: Sequence[Sentence], vectors: WordVectors) -> _Read:
    known = [[vectors.index[word] for word in words_of(text) if word in vectors] for text, _ in sentences]
    labels = torch.tensor([float(positive) for _, positive in sentences])
    return _Read([np.array(ids, dtype=np.int64) for ids in known], labels)


def _parts(data: Path, dev: str, test: str) -> tuple[list[Sentence], list[Sentence], list[Sentence]]:
    rest, test_part = _split(read_sentences(data), test, "test")
    train_part, dev_part = _split(rest, dev, "dev")
    for name, part in (("train", train_part), ("dev", dev_part), ("test", test_part)):
        if not part:
            raise TrainingDataError(
                f"Expected sentences to {name}, but got none of {data}; give more, or other shares."
            )
    return train_part, dev_part, test_part


def _split(sentences: list[Sentence], held_out: str, name: str) -> tuple[list[Sentence], list[Sentence]]:
    """Sentences, and those of a file or of a share; equal sentences are on one side."""
    share = dev_share(held_out)
    if share is None:
        return sentences, read_sentences(Path(held_out))
    return split_by_hash(sentences, share, lambda sentence: f"{name} {normalised(sentence.text)}")
