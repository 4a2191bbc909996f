"""`train paragram`: from a paraphrase lexicon and start vectors to word vectors that tell paraphrases apart.

What it writes is GloVe text, which `train dense` and the others take as `pretrained`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from qa_bot.home.encoders import STARTER
from qa_core.atomic import atomic_folder
from qa_core.training.loop import Progress, Training
from qa_core.training.resume import load_training
from qa_core.types import FloatArray, IntArray
from qa_core.vectors.word_vectors import WordVectors, write_glove
from qa_lab.evaluate.words.words import models_folder
from qa_lab.train.data.paraphrases import Lexicon, WordPair, read_lexicon
from qa_lab.train.data.word_vectors import VECTORS, listed_words, side_by_side, word_vectors
from qa_lab.train.errors import RunError, SettingsError, TrainingDataError
from qa_lab.train.request import Request
from qa_lab.train.retrieval.word_selection import Selection, held_out_pairs, lists_selection, pairs_selection
from qa_lab.train.settings import read_toml, settled
from qa_lab.train.training_run import TrainingRun, drive
from retrievers.training.phrases.forbidden_negatives import Constraints, lemmas_among
from retrievers.training.phrases.word_paragram import ParagramConfig, WordTable, adagrad, principal, train_table

log = logging.getLogger(__name__)

FILES = CONFIG, CARD, _ = ("config.json", "README.md", VECTORS)
KIND = "paragram"


class ParagramError(ValueError):
    """A run that cannot be; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class ParagramSettings:
    """What `--config` may hold."""

    select: Literal["sim-rel", "spearman"] = "spearman"  # by which measure of the lists of --dev the best epoch is kept
    beside: str = ""  # further start vectors, set beside those of --base for the words that both know; see --base
    dimension: int = 0  # principal axes that the start vectors are reduced to; 0 leaves them as they are
    further: bool = True  # whether words without paraphrases get (unchanged) vectors too
    paragram: ParagramConfig = field(default_factory=ParagramConfig)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it, on development data."""

    pairs: int
    words: int
    changed: int  # words that have paraphrases
    held_out: int  # pairs that development data is made of; 0 where it is lists of scored words
    measure: str
    before: float
    after: float
    figures: Mapping[str, tuple[float, float]]  # before and after, by list
    epochs: int
    left_out: Mapping[str, int]
    rejects: int

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        lists = [{name: told[when] for name, told in self.figures.items()} for when in (0, 1)]
        return {
            "pairs": self.pairs,
            "held_out": self.held_out,
            "words": self.words,
            "rejected": self.rejects,
            "left_out": dict(self.left_out),
            "before": {self.measure: self.before, **lists[0]},
            "after": {self.measure: self.after, **lists[1]},
        }

    def text(self, out: Path) -> str:
        """What is read at the end."""
        left_out = ", ".join(f"{count:,} {reason}" for reason, count in self.left_out.items() if count)
        lines = [f"{self.pairs:,} pairs of {self.changed:,} words; {self.words:,} words have a vector"]
        lines += [f"pairs left out: {left_out}"] if left_out else []
        lines += [f"{name}: {before:.3f} before, {after:.3f} after" for name, (before, after) in self._figures()]
        return "\n".join([*lines, f"measure it: qa-bot eval words --data LISTS --model {out}"])

    def _figures(self) -> list[tuple[str, tuple[float, float]]]:
        own = [] if self.measure in self.figures else [(self.measure, (self.before, self.after))]
        return [*own, *self.figures.items()]


OnRead = Callable[[Lexicon], None]
OnProgress = Callable[[Progress], None]


def train_paragram(
    request: Request, *, on_read: OnRead = lambda _: None, on_progress: OnProgress = lambda _: None
) -> Outcome:
    """Train and write `request.out`: `vectors.txt`, its card, `curve.csv`, and `curve.png` where it was asked for.

    `request.base` is a file of word vectors, a folder with `vectors.txt`, or an encoder (the starter where none is
    named), which encodes the words one by one. `request.dev` is a share of the pairs, or a list of scored word pairs,
    or a folder of such lists.

    Args:
        on_read: hears what was read, rejects included, before training begins.
        on_progress: hears of every progress.

    Raises:
        ParagramError, TrainingDataError, SettingsError, RunError: data, settings or folders do not do.
    """
    settings = configured(request)
    try:
        return _trained(request, settings, on_read, on_progress)
    except (TrainingDataError, SettingsError, RunError):
        raise
    except (ValueError, FloatingPointError) as error:
        raise ParagramError(str(error)) from error


def epochs(request: Request) -> int:
    """At most, for a progress bar."""
    return configured(request).paragram.epochs


def configured(request: Request) -> ParagramSettings:
    """The settings over their defaults. Raises SettingsError."""
    given = read_toml(request.config) if request.config else {}
    settings = settled(ParagramSettings(), given, source=str(request.config or "defaults"))
    config = settings.paragram
    wrong = [name for name in ("batch", "epochs", "patience") if getattr(config, name) < 1]
    wrong += [name for name in ("learning_rate", "margin") if not getattr(config, name) > 0]
    wrong += ["regularisation"] if not config.regularisation >= 0 else []
    if wrong:
        values = ", ".join(f"paragram.{name} = {getattr(config, name)}" for name in wrong)
        raise SettingsError(f"Expected positive numbers, but got {values}; correct {request.config}.")
    return settings


def _trained(request: Request, settings: ParagramSettings, on_read: OnRead, on_progress: OnProgress) -> Outcome:
    data = read_lexicon(request.data, limit=request.limit)
    on_read(data)
    start = _start(request, settings, data)
    known = [pair for pair in data.pairs if pair[0] in start and pair[1] in start]
    pairs, selection = _development(known, start, settings, request)
    paired = _paired(pairs, start)
    places = [start.index[word] for word in paired]
    table = WordTable(start.matrix[places], sparse=settings.paragram.regularisation == 0)
    training = Training(table, adagrad(table, settings.paragram), seed=request.seed)
    run = _begun(request, settings, training, len(pairs))

    def measured(changed: FloatArray) -> float:
        return selection.measure(_with_rows(start, places, changed))

    numbers = _numbered(pairs, paired)
    constraints = _constraints(paired, numbers) if settings.paragram.constraints else None
    reports = train_table(training, numbers, settings.paragram, constraints=constraints, evaluate=measured)
    drive(run, training, reports, on_progress)
    after = _with_rows(start, places, table.vectors())
    outcome = Outcome(
        pairs=len(pairs),
        words=len(start),
        changed=len(paired),
        held_out=len(known) - len(pairs),
        measure=selection.name,
        before=selection.measure(start),
        after=selection.measure(after),
        figures={name: (old, selection.figures(after)[name]) for name, old in selection.figures(start).items()},
        epochs=training.best.epoch if training.best else training.epoch,
        left_out={**data.left_out, "without a start vector": len(data.pairs) - len(known)},
        rejects=len(data.rejects),
    )
    _save(request, settings, outcome, after)
    run.finish(training, plots=request.plots, measure="selection")
    return outcome


def _start(request: Request, settings: ParagramSettings, data: Lexicon) -> WordVectors:
    """Vectors of the lexicon's words and of further ones, as training takes them."""
    further = listed_words(request.base) if settings.further else ()
    words = tuple(dict.fromkeys((*data.words, *further, *_dev_words(request))))
    with models_folder() as models:
        found = word_vectors(str(request.base or STARTER), words, models=models)
        if settings.beside:
            found = side_by_side(found, word_vectors(settings.beside, words, models=models))
    if not settings.dimension:
        return found
    return WordVectors(found.words, principal(found.matrix, settings.dimension))


def _development(
    known: Sequence[WordPair], start: WordVectors, settings: ParagramSettings, request: Request
) -> tuple[list[WordPair], Selection]:
    """The pairs to train on, and how an epoch is measured."""
    if len(known) < 2:
        raise TrainingDataError(
            f"Expected at least two pairs of words that {request.base or STARTER} has vectors of, but got {len(known)};"
            " name other start vectors or another lexicon."
        )
    try:
        share = float(request.dev)
    except ValueError:
        return list(known), lists_selection(Path(request.dev), start, by=settings.select)
    if settings.select == "sim-rel":
        raise SettingsError(
            f"Expected --dev FOLDER with WS-353's SIM and REL to select by sim-rel, but got --dev {request.dev}."
        )
    kept, held_out = held_out_pairs(known, share)
    return kept, pairs_selection(held_out, seed=request.seed)


def _dev_words(request: Request) -> tuple[str, ...]:
    """The words, never the scores, of the development lists, so that these are covered."""
    path = Path(request.dev)
    if request.dev.replace(".", "", 1).isdigit() or not path.exists():
        return ()
    from qa_lab.evaluate.words.similarities import read_lists

    return tuple(word for each in read_lists(path) for word in each.words)


def _paired(pairs: Sequence[WordPair], start: WordVectors) -> list[str]:
    """The words that training can change, in the order of the vectors."""
    inside = {word for pair in pairs for word in pair}
    return [word for word in start.words if word in inside]


