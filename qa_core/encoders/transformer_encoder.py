"""Sentence-transformers models at query time, by onnxruntime; torch is needed to export a graph only."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from qa_core.atomic import atomic_file, atomic_path
from qa_core.encoders.graphs.integers import in_integers
from qa_core.encoders.graphs.mapping import without_tables
from qa_core.encoders.graphs.silent_runtime import onnxruntime
from qa_core.encoders.sentence_layout import MODEL_PROMPTS, Pooling, Prompts, SentenceLayout, read_object
from qa_core.encoders.static_encoder import sha256
from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.networks.batching import batches, padded
from qa_core.types import FloatArray, IntArray, Side, Span

_TOKENS_A_BATCH = 128
"""Padding included: one long text, or several short ones. Batches of 2,048 take half as long again and 100 MB more,
because short texts get the length of long ones, and the states leave the cache of the processor; those of 256 take as
long as these, and 2 MB more of a cold answer.

The arena of the runtime keeps the memory of the largest batches: 9 MB for one thread, 25 for four. Without it the heaps
of glibc hold more at their peak (191 instead of 105 MB for four threads) and a batch takes a twelfth longer."""
_MAX_LENGTH = 256
_EXPORTED = "model.onnx"
_QUANTISED = "model.int7.onnx"
_SUM = "weights.json"
MADE_WITH = "made_with.json"
"""Beside a shipped graph: its sha256, the settings of its training, and the languages that it has learnt."""


@dataclass(frozen=True, slots=True)
class TransformerEncoder:
    """A transformer with mean or cls pooling and normalised output."""

    quick: ClassVar[bool] = False

    layout: SentenceLayout
    tokeniser: SubwordTokeniser
    session: Any
    fingerprint: str
    extends: frozenset[str] = frozenset()

    @classmethod
    def load(
        cls,
        folder: Path,
        *,
        cache: Path,
        int8: bool = False,
        threads: int = 1,
        max_length: int | None = _MAX_LENGTH,
        prompts: Prompts = MODEL_PROMPTS,
    ) -> Self:
        """Open a folder in sentence-transformers layout; derived files are stored in `cache`.

        The graph is `onnx/model.onnx` in the folder, or is exported once (extra `minilm`); `int8` quantises its
        matrices. `threads` work on one batch; `max_length` truncates texts, in tokens; `prompts` replace the model's.
        """
        layout = SentenceLayout.read(folder, max_length=max_length, prompts=prompts)
        graph = _graph(layout, cache, int8=int8)
        return cls(
            layout=layout,
            tokeniser=SubwordTokeniser.load(layout.weights, max_length=layout.max_length),
            session=open_graph(graph, threads=threads),
            fingerprint=_fingerprint(layout, _weights_sum(layout, cache), int8=int8),
        )

    @classmethod
    def load_prepared(
        cls, folder: Path, *, int8: bool = False, threads: int = 1, prompts: Prompts = MODEL_PROMPTS
    ) -> Self:
        """Open a folder with `onnx/model.onnx` and `made_with.json`, which states its sha256; nothing is written.

        `int8` multiplies whole numbers, see `graphs/integers.py`.

        Raises FileNotFoundError or ValueError for missing or damaged files.
        """
        layout = SentenceLayout.read(folder, max_length=_MAX_LENGTH, prompts=prompts)
        made_with = read_object(folder / MADE_WITH)
        return cls(
            layout=layout,
            tokeniser=SubwordTokeniser.load(layout.weights, max_length=layout.max_length),
            session=open_graph(layout.weights / "onnx" / _EXPORTED, threads=threads, int8=int8),
            fingerprint=_fingerprint(layout, str(made_with.get("weights_sha256")), int8=int8),
            extends=frozenset(made_with.get("extends", ())),
        )

    @property
    def dimension(self) -> int:
        return self.layout.dimension

    def encode(self, texts: Sequence[str], *, side: Side = "question") -> FloatArray:
        """Rows of unit length, (N, D) float32; a zero row for a blank text."""
        prompt = self.layout.question_prompt if side == "question" else self.layout.answer_prompt
        rows = self.tokeniser.sequences([prompt + text for text in texts])
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        filled = [i for i in range(len(texts)) if texts[i].strip()]
        for batch in batches([len(rows[i]) for i in filled], tokens=_TOKENS_A_BATCH):
            members = [filled[i] for i in batch]
            vectors[members] = self.encode_ids([rows[i] for i in members])
        return vectors

    def knows(self, word: str) -> bool:
        return self.tokeniser.knows(word)

    def states(self, texts: Sequence[str]) -> list[FloatArray]:
        """Hidden states (T, D) of the T tokens of each text, special tokens included; (0, D) for a blank text."""
        rows = self.tokeniser.sequences(texts)
        states: list[FloatArray] = [np.zeros((0, self.dimension), dtype=np.float32)] * len(texts)
        filled = [i for i in range(len(texts)) if texts[i].strip()]
        for batch in batches([len(rows[i]) for i in filled], tokens=_TOKENS_A_BATCH):
            members = [filled[i] for i in batch]
            for i, hidden in zip(members, self._hidden(*padded([rows[i] for i in members])), strict=True):
                states[i] = hidden[: len(rows[i])].copy()  # a view would keep the whole batch in memory
        return states

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids (T,) of the tokens of `states`; none for a blank text."""
        rows = self.tokeniser.sequences(texts)
        return [row if text.strip() else [] for text, row in zip(texts, rows, strict=True)]

    def token_spans(self, text: str) -> list[Span]:
        """The span in the text of each token of `states`; empty for a special token."""
        return self.tokeniser.spans(text)

    def encode_ids(self, rows: Sequence[Sequence[int]]) -> FloatArray:
        """Unit rows (B, D) of one batch of token ids, special tokens included."""
        ids, mask = padded(rows)  # (B, T)
        return pooled(self._hidden(ids, mask), mask, pooling=self.layout.pooling)

    def _hidden(self, ids: IntArray, mask: IntArray) -> FloatArray:
        """Hidden states (B, T, D) of ids and mask (B, T)."""
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        inputs = {node.name: feed[node.name] for node in self.session.get_inputs()}
        output: FloatArray = self.session.run([_output(self.session)], inputs)[0]
        if output.shape[2] != self.dimension:
            raise ValueError(
                f"Expected vectors of {self.dimension} numbers from {self.layout.folder}, but got {output.shape[2]};"
                " its pooling and its weights do not match."
            )
        return output


