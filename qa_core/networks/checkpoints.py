"""Model folders: config.json, vocabulary.txt, model.safetensors and README.md, replaced as a whole.

The only file that imports safetensors, late: a question needs it for trained models only. Arrays are written and read
without torch, and nothing is unpickled.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from qa_core.atomic import atomic_file, atomic_folder, current_folder

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from torch import Tensor, nn

Config = TypeVar("Config", bound="DataclassInstance")
Shapes = Mapping[str, tuple[int, ...]]

FORMAT = 1
READS = "reads"
WEIGHTS, CONFIG, VOCABULARY, CARD = FILES = ("model.safetensors", "config.json", "vocabulary.txt", "README.md")


def save_model(
    folder: Path,
    *,
    config: DataclassInstance,
    weights: Mapping[str, Tensor | NDArray[Any]],
    vocabulary: Iterable[str] | None = None,
    card: str,
) -> None:
    """Write a model; an interrupted save leaves the old one, and other files stay in the folder.

    Args:
        config: a dataclass; its class name identifies the architecture.
        vocabulary: words in the order of their ids.
        card: Markdown on data, seed, licence and figures.

    Raises:
        ValueError: for NaN or infinity in the weights, a word with a line break, or a folder whose files of these
            names belong to another program.
    """
    check_finite(weights)
    _check_replaceable(folder)
    kind = type(config).__name__
    head = {"format": FORMAT, "kind": kind, "config": dataclasses.asdict(config)}
    with atomic_folder(folder, FILES) as new:
        (new / CONFIG).write_text(json.dumps(head, indent=2) + "\n", encoding="utf-8")
        if vocabulary is not None:
            (new / VOCABULARY).write_text("".join(f"{_word(word)}\n" for word in vocabulary), encoding="utf-8")
        write_weights(new / WEIGHTS, weights)
        (new / CARD).write_text(card, encoding="utf-8")


def note_reads(folder: Path, reads: Mapping[str, str]) -> None:
    """Note in a saved model what it reads of each side, by the name of the side; `reads_of` returns it."""
    path = _file(folder, CONFIG)
    head = {**_json_object(path), READS: dict(reads)}
    with atomic_file(path) as out:
        out.write((json.dumps(head, indent=2) + "\n").encode())


def reads_of(folder: Path) -> dict[str, str]:
    """What a saved model reads of each side; empty if it does not say. Raises ValueError for anything but texts."""
    path = current_folder(folder) / CONFIG
    reads = _json_object(path).get(READS, {}) if path.is_file() else {}
    if not isinstance(reads, dict) or not all(isinstance(value, str) for value in reads.values()):
        raise ValueError(f"{path}: Expected an object of texts under {READS!r}, but got {reads!r}; train it again.")
    return reads


def text_tensor(text: str) -> NDArray[np.uint8]:
    """A text as bytes, so that it is saved together with the weights."""
    return np.array(bytearray(text.encode("utf-8")), dtype=np.uint8)


def tensor_text(tensor: NDArray[Any] | None, source: Path) -> str:
    """The text of a `text_tensor`. Raises ValueError if it is missing or damaged."""
    if tensor is None or tensor.dtype != np.uint8:
        raise ValueError(f"{source}: Expected a text as bytes, but got {tensor if tensor is None else tensor.dtype}.")
    try:
        return tensor.tobytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{source}: Expected a text in UTF-8, but got {error}; train the model again.") from None


def load_config(folder: Path, expected: type[Config]) -> Config:
    """The config of a model of the `expected` architecture; absent keys take their defaults.

    Raises:
        FileNotFoundError: if the folder has no model.
        ValueError: for another architecture or format, an unknown key (with the nearest known one), or a wrong type.
    """
    path = _file(folder, CONFIG)
    head = _json_object(path)
    if head.get("format") != FORMAT:
        raise ValueError(
            f"{path}: Expected format {FORMAT}, but got {head.get('format')!r}; use the qa-bot that wrote it."
        )
    if head.get("kind") != expected.__name__:
        raise ValueError(
            f"{path}: Expected a model of kind {expected.__name__}, but got {head.get('kind')!r}; name another folder."
        )
    values = head.get("config")
    if not isinstance(values, dict):
        raise ValueError(f"{path}: Expected an object under 'config', but got {values!r}.")
    _check_keys(values, [field.name for field in dataclasses.fields(expected)], path)
    try:
        return TypeAdapter(expected).validate_python(values)
    except ValidationError as error:
        reasons = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ValueError(f"{path}: Expected the fields of {expected.__name__}, but got {reasons}.") from None


def load_vocabulary(folder: Path) -> list[str]:
    """Words in the order of their ids."""
    return _file(folder, VOCABULARY).read_text(encoding="utf-8").split("\n")[:-1]


def load_weights(folder: Path, *, shapes: Shapes | None = None) -> dict[str, NDArray[Any]]:
    """Arrays by name, without torch. Raises ValueError that names every difference from `shapes`, or NaN."""
    path = _file(folder, WEIGHTS)
    return _checked(path, read_weights(path), shapes)


def load_tensors(folder: Path, *, shapes: Shapes | None = None) -> dict[str, Tensor]:
    """The same as torch tensors on the CPU."""
    path = _file(folder, WEIGHTS)
    return _checked(path, read_tensors(path), shapes)


def load_module(folder: Path, module: nn.Module) -> None:
    """Fill a module with the saved weights; the error names missing, unknown and differently shaped ones."""
    shapes = {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}
    module.load_state_dict(load_tensors(folder, shapes=shapes))


def write_weights(path: Path, weights: Mapping[str, Tensor | NDArray[Any]]) -> None:
    from safetensors.numpy import save_file as save_arrays

    # safetensors writes the raw buffer: without the copy a transposed array would be read back scrambled
    arrays = {name: np.asarray(value, order="C") for name, value in weights.items() if isinstance(value, np.ndarray)}
    if len(arrays) == len(weights):
        save_arrays(arrays, path)
        return
    import torch
    from safetensors.torch import save_file

    # clones, because safetensors rejects weights that share memory (tied embeddings)
    tensors = {name: torch.as_tensor(value).detach().cpu().clone() for name, value in weights.items()}
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)


def read_weights(path: Path) -> dict[str, NDArray[Any]]:
    from safetensors.numpy import load_file

    with _damage_named(path):
        return load_file(path)


def read_tensors(path: Path) -> dict[str, Tensor]:
    from safetensors.torch import load_file

    with _damage_named(path):
        return load_file(path)


def _check_replaceable(folder: Path) -> None:
    path = current_folder(folder) / CONFIG
    if path.is_file() and "kind" not in _json_object(path):
        raise ValueError(
            f"Expected a new folder or a model of qa-bot, but {folder} holds a {CONFIG} of something else; "
            "name another."
        )


def _file(folder: Path, name: str) -> Path:
    path = current_folder(folder) / name
    if not path.is_file():
        raise FileNotFoundError(
            f"Expected a model folder with {name}, but {folder} has none; train a model or name another folder."
        )
    return path


def _json_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: Expected JSON in UTF-8, but got {error}.") from None
    if not isinstance(value, dict):
        raise ValueError(f"{path}: Expected a JSON object, but got {value!r}.")
    return value


def _check_keys(values: Mapping[str, object], known: list[str], path: Path) -> None:
    for key in values:
        if key not in known:
            nearest = difflib.get_close_matches(key, known, n=1, cutoff=0)
            hint = f"; the nearest is {nearest[0]!r}" if nearest else ""
            raise ValueError(f"{path}: Expected known keys, but got {key!r}{hint}.")


def _word(word: str) -> str:
    if not word or "\n" in word or "\r" in word:
        raise ValueError(f"Expected words that fit on a line of {VOCABULARY}, but got {word!r}; leave it out.")
    return word


def check_finite(weights: Mapping[str, Tensor | NDArray[Any]], path: Path | None = None) -> None:
    """Raises ValueError that names the first weights with NaN or infinity, and the path that they come from."""
    for name, value in weights.items():
        finite = np.isfinite(value) if isinstance(value, np.ndarray) else value.isfinite()
        if not bool(finite.all()):
            source = f"{path}: " if path is not None else ""
            raise ValueError(f"{source}Expected finite weights, but got NaN or infinity in {name!r}; train it again.")


Value = TypeVar("Value", bound=Any)


def _checked(path: Path, weights: dict[str, Value], shapes: Shapes | None) -> dict[str, Value]:
    actual = {name: tuple(value.shape) for name, value in weights.items()}
    wrong = (
        [
            f"{name}: expected {shapes.get(name, 'nothing')}, got {actual.get(name, 'nothing')}"
            for name in sorted(shapes.keys() | actual.keys())
            if shapes.get(name) != actual.get(name)
        ]
        if shapes is not None
        else []
    )
    if wrong:
        raise ValueError(f"{path}: Expected the weights of this architecture, but got others: {'; '.join(wrong)}.")
    check_finite(weights, path)
    return weights


@contextlib.contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    from safetensors import SafetensorError

    try:
        yield
    except SafetensorError as error:
        raise ValueError(
            f"{path}: Expected safetensors, but got a damaged file ({error}); train or fetch it again."
        ) from None
