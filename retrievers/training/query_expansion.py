"""Query expansion by an encoder-decoder that translates questions into answers (Wang 2018, ch. 3; Otsuka et al. 2018).

    translator = expander_of(examples, SMALL)
    training = Training(translator.model, optimiser(translator, SMALL.training), seed=1)
    for progress in train_expander(training, translator, examples, SMALL, held_out=dev): ...
    weighted = expanded(translator, ["what do cats eat"], SMALL.expansion)

The words of likely answers are added to the question with the weights of a relevance model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from qa_core.networks.decoder_types import Seq2SeqConfig
from qa_core.networks.translator import Translator, TranslatorConfig
from qa_core.text.analysis import terms
from qa_core.training.likelihood_training import LikelihoodConfig, train_translator
from qa_core.training.loop import Progress, Training
from qa_core.vectors.word_vectors import WordVectors
from retrievers.expansion import TermWeights
from retrievers.query_expander import ExpansionConfig, QueryExpander
from retrievers.training.examples import Examples


@dataclass(frozen=True, slots=True)
class ExpanderConfig:
    """The sizes of Wang (2018); `SMALL` is for two cores."""

    network: Seq2SeqConfig = field(default_factory=lambda: Seq2SeqConfig(50_000))
    minimum: int = 2  # occurrences of a word in the training texts
    max_question: int = 64  # words read
    max_answer: int = 64
    training: LikelihoodConfig = field(default_factory=LikelihoodConfig)
    expansion: ExpansionConfig = field(default_factory=ExpansionConfig)


PAPER = ExpanderConfig()
SMALL = ExpanderConfig(Seq2SeqConfig(15_000, dimension=128, hidden=128, layers=1), max_question=32, max_answer=16)


def expander_of(examples: Examples, config: ExpanderConfig, *, pretrained: WordVectors | None = None) -> Translator:
    """An untrained translator over the words of the examples; torch's generator draws its weights.

    Raises ValueError if no word occurs often enough.
    """
    texts = (*examples.questions, *examples.answers)
    shape = TranslatorConfig(config.network, config.max_question, config.max_answer)
    return Translator.of(texts, shape, minimum=config.minimum, pretrained=pretrained)


def train_expander(
    training: Training,
    translator: Translator,
    examples: Examples,
    config: ExpanderConfig,
    *,
    held_out: Examples | None = None,
    report_every: int = 10,
) -> Iterator[Progress]:
    """Train to translate questions into answers; see `train_translator`."""
    dev = held_out.texts() if held_out is not None else []
    yield from train_translator(
        training, translator, examples.texts(), config.training, held_out=dev, report_every=report_every
    )


def expanded(translator: Translator, questions: Sequence[str], config: ExpansionConfig) -> list[TermWeights]:
    """Weighted terms of each question and of the answers generated for it."""
    expander = QueryExpander(translator, config)
    return [expander.likely_answers(question).expanded(terms(question)) for question in questions]
