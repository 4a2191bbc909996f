"""An encoder-decoder over texts: generates targets, scores targets, and has a folder on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor

from qa_core.networks.batching import batches, padded
from qa_core.networks.beam_search import beam
from qa_core.networks.checkpoints import VOCABULARY, load_config, load_module, load_vocabulary, save_model
from qa_core.networks.decoder_types import END_ID, SPECIALS, START_ID, Limits, Seq2SeqConfig
from qa_core.networks.seq2seq import Seq2Seq, State
from qa_core.networks.vocabulary import Vocabulary
from qa_core.text.analysis import words
from qa_core.types import FloatArray, IntArray
from qa_core.vectors.word_vectors import WordVectors

_BARRED = tuple(range(len(SPECIALS)))
_TOKENS_A_BATCH = 4_096


@dataclass(frozen=True, slots=True)
class TranslatorConfig:
    network: Seq2SeqConfig
    max_source: int = 64  # words of a source that are read
    max_target: int = 64  # words of a target that are read


@dataclass(frozen=True, slots=True)
class Generated:
    """A generated text."""

    words: tuple[str, ...]
    log_likelihood: float  # with `</s>` if it was reached


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Pairs of texts as tensors, the arguments of `Seq2Seq.log_likelihood`."""

    source: Tensor  # (B, T)
    source_mask: Tensor  # (B, T)
    target: Tensor  # (B, Q)
    target_mask: Tensor  # (B, Q)
    topic: Tensor | None = None  # (B, E), for a decoder with topics

    @classmethod
    def of(cls, rows: Sequence[tuple[IntArray, IntArray]], device: torch.device) -> Self:
        """From the word ids of sources and targets."""
        sources, targets = zip(*rows, strict=True)
        return cls(*_tensors(sources, device), *_tensors(targets, device))

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, slots=True, eq=False)
class Translator:
    """Translates sources to targets over one vocabulary of case-folded words; unknown words are `<unk>`."""

    model: Seq2Seq
    vocabulary: Vocabulary
    config: TranslatorConfig

    @classmethod
    def of(
        cls,
        texts: Iterable[str],
        config: TranslatorConfig,
        *,
        minimum: int = 1,
        pretrained: WordVectors | None = None,
    ) -> Self:
        """A new translator over the most frequent words of the texts; torch's global generator draws its weights.

        Args:
            config: `network.vocabulary` is the largest number of words, special ones included.
            minimum: occurrences that a word needs.
            pretrained: E_pre of both sides; its dimension overrides the configured one, and words that it lacks start
                at zero.

        Raises:
            ValueError: if no word is frequent enough.
        """
        counts = Counter(word for text in texts for word in words(text))
        vocabulary = Vocabulary.from_counts(counts, size=config.network.vocabulary, minimum=minimum, specials=SPECIALS)
        network = replace(config.network, vocabulary=len(vocabulary), pretrained=pretrained is not None)
        if pretrained is not None:
            network = replace(network, dimension=pretrained.dimension)
        model = Seq2Seq(network)
        if pretrained is not None:
            rows = torch.from_numpy(pretrained.rows(vocabulary.tokens))
            for embedding in (model.source, model.target):
                embedding.set_pretrained(rows)
        return cls(model, vocabulary, replace(config, network=network))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open a saved model. Raises FileNotFoundError or ValueError for missing or damaged files."""
        return cls.restored(folder, load_config(folder, TranslatorConfig))

    @classmethod
    def restored(cls, folder: Path, config: TranslatorConfig) -> Self:
        """Open the weights and words of a folder whose configuration is known; raises the same."""
        vocabulary = Vocabulary(tuple(load_vocabulary(folder)))
        if len(vocabulary) != config.network.vocabulary or vocabulary.tokens[: len(SPECIALS)] != SPECIALS:
            raise ValueError(
                f"{folder / VOCABULARY}: Expected {config.network.vocabulary} words that begin with "
                f"{' '.join(SPECIALS)}, but got {len(vocabulary)} that begin with "
                f"{' '.join(vocabulary.tokens[: len(SPECIALS)])}; train or fetch the model again."
            )
        model = Seq2Seq(config.network)
        load_module(folder, model)
        return cls(model.eval(), vocabulary, config)

    def save(self, folder: Path, *, card: str) -> None:
        """Write a folder that `load` opens; an interrupted save leaves the old model."""
        weights: Mapping[str, Tensor] = self.model.state_dict()
        save_model(folder, config=self.config, weights=weights, vocabulary=self.vocabulary.tokens, card=card)

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    def sources(self, texts: Sequence[str]) -> list[IntArray]:
        """Word ids of each text, (T,), within boundary symbols if the network has them."""
        return [self.config.network.source(self._row(text, self.config.max_source)) for text in texts]

    def targets(self, texts: Sequence[str]) -> list[IntArray]:
        """Word ids of each text with `</s>` at the end, (Q,)."""
        return [np.append(self._row(text, self.config.max_target), END_ID) for text in texts]

    def log_likelihoods(self, sources: Sequence[str], targets: Sequence[str]) -> tuple[FloatArray, IntArray]:
        """`log p(target | source)` of each pair (N,), and its number of target tokens with `</s>` (N,)."""
        columns = list(zip(self.sources(sources), self.targets(targets), strict=True))
        totals = np.zeros(len(columns), dtype=np.float32)
        for members in batches([len(left) + len(right) for left, right in columns], tokens=_TOKENS_A_BATCH):
            chosen = Columns.of([columns[i] for i in members], self.device)
            totals[members] = self._likelihoods(chosen)
        return totals, np.array([len(right) for _, right in columns], dtype=np.int64)

    def perplexities(self, sources: Sequence[str], targets: Sequence[str]) -> FloatArray:
        """`exp(−1/T Σ_t log p(y_t | y_<t, x))` of each pair, (N,); lower is likelier (Wang 2018, ch. 6.4)."""
        totals, tokens = self.log_likelihoods(sources, targets)
        perplexities: FloatArray = np.exp(-totals / tokens).astype(np.float32)
        return perplexities

    def generated(
        self,
        sources: Sequence[str],
        *,
        size: int = 5,
        length: int | None = None,
        check: Callable[[], object] = lambda: None,
    ) -> list[list[Generated]]:
        """Up to `size` likely targets of each source by beam search, best first; special words are never generated.

        `check` is called before each word, and may raise to stop.
        """

        def step(state: State, tokens: Tensor) -> tuple[Tensor, State]:
            check()
            return self.model.step(state, tokens)

        limits = Limits(START_ID, END_ID, length or self.config.max_target, barred=_BARRED[:END_ID])
        rows = self.sources(sources)
        texts: list[list[Generated]] = [[] for _ in sources]
        with _evaluating(self.model):
            for members in batches([len(row) + limits.length for row in rows], tokens=_TOKENS_A_BATCH):
                state = self.model.start(*_tensors([rows[i] for i in members], self.device))
                beams = beam(step, state, len(members), size=size, limits=limits)
                for i, hypotheses in zip(members, beams, strict=True):
                    texts[i] = [Generated(tuple(self.vocabulary.words(h.tokens)), h.score) for h in hypotheses]
        return texts

    def _likelihoods(self, columns: Columns) -> FloatArray:
        with _evaluating(self.model):
            totals: FloatArray = (
                self.model.log_likelihood(columns.source, columns.source_mask, columns.target, columns.target_mask)
                .cpu()
                .numpy()
            )
        return totals

    def _row(self, text: str, limit: int) -> IntArray:
        return np.array(self.vocabulary.ids(words(text)[:limit]), dtype=np.int64)


@contextmanager
def _evaluating(model: Seq2Seq) -> Iterator[None]:
    """Switch off dropout and gradients within the block."""
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(training)


def _tensors(rows: Sequence[IntArray], device: torch.device) -> tuple[Tensor, Tensor]:
    ids, mask = padded(rows)
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask).bool().to(device)
