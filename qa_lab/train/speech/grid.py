"""`train grid`: from texts to a counting grid, a map of their topics (Wang (2018), ch. 8.5.1).

`--dev` is a share of the texts to hold out, 0 for none, or a path with texts; they decide when fitting stops.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from generators.topics.counting_grid import CountingGrid
from generators.topics.word_bags import Bags, bags_of, topic_words
from generators.training.grid_fitting import Fitting, fit, initial_fitting, perplexity_of
from qa_core.networks.vocabulary import Vocabulary
from qa_core.text.stop_words import STOP_WORDS
from qa_lab.data.splitting import dev_share
from qa_lab.data.topic_texts import read_texts, split_texts
from qa_lab.errors import TrainingDataError
from qa_lab.train.card import card_text
from qa_lab.train.request import Request
from qa_lab.train.speech import grid_run
from qa_lab.train.speech.grid_settings import GridSettings, settings
from qa_lab.train.training_run import TrainingRun
from qa_lab.train.verb import Job, Outcome, TrainVerb

MAP, PICTURE = "grid.json", "grid.png"
SHOWN = 3
"""Words of a cell in the picture."""


@dataclass(frozen=True)
class GridOutcome(Outcome):
    """Result of fitting."""

    texts: int  # for fitting, including those without a known word
    bags: int  # distinct ones
    empty: int  # texts without a known word
    words: int  # of the vocabulary
    held_out: int  # texts
    steps: int  # to the grid that was kept
    log_likelihood: float  # of the texts, natural logarithm
    perplexity: float | None  # of a word of held-out texts
    unigram: float | None  # the same without a grid: by the distribution of words in all texts
    seconds: float
    rejected: int

    def text(self, out: Path) -> str:
        held_out = ""
        if self.perplexity is not None:
            held_out = (
                f"perplexity of a word of {self.held_out:,} held-out texts: {self.perplexity:.0f}; without a grid "
                f"{self.unigram:.0f}\n"
            )
        return (
            f"{self.texts:,} texts, {self.bags:,} distinct bags of {self.words:,} words, {self.empty:,} without any\n"
            f"log-likelihood {self.log_likelihood:,.0f} after {self.steps} steps, {self.seconds:,.0f} s\n{held_out}"
            f"written to {out}; its map: {out / MAP}\n"
        )


def _train(job: Job[GridSettings]) -> GridOutcome:
    request, config = job.request, job.settings
    data = job.read(read_texts)
    texts, dev = _split(data.examples, request.dev)
    vocabulary = _vocabulary(texts, config)
    bags, held_out = bags_of(texts, vocabulary), bags_of(dev, vocabulary)
    fitting = initial_fitting(bags, len(vocabulary), config.grid, seed=request.seed)
    run = TrainingRun(request.out, job.identity(bags=len(bags), texts=bags.texts, dev=request.dev))
    if request.resume:
        grid_run.load(run, fitting)
    else:
        run.begin()
    reports = fit(fitting, bags, config.training, held_out=held_out)
    history = grid_run.drive(run, fitting, reports, job.on_progress, most=config.training.most(config.grid))
    grid = fitting.grid(vocabulary).pruned(config.floor)
    best = next((report for report in reversed(fitting.history) if report.best), fitting.history[-1])
    seconds, (perplexity, unigram) = job.seconds, _perplexities(fitting, grid, held_out)
    outcome = GridOutcome(
        texts=len(texts),
        bags=len(bags),
        empty=bags.empty,
        words=len(fitting.background),
        held_out=held_out.texts,
        steps=best.step,
        log_likelihood=best.log_likelihood,
        perplexity=perplexity,
        unigram=unigram,
        seconds=round(seconds, 2),
        rejected=len(data.rejects),
    )
    grid.save(request.out, card=_card(outcome, config, request))
    (request.out / MAP).write_text(json.dumps(grid.map().as_dict(), ensure_ascii=False) + "\n", encoding="utf-8")
    if request.plots:
        grid.map(words=SHOWN).draw(request.out / PICTURE)
    run.finish_with(history, plots=request.plots, measure=job.measure)
    return outcome


GRID = TrainVerb(_train, settings, lambda config, _: config.training.most(config.grid) + 1, "perplexity")


def _split(texts: tuple[str, ...], dev: str) -> tuple[Sequence[str], Sequence[str]]:
    """Texts to fit and held-out ones; a share of 0 holds none out."""
    share = dev_share(dev, zero=True)
    return (texts, read_texts([Path(dev)]).examples) if share is None else split_texts(texts, share)


def _vocabulary(texts: Sequence[str], config: GridSettings) -> Vocabulary:
    left_out = STOP_WORDS if config.stop_words else frozenset()
    vocabulary = topic_words(texts, size=config.vocabulary, minimum=config.minimum, leave_out=left_out)
    if not len(vocabulary):
        raise TrainingDataError(
            f"Expected words that occur in {config.minimum} of the texts, but got none in {len(texts):,} texts; "
            "give more, or lower `minimum`."
        )
    return vocabulary


def _perplexities(fitting: Fitting, grid: CountingGrid, held_out: Bags) -> tuple[float | None, float | None]:
    """Of a word of the held-out texts, with the grid and without."""
    if not len(held_out):
        return None, None
    logs = np.log(fitting.background.astype(np.float64))
    unigram = float(np.exp(-(held_out.counts(len(logs)) @ logs) / held_out.tokens))
    return perplexity_of(held_out, grid.log_windows), unigram


def _card(outcome: GridOutcome, config: GridSettings, request: Request) -> str:
    held_out, grid = "none held out", config.grid
    if outcome.perplexity is not None:
        held_out = f"{outcome.perplexity:.0f}; without a grid {outcome.unigram:.0f}"
    facts = {
        "cells, window": f"{grid.height} × {grid.width}, {grid.window} × {grid.window}",
        "data": request.data_names,
        "texts, held out": f"{outcome.texts:,}, {outcome.held_out:,}",
        "words": f"{outcome.words:,}",
        "seed": request.seed,
        "steps": outcome.steps,
        "log-likelihood of the texts": f"{outcome.log_likelihood:,.0f}",
        "perplexity of a word of held-out texts": held_out,
    }
    text = f"`{MAP}` has the most typical words of every cell. The licence follows from that of the data; see there."
    return card_text("Counting grid, fitted with qa-bot", facts, text, asdict(config))