def _numbered(pairs: Sequence[WordPair], words: Sequence[str]) -> IntArray:
    number = {word: place for place, word in enumerate(words)}
    return np.array([[number[left], number[right]] for left, right in pairs], dtype=np.int64)


def _constraints(words: Sequence[str], pairs: IntArray) -> Constraints:
    return Constraints.of(words, [(left, right) for left, right in pairs.tolist()], lemmas_among(words))


def _with_rows(start: WordVectors, places: Sequence[int], rows: FloatArray) -> WordVectors:
    matrix = start.matrix.copy()
    matrix[places] = rows
    return WordVectors(start.words, matrix)


def _begun(request: Request, settings: ParagramSettings, training: Training, pairs: int) -> TrainingRun:
    base = str(request.base.resolve()) if request.base and request.base.exists() else str(request.base or STARTER)
    identity = {"config": asdict(settings), "pairs": pairs, "seed": request.seed, "base": base, "dev": request.dev}
    run = TrainingRun(request.out, identity)
    if request.resume:
        run.check()
        load_training(run.state, training)
    else:
        run.begin()
    if settings.paragram.batch > pairs:
        log.warning(
            "Expected at least a batch of %d pairs, but got %d; all are one batch.", settings.paragram.batch, pairs
        )
    return run


def _save(request: Request, settings: ParagramSettings, outcome: Outcome, vectors: WordVectors) -> None:
    if not np.isfinite(vectors.matrix).all():
        raise ParagramError("Expected finite vectors, but got NaN or infinity; train again with a lower learning rate.")
    told = {"kind": KIND, "seed": request.seed, "settings": asdict(settings), "figures": outcome.as_dict()}
    with atomic_folder(request.out, FILES) as new:
        (new / CONFIG).write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        (new / CARD).write_text(_card(request, settings, outcome, vectors), encoding="utf-8")
        write_glove(vectors, new / VECTORS)


def _card(request: Request, settings: ParagramSettings, outcome: Outcome, vectors: WordVectors) -> str:
    """Data, seed, settings and figures, as Markdown."""
    figures = {outcome.measure: (outcome.before, outcome.after), **outcome.figures}
    rows = "\n".join(f"| {name} | {before:.3f} | {after:.3f} |" for name, (before, after) in figures.items())
    return f"""# Word vectors trained on paraphrases with qa-bot

| | |
| --- | --- |
| started from | {request.base.name if request.base else STARTER} |
| data | {", ".join(path.name for path in request.data)} |
| pairs for training, held out | {outcome.pairs:,}, {outcome.held_out:,} |
| words, of them changed | {outcome.words:,}, {outcome.changed:,} |
| dimensions | {vectors.dimension} |
| seed | {request.seed} |
| epochs | {outcome.epochs} |

`{VECTORS}` is GloVe text. On development data, by which the epoch was chosen:

| | before | after |
| --- | --- | --- |
{rows}

The licence follows from that of the data and of what it started from; see there.

## Settings

```json
{json.dumps(asdict(settings), indent=2)}
```
"""
