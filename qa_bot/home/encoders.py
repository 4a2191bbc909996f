"""Opens encoders by their configured name: the starter's, a folder, or one fetched from the hub.

Only `fetch` downloads anything. The only file that imports `huggingface_hub`.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Container, Iterable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from qa_bot.home.checks.sealed_files import seal
from qa_bot.home.starter import ENCODER
from qa_bot.home.starter import MULTILINGUAL as MULTILINGUAL_FOLDER
from qa_bot.home.starter import TRANSFORMER as TRANSFORMER_FOLDER
from qa_core.atomic import rename_folder
from qa_core.encoders.mapped_tensors import map_tensors
from qa_core.encoders.sentence_layout import MODEL_PROMPTS, Prompts, SentenceLayout, architecture, read_object
from qa_core.encoders.static_encoder import KIND as STATIC
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.types import Encoder

if TYPE_CHECKING:
    from qa_core.encoders.transformer_encoder import TransformerEncoder

STARTER = "starter"
"""The table at once, and the transformer after `qa-bot improve`. Opened by this name, it is the table."""
TABLE, TRANSFORMER, MULTILINGUAL = "starter-table", "starter-transformer", "starter-multilingual"
SHIPPED = {STARTER: ENCODER, TABLE: ENCODER, TRANSFORMER: TRANSFORMER_FOLDER, MULTILINGUAL: MULTILINGUAL_FOLDER}
Confirm = Callable[[str, int], bool]
"""Called with a description of the download and its size in bytes; true to continue."""

_HUB_ID = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
_WEIGHTS = "model.safetensors"
_GRAPH = "onnx/model.onnx"
_PICKLES = ("pytorch_model.bin", "*.bin", "*.pt", "*.pkl")
_SETTINGS = re.compile(r"([\w.-]+/)?[\w.-]+\.(json|txt|md|model)|LICENSE")
_TRIAL = ("why do cats sleep all day?", "cats")


class EncoderError(ValueError):
    """The encoder cannot be used; the message says why and what to do."""


def resolve(
    name: str, *, models: Path, int8: bool = False, threads: int = 1, prompts: Prompts = MODEL_PROMPTS
) -> Encoder:
    """Open an encoder by name; `models` holds the fetched encoders and the graphs made from them.

    `name` is that of a shipped encoder, a folder, or the hub id of an encoder fetched before. `prompts` replace those
    of a transformer; other encoders have none. Raises EncoderError.
    """
    if name in (STARTER, TABLE):
        return _table()
    if name == TRANSFORMER:
        return _shared_transformer(threads)
    return open_folder(locate(name, models=models), models=models, int8=int8, threads=threads, prompts=prompts)


@cache
def _table() -> Encoder:
    """Opened once, and shared by documents, facts and all generations of a running service."""
    return open_folder(ENCODER, models=Path())


@cache
def _shared_transformer(threads: int) -> Encoder:
    """Opened once, as the table; it needs no folder of models."""
    return open_transformer(models=Path(), threads=threads)


@cache
def reading_transformer() -> Encoder:
    """The shipped transformer in whole numbers, which reads passages twice as fast; its vectors are not searched."""
    return open_transformer(models=Path(), threads=1, int8=True)


@cache
def multilingual_transformer() -> Encoder:
    """The shipped transformer of many languages in whole numbers, for passages in others than English."""
    return open_folder(MULTILINGUAL_FOLDER, models=Path(), int8=True)


def open_transformer(*, models: Path, threads: int, int8: bool = False) -> Encoder:
    """The shipped transformer with separate threads, which knows the words of the table. Raises EncoderError."""
    encoder = open_folder(TRANSFORMER_FOLDER, models=models, threads=threads, int8=int8)
    return with_known_words(encoder, _TableWords())


def with_known_words(encoder: Encoder, known_words: Container[str]) -> Encoder:
    """A transformer that knows further words; its vectors stay the same."""
    transformer = cast("TransformerEncoder", encoder)
    return replace(transformer, tokeniser=replace(transformer.tokeniser, known_words=known_words))


class _TableWords(Container[str]):
    """The words of the table, which is opened when a word is first looked up.

    The transformer has .02 to .07 of the words of English questions in pieces only. A corrected spelling and the weight
    of dense search should not depend on which encoder made the vectors.
    """

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and _table().knows(word)


def locate(name: str, *, models: Path) -> Path:
    """The folder behind a name, without opening it. Raises EncoderError if it does not exist."""
    if not name.strip():
        raise EncoderError(
            f"Expected the name of an encoder, but got {name!r}; name `{STARTER}`, a folder or a hub id."
        )
    if name in SHIPPED:
        return SHIPPED[name]
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if not is_hub_id(name):
        raise EncoderError(
            f"Expected an encoder in the folder {folder}, but there is no such folder; bring it back, or run "
            f"`qa-bot use {STARTER}`."
        )
    if not fetched(name, models).is_dir():
        raise EncoderError(
            f"Expected the encoder {name}, but it is not here yet; run `qa-bot use {name}`, which fetches it."
        )
    return fetched(name, models)


def name_of(configured: str, made_by: str) -> str:
    """The encoder to search an index with: with `starter` that which made it, if it is shipped.

    Args:
        configured: `dense.encoder`.
        made_by: the encoder that the manifest names.
    """
    return TRANSFORMER if configured == STARTER and made_by == TRANSFORMER else configured


def mismatch(configured: str, made_by: str) -> str:
    """What to say of an index whose vectors another encoder made."""
    named = configured if configured != made_by else "it with other weights or another `dense.int8`"
    command = "improve" if configured == STARTER and made_by == TRANSFORMER else f"use {configured}"
    return (
        f"The index was made with the encoder {made_by}, but the configuration names {named}: only keywords are "
        f"searched. Run `qa-bot {command}` to encode everything anew."
    )


def is_hub_id(name: str) -> bool:
    return _HUB_ID.fullmatch(name) is not None


def fetched(name: str, models: Path) -> Path:
    """The folder that `fetch` writes for a hub id."""
    return models / name.replace("/", "--")


def open_folder(
    folder: Path, *, models: Path, int8: bool = False, threads: int = 1, prompts: Prompts = MODEL_PROMPTS
) -> Encoder:
    """Open a folder: static, trained by `qa-bot train`, or in sentence-transformers layout. Raises EncoderError."""
    try:
        if _is_static(folder):
            return StaticEncoder.load(folder)
        if _is_trained(folder):
            from qa_core.encoders.trained_encoder import TrainedEncoder  # late: only this encoder needs torch

            return TrainedEncoder.load(folder)
        return _open_transformer(folder, models=models, int8=int8, threads=threads, prompts=prompts)
    except (OSError, ValueError, ModuleNotFoundError) as error:
        raise EncoderError(str(error)) from error


def verify(folder: Path, *, models: Path, int8: bool = False, prompts: Prompts = MODEL_PROMPTS) -> Encoder:
    """Check files, layout and weights, encode a trial text, and return the encoder. Raises EncoderError."""
    encoder = open_folder(folder, models=models, int8=int8, prompts=prompts)
    try:
        vectors = encoder.encode(_trial(folder))  # (N, D)
    except ValueError as error:
        raise EncoderError(str(error)) from error
    lengths = np.linalg.norm(vectors, axis=1)
    if not np.allclose(lengths, 1, atol=1e-3):  # also false for nan
        raise EncoderError(
            f"Expected vectors of length 1 from {folder}, but got {', '.join(f'{length:.3g}' for length in lengths)};"
            " its weights are damaged, fetch the encoder again."
        )
    return encoder


def fetch(
    name: str,
    models: Path,
    confirm: Confirm,
    *,
    endpoint: str | None = None,
    check: Callable[[Path], object] | None = None,
) -> Path:
    """Fetch the model `org/name` into `models` and verify it; a model that exists is only verified.

    `confirm` is called before the download, `check` verifies a folder; by default it has to be an encoder. An
    interrupted fetch continues where it stopped. Raises EncoderError if the hub cannot be reached, or has no such model
    in a usable form.
    """
    check = check or partial(verify, models=models)
    if not is_hub_id(name):
        raise EncoderError(f"Expected a hub id such as sentence-transformers/all-MiniLM-L6-v2, but got {name!r}.")
    target = fetched(name, models)
    if not target.is_dir():
        part = target.with_name(f"{target.name}.part")
        _download(name, part, confirm, endpoint)
        check(part)
        rename_folder(part, target)
    check(target)
    seal(models.parent)
    return target


def _open_transformer(folder: Path, *, models: Path, int8: bool, threads: int, prompts: Prompts) -> TransformerEncoder:
    layout = SentenceLayout.read(folder)
    architecture(layout.weights)
    _check_weights(layout.weights)
    from qa_core.encoders.transformer_encoder import MADE_WITH, TransformerEncoder  # late: onnxruntime

    if (folder / MADE_WITH).is_file():
        return TransformerEncoder.load_prepared(folder, int8=int8, threads=threads, prompts=prompts)
    cache = cache_of(layout.weights, models)
    return TransformerEncoder.load(folder, cache=cache, int8=int8, threads=threads, prompts=prompts)


def cache_of(weights: Path, models: Path) -> Path:
    """The folder of graphs made from these weights; it changes with the weights."""
    path = weights / _WEIGHTS if (weights / _WEIGHTS).is_file() else weights / _GRAPH
    state = path.stat()
    identity = f"{path.resolve()}\0{state.st_size}\0{state.st_mtime_ns}\0{(weights / 'config.json').read_text('utf-8')}"
    return models / "graphs" / f"{weights.name}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"


def _is_static(folder: Path) -> bool:
    return (
        not (folder / "modules.json").is_file()
        and (folder / "config.json").is_file()
        and (read_object(folder / "config.json").get("kind") == STATIC)
    )


def _is_trained(folder: Path) -> bool:
    """Whether `qa-bot train` wrote the folder; its loader reads the architecture."""
    return not (folder / "modules.json").is_file() and (folder / "vocabulary.txt").is_file()


def _trial(folder: Path) -> tuple[str, ...]:
    """Texts with words that the encoder knows; an encoder over words may only know its training texts."""
    if not _is_trained(folder):
        return _TRIAL
    words = (folder / "vocabulary.txt").read_text(encoding="utf-8").split("\n")
    return tuple(word for word in words if word and not word.startswith("<"))[:2]


def _check_weights(weights: Path) -> None:
    if (weights / _WEIGHTS).is_file():
        map_tensors(weights / _WEIGHTS)
    elif not (weights / _GRAPH).is_file():
        raise EncoderError(_no_weights(weights, (path.name for path in weights.iterdir())))


def _no_weights(source: object, names: Iterable[str]) -> str:
    pickles = sorted(name for name in names if any(Path(name).match(pattern) for pattern in _PICKLES))
    if not pickles:
        return f"Expected {_WEIGHTS} in {source}, but it is not there; fetch the encoder again or choose another one."
    return (
        f"Expected {_WEIGHTS} in {source}, but got only {', '.join(pickles)}: a pickle can run any program and is never"
        " read; save the model again with safe_serialization=True, or choose another one."
    )


def _download(name: str, partial: Path, confirm: Confirm, endpoint: str | None) -> None:
    try:
        import huggingface_hub
    except ImportError as error:
        raise EncoderError(
            f"Expected huggingface_hub to fetch {name}, but it is not installed; run: pip install 'qa-bot[minilm]'"
        ) from error
    hub = huggingface_hub.HfApi(endpoint=endpoint)
    info = _reached(name, lambda: hub.model_info(name, files_metadata=True))
    sizes = _files_to_fetch(name, {file.rfilename: int(file.size or 0) for file in info.siblings or ()})
    if not confirm(f"{name} from {hub.endpoint} ({len(sizes)} files)", sum(sizes.values())):
        raise EncoderError(f"Expected your consent to fetch {name}, but got none; nothing was fetched.")
    _reached(
        name,
        lambda: hub.snapshot_download(name, revision=info.sha, allow_patterns=sorted(sizes), local_dir=partial),
    )
    shutil.rmtree(partial / ".cache", ignore_errors=True)  # metadata of the hub client


def _reached(name: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # the client's errors come from three libraries and change between its versions
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise EncoderError(
            f"Expected {name} from the hub, but got: {reason}; check the name and the connection, or name a folder."
        ) from error


def _files_to_fetch(name: str, sizes: dict[str, int]) -> dict[str, int]:
    """Settings and one form of the weights, never a pickle."""
    weights = next((path for path in (_WEIGHTS, _GRAPH) if path in sizes), None)
    if weights is None:
        raise EncoderError(_no_weights(name, sizes))
    return {path: size for path, size in sizes.items() if path == weights or _SETTINGS.fullmatch(path)}