def pooled(hidden: FloatArray, mask: IntArray, *, pooling: Pooling) -> FloatArray:
    """Unit rows (B, D) from hidden states (B, T, D): the mean over real tokens, or the first token."""
    vectors = hidden[:, 0] if pooling == "cls" else np.einsum("btd,bt->bd", hidden, mask.astype(np.float32))
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: FloatArray = (vectors / np.maximum(norms, 1e-12)).astype(np.float32)
    return unit


def _output(session: Any) -> str:
    """Name of the hidden states: some published graphs have a pooled vector first."""
    names = [node.name for node in session.get_outputs()]
    return "last_hidden_state" if "last_hidden_state" in names else str(names[0])


def open_graph(graph: Path, *, threads: int, int8: bool = False) -> Any:
    """An inference session whose operations use `threads` threads; it may run several batches at once.

    `int8` multiplies whole numbers in a graph that was written in blocks of 8 bits.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # it plans a block for each shape, and batches have many
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # spinning starves FAISS' threads
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(graph.parent))
    options.log_severity_level = 3
    try:
        model, matrices = in_integers(graph) if int8 else (without_tables(graph) or str(graph), {})
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(matrix) for matrix in matrices.values()]
        options.add_external_initializers([*matrices], values)
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises a private class for every kind of damage
        raise ValueError(
            f"Expected an ONNX graph at {graph}, but got: {error}; delete the file and try again."
        ) from error
    session.matrices = values  # the runtime may read them where they lie
    return session


def _graph(layout: SentenceLayout, cache: Path, *, int8: bool) -> Path:
    shipped = layout.weights / "onnx" / _EXPORTED
    graph = shipped if shipped.is_file() else cache / _EXPORTED
    if int8 and (cache / _QUANTISED).is_file():
        return cache / _QUANTISED
    if not graph.is_file():
        from qa_core.encoders.graphs.export import export_onnx

        cache.mkdir(parents=True, exist_ok=True)
        with atomic_path(graph) as partial:
            export_onnx(layout.weights, partial)
    return quantised(graph, cache / _QUANTISED) if int8 else graph


def quantised(graph: Path, out: Path) -> Path:
    """Quantise matrices to int8 with a scale per column, and activations dynamically.

    Values of matrices have seven bits: of eight, processors with AVX2 but no VNNI add products in 16 bits, which
    overflow. With one scale per matrix the mean cosine to the float32 vectors falls from .992 to .96 (MiniLM).
    """
    try:
        from onnxruntime.quantization import QuantType, quantize_dynamic
    except ImportError as error:
        raise ModuleNotFoundError(
            f"Expected onnx to quantise {graph}, but it is not installed; run: pip install 'qa-bot[minilm]'"
        ) from error
    out.parent.mkdir(parents=True, exist_ok=True)
    with _silenced(), atomic_path(out) as partial:
        quantize_dynamic(str(graph), str(partial), weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
    return out


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
    """Silence the quantiser, which advises a preparation that these graphs do not need through the root logger."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


def _fingerprint(layout: SentenceLayout, weights: str, *, int8: bool) -> str:
    """sha256 over weights, tokeniser and every setting that changes a vector."""
    settings = {
        "weights": weights,
        "tokeniser": sha256(layout.weights / "tokenizer.json"),
        "pooling": layout.pooling,
        "max_length": layout.max_length,
        "prompts": [layout.question_prompt, layout.answer_prompt],
        "int8": int8 and _QUANTISED,
    }
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def _weights_sum(layout: SentenceLayout, cache: Path) -> str:
    """sha256 of the weights, stored with their size and time, so that the next start does not read them again."""
    path = layout.weights / "model.safetensors"
    if not path.is_file():
        path = layout.weights / "onnx" / _EXPORTED
    state = [path.name, path.stat().st_size, path.stat().st_mtime_ns]
    note = cache / _SUM
    try:
        known = json.loads(note.read_text(encoding="utf-8"))
        if known["state"] == state:
            return str(known["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # without the note the start is slower
    total = sha256(path)
    cache.mkdir(parents=True, exist_ok=True)
    with atomic_file(note) as file:
        file.write(json.dumps({"state": state, "sha256": total}).encode())
    return total
