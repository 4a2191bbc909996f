"""The role of a trainable pair scorer, and scoring with one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from qa_core.types import FloatArray, IntArray
from rankers.neural import SCORING_BATCH, TextPair, distinct_texts


class Trainable(Protocol):
    """A pair scorer that can be trained: texts are read once, and pairs are given by their rows."""

    @property
    def model(self) -> nn.Module: ...

    def read(self, questions: Sequence[str], answers: Sequence[str]) -> Any:
        """The input of `scores` for these texts, with everything that frozen parts compute."""
        ...

    def scores(self, texts: Any, questions: IntArray, answers: IntArray) -> Tensor:
        """Scores (N,) of pairs, given by rows of questions (N,) and of answers (N,); with gradients in training."""
        ...


def score_no_grad(scorer: Trainable, texts: Any, questions: IntArray, answers: IntArray) -> FloatArray:
    """Scores (N,) in evaluation mode, without gradients; the mode of the model is restored."""
    was_training = scorer.model.training
    scorer.model.eval()
    with torch.no_grad():
        parts = [
            scorer.scores(texts, questions[start : start + SCORING_BATCH], answers[start : start + SCORING_BATCH])
            for start in range(0, len(questions), SCORING_BATCH)
        ]
    scorer.model.train(was_training)
    return torch.cat(parts).cpu().numpy() if parts else np.zeros(0, dtype=np.float32)


def score_pairs(scorer: Trainable, pairs: Sequence[TextPair]) -> FloatArray:
    """Scores (N,) of texts: the method `score` of trainable scorers."""
    questions, answers, left, right = distinct_texts(pairs)
    return score_no_grad(scorer, scorer.read(questions, answers), left, right)
