"""Published rerankers: sequence classifiers in Hugging Face layout over question and passage (Nogueira and Cho 2019).

    open_reranker(folder, cache=models / "graphs", threads=2).score([("why do cats sleep?", "They hunt at dawn.")])

A folder has `config.json`, `tokenizer.json`, and `onnx/model.onnx` or `model.safetensors`; weights are exported once.
One label is the score; of two labels (no, yes) the score is the difference. Nothing is unpickled, and no code of the
folder is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qa_core.atomic import atomic_path
from qa_core.encoders.mapped_tensors import map_tensors
from qa_core.encoders.pair_tokens import PairConfig
from qa_core.encoders.sentence_layout import read_object
from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.encoders.transformer_encoder import open_graph, quantised
from rankers.answer_selection.cross_encoder import CrossEncoder

WEIGHTS, GRAPH = "model.safetensors", "onnx/model.onnx"
MAX_LENGTH = 512
"""Tokens of a pair; most published rerankers were trained with this limit."""
_EXPORTED, _QUANTISED = "pairs.onnx", "pairs.int7.onnx"
_CLASSIFIER = "ForSequenceClassification"


def open_reranker(folder: Path, *, cache: Path, threads: int = 1, int8: bool = False) -> CrossEncoder:
    """Open a folder; graphs made from its weights are stored in `cache`.

    Args:
        threads: pairs to score at the same time.
        int8: quantise the matrices: faster, scores differ a little.

    Raises:
        FileNotFoundError: weights or tokeniser are missing.
        ModuleNotFoundError: the weights have to be exported, but the extra `minilm` is not installed.
        ValueError: the model is no reranker, is damaged, or cannot be exported.
    """
    check_reranker(folder)
    config = read_object(folder / "config.json")
    tokeniser = SubwordTokeniser.load(folder, max_length=_max_length(folder, config))
    graph = _graph(folder, cache, int8=int8)
    pairs = PairConfig(max_length=_max_length(folder, config))
    segments = int(config.get("type_vocab_size") or 0) > 1
    scorer = CrossEncoder(open_graph(graph, threads=1), tokeniser, pairs, threads, segments)
    scorer.check(graph)
    return scorer


def check_reranker(folder: Path) -> None:
    """Raises ValueError if the configuration is not that of a reranker, FileNotFoundError without weights."""
    config = read_object(folder / "config.json")
    architectures = [str(name) for name in config.get("architectures") or ()]
    if not any(name.endswith(_CLASSIFIER) for name in architectures):
        raise ValueError(
            f"Expected a reranker, a model …{_CLASSIFIER}, in {folder}, but got {', '.join(architectures) or 'none'};"
            " an encoder is used with: qa-bot use NAME"
        )
    names = config.get("id2label")
    labels = list(names.values()) if isinstance(names, dict) else ["0", "1"][: int(config.get("num_labels", 2))]
    if len(labels) not in (1, 2):
        raise ValueError(
            f"Expected one score, or two labels (no, yes), from {folder}, but it has {len(labels)} labels"
            f" ({', '.join(map(str, labels[:5]))}); choose a model for reranking."
        )
    if not any((folder / name).is_file() for name in (WEIGHTS, GRAPH)):
        raise FileNotFoundError(
            f"Expected {WEIGHTS} or {GRAPH} in {folder}, but got neither; pickled weights are never read."
        )


def _max_length(folder: Path, config: dict[str, Any]) -> int:
    """Tokens of a pair: the limits of tokeniser and positions. RoBERTa and its kin use two positions for padding."""
    positions = config.get("max_position_embeddings")
    path = folder / "tokenizer_config.json"
    stated = read_object(path).get("model_max_length") if path.is_file() else None
    limits = [positions - 2] if isinstance(positions, int) and positions > 2 else []
    if isinstance(stated, int | float) and stated > 0:
        limits.append(int(stated))
    return min([MAX_LENGTH, *limits])


def _graph(folder: Path, cache: Path, *, int8: bool) -> Path:
    published = folder / GRAPH
    graph = published if published.is_file() else cache / _EXPORTED
    if int8 and (cache / _QUANTISED).is_file():
        return cache / _QUANTISED
    if not graph.is_file():
        map_tensors(folder / WEIGHTS)
        from qa_core.encoders.graphs.export import export_classifier

        cache.mkdir(parents=True, exist_ok=True)
        with atomic_path(graph) as partial:
            export_classifier(folder, partial)
    return quantised(graph, cache / _QUANTISED) if int8 else graph
