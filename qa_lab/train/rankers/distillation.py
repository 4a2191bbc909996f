"""A trained ranker teaches another by its scores, which are computed once and saved with the run.

teacher = open_teacher(settings.teacher)
scores = teacher_scores(run, teacher, pool.pairs(), on_progress)
train_distilled(training, student, pool, scores, settings.distil)
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from qa_bot.answering.models.ranker_loading import RankerError, open_ranker
from qa_core.networks.checkpoints import CONFIG
from qa_core.training.loop import Progress
from qa_core.types import FloatArray
from qa_lab.errors import RunError, SettingsError
from qa_lab.train.training_run import EVERY, TrainingRun
from rankers.neural import PairScorer, TextPair
from rankers.training.answer_pool import AnswerPool
from rankers.training.distillation import DistilConfig, pair_answers

SCORES = "teacher.npy"
"""File in the state of a run: scores of the first pairs, or of all."""
AT_ONCE = 256
"""Pairs between two reports."""


def check_distillation(teacher: str, config: DistilConfig, source: str) -> None:
    """Raises SettingsError for a missing teacher, wrong numbers, or a table without a teacher."""
    if not teacher:
        if config != DistilConfig():
            raise SettingsError(
                f"{source}: Expected a teacher for [distil], but got none; name a trained ranker's folder by `teacher`."
            )
        return
    folder = teacher_folder(teacher)
    if not (folder / CONFIG).is_file():
        raise SettingsError(
            f"{source}: Expected a trained ranker in {folder} as teacher, but got no {CONFIG}; name the "
            "--out of a `qa-bot train`, or leave `teacher` out."
        )
    numbers = {f"distil.{name}": getattr(config, name) for name in ("batch", "epochs", "patience")}
    if wrong := [f"{name} = {value}" for name, value in numbers.items() if value < 1]:
        raise SettingsError(f"{source}: Expected positive numbers, but got {', '.join(wrong)}.")
    if not 0 <= config.labelled <= 1:
        raise SettingsError(f"{source}: Expected a share from 0 to 1, but got distil.labelled = {config.labelled}.")
    if not 0 <= config.clip < math.inf:
        raise SettingsError(f"{source}: Expected a norm, or 0 for none, but got distil.clip = {config.clip}.")


def teacher_folder(teacher: str) -> Path:
    return Path(teacher).expanduser()


def open_teacher(teacher: str) -> PairScorer:
    """Raises SettingsError for a folder without a ranker or with a damaged one."""
    try:
        return open_ranker(teacher_folder(teacher))
    except RankerError as error:
        raise SettingsError(f"The teacher cannot be opened: {error}") from error


def check_answer_pairs(pool: AnswerPool, config: DistilConfig) -> None:
    """Raises SettingsError if the loss needs two answers to a question, but no question has them."""
    if config.loss == "margin" and not len(pair_answers(pool, np.random.default_rng(0))):
        raise SettingsError("Expected questions with two answers or more, but got none; set distil.loss = 'mse'.")


def teacher_scores(
    run: TrainingRun, teacher: PairScorer, pairs: Sequence[TextPair], on_progress: Callable[[Progress], None]
) -> FloatArray:
    """Scores (N,) of the pairs; those that the run has saved are not computed again.

    Args:
        run: has begun, with the same pairs each time; scores are saved in its state at the end and every minute.
        on_progress: called with progress of epoch 0, whose steps are scored pairs.

    Raises:
        RunError: the saved scores are damaged, or of other pairs.
        ValueError: the teacher gives scores that are not finite.
    """
    scores = _saved_scores(run, len(pairs))
    resumed, started, saved = len(scores), time.monotonic(), time.monotonic()
    while len(scores) < len(pairs):
        scores = np.concatenate([scores, _finite(teacher, pairs[len(scores) : len(scores) + AT_ONCE])])
        if len(scores) == len(pairs) or time.monotonic() - saved > EVERY:
            _save_scores(run, scores)
            saved = time.monotonic()
        rate = (len(scores) - resumed) / max(time.monotonic() - started, 1e-9)
        on_progress(Progress(0, len(scores), math.nan, 0.0, rate, (len(pairs) - len(scores)) / rate))
    return scores


def standardise(scores: FloatArray) -> FloatArray:
    """Scores (N,) with mean 0 and deviation 1, so that steps do not depend on the teacher's scale."""
    deviation = float(scores.std()) or 1.0
    level: FloatArray = ((scores - scores.mean()) / deviation).astype(np.float32)
    return level


def spread(scores: FloatArray, least: float, most: float) -> FloatArray:
    """Scores (N,) mapped linearly into the range that a student can reach; equal ones to its middle."""
    lowest, width = scores.min(), np.ptp(scores)
    share = (scores - lowest) / width if width > 0 else np.full_like(scores, 0.5)
    return (least + (most - least) * share).astype(np.float32)


def _finite(teacher: PairScorer, pairs: Sequence[TextPair]) -> FloatArray:
    scores = np.asarray(teacher.score(pairs), dtype=np.float32)
    if not np.isfinite(scores).all():
        text = pairs[int(np.flatnonzero(~np.isfinite(scores))[0])]
        raise ValueError(f"Expected finite scores of the teacher, but got others for {text!r}; train it again.")
    return scores


def _save_scores(run: TrainingRun, scores: FloatArray) -> None:
    new = run.state / f"new-{SCORES}"
    np.save(new, scores)
    new.replace(run.state / SCORES)


def _saved_scores(run: TrainingRun, most: int) -> FloatArray:
    path = run.state / SCORES
    if not path.is_file():
        return np.zeros(0, dtype=np.float32)
    try:
        scores: FloatArray = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise RunError(f"{path}: Expected scores, but got {error}; leave --resume out to begin anew.") from None
    if scores.dtype != np.float32 or scores.ndim != 1 or len(scores) > most:
        raise RunError(
            f"{path}: Expected at most {most} scores, but got {scores.dtype} of shape {scores.shape}; leave --resume "
            "out to begin anew."
        )
    return scores
