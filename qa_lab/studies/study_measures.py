"""Automatic measures of replies, by question: fluency, variety, length, relevance and topic.

Letters: N replies, Q questions, D size of an encoder's vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from generators.conversation.chat_model import ChatModel
from generators.conversation.detokenise import tokens
from qa_core.measures.metrics import Score
from qa_core.types import FloatArray
from qa_lab.evaluate.dialogue import distinct
from qa_lab.studies.ngrams import Ngrams

Replies = Sequence[Sequence[str]]
"""Replies to each question."""
TextMeasure = Callable[[str], float]


def by_question(scores: Sequence[Sequence[float]]) -> Score:
    """The mean over questions of the mean over replies."""
    return Score.of({str(question): float(np.mean(row)) for question, row in enumerate(scores)})


def mean_of(replies: Replies, measure: TextMeasure) -> Score:
    return by_question([[measure(text) for text in texts] for texts in replies])


def fluency(replies: Replies, model: Ngrams) -> Score:
    """Surprise in nats a word; lower is better."""
    return mean_of(replies, lambda text: model.surprise(tokens(text)))


def perplexity(surprise: Score) -> Score:
    """`exp` of the mean surprise, with its standard error by the delta method."""
    value = math.exp(surprise.mean)
    return Score(value, value * surprise.standard_error, {})


def variety(replies: Replies, size: int) -> Score:
    """Distinct-1 or distinct-2 of all replies, with the jackknife's standard error over questions."""
    numbers: dict[str, int] = {}
    ids = [[[numbers.setdefault(word, len(numbers)) for word in tokens(text)] for text in texts] for texts in replies]

    def without(omitted: int | None = None) -> float:
        texts = (text for question, texts in enumerate(ids) for text in texts if question != omitted)
        return distinct(texts, size=size)

    return Score(without(), _jackknife([without(question) for question in range(len(ids))]), {})


def length(replies: Replies) -> Score:
    """Words and punctuation marks of a reply."""
    return mean_of(replies, lambda text: float(len(tokens(text))))


def relevance(model: ChatModel, questions: Sequence[str], replies: Replies) -> Score:
    """Reciprocal rank of a reply's question among all questions by `log p(S|T) − log p(S)`.

    The language model's `log p(S)` is subtracted because short and common questions would otherwise always rank first.
    """
    sources = [model.backward_row([question], "")[1] for question in questions]
    prior = model.log_language([(source[:0], source) for source in sources])  # (Q,)
    ranks = []
    for index, texts in enumerate(replies):
        targets = [model.enclosed(model.target(text)[:-1]) for text in texts]
        scores = model.log_backward([(target, source) for target in targets for source in sources])
        gains = scores.reshape(len(texts), len(sources)) - prior
        ranks.append([1 / rank_of(row, index) for row in gains])
    return by_question(ranks)


def rank_of(scores: FloatArray, index: int) -> float:
    """Rank, from 1, of one of the scores (Q,); each tie adds one half."""
    others = np.delete(scores, index)
    return 1 + float((others > scores[index]).sum()) + float((others == scores[index]).sum()) / 2


def cosines(vectors: Mapping[str, FloatArray], replies: Replies, goals: Sequence[str]) -> Score:
    """Cosines between the replies to a question and its goal text, by vectors (D,) of unit length."""
    return by_question(
        [[float(vectors[text] @ vectors[goal]) for text in texts] for texts, goal in zip(replies, goals, strict=True)]
    )


def _jackknife(values: Sequence[float]) -> float:
    count = len(values)
    return float(np.sqrt((count - 1) * np.var(values))) if count > 1 else math.nan
