"""Ranks passages by the likelihood of the question given the passage, by an encoder-decoder (Wang 2018, §6.4).

    ranker = EncoderDecoderRanker.of([*questions, *answers], SMALL)
    training = Training(ranker.model, optimiser(ranker.translator, config), seed=1)
    for progress in train_encoder_decoder(training, ranker, pairs, config, held_out=dev): ...
    ranker.score([("what do turtles eat", "feed them vegetables")])

The model is trained on right pairs alone. With S the question and T the answer, `backward` is p(S|T), the ranker;
`forward` is p(T|S), and `normalised` is p(T|S) / p(T).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self

import numpy as np

from qa_core.networks.checkpoints import (
    VOCABULARY,
    load_config,
    load_tensors,
    load_vocabulary,
    save_model,
)
from qa_core.networks.decoder_types import SPECIALS, Seq2SeqConfig
from qa_core.networks.seq2seq import Seq2Seq
from qa_core.networks.translator import Translator, TranslatorConfig
from qa_core.networks.vocabulary import Vocabulary
from qa_core.training.likelihood_training import LikelihoodConfig, train_translator
from qa_core.training.loop import Progress, Training
from qa_core.types import FloatArray
from qa_core.vectors.word_vectors import WordVectors
from rankers.answer_selection.blstm import CHARACTERS
from rankers.neural import TextPair

Direction = Literal["backward", "forward", "prior"]
"""Question given answer (the ranker), answer given question, or answer alone."""


@dataclass(frozen=True, slots=True)
class EncoderDecoderConfig:
    """The sizes of Wang (2018); `SMALL` is for one core."""

    network: Seq2SeqConfig = field(default_factory=lambda: Seq2SeqConfig(50_000, boundaries=True))
    direction: Literal["backward", "forward", "prior"] = "backward"
    max_question: int = 64  # words read
    max_answer: int = 128


PAPER = EncoderDecoderConfig()
SMALL = EncoderDecoderConfig(Seq2SeqConfig(10_000, dimension=128, hidden=128, layers=1), max_question=24, max_answer=48)


@dataclass(frozen=True, slots=True, eq=False)
class EncoderDecoderRanker:
    """Scores pairs by the mean log-likelihood per word, that is minus the logarithm of the perplexity."""

    translator: Translator
    config: EncoderDecoderConfig

    @classmethod
    def of(
        cls,
        texts: Iterable[str],
        config: EncoderDecoderConfig,
        *,
        minimum: int = 1,
        pretrained: WordVectors | None = None,
    ) -> Self:
        """An untrained ranker over the most frequent words of the texts; see `Translator.of`."""
        translator = Translator.of(texts, _shape(config), minimum=minimum, pretrained=pretrained)
        return cls(translator, replace(config, network=translator.config.network))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises FileNotFoundError or ValueError for a missing, damaged or different model."""
        config = load_config(folder, EncoderDecoderConfig)
        vocabulary = Vocabulary(tuple(load_vocabulary(folder)))
        if len(vocabulary) != config.network.vocabulary or vocabulary.tokens[: len(SPECIALS)] != SPECIALS:
            raise ValueError(
                f"{folder / VOCABULARY}: Expected {config.network.vocabulary} words that begin with "
                f"{' '.join(SPECIALS)}, but got {len(vocabulary)} that begin with "
                f"{' '.join(vocabulary.tokens[: len(SPECIALS)])}; train the model again."
            )
        model = Seq2Seq(config.network)
        weights = load_tensors(folder, shapes={name: tuple(t.shape) for name, t in model.state_dict().items()})
        model.load_state_dict(weights)
        return cls(Translator(model.eval(), vocabulary, _shape(config)), config)

    def save(self, folder: Path, *, card: str) -> None:
        """Write a folder that `load` opens; an interrupted save keeps the old model."""
        tokens = self.translator.vocabulary.tokens
        save_model(folder, config=self.config, weights=self.model.state_dict(), vocabulary=tokens, card=card)

    @property
    def model(self) -> Seq2Seq:
        return self.translator.model

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        """`1/T Σ log p` (N,) over the T words of the target of a pair, with `</s>`; higher is better."""
        totals, lengths = self.log_likelihoods(pairs)
        means: FloatArray = (totals / lengths).astype(np.float32)
        return means

    def log_likelihoods(self, pairs: Sequence[TextPair]) -> tuple[FloatArray, FloatArray]:
        """`Σ log p` (N,) of pairs of question and answer, and the number of words (N,)."""
        if not pairs:
            return np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.float32)
        distinct = list(dict.fromkeys(self._directed(pairs)))
        row_of = {columns: row for row, columns in enumerate(distinct)}
        totals, lengths = self.translator.log_likelihoods(*zip(*distinct, strict=True))
        rows = [row_of[columns] for columns in self._directed(pairs)]
        return totals[rows], lengths[rows].astype(np.float32)

    def columns(self, pairs: Iterable[TextPair]) -> list[tuple[str, str]]:
        """Distinct sources and targets of pairs of question and answer."""
        return list(dict.fromkeys(self._directed(pairs)))

    def _directed(self, pairs: Iterable[TextPair]) -> list[tuple[str, str]]:
        source, target = (limit * CHARACTERS for limit in _limits(self.config))
        directions: dict[Direction, Callable[[str, str], tuple[str, str]]] = {
            "backward": lambda question, answer: (answer, question),
            "forward": lambda question, answer: (question, answer),
            "prior": lambda _, answer: ("", answer),
        }
        directed = (directions[self.config.direction](question, answer) for question, answer in pairs)
        return [(left[:source], right[:target]) for left, right in directed]


def train_encoder_decoder(
    training: Training,
    ranker: EncoderDecoderRanker,
    pairs: Sequence[TextPair],
    config: LikelihoodConfig,
    *,
    held_out: Sequence[TextPair] = (),
    report_every: int = 10,
) -> Iterator[Progress]:
    """Train on right pairs; with held-out pairs it ends with the weights of their lowest perplexity."""
    yield from train_translator(
        training,
        ranker.translator,
        ranker.columns(pairs),
        config,
        held_out=ranker.columns(held_out),
        report_every=report_every,
    )


def normalised(forward: EncoderDecoderRanker, prior: EncoderDecoderRanker, pairs: Sequence[TextPair]) -> FloatArray:
    """`log p(T|S) − log p(T)` (N,) of pairs: how much more likely the question makes the answer."""
    got = forward.config.direction, prior.config.direction
    if got != ("forward", "prior"):
        raise ValueError(f"Expected models of p(T|S) and of p(T), but got {got[0]} and {got[1]}; name those.")
    scores: FloatArray = forward.log_likelihoods(pairs)[0] - prior.log_likelihoods(pairs)[0]
    return scores


def _limits(config: EncoderDecoderConfig) -> tuple[int, int]:
    """Maximum words of source and of target."""
    if config.direction == "backward":
        return config.max_answer, config.max_question
    return config.max_question, config.max_answer


def _shape(config: EncoderDecoderConfig) -> TranslatorConfig:
    return TranslatorConfig(config.network, *_limits(config))
