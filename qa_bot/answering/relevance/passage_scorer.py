"""Scores passages by a network that reads question and passage, which is opened when first needed.

    scorer = scorer_of("models/relevance")
    if scorer is not None and scorer.ready():
        scores = scorer.scores(["How many days of leave do I get?"], ["Leave. Everybody has 27 days."])

It is the shipped one (`interaction.py`) or a trained cross-encoder (Nogueira and Cho 2019).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import orjson

from qa_bot.answering.confidence.calibration import Calibration
from qa_bot.answering.deadline import Deadline
from qa_bot.home.config import ConfigError
from qa_bot.home.starter import MULTILINGUAL_LANGUAGES
from rankers.neural import PairScorer

log = logging.getLogger(__name__)

CALIBRATIONS = "passage_confidence.json"
"""In the folder of a cross-encoder: the confidence of passages that it scored, by search."""
WEIGHT = 0.4
"""Of the log-odds, beside evidence and cover. Over 38 collections, of which up to ten passages are read, the gold is in
the first one for .792 of the questions; for .786 with a weight of .3, for .789 with .5, for .758 without."""
SURE = 2.0
"""Log-odds from which a passage answers so likely that the others are not scored. Over 40 collections 3.3 of five
passages are scored, and the gold is first for .886 instead of .887 of the questions."""
SECONDS = 0.03
"""That a pair may take; without them for all pairs nothing is scored."""


class PassageScorer:
    """Safe to share between threads; the model is opened once, and left out if it cannot be."""

    def __init__(self, open_scorer: Callable[[], PairScorer]) -> None:
        """`open_scorer` raises ValueError, OSError or ModuleNotFoundError for a model that cannot be used."""
        self._open, self._opening = open_scorer, Lock()
        self._scorer: PairScorer | None = None
        self._failed = False

    def ready(self) -> bool:
        """Open the model; false if it cannot be opened, which is logged once."""
        with self._opening:
            if self._scorer is None and not self._failed:
                try:
                    self._scorer = self._open()
                except (OSError, ValueError, ModuleNotFoundError) as error:
                    self._failed = True
                    log.warning("Passages are not scored, because the model cannot be opened: %s", error)
            return self._scorer is not None

    def scores(self, questions: Sequence[str], texts: Sequence[str]) -> list[float]:
        """The log-odds that each text answers a question, the mean over its readings, after `ready`."""
        assert self._scorer is not None
        pairs = [(question, text) for text in texts for question in questions]
        scores: list[float] = self._scorer.score(pairs).reshape(len(texts), len(questions)).mean(axis=1).tolist()
        return scores


class Scorers(NamedTuple):
    """The scorer of most passages, and that of passages in `MULTILINGUAL_LANGUAGES`."""

    english: PassageScorer | None = None
    multilingual: PassageScorer | None = None

    def of(self, languages: Sequence[str]) -> PassageScorer | None:
        """The one that reads passages in these languages ("" if unknown); it is opened, None if it cannot be.

        One scores all passages of a question, because log-odds of two are not compared.
        """
        others = sum(language in MULTILINGUAL_LANGUAGES for language in languages)
        chosen = (self.multilingual, self.english) if others > len(languages) / 2 else (self.english,)
        return next((scorer for scorer in chosen if scorer is not None and scorer.ready()), None)


@dataclass(slots=True)
class Relevance:
    """The scores of some passages for the readings of a question, each scored once."""

    scorer: PassageScorer | None
    questions: Sequence[str]
    texts: list[str]
    deadline: Deadline
    known: dict[int, float] = field(default_factory=dict)
    """By the place of the passage among the texts."""

    def score(self, places: Sequence[int]) -> None:
        """Score the passages at these places; none without a scorer or without time."""
        new = [at for at in places if at not in self.known]
        if self.scorer is None or not new or self.deadline.left() < SECONDS * len(new) * len(self.questions):
            return
        scores = self.scorer.scores(self.questions, [self.texts[at] for at in new])
        self.known.update(zip(new, scores, strict=True))

    def score_in_order(self, places: Sequence[int]) -> None:
        """Score the first passage, and the others unless it surely answers."""
        self.score(places[:1])
        if places and self.known.get(places[0], SURE) < SURE:
            self.score(places)

    def ordered(self, fits: Sequence[float]) -> list[int]:
        """The places of the passages by how well they fit (N,) and how likely they answer, best first."""
        order = sorted(range(len(fits)), key=fits.__getitem__, reverse=True)
        self.score_in_order(order)
        return sorted(order, key=self.raised(fits).__getitem__, reverse=True)

    def raised(self, fits: Sequence[float]) -> list[float]:
        """How well each passage fits, with what its score adds."""
        return [fit + WEIGHT * self.known.get(at, 0.0) for at, fit in enumerate(fits)]


def scorer_of(folder: str) -> PassageScorer | None:
    """That of a folder, shared by all bots of a process; None for an empty name."""
    return _scorer(Path(folder)) if folder else None


@lru_cache(maxsize=2)
def _scorer(folder: Path) -> PassageScorer:
    def open_scorer() -> PairScorer:
        from rankers.answer_selection.cross_encoder import open_cross_encoder  # late: it imports onnxruntime

        return open_cross_encoder(folder)

    return PassageScorer(open_scorer)


def calibrations_in(folder: str) -> Mapping[str, Calibration]:
    """The calibrations of confidence that were fitted with the cross-encoder of a folder, by key; none without a file.

    Raises:
        ConfigError: the file is damaged.
    """
    path = Path(folder) / CALIBRATIONS
    if not folder or not path.is_file():
        return {}
    try:
        return {name: Calibration.of(fields) for name, fields in orjson.loads(path.read_bytes()).items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"ranking.cross_encoder: expected calibrations in {path}, but got: {error}; fit them again."
        ) from error
