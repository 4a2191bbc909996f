"""A speaker who is quoted on top of a local transformer, which nobody fine-tunes here: sentences, and what they answer.

Sentences are told apart by one pass of the network over each: a gist is what its last layer takes where an answer to
the sentence would begin, or the mean over texts that it would be said to, where those are drawn beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from torch import Tensor

from generators.conversation.chat_model import ChatModel
from generators.personas.persona import Persona, PersonaConfig
from generators.personas.quotations import Quotations
from generators.pretrained.transformer_model import PretrainedModel
from qa_core.networks.checkpoints import WEIGHTS, load_config, load_tensors, save_model, tensor_text, text_tensor

_SENTENCES = "sentences"
_KNOWN = ("gists", "totals", "prior")


@dataclass(frozen=True, slots=True, eq=False)
class QuotedPersona:
    """What `generators.personas.persona.Persona` is to a chat model, as far as the style `rank` asks."""

    config: PersonaConfig
    base: PretrainedModel
    quotations: Quotations

    @classmethod
    def of(
        cls,
        name: str,
        base: PretrainedModel,
        sentences: Sequence[str],
        contexts: Sequence[Sequence[str]] | None = None,
    ) -> Self:
        """Of distinct sentences.

        Args:
            contexts: what each of them replies to, such as `generators.training.persona_training.pseudo_contexts`
            draws; None takes where such a text would begin, which is far sooner known.

        Raises:
            ValueError: there are no sentences, or the name is none.
        """
        if not sentences:
            raise ValueError("Expected sentences to quote, but got none; give a file of a speaker's sentences.")
        config = PersonaConfig(name, base.fingerprint)
        return cls(config, base, Quotations.of(base, sentences, contexts or [()] * len(sentences)))

    @classmethod
    def load(cls, folder: Path, base: PretrainedModel) -> Self:
        """Raises FileNotFoundError and ValueError that say what is missing or wrong, such as another base."""
        config = load_config(folder, PersonaConfig)
        if config.base != (ours := base.fingerprint):
            raise ValueError(
                f"{folder}: Expected the model that {config.name} was made for (fingerprint {config.base}), but got "
                f"one with {ours}; name that one, or make the persona again."
            )
        tensors, path = load_tensors(folder), folder / WEIGHTS
        if missing := [name for name in (*_KNOWN, _SENTENCES) if name not in tensors]:
            raise ValueError(f"{path}: Expected {', '.join(missing)}, but got none; make the persona again.")
        sentences = tensor_text(tensors.pop(_SENTENCES).numpy(), path)
        gists, totals, prior = (tensors[name].float() for name in _KNOWN)
        return cls(config, base, Quotations(tuple(sentences.split("\n")), gists, totals, prior))

    def save(self, folder: Path, *, card: str) -> None:
        """Write a folder that `load` opens over the same base; an interrupted save leaves the old persona."""
        own = self.quotations
        weights: dict[str, Tensor | np.ndarray] = {"gists": own.gists.half(), "totals": own.totals, "prior": own.prior}
        weights[_SENTENCES] = text_tensor("\n".join(own.sentences))
        save_model(folder, config=self.config, weights=weights, card=card)


def open_persona(folder: Path, base: ChatModel | PretrainedModel) -> Persona | QuotedPersona:
    """A persona of either kind of base; raises FileNotFoundError and ValueError as their `load` does."""
    return QuotedPersona.load(folder, base) if isinstance(base, PretrainedModel) else Persona.load(folder, base)
