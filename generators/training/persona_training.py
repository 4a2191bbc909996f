"""Training data of a persona: a speaker's sentences, each after drawn contexts and the sentence before it.

Source: Wang (2018), ch. 8.4.3.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product as pairs_of
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from generators.conversation.blending import product
from generators.conversation.chat_text import BARRED, ChatText
from generators.conversation.decoding import Sampling, sample
from generators.conversation.detokenise import tokens
from generators.conversation.padded_batches import SourceTarget, masked
from generators.conversation.random_stream import RandomStream
from generators.inference.acceptor import AcceptorConfig
from generators.training.acceptor_training import AcceptorNetwork, train_acceptor
from generators.training.chat_training import acceptor_examples
from generators.training.language_network import LanguageNetwork
from generators.training.torch_networks import TorchNetwork, evaluating
from generators.training.trainable_chat import TrainableChat
from qa_core.networks.decoder_types import END_ID, START_ID, Limits
from qa_core.networks.seq2seq import Seq2Seq
from qa_core.networks.translator import Columns
from qa_core.types import IntArray

_BATCH = 256  # texts drawn at once
_SCORED = 16  # rows scored at once; the distributions of more would not fit into the cache
WEIGHTS = (0.25, 0.5, 0.75, 1.0)
"""Exponents that are tried for each of the two multiplied models."""
_WORDS = ("source.E_tune", "target.E_tune", "words.E_tune", "output.weight")

Module = TypeVar("Module", bound=nn.Module)


class SentenceModel(Protocol):
    """Turns texts into word numbers and back."""

    @property
    def config(self) -> Any:
        """Has `max_target`, the words of a reply that count."""

    def target(self, text: str, /) -> IntArray:
        """Word numbers of a reply, `</s>` at the end, (Q,)."""
        ...

    def enclosed(self, words: IntArray, /) -> IntArray:
        """What an encoder reads for words (T,)."""
        ...

    def text(self, ids: Iterable[int], /) -> str:
        """The readable text of word numbers."""
        ...


@dataclass(frozen=True, slots=True)
class Spoken:
    """A sentence of the speaker, and the one before it, if there is one."""

    text: str
    before: str = ""


def speaker_rows(model: ChatText, spoken: Sequence[Spoken]) -> list[SourceTarget]:
    """Training rows of the speaker's language model; sentences without words are left out."""
    rows = [(np.zeros(0, dtype=np.int64), beginning(model, sentence.text)) for sentence in spoken]
    return [row for row in rows if row[1][0] != END_ID]


def styled_rows(model: ChatText, spoken: Sequence[Spoken], contexts: Sequence[Sequence[str]]) -> list[SourceTarget]:
    """Training rows of the forward model: each sentence after each of its contexts, and after the one before it."""
    rows = []
    for sentence, drawn in zip(spoken, contexts, strict=True):
        target = beginning(model, sentence.text)
        turns = dict.fromkeys(turn for turn in (*drawn, sentence.before) if turn)
        rows += [(model.source([turn]), target) for turn in turns if target[0] != END_ID]
    return [row for row in rows if len(row[0])]


def beginning(model: ChatText, text: str) -> IntArray:
    """Word numbers (Q,) of the start of a text; `</s>` follows if that is the whole text."""
    ids = np.array(model.vocabulary.ids(tokens(text)), dtype=np.int64)
    longest = model.config.max_target
    return ids[:longest] if len(ids) > longest else np.append(ids, END_ID)


def known_share(model: ChatText, text: str) -> float:
    """Share of a text's words that the model knows; 0 for a text without words."""
    words = tokens(text)
    return sum(word in model.vocabulary for word in words) / max(1, len(words))


