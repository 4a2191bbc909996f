"""A speaker on top of a chat model (Wang 2018, ch. 8.4): a folder of the weights that differ from the base model.

Weights that equal those of the base are not written, and in memory both share them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from generators.conversation.chat_model import ChatModel
from generators.conversation.detokenise import Casing
from generators.inference.acceptor import Acceptor
from generators.inference.encoder_decoder import EncoderDecoder, part
from generators.inference.language_model import LanguageModel
from generators.inference.lstm import Weights
from generators.personas.quotations import Quotations
from qa_core.networks.checkpoints import WEIGHTS, load_config, load_weights, save_model, tensor_text, text_tensor
from qa_core.types import FloatArray

_CASING, _SENTENCES = _TEXTS = ("casing", "sentences")
_GISTS = ("gists", "totals", "prior")  # of quotations
_NAME = re.compile(r"\w[\w-]{0,63}")

Network = TypeVar("Network", EncoderDecoder, Acceptor, LanguageModel)


@dataclass(frozen=True, slots=True)
class PersonaConfig:
    """Raises ValueError for a name that does not fit into a command, a path or a web address."""

    name: str
    base: str  # fingerprint of the chat model
    weights: tuple[float, float] = (1.0, 1.0)  # exponents of the base and of the speaker's language model

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(
                f"Expected a persona's name of up to 64 letters, digits, - and _, but got {self.name!r}; change it."
            )
        if not all(0 <= weight < math.inf for weight in self.weights) or not any(self.weights):
            raise ValueError(f"Expected two weights of 0 or more, not both of them 0, but got {self.weights}.")


@dataclass(frozen=True, slots=True, eq=False)
class Persona:
    config: PersonaConfig
    base: ChatModel
    forward: EncoderDecoder  # the base's, fine-tuned
    acceptor: Acceptor  # for the fine-tuned forward
    product_acceptor: Acceptor  # for the base's forward times the speaker; of old personas that of the base
    speaker: LanguageModel  # the base's language model, fine-tuned
    quotations: Quotations
    casing: Casing

    @classmethod
    def load(cls, folder: Path, base: ChatModel) -> Self:
        """Raises FileNotFoundError and ValueError that name what is missing or wrong, such as another base."""
        config = load_config(folder, PersonaConfig)
        if config.base != base.fingerprint:
            raise ValueError(
                f"{folder}: Expected the chat model that {config.name} was trained on (fingerprint {config.base}), but "
                f"got one with {base.fingerprint}; name that one, or train the persona again with --base."
            )
        path, weights = folder / WEIGHTS, load_weights(folder)
        casing, sentences = (tensor_text(weights.pop(name, None), path) for name in _TEXTS)
        if missing := [name for name in _GISTS if name not in weights]:
            raise ValueError(f"{path}: Expected {', '.join(missing)}, but got none; train the persona again.")
        gists, totals, prior = (weights.pop(name).astype(np.float32) for name in _GISTS)
        _check_weights(weights, base, path)
        floats = {name: array.astype(np.float32) for name, array in weights.items()}
        return cls(
            config,
            base,
            changed(base.forward, part(floats, "forward")),
            changed(base.acceptor, part(floats, "acceptor")),
            changed(base.acceptor, part(floats, "product")),
            changed(base.language, part(floats, "speaker")),
            Quotations(tuple(sentences.split("\n")) if sentences else (), gists, totals, prior),
            Casing.parsed(casing),
        )

    def save(self, folder: Path, *, card: str, half: bool = True) -> None:
        """Write a folder that `load` opens over the same base; an interrupted save leaves the old persona.

        Args:
            card: Markdown on data, seed, licence and figures.
            half: floats of 16 bits, for a file of half the size and scores that differ in the third digit.
        """
        kind = np.float16 if half else np.float32
        weights: dict[str, NDArray[Any]] = {name: array.astype(kind) for name, array in self.differences().items()}
        quotations = self.quotations
        weights |= {"gists": quotations.gists.astype(np.float16)}
        weights |= {"totals": quotations.totals, "prior": quotations.prior}
        weights |= {_CASING: text_tensor(self.casing.lines()), _SENTENCES: text_tensor("\n".join(quotations.sentences))}
        save_model(folder, config=self.config, weights=weights, card=card)

    @property
    def model(self) -> ChatModel:
        """The base with this speaker's forward model, acceptor and casing."""
        return replace(self.base, forward=self.forward, acceptor=self.acceptor, casing=self.casing)

    def differences(self) -> dict[str, FloatArray]:
        """The weights that differ from those of the base."""
        weights = {
            "forward": self.forward.weights,
            "acceptor": self.acceptor.weights,
            "product": self.product_acceptor.weights,
            "speaker": self.speaker.weights,
        }
        return {
            f"{name}.{key}": array
            for name, base in _base_weights(self.base).items()
            for key, array in weights[name].items()
            if not np.array_equal(array, base[key])
        }


def changed(network: Network, weights: Mapping[str, FloatArray]) -> Network:
    """A network with some other weights, which shares the rest with the given one.

    Raises ValueError for weights that the network lacks, or of other shapes.
    """
    known = network.weights
    wrong = [name for name, array in weights.items() if name not in known or known[name].shape != array.shape]
    if wrong:
        raise ValueError(f"Expected tensors of the base's names and shapes, but got {', '.join(wrong)}.")
    return replace(network, weights={**known, **weights})


def _base_weights(base: ChatModel) -> dict[str, Weights]:
    """The weights of the base that a persona may replace, by the persona's names for their networks."""
    acceptor = base.acceptor.weights
    return {
        "forward": base.forward.weights,
        "acceptor": acceptor,
        "product": acceptor,
        "speaker": base.language.weights,
    }


def _check_weights(weights: Mapping[str, NDArray[Any]], base: ChatModel, path: Path) -> None:
    parts = _base_weights(base).items()
    known = {f"{name}.{key}": array.shape for name, arrays in parts for key, array in arrays.items()}
    if wrong := [name for name, array in weights.items() if known.get(name) != array.shape]:
        raise ValueError(f"{path}: Expected the weights of its base's configuration, but got {', '.join(wrong)}.")
