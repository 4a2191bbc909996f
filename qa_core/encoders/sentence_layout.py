"""Reads the settings of a folder in sentence-transformers or plain Hugging Face layout, without these libraries."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

Pooling = Literal["mean", "cls"]

_POOLINGS: dict[str, Pooling] = {"mean": "mean", "cls": "cls"}
_FLAGS: dict[str, Pooling] = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
_PROMPTS = {"question": ("query",), "answer": ("document", "passage")}
_DEFAULT_LENGTH = 256


class Prompts(NamedTuple):
    """Texts before questions and answers; an empty one means that of the model."""

    question: str = ""
    answer: str = ""


MODEL_PROMPTS = Prompts()


@dataclass(frozen=True, slots=True)
class SentenceLayout:
    """Pooling, maximum length in tokens and the prompt of each side of a question-answer pair.

    Vectors are always normalised, because the dense index compares by inner product.
    """

    folder: Path
    weights: Path  # folder of config.json, tokenizer.json and weights
    dimension: int
    pooling: Pooling
    max_length: int
    question_prompt: str = ""
    answer_prompt: str = ""

    @classmethod
    def read(cls, folder: Path, *, max_length: int | None = None, prompts: Prompts = MODEL_PROMPTS) -> Self:
        """Read `modules.json` and the files that it names; a transformer without that file has mean pooling.

        Args:
            max_length: caps the model's limit (default 256 tokens).
            prompts: replace those of the model.

        Raises FileNotFoundError or ValueError that names the file and what is wrong.
        """
        if _is_plain(folder):
            modules = {"Transformer": ""}
            pooling, dimension = _POOLINGS["mean"], _hidden_size(folder)
        else:
            modules = _modules(folder)
            pooling, dimension = _pooling(folder / modules["Pooling"] / "config.json")
        weights = folder / modules["Transformer"]
        known = _optional(folder / "config_sentence_transformers.json").get("prompts") or {}
        return cls(
            folder=folder,
            weights=weights,
            dimension=dimension,
            pooling=pooling,
            max_length=min(max_length or _DEFAULT_LENGTH, _length_limit(weights)),
            question_prompt=prompts.question or _prompt(known, "question"),
            answer_prompt=prompts.answer or _prompt(known, "answer"),
        )


def architecture(weights: Path) -> str:
    """The model type in `config.json`."""
    config = read_object(weights / "config.json")
    kind = config.get("model_type")
    if not isinstance(kind, str):
        raise ValueError(
            f"Expected 'model_type' in {weights / 'config.json'}, but got {kind!r}; fetch the encoder again."
        )
    return kind


def read_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(f"Expected {path}, but there is no such file; fetch the encoder again.") from None
    except ValueError as error:
        raise ValueError(f"Expected JSON in {path}, but got: {error}; fetch the encoder again.") from error
    if not isinstance(value, dict):
        raise ValueError(f"Expected a JSON object in {path}, but got {type(value).__name__}; fetch the encoder again.")
    return value


def _optional(path: Path) -> dict[str, Any]:
    return read_object(path) if path.is_file() else {}


def is_transformer(folder: Path) -> bool:
    """Whether the folder has a transformer, in sentence-transformers or in Hugging Face layout."""
    return (folder / "modules.json").is_file() or _is_plain(folder)


def _is_plain(folder: Path) -> bool:
    """Whether the folder has a transformer, but no `modules.json`."""
    return not (folder / "modules.json").is_file() and "model_type" in _optional(folder / "config.json")


def _hidden_size(folder: Path) -> int:
    config = read_object(folder / "config.json")
    size = config.get("hidden_size", config.get("dim"))  # DistilBERT says `dim`
    if not isinstance(size, int):
        raise ValueError(
            f"Expected 'hidden_size' in {folder / 'config.json'}, but got {size!r}; choose another encoder."
        )
    return size


def _modules(folder: Path) -> dict[str, str]:
    """Folder of each module by the last part of its type, such as {"Transformer": "", "Pooling": "1_Pooling"}."""
    path = folder / "modules.json"
    if not folder.is_dir():
        raise FileNotFoundError(f"Expected an encoder in the folder {folder}, but there is no such folder.")
    if not path.is_file():
        raise FileNotFoundError(
            f"Expected a folder in sentence-transformers or Hugging Face layout, but {folder} has neither modules.json"
            " nor a config.json with 'model_type'; name the folder that `save_pretrained` wrote."
        )
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        modules = {str(entry["type"]).rpartition(".")[2]: str(entry["path"]) for entry in entries}
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"Expected a list of modules in {path}, but got: {error!r}; fetch the encoder again."
        ) from error
    if not {"Transformer", "Pooling"} <= modules.keys() <= {"Transformer", "Pooling", "Normalize"}:
        raise ValueError(
            f"Expected the modules Transformer, Pooling and optionally Normalize in {path},"
            f" but got {', '.join(modules)}; choose another encoder."
        )
    return modules


def _pooling(path: Path) -> tuple[Pooling, int]:
    config = read_object(path)
    named = config.get("pooling_mode")
    chosen = (
        [named]
        if isinstance(named, str)
        else [key for key, on in config.items() if key.startswith("pooling_mode_") and on is True]
    )
    pooling = (_POOLINGS | _FLAGS).get(chosen[0]) if len(chosen) == 1 else None
    if pooling is None:
        raise ValueError(f"Expected mean or cls pooling in {path}, but got {chosen}; choose another encoder.")
    dimension = config.get("word_embedding_dimension", config.get("embedding_dimension"))
    if not isinstance(dimension, int):
        raise ValueError(
            f"Expected 'word_embedding_dimension' in {path}, but got {dimension!r}; fetch the encoder again."
        )
    return pooling, dimension


def _length_limit(weights: Path) -> int:
    """The model's limit in tokens: the one set for sentences, otherwise its number of positions."""
    stated = _optional(weights / "sentence_bert_config.json").get("max_seq_length")
    positions = read_object(weights / "config.json").get("max_position_embeddings")
    lengths = [length for length in (stated, positions) if isinstance(length, int) and length > 0]
    return min(lengths, default=_DEFAULT_LENGTH)


def _prompt(prompts: Any, side: str) -> str:
    names = _PROMPTS[side] if isinstance(prompts, dict) else ()
    return next((prompts[name] for name in names if isinstance(prompts.get(name), str)), "")
