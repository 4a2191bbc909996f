"""Loads models that `save_pretrained` wrote, for generation; the only file of this package that imports transformers.

Nothing is downloaded, no code from the folder runs, and weights come from safetensors only.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from generators.pretrained.recognition import CONFIG, is_transformer
from generators.pretrained.token_ids import TokenNumbers
from generators.pretrained.transformer_state import forked

_PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack")
_TOKENIZERS = (
    "tokenizer.json",
    "vocab.json",
    "vocab.txt",
    "spiece.model",
    "tokenizer.model",
    "sentencepiece.bpe.model",
)


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A network in evaluation mode, with 32-bit floats on the CPU, and its tokenizer."""

    network: Any
    tokenizer: Any
    encoded: bool  # whether an encoder reads sources

    @property
    def numbers(self) -> TokenNumbers:
        """Raises ValueError for the tokenizer of another network, or one without a token that ends a text."""
        size, known = len(self.network.get_output_embeddings().weight), len(self.tokenizer)
        ends = dict.fromkeys(token for token in self._token_setting("eos_token_id") if token < size)
        if known > size or not ends:
            raise ValueError(
                f"Expected a tokenizer of at most {size} tokens, one of which ends a text, but got {known} tokens and "
                f"{self.tokenizer.eos_token!r} as the end; fetch the tokenizer that belongs to the model."
            )
        unknown = self.tokenizer.unk_token_id
        unknown = None if unknown in ends else unknown
        added = getattr(self.tokenizer, "added_tokens_decoder", {}).items()
        special = {*self.tokenizer.all_special_ids, *(number for number, token in added if token.special)}
        silent = {*special, *range(known, size)} - {*ends, unknown}
        return TokenNumbers(size, tuple(ends), unknown, tuple(sorted(silent)))

    @property
    def positions(self) -> int | None:
        """Positions of the decoder; None if they are relative."""
        count: int | None = getattr(self.network.config.get_text_config(decoder=True), "max_position_embeddings", None)
        return count

    @property
    def longest(self) -> int | None:
        """Tokens that an encoder may read according to the tokenizer."""
        count = int(min(self.tokenizer.model_max_length, 2**31))
        return count if count < 2**31 else None

    @property
    def begin(self) -> tuple[int, ...]:
        """Tokens that an encoder-decoder's decoder reads before a text. Raises ValueError if no setting names them."""
        start = self._token_setting("decoder_start_token_id", of_tokenizer=False)
        if not start:
            raise ValueError("Expected decoder_start_token_id in config.json, but got none; add it.")
        return (start[0], *self._token_setting("forced_bos_token_id", of_tokenizer=False)[:1])

    def _token_setting(self, name: str, *, of_tokenizer: bool = True) -> list[int]:
        """The tokens of a setting in the tokenizer, the generation settings and the configuration."""
        configs = (self.network.generation_config, self.network.config)
        values = [getattr(config, name, None) for config in ((self.tokenizer, *configs) if of_tokenizer else configs)]
        tokens = [value if isinstance(value, list) else [value] for value in values if value is not None]
        return [token for group in tokens for token in group]


def load_transformer(folder: Path) -> Loaded:
    """Raises FileNotFoundError, ModuleNotFoundError and ValueError that name what is missing or wrong."""
    if importlib.util.find_spec("transformers") is None:
        raise ModuleNotFoundError(
            f"Expected transformers to open {folder}, but it is not installed; run: pip install 'qa-bot[minilm]'"
        )
    if not is_transformer(folder):
        raise FileNotFoundError(
            f"Expected {folder / CONFIG} to describe a model of transformers, but it does not; name another folder."
        )
    _check_files(folder)
    with _quiet():
        encoded = _encoded(folder)
        tokenizer = _tokenizer(folder)
        network = _network(folder, encoded)
    return Loaded(network, tokenizer, encoded)


def _check_files(folder: Path) -> None:
    if not any(folder.glob("*.safetensors")):
        others = sorted(path.name for path in folder.iterdir() if path.suffix in _PICKLED)
        reason = "; pickled weights can run code: save the model again as safetensors." if others else "; fetch it."
        raise ValueError(f"Expected model.safetensors in {folder}, but got {', '.join(others) or 'no weights'}{reason}")
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        raise FileNotFoundError(
            f"Expected a tokenizer in {folder}, such as {_TOKENIZERS[0]}, but got none; fetch the model's own."
        )


def _encoded(folder: Path) -> bool:
    """Whether the architecture is an encoder-decoder; raises ValueError for one that does not generate text."""
    from transformers.models.auto import modeling_auto as known

    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    names = config.get("architectures") or []
    causal = _names(known.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values())
    encoded = _names(known.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES.values())
    supported = [name for name in names if name in causal | encoded]
    if not supported:
        raise ValueError(
            f"{folder / CONFIG}: Expected a causal or a sequence-to-sequence language model among the architectures, "
            f"but got {', '.join(map(str, names)) or 'none'}; name a model that writes text."
        )
    return supported[0] in encoded


def _names(values: Iterable[str | Sequence[str]]) -> set[str]:
    return {name for value in values for name in ([value] if isinstance(value, str) else value)}


def _tokenizer(folder: Path) -> Any:
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    except Exception as error:  # transformers and tokenizers raise whatever they like
        raise ValueError(f"Expected a tokenizer in {folder}, but got: {_line(error)}") from error


def _network(folder: Path, encoded: bool) -> Any:
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

    try:
        opener: Any = AutoModelForSeq2SeqLM if encoded else AutoModelForCausalLM
        network, report = opener.from_pretrained(
            str(folder), local_files_only=True, use_safetensors=True, trust_remote_code=False, output_loading_info=True
        )
    except Exception as error:  # as above
        raise ValueError(f"Expected weights that fit {folder / CONFIG}, but got: {_line(error)}") from error
    if absent := sorted(report["missing_keys"]):
        raise ValueError(
            f"Expected the weights of a {network.config.model_type} in {folder}, but {len(absent)} tensors are missing"
            f" (first {absent[0]}); the checkpoint belongs to another architecture."
        )
    network = network.float().eval()
    if bad := next((name for name, tensor in network.named_parameters() if not bool(tensor.isfinite().all())), None):
        raise ValueError(f"{folder}: Expected finite weights, but got NaN or infinity in {bad}; fetch them again.")
    _check_cache(network, folder, encoded)
    return network


@torch.no_grad()
def _check_cache(network: Any, folder: Path, encoded: bool) -> None:
    """Raises ValueError for a network whose state cannot be selected by rows."""
    token = torch.tensor([[0]])
    more = {"decoder_input_ids": token} if encoded else {}
    try:
        forked(network(input_ids=token, use_cache=True, **more).past_key_values)
    except (TypeError, AttributeError) as error:
        kind = network.config.model_type
        raise ValueError(f"{folder}: Expected a model with attention alone, but got a {kind}; take another.") from error


def _line(error: Exception) -> str:
    """The start of an exception's message, on one line."""
    return " ".join(str(error).split())[:300]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Hides progress bars, reports and warnings; we report what matters."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield
