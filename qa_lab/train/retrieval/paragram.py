"""`train paragram`: from a paraphrase lexicon and start vectors to word vectors that separate paraphrases from others.

It writes GloVe text, which `train dense` and the others take as `pretrained`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from qa_bot.home.encoders import STARTER
from qa_core.training.loop import Training
from qa_core.types import FloatArray, IntArray
from qa_core.vectors.word_vectors import WordVectors
from qa_lab.data.paraphrases import WordPair, distinct_words, read_lexicon
from qa_lab.data.splitting import dev_share
from qa_lab.data.word_vectors import VECTORS, listed_words, save_vectors, side_by_side, word_vectors
from qa_lab.errors import SettingsError, TrainingDataError
from qa_lab.evaluate.words.similarities import read_lists
from qa_lab.evaluate.words.words import models_folder
from qa_lab.train.card import card_text, table
from qa_lab.train.request import Request
from qa_lab.train.retrieval.word_selection import Selection, held_out_pairs, lists_selection, pairs_selection
from qa_lab.train.settings import check_positive, in_table, load_settings, source_of
from qa_lab.train.verb import Job, Outcome, TrainVerb, best_epoch
from retrievers.training.phrases.forbidden_negatives import Constraints, lemmas_among
from retrievers.training.phrases.word_paragram import ParagramConfig, WordTable, adagrad, principal, train_table

log = logging.getLogger(__name__)

KIND = "paragram"


@dataclass(frozen=True, slots=True)
class ParagramSettings:
    """Keys of `--config`."""

    select: Literal["sim-rel", "spearman"] = "spearman"  # measure of the lists of --dev that chooses the best epoch
    beside: str = ""  # further start vectors, concatenated to those of --base for the words that both know; see --base
    dimension: int = 0  # principal axes that the start vectors are reduced to; 0 leaves them unchanged
    further: bool = True  # whether words without paraphrases get (unchanged) vectors too
    paragram: ParagramConfig = field(default_factory=ParagramConfig)


@dataclass(frozen=True)
class ParagramOutcome(Outcome):
    """Result on development data."""

    pairs: int
    held_out: int  # pairs of the development data; 0 for lists of scored words
    words: int
    changed: int  # words with paraphrases
    rejected: int
    left_out: Mapping[str, int]
    measure: str
    before: float
    after: float
    figures: Mapping[str, tuple[float, float]]  # before and after, by list
    epochs: int

    def as_dict(self) -> dict[str, object]:
        lists = [{name: values[when] for name, values in self.figures.items()} for when in (0, 1)]
        return {
            "pairs": self.pairs,
            "held_out": self.held_out,
            "words": self.words,
            "rejected": self.rejected,
            "left_out": dict(self.left_out),
            "before": {self.measure: self.before, **lists[0]},
            "after": {self.measure: self.after, **lists[1]},
        }

    def text(self, out: Path) -> str:
        left_out = ", ".join(f"{count:,} {reason}" for reason, count in self.left_out.items() if count)
        lines = [f"{self.pairs:,} pairs of {self.changed:,} words; {self.words:,} words have a vector"]
        lines += [f"pairs left out: {left_out}"] if left_out else []
        lines += [f"{name}: {before:.3f} before, {after:.3f} after" for name, (before, after) in self.rows.items()]
        return "\n".join([*lines, f"measure it: qa-bot eval words --data LISTS --model {out}"])

    @property
    def rows(self) -> dict[str, tuple[float, float]]:
        """The development figure and those of the lists."""
        return {self.measure: (self.before, self.after), **self.figures}


def settings(request: Request) -> ParagramSettings:
    """The settings over their defaults."""
    config = load_settings(request.config, ParagramSettings())
    names = in_table("paragram", "batch", "epochs", "patience", "learning_rate", "margin")
    check_positive(config, *names, source=request.config)
    if not (weight := config.paragram.regularisation) >= 0:
        raise SettingsError(
            f"{source_of(request.config)}: Expected a weight of 0 or more, but got paragram.regularisation = {weight}."
        )
    return config


def _train(job: Job[ParagramSettings]) -> ParagramOutcome:
    """`request.base` is a file of vectors, a folder with `vectors.txt`, or an encoder, which encodes words singly.

    `request.dev` is a share of the pairs, a list of scored word pairs, or a folder of such lists.
    """
    request, config = job.request, job.settings
    data = job.read(read_lexicon)
    start = _start(request, config, data.examples)
    known = [pair for pair in data.examples if pair[0] in start and pair[1] in start]
    pairs, selection = _development(known, start, config, request)
    in_pairs = {word for pair in pairs for word in pair}
    words = [word for word in start.words if word in in_pairs]
    rows = [start.index[word] for word in words]
    model = WordTable(start.matrix[rows], sparse=config.paragram.regularisation == 0)
    training = Training(model, adagrad(model, config.paragram), seed=request.seed)
    if (batch := config.paragram.batch) > len(pairs):
        log.warning("Expected at least a batch of %d pairs, but got %d; all are one batch.", batch, len(pairs))
    numbers = _numbered(pairs, words)
    constraints = None
    if config.paragram.constraints:
        constraints = Constraints.of(words, [(left, right) for left, right in numbers.tolist()], lemmas_among(words))

    def evaluate(changed: FloatArray) -> float:
        return selection.measure(_with_rows(start, rows, changed))

    reports = train_table(training, numbers, config.paragram, constraints=constraints, evaluate=evaluate)
    base = request.base_path if request.base and request.base.exists() else str(request.base or STARTER)
    run = job.fit(training, reports, pairs=len(pairs), base=base, dev=request.dev)
    after = _with_rows(start, rows, model.vectors())
    new = selection.figures(after)
    outcome = ParagramOutcome(
        pairs=len(pairs),
        held_out=len(known) - len(pairs),
        words=len(start),
        changed=len(words),
        rejected=len(data.rejects),
        left_out={**data.left_out, "without a start vector": len(data.examples) - len(known)},
        measure=selection.name,
        before=selection.measure(start),
        after=selection.measure(after),
        figures={name: (old, new[name]) for name, old in selection.figures(start).items()},
        epochs=best_epoch(training),
    )
    _save(request, config, outcome, after)
    job.finish(run, training)
    return outcome


PARAGRAM = TrainVerb(_train, settings, lambda config, _: config.paragram.epochs, "selection")


def _start(request: Request, config: ParagramSettings, pairs: Sequence[WordPair]) -> WordVectors:
    """Vectors of the lexicon's words and of further ones, as training takes them."""
    further = listed_words(request.base) if config.further else ()
    words = tuple(dict.fromkeys((*distinct_words(pairs), *further, *_dev_words(request.dev))))
    with models_folder() as models:
        start = word_vectors(str(request.base or STARTER), words, models=models)
        if config.beside:
            start = side_by_side(start, word_vectors(config.beside, words, models=models))
    return WordVectors(start.words, principal(start.matrix, config.dimension)) if config.dimension else start


