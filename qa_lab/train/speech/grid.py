"""`train grid`: from texts to a counting grid, a map of their topics (thesis, ch. 8.5.1)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from generators.topics.counting_grid import CountingGrid
from generators.topics.word_bags import Bags, bags_of, topic_words
from generators.training.grid_fitting import Fitting, GridStep, fit, initial_fitting, perplexity_of
from qa_core.networks.vocabulary import Vocabulary
from qa_core.text.stop_words import STOP_WORDS
from qa_core.training.loop import Progress
from qa_lab.train.data.topic_texts import Texts, read_texts, split_texts
from qa_lab.train.errors import RunError, SettingsError, TrainingDataError, TrainingError
from qa_lab.train.request import Request
from qa_lab.train.speech.grid_run import drive, finish, go_on
from qa_lab.train.speech.grid_settings import GridSettings, configured
from qa_lab.train.training_run import TrainingRun

MAP, PICTURE = "grid.json", "grid.png"
SHOWN = 3
"""Words of a cell in the picture."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run."""

    texts: int  # for fitting, those without a known word too
    bags: int  # distinct ones
    empty: int  # texts without a known word
    words: int  # of the vocabulary
    held_out: int  # texts
    steps: int  # to the grid that was kept
    log_likelihood: float  # of the texts, natural logarithm
    perplexity: float | None  # of a word of held-out texts
    unigram: float | None  # the same without any grid: all texts' distribution of words
    seconds: float
    rejects: int

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {("rejected" if name == "rejects" else name): value for name, value in asdict(self).items()}

    def text(self, out: Path) -> str:
        """Figures, and where the grid is."""
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


OnRead = Callable[[Texts], None]
OnProgress = Callable[[Progress], None]


def train_grid(
    request: Request, *, on_read: OnRead = lambda _: None, on_progress: OnProgress = lambda _: None
) -> Outcome:
    """Fit and write `request.out`: the grid, its card, `grid.json`, `curve.csv`, and pictures where asked for.

    `request.dev` is a share of the texts to hold out, 0 for none, or a path with texts; they say when to stop.

    Args:
        on_read: hears what was read, rejects included, before fitting begins.
        on_progress: hears of every step.

    Raises:
        TrainingError, TrainingDataError, SettingsError, RunError: data, settings or folders do not do.
    """
    settings = configured(request)
    try:
        return _trained(request, settings, on_read, on_progress)
    except (TrainingDataError, SettingsError, RunError):
        raise
    except (ValueError, FloatingPointError, ModuleNotFoundError) as error:
        raise TrainingError(str(error)) from error


def epochs(request: Request) -> int:
    """Steps of EM at most, for a progress bar."""
    settings = configured(request)
    return settings.training.most(settings.grid) + 1


def _trained(request: Request, settings: GridSettings, on_read: OnRead, on_progress: OnProgress) -> Outcome:
    started = time.monotonic()
    data = read_texts(request.data, limit=request.limit)
    on_read(data)
    texts, dev = _parted(data, request.dev)
    vocabulary = _vocabulary(texts, settings)
    bags, held_out = bags_of(texts, vocabulary), bags_of(dev, vocabulary)
    fitting = initial_fitting(bags, len(vocabulary), settings.grid, seed=request.seed)
    run = _begun(request, settings, fitting, bags)
    reports = fit(fitting, bags, settings.training, held_out=held_out)
    history = drive(run, fitting, reports, on_progress, most=settings.training.most(settings.grid))
    grid = fitting.grid(vocabulary).pruned(settings.floor)
    outcome = _measured(fitting, grid, len(texts), bags, held_out, time.monotonic() - started, len(data.rejects))
    grid.save(request.out, card=_card(outcome, settings, request))
    _draw(grid, request)
    finish(run, history, plots=request.plots)
    return outcome


def _parted(data: Texts, dev: str) -> tuple[Sequence[str], Sequence[str]]:
    """Texts to fit and held-out ones."""
    try:
        share = float(dev)
    except ValueError:
        return data.texts, read_texts((Path(dev),)).texts
    if not 0 <= share < 1:
        raise SettingsError(f"Expected --dev from 0 to below 1, or a path, but got {dev}.")
    return split_texts(data.texts, share)


def _vocabulary(texts: Sequence[str], settings: GridSettings) -> Vocabulary:
    left_out = STOP_WORDS if settings.stop_words else frozenset()
    vocabulary = topic_words(texts, size=settings.vocabulary, minimum=settings.minimum, leave_out=left_out)
    if not len(vocabulary):
        raise TrainingDataError(
            f"Expected words that stand in {settings.minimum} of the texts, but got none in {len(texts):,} texts; "
            "give more, or lower `minimum`."
        )
    return vocabulary


def _begun(request: Request, settings: GridSettings, fitting: Fitting, bags: Bags) -> TrainingRun:
    identity = {"config": asdict(settings), "bags": len(bags), "texts": bags.texts, "seed": request.seed}
    run = TrainingRun(request.out, identity | {"dev": request.dev})
    if request.resume:
        go_on(run, fitting)
    else:
        run.begin()
    return run


def _measured(
    fitting: Fitting, grid: CountingGrid, texts: int, bags: Bags, held_out: Bags, seconds: float, rejects: int
) -> Outcome:
    kept = _kept(fitting.history)
    perplexity = unigram = None
    if len(held_out):
        perplexity = perplexity_of(held_out, grid.log_windows)
        logs = np.log(fitting.background.astype(np.float64))
        unigram = float(np.exp(-(held_out.counts(len(logs)) @ logs) / held_out.tokens))
    return Outcome(
        texts=texts,
        bags=len(bags),
        empty=bags.empty,
        words=len(fitting.background),
        held_out=held_out.texts,
        steps=kept.step,
        log_likelihood=kept.log_likelihood,
        perplexity=perplexity,
        unigram=unigram,
        seconds=round(seconds, 2),
        rejects=rejects,
    )


def _kept(history: Sequence[GridStep]) -> GridStep:
    """The step whose grid is kept."""
    return next((report for report in reversed(history) if report.best), history[-1])


def _draw(grid: CountingGrid, request: Request) -> None:
    """The map for pages, and the picture where it was asked for."""
    shown = json.dumps(grid.map().as_dict(), ensure_ascii=False)
    (request.out / MAP).write_text(shown + "\n", encoding="utf-8")
    if request.plots:
        grid.map(words=SHOWN).draw(request.out / PICTURE)


def _card(outcome: Outcome, settings: GridSettings, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    held_out = "none held out"
    if outcome.perplexity is not None:
        held_out = f"{outcome.perplexity:.0f}; without a grid {outcome.unigram:.0f}"
    return f"""# Counting grid, fitted with qa-bot

| | |
| --- | --- |
| cells, window | {settings.grid.height} × {settings.grid.width}, {settings.grid.window} × {settings.grid.window} |
| data | {", ".join(path.name for path in request.data)} |
| texts, held out | {outcome.texts:,}, {outcome.held_out:,} |
| words | {outcome.words:,} |
| seed | {request.seed} |
| steps | {outcome.steps} |
| log-likelihood of the texts | {outcome.log_likelihood:,.0f} |
| perplexity of a word of held-out texts | {held_out} |

`{MAP}` has the most telling words of every cell. The licence follows from that of the data; see there.

## Settings

```json
{json.dumps(asdict(settings), indent=2)}
```
"""
