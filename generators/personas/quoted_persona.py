"""Quotes a speaker on top of a local transformer, which is not fine-tuned.

A sentence's gist is by default the input of the network's last layer at the position where a reply to the sentence
would begin: one pass of the network for each sentence. It may also be the mean over contexts drawn beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from generators.conversation.reply_model import ReplyModel
from generators.personas.persona import PersonaConfig
from generators.personas.quotations import Quotations
from qa_core.networks.checkpoints import WEIGHTS, load_config, load_weights, save_model, tensor_text, text_tensor

_SENTENCES = "sentences"
_GISTS = ("gists", "totals", "prior")


class QuotableModel(ReplyModel, Protocol):
    """A base whose speakers can be quoted."""

    @property
    def fingerprint(self) -> str:
        """A hash of the weights."""


@dataclass(frozen=True, slots=True, eq=False)
class QuotedPersona:
    """As `generators.personas.persona.Persona`, for the style `rank` only."""

    config: PersonaConfig
    base: QuotableModel
    quotations: Quotations

    @classmethod
    def of(
        cls,
        name: str,
        base: QuotableModel,
        sentences: Sequence[str],
        contexts: Sequence[Sequence[str]] | None = None,
    ) -> Self:
        """Of distinct sentences.

        Args:
            contexts: texts that each sentence replies to, such as those that
                `generators.training.persona_training.pseudo_contexts` draws; None uses the fast gist (see above).

        Raises:
            ValueError: there are no sentences, or the name is invalid.
        """
        if not sentences:
            raise ValueError("Expected sentences to quote, but got none; give a file of a speaker's sentences.")
        config = PersonaConfig(name, base.fingerprint)
        return cls(config, base, Quotations.of(base, sentences, contexts or [()] * len(sentences)))

    @classmethod
    def load(cls, folder: Path, base: QuotableModel) -> Self:
        """Raises FileNotFoundError and ValueError that name what is missing or wrong, such as another base."""
        config = load_config(folder, PersonaConfig)
        if config.base != (fingerprint := base.fingerprint):
            raise ValueError(
                f"{folder}: Expected the model that {config.name} was made for (fingerprint {config.base}), but got "
                f"one with {fingerprint}; name that one, or make the persona again."
            )
        weights, path = load_weights(folder), folder / WEIGHTS
        if missing := [name for name in (*_GISTS, _SENTENCES) if name not in weights]:
            raise ValueError(f"{path}: Expected {', '.join(missing)}, but got none; make the persona again.")
        sentences = tensor_text(weights.pop(_SENTENCES), path)
        gists, totals, prior = (weights[name].astype(np.float32) for name in _GISTS)
        return cls(config, base, Quotations(tuple(sentences.split("\n")), gists, totals, prior))

    def save(self, folder: Path, *, card: str) -> None:
        """Write a folder that `load` opens over the same base; an interrupted save leaves the old persona."""
        quotations = self.quotations
        weights: dict[str, NDArray[Any]] = {"gists": quotations.gists.astype(np.float16), "totals": quotations.totals}
        weights |= {"prior": quotations.prior, _SENTENCES: text_tensor("\n".join(quotations.sentences))}
        save_model(folder, config=self.config, weights=weights, card=card)
