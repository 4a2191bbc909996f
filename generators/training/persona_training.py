"""What a persona learns from: a speaker's sentences, each with made-up contexts and the sentence before (ch. 8.4.3)."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product as pairs_of
from typing import TypeVar

import numpy as np
import torch
from torch import nn

from generators.conversation.acceptor import Acceptor, AcceptorConfig, train_acceptor
from generators.conversation.blending import product
from generators.conversation.chat_model import BARRED, ChatModel
from generators.conversation.decoding import Sampling, sample
from generators.conversation.detokenise import tokens
from generators.conversation.language_model import LanguageModel
from generators.conversation.padded_batches import SourceTarget, evaluating, tensors
from generators.training.chat_training import acceptor_examples
from qa_core.networks.decoder_types import END_ID, START_ID, Limits
from qa_core.networks.seq2seq import Seq2Seq
from qa_core.networks.translator import Columns
from qa_core.types import IntArray

_BATCH = 256  # texts that are drawn at once
_SCORED = 16  # rows; the words of more would not stay in the processor
WEIGHTS = (0.25, 0.5, 0.75, 1.0)
"""Of which each of two multiplied models gets one."""
_WORDS = ("source.E_tune", "target.E_tune", "words.E_tune", "output.weight")

Module = TypeVar("Module", bound=nn.Module)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A sentence of the speaker, and what was said before it, if anything was."""

    text: str
    before: str = ""


def speaker_rows(model: ChatModel, spoken: Sequence[Spoken]) -> list[SourceTarget]:
    """What the speaker's language model learns from; sentences without words are left out."""
    rows = [(np.zeros(0, dtype=np.int64), beginning(model, each.text)) for each in spoken]
    return [row for row in rows if row[1][0] != END_ID]


def styled_rows(model: ChatModel, spoken: Sequence[Spoken], contexts: Sequence[Sequence[str]]) -> list[SourceTarget]:
    """What the forward model learns from: each sentence behind each of its contexts, and behind the one before it."""
    rows = []
    for each, drawn in zip(spoken, contexts, strict=True):
        target = beginning(model, each.text)
        sources = dict.fromkeys(said for said in (*drawn, each.before) if said)
        rows += [(model.source([said]), target) for said in sources if target[0] != END_ID]
    return [row for row in rows if len(row[0])]


def beginning(model: ChatModel, text: str) -> IntArray:
    """Numbers of words (Q,), the first ones of a long text; `</s>` follows where that is all of it."""
    ids = np.array(model.vocabulary.ids(tokens(text)), dtype=np.int64)
    longest = model.config.max_target
    return ids[:longest] if len(ids) > longest else np.append(ids, END_ID)


def known_share(model: ChatModel, text: str) -> float:
    """Share of a text's words that the model knows; of none, 0."""
    words = tokens(text)
    return sum(word in model.vocabulary for word in words) / max(1, len(words))


def pseudo_contexts(
    model: ChatModel,
    sentences: Sequence[str],
    count: int,
    *,
    generator: torch.Generator,
    sampling: Sampling,
    length: int = 15,
) -> list[tuple[str, ...]]:
    """`count` texts for each sentence that the backward model takes for what it replies to.

    Args:
        generator: on the CPU; the same one in the same state draws the same texts.
        length: words of a text at most.
    """
    limits = Limits(START_ID, END_ID, min(length, model.config.max_target) + 1, barred=BARRED)
    found: list[tuple[str, ...]] = []
    each = max(1, _BATCH // count)
    with evaluating(model.backward):
        for start in range(0, len(sentences), each):
            rows = [model.target(sentence)[:-1] for sentence in sentences[start : start + each]]
            state = model.backward.start(*tensors(rows, model.device))
            state = state.select(torch.arange(len(rows)).repeat_interleave(count))
            drawn = sample(
                model.backward.step, state, len(rows) * count, limits=limits, generator=generator, sampling=sampling
            )
            texts = [model.text(hypothesis.tokens) for hypothesis in drawn]
            found += [tuple(texts[place : place + count]) for place in range(0, len(texts), count)]
    return found


def tunable(module: Module, *, words: bool) -> Module:
    """A copy to fine-tune, whose word vectors and softmax stay as they are unless `words` are tuned too."""
    made = copy.deepcopy(module)
    for name, tensor in made.named_parameters():
        tensor.requires_grad_(words or name not in _WORDS)
    return made


def adapted_acceptor(
    model: ChatModel, forward: Seq2Seq, rows: Sequence[SourceTarget], config: AcceptorConfig, *, limit: int, seed: int
) -> Acceptor:
    """The base's acceptor, trained on for a fine-tuned forward model; the base's own where there are no rows."""
    generator = torch.Generator().manual_seed(seed)
    examples = acceptor_examples(replace(model, forward=forward), rows, generator=generator, limit=limit)
    acceptor = copy.deepcopy(model.acceptor)
    if len(examples):
        for _ in train_acceptor(acceptor, examples, config, seed=seed):
            pass
    return acceptor.eval()


def multiplied_perplexities(
    model: ChatModel, speaker: LanguageModel, rows: Sequence[SourceTarget]
) -> dict[tuple[float, float], float]:
    """Perplexity of `p(t|S)^w1 p2(t)^w2` on rows of the speaker, for all pairs of `WEIGHTS`.

    Raises ValueError where there are no rows.
    """
    if not rows:
        raise ValueError("Expected rows to choose the weights on, but got none; hold more sentences out.")
    weights = list(pairs_of(WEIGHTS, WEIGHTS))
    totals, count = dict.fromkeys(weights, 0.0), 0
    with evaluating(model.forward), evaluating(speaker):
        for batch in _batches(rows, model.device):
            told = (
                model.forward.token_distributions(batch.source, batch.source_mask, batch.target, batch.target_mask),
                speaker.token_distributions(batch.target, batch.target_mask),
            )
            true = batch.target[batch.target_mask].unsqueeze(1)  # (N, 1)
            count += len(true)
            for pair in weights:
                totals[pair] += float(product(told, pair).gather(1, true).sum())
    return {pair: math.exp(-total / count) for pair, total in totals.items()}


def _batches(rows: Sequence[SourceTarget], device: torch.device) -> Iterator[Columns]:
    for start in range(0, len(rows), _SCORED):
        yield Columns.of(rows[start : start + _SCORED], device)
