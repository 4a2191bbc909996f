"""Vectors of the larger encoder that the shipped transformer learns from, stored in shards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from qa_core.encoders.graphs.export import export_onnx
from qa_core.encoders.graphs.quantisation import quantise
from qa_core.encoders.sentence_layout import SentenceLayout
from qa_core.encoders.static_encoder import sha256
from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.encoders.transformer_encoder import TransformerEncoder, open_graph
from qa_core.types import FloatArray

MPNET_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
SHARD = 512  # texts encoded between saves
LENGTH = 96  # tokens read of a text


def open_teacher(folder: Path, work: Path, *, threads: int) -> TransformerEncoder:
    """all-mpnet-base-v2 in 8 bits; its graph is made once, in `work`. Raises ValueError for other weights."""
    graph = work / "teacher.onnx"
    if not graph.is_file():
        actual = sha256(folder / "model.safetensors")
        if actual != MPNET_SHA256:
            raise ValueError(
                f"Expected the weights of all-mpnet-base-v2 ({MPNET_SHA256}) in {folder}, but got {actual}."
            )
        work.mkdir(parents=True, exist_ok=True)
        whole = work / "teacher.float.onnx"
        export_onnx(folder, whole)
        quantise(whole, graph)
        whole.unlink()
    layout = SentenceLayout.read(folder, max_length=LENGTH)
    tokeniser = SubwordTokeniser.load(layout.weights, max_length=LENGTH)
    return TransformerEncoder(layout, tokeniser, open_graph(graph, threads=threads), fingerprint=MPNET_SHA256)


def encoded(
    teacher: Callable[[Sequence[str]], FloatArray], texts: Sequence[str], work: Path, say: Callable[[str], None]
) -> FloatArray:
    """Unit vectors (N, D) of the texts; a second run with the same texts, or more after them, reads what is stored."""
    work.mkdir(parents=True, exist_ok=True)
    shards = []
    for start in range(0, len(texts), SHARD):
        path, part = work / f"{start // SHARD:04d}.npy", texts[start : start + SHARD]
        if not path.is_file() or len(np.load(path, mmap_mode="r")) < len(part):
            np.save(path, teacher(part).astype(np.float16))
            say(f"the teacher has read {start + len(part)} of {len(texts)} texts")
        shards.append(np.load(path)[: len(part)].astype(np.float32))
    return np.vstack(shards)
