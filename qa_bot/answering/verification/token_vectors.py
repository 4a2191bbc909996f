"""States of the tokens of texts, kept for the next question, from a model that is opened when first needed."""

from __future__ import annotations

import logging
import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from qa_bot.home.encoders import EncoderError
from qa_core.networks.token_rows import TokenRows
from qa_core.types import FloatArray, Span
from rankers.late_interaction import unit_rows, word_vectors

log = logging.getLogger(__name__)

MOST_BYTES = 16 * 1024**2
"""Of the states that are kept: those of about 160 passages."""
WORKERS = min(2, os.cpu_count() or 1)
"""Texts that are read at once, one by a thread: two threads that read five passages together take a third longer."""


class TokenEncoder(Protocol):
    """A transformer that gives the states of its tokens."""

    def states(self, texts: Sequence[str]) -> list[FloatArray]:
        """States (T, D) of the T tokens of each text, special tokens included."""
        ...

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of the tokens of each text, special tokens included."""
        ...

    def token_spans(self, text: str) -> list[Span]:
        """The span of each token in the text; empty for a special token."""
        ...


class TokenVectors:
    """Safe to share between threads; the model is opened once, and left out if it cannot be."""

    def __init__(self, open_encoder: Callable[[], TokenEncoder]) -> None:
        self._open, self._lock, self._opening = open_encoder, Lock(), Lock()
        self._workers = ThreadPoolExecutor(WORKERS, "read")
        self._encoder: TokenEncoder | None = None
        self._failed = False
        self._kept: OrderedDict[str, NDArray[np.float16]] = OrderedDict()
        self._bytes = 0

    def ready(self) -> bool:
        """Open the model; false if it cannot be opened, which is logged once."""
        with self._opening:
            if self._encoder is None and not self._failed:
                try:
                    self._encoder = self._open()
                except EncoderError as error:
                    self._failed = True
                    log.warning("Answers are not verified, because the model cannot be opened: %s", error)
            return self._encoder is not None

    def of_words(self, text: str, words: Sequence[Span]) -> FloatArray:
        """Unit rows (W, D) of words of a text, after `ready`."""
        assert self._encoder is not None
        (states,) = self._states([text])
        return word_vectors(states.astype(np.float32), self._encoder.token_spans(text), words)

    def of_passages(self, texts: Sequence[str]) -> list[FloatArray]:
        """Unit rows (T, D) of the tokens of each text without its special tokens, after `ready`."""
        return [unit_rows(states[1:-1].astype(np.float32)) for states in self._states(texts)]

    def tokens(self, text: str) -> tuple[list[Span], FloatArray]:
        """Spans of the tokens of a text and their unit rows (T, D), special tokens included, after `ready`."""
        assert self._encoder is not None
        (states,) = self._states([text])
        return self._encoder.token_spans(text), unit_rows(states.astype(np.float32))

    def rows(self, texts: Sequence[str]) -> list[TokenRows]:
        """Unit rows (T, D) and ids (T,) of the tokens of each text, special tokens included, after `ready`."""
        assert self._encoder is not None
        ids = self._encoder.token_ids(texts)
        return [
            TokenRows(unit_rows(states.astype(np.float32)), np.array(row, np.int64))
            for states, row in zip(self._states(texts), ids, strict=True)
        ]

    def _states(self, texts: Sequence[str]) -> list[NDArray[np.float16]]:
        """States (T, D) of the tokens of each text."""
        assert self._encoder is not None
        with self._lock:
            known = {text: self._kept[text] for text in texts if text in self._kept}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        for text, (hidden,) in zip(new, self._workers.map(self._encoder.states, ([text] for text in new)), strict=True):
            known[text] = hidden.astype(np.float16)
        with self._lock:
            for text, states in known.items():
                former = self._kept.pop(text, None)
                self._bytes += states.nbytes - (0 if former is None else former.nbytes)
                self._kept[text] = states
            while self._bytes > MOST_BYTES:
                self._bytes -= self._kept.popitem(last=False)[1].nbytes
        return [known[text] for text in texts]
