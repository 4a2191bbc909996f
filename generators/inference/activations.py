"""Softmax and its kin over the last axis of an array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qa_core.types import FloatArray

Mask = NDArray[np.bool_]
"""True at real tokens, which come before the padding."""


def logsumexp(logits: FloatArray) -> FloatArray:
    """`log Σ exp(x)` (…,) of (…, V); a row must hold one finite number at least."""
    highest = logits.max(axis=-1, keepdims=True)
    sums: FloatArray = np.log(np.exp(logits - highest).sum(axis=-1)) + highest[..., 0]
    return sums


def log_softmax(logits: FloatArray) -> FloatArray:
    log_p: FloatArray = logits - logsumexp(logits)[..., None]
    return log_p


def softmax(logits: FloatArray) -> FloatArray:
    p: FloatArray = np.exp(logits - logits.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    return p


def masked_softmax(scores: FloatArray, mask: Mask) -> FloatArray:
    """Softmax over the cells where `mask` is true, 0 elsewhere; a row without a true cell is all 0."""
    weights: FloatArray = softmax(np.where(mask, scores, np.finfo(scores.dtype).min)) * mask
    return weights


def sigmoid(values: FloatArray) -> FloatArray:
    """As `½ (1 + tanh(x / 2))`, which cannot overflow."""
    p: FloatArray = np.float32(0.5) * np.tanh(np.float32(0.5) * values) + np.float32(0.5)
    return p


def log_sigmoid(values: FloatArray) -> FloatArray:
    log_p: FloatArray = -np.logaddexp(np.float32(0), -values)
    return log_p
