"""A speaker's own sentences as replies, the likeliest to answer first (thesis, ch. 8.4.1).

`log p(S|T)` of every sentence T costs a softmax over all words for each word of S. So a sentence is known beforehand by
its gist, the mean of what the backward model's softmax takes when it tells contexts of the sentence: that gives every
word a probability, whatever its place, and S that of its words. The sentences that come out best are scored exactly.

Letters: N sentences, V words, D size of what the softmax takes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor

from generators.conversation.padded_batches import TOKENS, evaluating
from generators.conversation.reply_model import ReplyModel
from qa_core.networks.batching import batches
from qa_core.networks.decoder_types import END_ID
from qa_core.networks.translator import Columns
from qa_core.text.analysis import normalise
from qa_core.types import IntArray

SHORTLIST = 256
"""Sentences that are scored exactly."""
_BLOCK = 1_024  # gists whose words are told at once
_LOOSE = re.compile(r" (?=[.,;:!?%)\]}]|'(?:s|m|d|re|ve|ll|t)\b|n't\b)|(?<=[(\[{$£€]) ", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class Quotations:
    """A speaker's sentences, and what is known of them before anyone asks."""

    sentences: tuple[str, ...]
    gists: Tensor  # (N, D), on the CPU
    totals: Tensor  # (N,), the logarithm of each gist's sum over all words
    prior: Tensor  # (N,), log p(T) by the language model

    def __post_init__(self) -> None:
        shapes = [tuple(each.shape) for each in (self.gists, self.totals, self.prior)]
        count = len(self.sentences)
        if self.gists.dim() != 2 or shapes != [(count, self.gists.shape[1]), (count,), (count,)]:
            raise ValueError(f"Expected a gist and two numbers for each of {count} sentences, but got {shapes}.")
        if broken := next((each for each in self.sentences if "\n" in each), None):
            raise ValueError(f"Expected sentences of one line, but got {broken!r}; put a space there.")

    @classmethod
    def of(cls, model: ReplyModel, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> Self:
        """Of distinct sentences; contexts are what the backward model drew for each of them, in the same order.

        Gists are rounded to 16 bits, as they are saved.
        """
        gists = _gists(model, sentences, contexts).half().float()
        prior = model.log_language([model.language_row(sentence) for sentence in sentences])
        return cls(tuple(sentences), gists, _totals(model, gists), torch.from_numpy(prior))

    def __len__(self) -> int:
        return len(self.sentences)


@dataclass(frozen=True, slots=True)
class Quoted:
    """A sentence as a reply."""

    place: int  # among the sentences
    score: float  # relevance, and the weight times log p(T)
    relevance: float  # log p(S|T)


def quoted(
    model: ReplyModel,
    quotations: Quotations,
    context: Sequence[str],
    n: int,
    *,
    prior: float = 0.0,
    shortlist: int | None = SHORTLIST,
) -> list[Quoted]:
    """The `n` sentences T of the highest `log p(S|T)`, S being the last turn; equal ones in the order of the speaker.

    Args:
        model: the base, whose backward model made the gists.
        prior: weight of log p(T); 0 as in the thesis, which takes p(T) of a person's sentences for constant.
        shortlist: sentences that are scored exactly, `n` of them at least; None scores all.
    """
    said = model.backward_row(context, "")[1]
    weighted = prior * quotations.prior
    places = np.arange(len(quotations))
    if shortlist is not None and max(n, shortlist) < len(places):
        first = likely(model, quotations, said) + weighted
        places = np.sort(first.topk(max(n, shortlist)).indices.numpy())
    rows = [(model.target(quotations.sentences[place])[:-1], said) for place in places.tolist()]
    relevance = model.log_backward(rows)
    scores = relevance + weighted.numpy()[places]
    best = np.argsort(-scores, kind="stable")[:n]
    return [Quoted(int(places[each]), float(scores[each]), float(relevance[each])) for each in best]


def likely(model: ReplyModel, quotations: Quotations, said: IntArray) -> Tensor:
    """`Σ_w log p(w | gist)` over the words of S, (N,), their order left out of account."""
    words = torch.from_numpy(said[said != END_ID])
    output = model.backward.output
    weight, bias = output.weight.detach().cpu()[words], output.bias.detach().cpu()[words]
    found: Tensor = quotations.gists @ weight.sum(0) + bias.sum() - len(words) * quotations.totals
    return found


def tidy(sentence: str) -> str:
    """The sentence letter by letter, without the spaces that some files put before marks."""
    return _LOOSE.sub("", normalise(sentence)).strip()


def _gists(model: ReplyModel, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> Tensor:
    """(N, D): the mean over all words of all contexts."""
    pairs = [(place, said) for place, drawn in enumerate(contexts) for said in drawn or [""]]
    rows = [model.backward_row([said], sentences[place]) for place, said in pairs]
    sums = torch.zeros(len(sentences), model.backward.output.in_features)
    counts = torch.zeros(len(sentences), 1)
    with evaluating(model.backward):
        for members in batches([len(source) + len(target) for source, target in rows], tokens=TOKENS):
            batch = Columns.of([rows[each] for each in members], model.device)
            z = model.backward.before_softmax(batch.source, batch.source_mask, batch.target, batch.target_mask).cpu()
            owners = torch.tensor([pairs[each][0] for each in members])
            owners = owners.repeat_interleave(batch.target_mask.sum(1).cpu())  # (words,)
            sums.index_add_(0, owners, z)
            counts.index_add_(0, owners, torch.ones(len(owners), 1))
    return sums / counts.clamp(min=1)


@torch.no_grad()
def _totals(model: ReplyModel, gists: Tensor) -> Tensor:
    output = model.backward.output
    starts = range(0, len(gists), _BLOCK)
    told = [output(gists[start : start + _BLOCK].to(model.device)).logsumexp(1).cpu() for start in starts]
    return torch.cat(told) if told else torch.zeros(0)