def pseudo_contexts(
    model: SentenceModel,
    backward: TorchNetwork,
    sentences: Sequence[str],
    count: int,
    *,
    stream: RandomStream,
    sampling: Sampling,
    length: int = 15,
) -> list[tuple[str, ...]]:
    """Draw from `p(S|T)` `count` texts that each sentence may reply to.

    Args:
        model: turns sentences into word numbers and back.
        backward: the backward network of the same model.
        stream: the same one in the same state draws the same texts.
        length: words of a text at most.
    """
    limits = Limits(START_ID, END_ID, min(length, model.config.max_target) + 1, barred=BARRED)
    contexts: list[tuple[str, ...]] = []
    size = max(1, _BATCH // count)
    with evaluating(backward.network):
        for start in range(0, len(sentences), size):
            rows = [model.enclosed(model.target(sentence)[:-1]) for sentence in sentences[start : start + size]]
            state = backward.start_source(*masked(rows)).select(np.repeat(np.arange(len(rows)), count))
            total = len(rows) * count
            drawn = sample(backward.step, state, total, limits=limits, stream=stream, sampling=sampling)
            texts = [model.text(hypothesis.tokens) for hypothesis in drawn]
            contexts += [tuple(texts[first : first + count]) for first in range(0, len(texts), count)]
    return contexts


def tunable(module: Module, *, words: bool) -> Module:
    """A copy to fine-tune; its word vectors and softmax stay fixed unless `words` is set."""
    made = copy.deepcopy(module)
    for name, tensor in made.named_parameters():
        tensor.requires_grad_(words or name not in _WORDS)
    return made


class MultipliedNetwork(nn.Module):
    """`p1(t|S)^w1 p2(t)^w2`, renormalised, of a forward model and a language model (Wang 2018, ch. 8.4.2)."""

    def __init__(self, forward: Seq2Seq, speaker: LanguageNetwork, weights: tuple[float, float]) -> None:
        super().__init__()
        self.base, self.speaker, self.weights = forward, speaker, weights

    def token_distributions(
        self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor, topic: Tensor | None = None
    ) -> Tensor:
        """log-probabilities (N, V) at the N real tokens of all targets (B, Q) in order."""
        log_p = (
            self.base.token_distributions(source, source_mask, target, target_mask, topic),
            self.speaker.token_distributions(target, target_mask),
        )
        joint = product([distribution.cpu().numpy() for distribution in log_p], self.weights)
        return torch.from_numpy(joint).to(target.device)


def adapted_acceptor(
    model: TrainableChat,
    forward: Seq2Seq | MultipliedNetwork,
    rows: Sequence[SourceTarget],
    config: AcceptorConfig,
    *,
    limit: int,
    seed: int,
) -> AcceptorNetwork:
    """The base's acceptor, trained further for the network that draws a persona's words; unchanged without rows."""
    generator = torch.Generator().manual_seed(seed)
    examples = acceptor_examples(
        forward, model.language, rows, generator=generator, limit=limit, steering=model.steering
    )
    acceptor = copy.deepcopy(model.acceptor)
    if len(examples):
        for _ in train_acceptor(acceptor, examples, config, seed=seed):
            pass
    return acceptor.eval()


def multiplied_perplexities(
    model: TrainableChat, speaker: LanguageNetwork, rows: Sequence[SourceTarget]
) -> dict[tuple[float, float], float]:
    """Perplexity of `p(t|S)^w1 p2(t)^w2` on rows of the speaker, for all pairs of `WEIGHTS`.

    Raises ValueError if there are no rows.
    """
    if not rows:
        raise ValueError("Expected rows to choose the weights on, but got none; hold more sentences out.")
    weights = list(pairs_of(WEIGHTS, WEIGHTS))
    totals, count = dict.fromkeys(weights, 0.0), 0
    with evaluating(model.forward), evaluating(speaker):
        for batch in _batches(rows, model.device):
            log_p = (
                model.forward.token_distributions(batch.source, batch.source_mask, batch.target, batch.target_mask),
                speaker.token_distributions(batch.target, batch.target_mask),
            )
            arrays = [distribution.cpu().numpy() for distribution in log_p]
            true = batch.target[batch.target_mask].cpu().numpy()  # (N,)
            count += len(true)
            for pair in weights:
                totals[pair] += float(product(arrays, pair)[np.arange(len(true)), true].sum())
    return {pair: math.exp(-total / count) for pair, total in totals.items()}


def _batches(rows: Sequence[SourceTarget], device: torch.device) -> Iterator[Columns]:
    for start in range(0, len(rows), _SCORED):
        yield Columns.of(rows[start : start + _SCORED], device)
