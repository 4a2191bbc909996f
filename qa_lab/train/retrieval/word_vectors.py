"""`train words`: word vectors from texts, by skip-gram with negative sampling or by GloVe.

It writes GloVe text, which `eval words`, and as `pretrained` `train dense` and the others, take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Literal

from qa_core.training.loop import Progress, Training, seed_everything
from qa_core.vectors.word_vectors import WordVectors
from qa_lab.data.splitting import dev_share
from qa_lab.data.topic_texts import read_texts, split_texts
from qa_lab.data.word_vectors import VECTORS, save_vectors
from qa_lab.train.card import card_text, table
from qa_lab.train.request import Request
from qa_lab.train.retrieval.word_selection import lists_selection
from qa_lab.train.settings import check_positive, in_table, load_settings
from qa_lab.train.verb import Job, Outcome, TrainVerb, best_epoch
from retrievers.training.phrases.corpus import Corpus
from retrievers.training.phrases.glove import Glove, GloveConfig, cooccurrences, error, train_glove
from retrievers.training.phrases.skip_gram import SkipGram, SkipGramConfig, adagrad, likelihood, train_words

KIND = "words"


@dataclass(frozen=True, slots=True)
class WordsSettings:
    """Keys of `--config`."""

    model: Literal["skip-gram", "glove"] = "skip-gram"
    words: int = 50_000  # most words with a vector, by frequency
    minimum: int = 5  # fewest occurrences of a word with a vector
    skip_gram: SkipGramConfig = field(default_factory=SkipGramConfig)
    glove: GloveConfig = field(default_factory=GloveConfig)


@dataclass(frozen=True)
class WordsOutcome(Outcome):
    """Result on development data."""

    texts: int
    held_out: int  # texts of the development data; 0 for lists of scored words
    tokens: int  # words of the texts that have a vector
    words: int
    rejected: int
    measure: str
    after: float
    figures: Mapping[str, float]  # ρ by list
    epochs: int

    def text(self, out: Path) -> str:
        lines = [f"{self.words:,} words have a vector, from {self.tokens:,} words of {self.texts:,} texts"]
        lines += [f"{name}: {value:.3f}" for name, value in self.rows.items()]
        return "\n".join([*lines, f"measure it: qa-bot eval words --data LISTS --model {out}"])

    @property
    def rows(self) -> dict[str, float]:
        """The development figure and those of the lists."""
        return {self.measure: self.after, **self.figures}


def settings(request: Request) -> WordsSettings:
    """The settings over their defaults."""
    config = load_settings(request.config, WordsSettings())
    names = ["words", "minimum"]
    for name, values in (("skip_gram", config.skip_gram), ("glove", config.glove)):
        names += in_table(name, *(item.name for item in fields(values)))
    check_positive(config, *names, source=request.config)
    return config


def _train(job: Job[WordsSettings]) -> WordsOutcome:
    """`request.dev` is a share of the texts, a list of scored word pairs, or a folder of such lists."""
    request, config = job.request, job.settings
    data = job.read(read_texts)
    share = dev_share(request.dev)
    texts, held_out = (data.examples, ()) if share is None else split_texts(data.examples, share)
    corpus = Corpus.of(texts, most=config.words, minimum=config.minimum)
    seed_everything(request.seed)
    method = (_glove if config.model == "glove" else _skip_gram)(job, corpus)
    development = _on_lists(method, request.dev) if share is None else method.development(corpus.others(held_out))
    run = job.fit(
        method.training,
        method.reports(development.measure),
        words=len(corpus.words),
        tokens=len(corpus.tokens),
        dev=request.dev,
    )
    outcome = WordsOutcome(
        texts=len(texts),
        held_out=len(held_out),
        tokens=len(corpus.tokens),
        words=len(corpus.words),
        rejected=len(data.rejects),
        measure=development.name,
        after=development.measure(),
        figures=development.figures(),
        epochs=best_epoch(method.training),
    )
    content = {"kind": KIND, "seed": request.seed, "settings": asdict(config), "figures": outcome.as_dict()}
    vectors = method.vectors()
    save_vectors(request.out, vectors, content=content, card=_card(request, config, outcome, vectors.dimension))
    job.finish(run, method.training)
    return outcome


def _epochs(config: WordsSettings, _request: Request) -> int:
    return (config.glove if config.model == "glove" else config.skip_gram).epochs


WORDS = TrainVerb(_train, settings, _epochs, "selection")


@dataclass(frozen=True, slots=True)
class Development:
    """The measure that chooses the epoch, the higher the better, and further figures by name."""

    name: str
    measure: Callable[[], float]
    figures: Callable[[], Mapping[str, float]] = dict


@dataclass(frozen=True, slots=True)
class Method:
    """A model with its training."""

    training: Training
    vectors: Callable[[], WordVectors]
    reports: Callable[[Callable[[], float]], Iterable[Progress]]  # by a development measure
    development: Callable[[Corpus], Development]  # on held-out texts


def _on_lists(method: Method, dev: str) -> Development:
    selection = lists_selection(Path(dev), method.vectors(), by="spearman")
    return Development(
        selection.name, lambda: selection.measure(method.vectors()), lambda: selection.figures(method.vectors())
    )


def _skip_gram(job: Job[WordsSettings], corpus: Corpus) -> Method:
    config, seed = job.settings.skip_gram, job.request.seed
    model = SkipGram(len(corpus.words), config.dimension)
    training = Training(model, adagrad(model, config.learning_rate), seed=seed)
    return Method(
        training,
        lambda: WordVectors(corpus.words, model.vectors()),
        lambda evaluate: train_words(training, corpus, config, evaluate=evaluate),
        lambda held_out: Development("log-likelihood", lambda: likelihood(model, held_out, config, seed=seed)),
    )


def _glove(job: Job[WordsSettings], corpus: Corpus) -> Method:
    config = job.settings.glove
    model = Glove(len(corpus.words), config.dimension)
    training = Training(model, adagrad(model, config.learning_rate), seed=job.request.seed)
    counts = cooccurrences(corpus, config.window)

    def development(held_out: Corpus) -> Development:
        others = cache(lambda: cooccurrences(held_out, config.window))
        return Development("negative error", lambda: -error(model, others(), config))

    return Method(
        training,
        lambda: WordVectors(corpus.words, model.vectors()),
        lambda evaluate: train_glove(training, counts, config, evaluate=evaluate),
        development,
    )


def _card(request: Request, config: WordsSettings, outcome: WordsOutcome, dimension: int) -> str:
    facts = {
        "data": request.data_names,
        "texts for training, held out": f"{outcome.texts:,}, {outcome.held_out:,}",
        "words with a vector, their occurrences": f"{outcome.words:,}, {outcome.tokens:,}",
        "model": config.model,
        "dimensions": dimension,
        "seed": request.seed,
        "epochs": outcome.epochs,
    }
    rows: Sequence[tuple[str, str]] = [(name, f"{value:.3f}") for name, value in outcome.rows.items()]
    text = f"""`{VECTORS}` is GloVe text. On development data, by which the epoch was chosen:

{table(("", ""), rows)}

The licence follows from that of the data; see there."""
    return card_text("Word vectors trained on texts with qa-bot", facts, text, asdict(config))
