"""A cross-encoder: a transformer over question and passage together, trained with torch, served without it.

    scorer = TrainedCrossEncoder.of(folder, PairConfig(max_length=128))     # rankers/training/cross_encoder_training.py
    scorer.save(out, card="# …", int8=True)
    CrossEncoder.load(out, threads=2).score([("why do cats sleep?", "They hunt at dawn.")])

Each pair is a separate run of the graph, without padding, so its score is bit for bit independent of other pairs. This
holds for int8 too, where the scale of activations depends on the batch. Threads score different pairs, which uses two
cores better than sharing the operations of one pair.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from qa_core.atomic import current_folder
from qa_core.encoders.pair_tokens import PairConfig, PairRow, pair_rows
from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.encoders.transformer_encoder import open_graph
from qa_core.networks.checkpoints import load_config
from qa_core.types import FloatArray
from rankers.neural import PairScorer, TextPair

TRANSFORMER, GRAPH, QUANTISED = "transformer", "model.onnx", "model.int8.onnx"
THREADS = min(4, os.cpu_count() or 1)
"""Threads of a ranker in a cascade, where a question waits for all of its pairs."""
_PROBE = ("why do cats sleep?", "They hunt at dawn.")


@dataclass(frozen=True, slots=True, eq=False)
class CrossEncoder:
    """An ONNX graph with its tokeniser; it needs no torch."""

    session: Any
    tokeniser: SubwordTokeniser
    config: PairConfig
    threads: int = 1
    segments: bool = True  # whether question and passage have different token types, if the graph has that input

    @classmethod
    def load(cls, folder: Path, *, threads: int = 1, int8: bool | None = None) -> Self:
        """Open a folder that was saved with its graph.

        Args:
            threads: pairs to score at the same time.
            int8: whether to use the quantised graph; by default if it exists.

        Raises:
            FileNotFoundError: the folder has no such graph.
            ValueError: the model is damaged, of another kind, or gives a score that is not finite.
        """
        folder = current_folder(folder)
        config = load_config(folder, PairConfig)
        if int8 is None:
            int8 = (folder / QUANTISED).is_file()
        graph = folder / (QUANTISED if int8 else GRAPH)
        if not graph.is_file():
            raise FileNotFoundError(f"Expected a graph at {graph}, but there is none; save the model with it.")
        tokeniser = SubwordTokeniser.load(folder / TRANSFORMER, max_length=config.max_length)
        scorer = cls(open_graph(graph, threads=1), tokeniser, config, threads)
        scorer.check(graph)
        return scorer

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        """Logits (N,) float32; of two labels (no, yes) their difference."""
        rows = pair_rows(self.tokeniser, pairs, max_length=self.config.max_length)
        if self.threads == 1 or len(rows) < 2:
            return np.array([self._logit(row) for row in rows], dtype=np.float32)
        scores = np.zeros(len(rows), dtype=np.float32)
        order = sorted(range(len(rows)), key=lambda i: -len(rows[i].tokens))  # longest first balances the threads
        with ThreadPoolExecutor(min(self.threads, len(rows))) as pool:
            scores[order] = list(pool.map(self._logit, [rows[i] for i in order]))
        return scores

    def _logit(self, row: PairRow) -> float:
        tokens = row.tokens[None]  # (1, T)
        segments = row.segments[None] if self.segments else np.zeros_like(tokens)
        feed = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": segments}
        inputs = [node.name for node in self.session.get_inputs()]
        logits = self.session.run(None, {name: feed[name] for name in inputs})[0][0]  # (L,)
        return float(logits[1] - logits[0] if len(logits) == 2 else logits[0])

    def check(self, graph: Path) -> None:
        """Score a trial pair. Raises ValueError if graph and tokeniser do not fit, or the score is not finite."""
        try:
            (score,) = self.score([_PROBE])
        except Exception as error:  # onnxruntime raises a private class for ids beyond the vocabulary and the like
            raise ValueError(
                f"Expected a graph and a tokeniser of one vocabulary, but {graph} gives: {error}; save the model again."
            ) from error
        if not np.isfinite(score):
            raise ValueError(f"Expected a finite score of {graph}, but got {score}; train the model again.")


def open_cross_encoder(folder: Path, *, threads: int = THREADS, int8: bool | None = None) -> PairScorer:
    """The graph of a folder, or its weights if it has no graph, which needs torch and transformers."""
    if any((current_folder(folder) / name).is_file() for name in (GRAPH, QUANTISED)):
        return CrossEncoder.load(folder, threads=threads, int8=int8)
    from rankers.training.cross_encoder_training import TrainedCrossEncoder

    return TrainedCrossEncoder.load(folder)
