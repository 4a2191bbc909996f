"""A speaker's own sentences as replies, ranked by `log p(S|T)` (Wang 2018, ch. 8.4.1).

The exact score of a sentence T costs a softmax over all words for each word of S. So each sentence has a gist,
computed beforehand: the mean of the backward model's z over contexts that the sentence replies to. A gist gives a
probability to every word, whatever its position, and S gets the product over its words. The best sentences by gist are
then scored exactly.

Letters: N sentences, V words, D size of z.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from generators.conversation.padded_batches import TOKENS, columns
from generators.conversation.reply_model import ReplyModel
from qa_core.networks.batching import batches
from qa_core.networks.decoder_types import END_ID
from qa_core.text.analysis import normalise
from qa_core.types import FloatArray, IntArray

SHORTLIST = 256
"""Sentences that are scored exactly."""
_LOOSE = re.compile(r" (?=[.,;:!?%)\]}]|'(?:s|m|d|re|ve|ll|t)\b|n't\b)|(?<=[(\[{$£€]) ", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class Quotations:
    """A speaker's sentences, and what is computed of them beforehand."""

    sentences: tuple[str, ...]
    gists: FloatArray  # (N, D)
    totals: FloatArray  # (N,), the logarithm of each gist's sum over all words
    prior: FloatArray  # (N,), log p(T) by the language model

    def __post_init__(self) -> None:
        shapes = [array.shape for array in (self.gists, self.totals, self.prior)]
        count = len(self.sentences)
        if self.gists.ndim != 2 or shapes != [(count, self.gists.shape[1]), (count,), (count,)]:
            raise ValueError(f"Expected a gist and two numbers for each of {count} sentences, but got {shapes}.")
        if broken := next((sentence for sentence in self.sentences if "\n" in sentence), None):
            raise ValueError(f"Expected sentences of one line, but got {broken!r}; put a space there.")

    @classmethod
    def of(cls, model: ReplyModel, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> Self:
        """Of distinct sentences; `contexts` are what the backward model drew for each of them, in the same order.

        Gists are rounded to 16 bits, the precision of a saved persona.
        """
        gists = _gists(model, sentences, contexts).astype(np.float16).astype(np.float32)
        prior = model.log_language([model.language_row(sentence) for sentence in sentences])
        return cls(tuple(sentences), gists, model.backward.output.log_totals(gists), prior)

    def __len__(self) -> int:
        return len(self.sentences)


@dataclass(frozen=True, slots=True)
class Quoted:
    """A sentence as a reply."""

    index: int  # of the sentence
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
        prior: weight of log p(T); 0 as in Wang (2018), where p(T) of a person's sentences is constant.
        shortlist: sentences that are scored exactly, at least `n`; None scores all.
    """
    last_turn = model.backward_row(context, "")[1]
    weighted = np.float32(prior) * quotations.prior
    indices = np.arange(len(quotations))
    if shortlist is not None and max(n, shortlist) < len(indices):
        approximate = gist_scores(model, quotations, last_turn) + weighted
        indices = np.sort(np.argsort(-approximate, kind="stable")[: max(n, shortlist)])
    sentences = [quotations.sentences[index] for index in indices.tolist()]
    rows = [(model.enclosed(model.target(sentence)[:-1]), last_turn) for sentence in sentences]
    relevance = model.log_backward(rows)
    scores = relevance + weighted[indices]
    best = np.argsort(-scores, kind="stable")[:n]
    return [Quoted(int(indices[row]), float(scores[row]), float(relevance[row])) for row in best]


def gist_scores(model: ReplyModel, quotations: Quotations, last_turn: IntArray) -> FloatArray:
    """`Σ_w log p(w | gist)` over the words of S in any order, (N,)."""
    words = last_turn[last_turn != END_ID]
    weight, bias = model.backward.output.rows(words)
    scores: FloatArray = quotations.gists @ weight.sum(axis=0) + bias.sum() - len(words) * quotations.totals
    return scores


def tidy(sentence: str) -> str:
    """The unchanged sentence, without the spaces that some files put before marks."""
    return _LOOSE.sub("", normalise(sentence)).strip()


def _gists(model: ReplyModel, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> FloatArray:
    """(N, D): the mean over all words of all contexts."""
    pairs = [(number, context) for number, drawn in enumerate(contexts) for context in drawn or [""]]
    rows = [model.backward_row([context], sentences[number]) for number, context in pairs]
    sums = np.zeros((len(sentences), model.backward.output.in_features), dtype=np.float32)
    counts = np.zeros((len(sentences), 1), dtype=np.float32)
    for members in batches([len(source) + len(target) for source, target in rows], tokens=TOKENS):
        source, source_mask, target, target_mask = columns([rows[row] for row in members])
        z = model.backward.before_softmax(source, source_mask, target, target_mask)
        owners = np.repeat([pairs[row][0] for row in members], target_mask.sum(axis=1))  # (words,)
        np.add.at(sums, owners, z)
        np.add.at(counts, owners, 1)
    sums /= np.maximum(counts, 1)
    return sums
