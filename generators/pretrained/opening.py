"""Opens chat models and personas of either kind; transformers and torch are imported only for local transformers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from generators.conversation.chat_model import ChatModel
from generators.personas.persona import Persona
from generators.personas.quoted_persona import QuotedPersona
from generators.pretrained.recognition import is_transformer

if TYPE_CHECKING:
    from generators.pretrained.transformer_model import PretrainedModel


def open_chat_model(folder: Path) -> ChatModel | PretrainedModel:
    """The chat model in a folder: one that `train chat` wrote, or a model of transformers.

    Raises FileNotFoundError, ModuleNotFoundError and ValueError that name what is missing or wrong.
    """
    if not is_transformer(folder):
        return ChatModel.load(folder)
    from generators.pretrained.transformer_model import PretrainedModel

    return PretrainedModel.load(folder)


def open_persona(folder: Path, base: ChatModel | PretrainedModel) -> Persona | QuotedPersona:
    """A persona on either kind of base; raises FileNotFoundError and ValueError as their `load` does."""
    return Persona.load(folder, base) if isinstance(base, ChatModel) else QuotedPersona.load(folder, base)