def _development(
    known: Sequence[WordPair], start: WordVectors, config: ParagramSettings, request: Request
) -> tuple[list[WordPair], Selection]:
    """The pairs to train on, and how an epoch is measured."""
    if len(known) < 2:
        raise TrainingDataError(
            f"Expected at least two pairs of words that {request.base or STARTER} has vectors of, but got {len(known)};"
            " name other start vectors or another lexicon."
        )
    share = dev_share(request.dev)
    if share is None:
        return list(known), lists_selection(Path(request.dev), start, by=config.select)
    if config.select == "sim-rel":
        raise SettingsError(
            f"Expected --dev FOLDER with WS-353's SIM and REL to select by sim-rel, but got --dev {request.dev}."
        )
    train, held_out = held_out_pairs(known, share)
    return train, pairs_selection(held_out, seed=request.seed)


def _dev_words(dev: str) -> tuple[str, ...]:
    """The words (never the scores) of the development lists, so that these are covered."""
    if dev.replace(".", "", 1).isdigit() or not Path(dev).exists():
        return ()
    return tuple(word for scored in read_lists(Path(dev)) for word in scored.words)


def _numbered(pairs: Sequence[WordPair], words: Sequence[str]) -> IntArray:
    number = {word: index for index, word in enumerate(words)}
    return np.array([[number[left], number[right]] for left, right in pairs], dtype=np.int64)


def _with_rows(start: WordVectors, numbers: Sequence[int], rows: FloatArray) -> WordVectors:
    matrix = start.matrix.copy()
    matrix[numbers] = rows
    return WordVectors(start.words, matrix)


def _save(request: Request, config: ParagramSettings, outcome: ParagramOutcome, vectors: WordVectors) -> None:
    content = {"kind": KIND, "seed": request.seed, "settings": asdict(config), "figures": outcome.as_dict()}
    save_vectors(request.out, vectors, content=content, card=_card(request, config, outcome, vectors.dimension))


def _card(request: Request, config: ParagramSettings, outcome: ParagramOutcome, dimension: int) -> str:
    facts = {
        "started from": request.base.name if request.base else STARTER,
        "data": request.data_names,
        "pairs for training, held out": f"{outcome.pairs:,}, {outcome.held_out:,}",
        "words, changed words": f"{outcome.words:,}, {outcome.changed:,}",
        "dimensions": dimension,
        "seed": request.seed,
        "epochs": outcome.epochs,
    }
    rows = [(name, f"{before:.3f}", f"{after:.3f}") for name, (before, after) in outcome.rows.items()]
    text = f"""`{VECTORS}` is GloVe text. On development data, by which the epoch was chosen:

{table(("", "before", "after"), rows)}

The licence follows from that of the data and of the vectors it started from; see there."""
    return card_text("Word vectors trained on paraphrases with qa-bot", facts, text, asdict(config))
