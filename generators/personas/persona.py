"""A speaker's voice on top of a chat model (thesis, ch. 8.4): what of the base is other for this speaker, in a folder.

Weights that are the base's own are not written, and in memory shared with it.
"""

from __future__ import annotations

import copy
import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from generators.conversation.acceptor import Acceptor
from generators.conversation.chat_model import ChatModel
from generators.conversation.detokenise import Casing
from generators.conversation.language_model import LanguageModel
from generators.personas.quotations import Quotations
from qa_core.networks.checkpoints import WEIGHTS, load_config, load_tensors, save_model, tensor_text, text_tensor
from qa_core.networks.seq2seq import Seq2Seq

_CASING, _SENTENCES = _TEXTS = ("casing", "sentences")
_KNOWN = ("gists", "totals", "prior")  # of quotations
_NAME = re.compile(r"\w[\w-]{0,63}")

Module = TypeVar("Module", bound=nn.Module)


@dataclass(frozen=True, slots=True)
class PersonaConfig:
    """Raises ValueError for a name that cannot stand in a command, a path or a web address."""

    name: str
    base: str  # fingerprint of the chat model
    weights: tuple[float, float] = (
        1.0,
        1.0,
    )  # of the base and of the speaker's language model when they are multiplied

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
    forward: Seq2Seq  # the base's, fine-tuned
    acceptor: Acceptor  # of the fine-tuned forward
    speaker: LanguageModel  # the base's language model, fine-tuned
    quotations: Quotations
    casing: Casing

    @classmethod
    def load(cls, folder: Path, base: ChatModel) -> Self:
        """Raises FileNotFoundError and ValueError that say what is missing or wrong, such as another base."""
        config = load_config(folder, PersonaConfig)
        if config.base != (ours := fingerprint(base)):
            raise ValueError(
                f"{folder}: Expected the chat model that {config.name} was trained on (fingerprint {config.base}), but "
                f"got one with {ours}; name that one, or train the persona again with --base."
            )
        path = folder / WEIGHTS
        tensors = load_tensors(folder)
        casing, sentences = (tensor_text(_bytes(tensors.pop(name, None)), path) for name in _TEXTS)
        if missing := [name for name in _KNOWN if name not in tensors]:
            raise ValueError(f"{path}: Expected {', '.join(missing)}, but got none; train the persona again.")
        gists, totals, prior = (tensors.pop(name).float() for name in _KNOWN)
        _check_weights(tensors, base, path)
        return cls(
            config,
            base,
            changed(base.forward, _part(tensors, "forward")),
            changed(base.acceptor, _part(tensors, "acceptor")),
            changed(base.language, _part(tensors, "speaker")),
            Quotations(tuple(sentences.split("\n")) if sentences else (), gists, totals, prior),
            Casing.parsed(casing),
        )

    def save(self, folder: Path, *, card: str, half: bool = True) -> None:
        """Write a folder that `load` opens over the same base; an interrupted save leaves the old persona.

        Args:
            card: Markdown on data, seed, licence and figures.
            half: floats of 16 bits, for a file of half the size and scores that differ in the third digit.
        """
        weights: dict[str, Tensor | np.ndarray] = {
            name: tensor.half() if half else tensor for name, tensor in self.differences().items()
        }
        quotations = self.quotations
        weights |= {"gists": quotations.gists.half(), "totals": quotations.totals, "prior": quotations.prior}
        weights |= {_CASING: text_tensor(self.casing.lines()), _SENTENCES: text_tensor("\n".join(quotations.sentences))}
        save_model(folder, config=self.config, weights=weights, card=card)

    @property
    def model(self) -> ChatModel:
        """The base with what is this speaker's in its place; backward and the language model are the base's own."""
        return replace(self.base, forward=self.forward, acceptor=self.acceptor, casing=self.casing)

    def differences(self) -> dict[str, Tensor]:
        """The tensors that are not the base's."""
        pairs: dict[str, tuple[nn.Module, nn.Module]] = {
            "forward": (self.forward, self.base.forward),
            "acceptor": (self.acceptor, self.base.acceptor),
            "speaker": (self.speaker, self.base.language),
        }
        return {
            f"{part}.{name}": tensor.detach().cpu()
            for part, (own, others) in pairs.items()
            for name, tensor in _tensors(own).items()
            if not torch.equal(tensor, _tensors(others)[name])
        }


def fingerprint(base: ChatModel) -> str:
    """Of the vocabulary and of all weights rounded to 16 bits, so that a base saved in half the size has the same."""
    digest = hashlib.blake2b("\n".join(base.vocabulary.tokens).encode(), digest_size=8)
    for module in (base.forward, base.backward, base.language):
        for name, tensor in sorted(_tensors(module).items()):
            digest.update(name.encode() + tensor.detach().half().cpu().numpy().tobytes())
    return digest.hexdigest()


def changed(module: Module, own: Mapping[str, Tensor]) -> Module:
    """A copy of the module with some tensors of its own, which shares all others with it; in evaluation mode.

    Raises ValueError for tensors that the module has not, or of other shapes.
    """
    theirs = _tensors(module)
    wrong = [name for name, tensor in own.items() if name not in theirs or theirs[name].shape != tensor.shape]
    if wrong:
        raise ValueError(f"Expected tensors of the base's names and shapes, but got {', '.join(wrong)}.")
    made = copy.deepcopy(module, {id(tensor): tensor for name, tensor in theirs.items() if name not in own})
    with torch.no_grad():
        for name, tensor in _tensors(made).items():
            if name in own:
                tensor.copy_(own[name])
    return made.eval()


def _tensors(module: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers, each once, also where two layers share it."""
    return dict((*module.named_parameters(), *module.named_buffers()))


def _part(tensors: Mapping[str, Tensor], part: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(f"{part}."): tensor.float() for name, tensor in tensors.items() if name.startswith(f"{part}.")
    }


def _check_weights(tensors: Mapping[str, Tensor], base: ChatModel, path: Path) -> None:
    parts: dict[str, nn.Module] = {"forward": base.forward, "acceptor": base.acceptor, "speaker": base.language}
    known = {f"{part}.{name}": each.shape for part, module in parts.items() for name, each in _tensors(module).items()}
    if wrong := [name for name, tensor in tensors.items() if known.get(name) != tensor.shape]:
        raise ValueError(f"{path}: Expected the weights of its base's configuration, but got {', '.join(wrong)}.")
    if bad := [name for name, tensor in tensors.items() if not bool(tensor.isfinite().all())]:
        raise ValueError(f"{path}: Expected finite weights, but got NaN or infinity in {bad[0]}; train it again.")


def _bytes(tensor: Tensor | None) -> np.ndarray | None:
    return None if tensor is None else tensor.numpy()
