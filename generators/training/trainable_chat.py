"""The chat model in torch, for training; `inference` gives the model that answers, which saves and loads itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor, nn

from generators.conversation.chat_model import PARTS, ChatModel
from generators.conversation.chat_text import CHAT_SPECIALS, ChatConfig, ChatText
from generators.conversation.detokenise import Casing, cut, tokens
from generators.topics.counting_grid import CountingGrid
from generators.topics.steering import Steering
from generators.training.acceptor_training import AcceptorNetwork
from generators.training.language_network import LanguageNetwork
from generators.training.torch_networks import arrays
from qa_core.networks.seq2seq import Seq2Seq
from qa_core.networks.vocabulary import Vocabulary
from qa_core.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class TrainableChat(ChatText):
    forward: Seq2Seq
    backward: Seq2Seq
    language: LanguageNetwork
    acceptor: AcceptorNetwork
    steering: Steering | None = None

    @classmethod
    def of(
        cls,
        texts: Iterable[str],
        config: ChatConfig,
        *,
        minimum: int = 1,
        extra: Iterable[str] = (),
        grid: CountingGrid | None = None,
    ) -> Self:
        """A new model over the most frequent words of texts; torch's generator draws the initial weights.

        Args:
            config: `network.vocabulary` is the largest number of words, special ones included.
            minimum: occurrences in the texts that a word needs.
            extra: texts whose words are added beyond that number if the others hold them `minimum` times.
            grid: topics that forward reads.

        Raises:
            ValueError: no word is frequent enough.
        """
        texts_cut = [cut(text) for text in texts]
        counts = Counter(form.lower() for forms in texts_cut for form in forms)
        size = config.network.vocabulary
        vocabulary = Vocabulary.from_counts(counts, size=size, minimum=minimum, specials=CHAT_SPECIALS)
        more = {word for text in extra for word in tokens(text) if counts[word] >= minimum and word not in vocabulary}
        vocabulary = Vocabulary((*vocabulary.tokens, *sorted(more)))
        if len(vocabulary) == len(CHAT_SPECIALS):
            raise ValueError(
                f"Expected words that stand in the texts {minimum} times, but got none; train on more texts."
            )
        forms = {word: form for word, form in Casing.of_cut(texts_cut).forms.items() if word in vocabulary}
        return cls._of_text(ChatText(vocabulary, Casing(forms), config), grid)

    @classmethod
    def copy_of(cls, model: ChatModel) -> Self:
        """A model to fine-tune, with the weights of another."""
        text = ChatText(model.vocabulary, model.casing, model.config)
        made = cls._of_text(text, None if model.steering is None else model.steering.grid)
        for name in PARTS:
            fill(getattr(made, name), getattr(model, name).weights)
        return made

    def inference(self) -> ChatModel:
        """The same model without torch, with a copy of the weights."""
        text = ChatText(self.vocabulary, self.casing, self.config)
        weights = {f"{name}.{key}": array for name in PARTS for key, array in arrays(getattr(self, name)).items()}
        return ChatModel.of(text, weights, None if self.steering is None else self.steering.grid)

    @property
    def device(self) -> torch.device:
        return self.forward.output.bias.device

    @property
    def parameters(self) -> int:
        """Trained numbers of all networks."""
        return sum(tensor.numel() for name in PARTS for tensor in self._network(name).parameters())

    def to(self, device: torch.device) -> Self:
        """Move the networks over words; the acceptor, whose features are computed in numpy, stays on the CPU."""
        for name in PARTS:
            if name != "acceptor":
                self._network(name).to(device)
        return self

    @classmethod
    def _of_text(cls, text: ChatText, grid: CountingGrid | None) -> Self:
        size = len(text.vocabulary)
        sized = replace(text.config.network, vocabulary=size)
        without_topics = replace(sized, topics=0, topic_width=0)
        network = without_topics if grid is None else replace(sized, topics=grid.config.cells)
        language = replace(text.config.language, vocabulary=size)
        return cls(
            text.vocabulary,
            text.casing,
            replace(text.config, network=network, language=language),
            Seq2Seq(network).eval(),
            Seq2Seq(without_topics).eval(),
            LanguageNetwork(language).eval(),
            AcceptorNetwork(text.config.acceptor).eval(),
            None if grid is None else Steering(grid, text.vocabulary),
        )

    def _network(self, name: str) -> nn.Module:
        network: nn.Module = getattr(self, name)
        return network


@torch.no_grad()
def fill(module: nn.Module, weights: Mapping[str, FloatArray]) -> None:
    """Copy arrays into the parameters and buffers of the same names."""
    targets: dict[str, Tensor] = dict((*module.named_parameters(), *module.named_buffers()))
    for name, array in weights.items():
        targets[name].copy_(torch.from_numpy(array))
