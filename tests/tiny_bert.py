"""A one-layer BERT with random weights and a tokeniser of twelve tokens."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from qa_core.encoders.mapped_tensors import write_tensors

TINY_WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cats", "sleep", "un", "##happy", "day", "why", "do", "?"]
HIDDEN, INNER, POSITIONS = 8, 16, 32


def write_word_pieces(folder: Path) -> None:
    """A `tokenizer.json` like BERT's over `TINY_WORDS`."""
    special = {
        token: {"id": token, "ids": [TINY_WORDS.index(token)], "tokens": [token]} for token in ("[CLS]", "[SEP]")
    }
    first, text, last = (
        {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
    )
    pair = [text, {"Sequence": {"id": "B", "type_id": 1}}]
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [first, text, last],
            "pair": pair,
            "special_tokens": special,
        },
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: i for i, token in enumerate(TINY_WORDS)},
        },
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")


def write_tiny_bert(folder: Path) -> Path:
    """A one-layer BERT of random weights (seed 0) in sentence-transformers layout."""
    write_word_pieces(folder)
    write_json(folder / "modules.json", _modules())
    write_json(
        folder / "1_Pooling" / "config.json", {"word_embedding_dimension": HIDDEN, "pooling_mode_mean_tokens": True}
    )
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 16})
    write_json(
        folder / "config.json",
        {
            "model_type": "bert",
            "architectures": ["BertModel"],
            "hidden_size": HIDDEN,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": INNER,
            "max_position_embeddings": POSITIONS,
            "vocab_size": len(TINY_WORDS),
            "hidden_act": "relu",
            "layer_norm_eps": 1e-12,
            "type_vocab_size": 2,
            "pad_token_id": 0,
        },
    )
    write_tensors(folder / "model.safetensors", tiny_bert_weights())
    return folder


def tiny_bert_weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    layer = "encoder.layer.0"
    matrices = {
        "embeddings.word_embeddings": (len(TINY_WORDS), HIDDEN),
        "embeddings.position_embeddings": (POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings": (2, HIDDEN),
        f"{layer}.attention.self.query": (HIDDEN, HIDDEN),
        f"{layer}.attention.self.key": (HIDDEN, HIDDEN),
        f"{layer}.attention.self.value": (HIDDEN, HIDDEN),
        f"{layer}.attention.output.dense": (HIDDEN, HIDDEN),
        f"{layer}.intermediate.dense": (INNER, HIDDEN),
        f"{layer}.output.dense": (HIDDEN, INNER),
    }
    weights = {f"{name}.weight": rng.normal(size=shape).astype(np.float32) for name, shape in matrices.items()}
    linear = [name for name in matrices if name.startswith(layer)]
    weights |= {f"{name}.bias": rng.normal(size=matrices[name][0]).astype(np.float32) for name in linear}
    for name in ("embeddings", f"{layer}.attention.output", f"{layer}.output"):
        weights[f"{name}.LayerNorm.weight"] = np.ones(HIDDEN, dtype=np.float32)
        weights[f"{name}.LayerNorm.bias"] = np.zeros(HIDDEN, dtype=np.float32)
    return weights


def _modules() -> list[dict[str, object]]:
    return [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate([("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")])
    ]


def write_json(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
