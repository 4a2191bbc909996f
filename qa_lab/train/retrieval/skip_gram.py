"""`train words`: word vectors from texts, by skip-gram with negative sampling.

It writes GloVe text, which `eval words`, and as `pretrained` `train dense` and the others, take.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from qa_core.training.loop import Training, seed_everything
from qa_core.vectors.word_vectors import WordVectors
from qa_lab.train.card import card_text, table
from qa_lab.train.data.splitting import dev_share
from qa_lab.train.data.topic_texts import read_texts, split_texts
from qa_lab.train.data.word_vectors import VECTORS, save_vectors
from qa_lab.train.request import Request
from qa_lab.train.retrieval.word_selection import lists_selection
from qa_lab.train.settings import check_positive, in_table, load_settings
from qa_lab.train.verb import Job, Outcome, TrainVerb, best_epoch
from retrievers.training.phrases.skip_gram import Corpus, SkipGram, SkipGramConfig, adagrad, likelihood, train_words

KIND = "words"
LIKELIHOOD = "log-likelihood"
_POSITIVE = (
    "dimension",
    "window",
    "negatives",
    "shared",
    "subsample",
    "words",
    "minimum",
    "batch",
    "epochs",
    "patience",
    "learning_rate",
)


@dataclass(frozen=True, slots=True)
class WordsSettings:
    """Keys of `--config`."""

    skip_gram: SkipGramConfig = field(default_factory=SkipGramConfig)


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
    check_positive(config, *in_table("skip_gram", *_POSITIVE), source=request.config)
    return config


def _train(job: Job[WordsSettings]) -> WordsOutcome:
    """`request.dev` is a share of the texts, a list of scored word pairs, or a folder of such lists."""
    request, config = job.request, job.settings.skip_gram
    data = job.read(read_texts)
    share = dev_share(request.dev)
    texts, held_out = (data.examples, ()) if share is None else split_texts(data.examples, share)
    corpus = Corpus.of(texts, most=config.words, minimum=config.minimum)
    seed_everything(request.seed)
    model = SkipGram(len(corpus.words), config.dimension)
    development = _on_lists(Path(request.dev), corpus, model) if share is None else _on_texts(held_out, corpus, job)
    training = Training(model, adagrad(model, config), seed=request.seed)
    reports = train_words(training, corpus, config, evaluate=development.measure)
    run = job.fit(training, reports, words=len(corpus.words), tokens=len(corpus.tokens), dev=request.dev)
    outcome = WordsOutcome(
        texts=len(texts),
        held_out=len(held_out),
        tokens=len(corpus.tokens),
        words=len(corpus.words),
        rejected=len(data.rejects),
        measure=development.name,
        after=development.measure(model),
        figures=development.figures(model),
        epochs=best_epoch(training),
    )
    content = {"kind": KIND, "seed": request.seed, "settings": asdict(job.settings), "figures": outcome.as_dict()}
    save_vectors(request.out, _vectors(corpus, model), content=content, card=_card(request, job.settings, outcome))
    job.finish(run, training)
    return outcome


WORDS = TrainVerb(_train, settings, lambda config, _: config.skip_gram.epochs, "selection")


@dataclass(frozen=True, slots=True)
class Development:
    """The measure that chooses the epoch, the higher the better, and further figures by name."""

    name: str
    measure: Callable[[SkipGram], float]
    figures: Callable[[SkipGram], Mapping[str, float]]


def _on_lists(path: Path, corpus: Corpus, model: SkipGram) -> Development:
    selection = lists_selection(path, _vectors(corpus, model), by="spearman")
    return Development(
        selection.name,
        lambda model: selection.measure(_vectors(corpus, model)),
        lambda model: selection.figures(_vectors(corpus, model)),
    )


def _on_texts(texts: Sequence[str], corpus: Corpus, job: Job[WordsSettings]) -> Development:
    others, config, seed = corpus.others(texts), job.settings.skip_gram, job.request.seed
    return Development(LIKELIHOOD, lambda model: likelihood(model, others, config, seed=seed), lambda _: {})


def _vectors(corpus: Corpus, model: SkipGram) -> WordVectors:
    return WordVectors(corpus.words, model.vectors())


def _card(request: Request, config: WordsSettings, outcome: WordsOutcome) -> str:
    facts = {
        "data": request.data_names,
        "texts for training, held out": f"{outcome.texts:,}, {outcome.held_out:,}",
        "words with a vector, their occurrences": f"{outcome.words:,}, {outcome.tokens:,}",
        "dimensions": config.skip_gram.dimension,
        "seed": request.seed,
        "epochs": outcome.epochs,
    }
    rows: Sequence[tuple[str, str]] = [(name, f"{value:.3f}") for name, value in outcome.rows.items()]
    text = f"""`{VECTORS}` is GloVe text. On development data, by which the epoch was chosen:

{table(("", ""), rows)}

The licence follows from that of the data; see there."""
    return card_text("Word vectors trained on texts with qa-bot", facts, text, asdict(config))
