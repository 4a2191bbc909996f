"""What stands in for judges of replies: fluency, variety, relevance, topic, style; each by question.

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

Said = Sequence[Sequence[str]]
"""Replies to each question."""
ByText = Callable[[str], float]


def by_question(told: Sequence[Sequence[float]]) -> Score:
    """The mean over questions of the mean over replies."""
    return Score.of({str(place): float(np.mean(values)) for place, values in enumerate(told)})


def mean_of(said: Said, measure: ByText) -> Score:
    return by_question([[measure(text) for text in texts] for texts in said])


def fluency(said: Said, model: Ngrams) -> Score:
    """Surprise in nats for each word, less is better."""
    return mean_of(said, lambda text: model.surprise(tokens(text)))


def perplexity(surprise: Score) -> Score:
    """`exp` of the mean surprise; its standard error by the delta method."""
    value = math.exp(surprise.mean)
    return Score(value, value * surprise.standard_error, {})


def variety(said: Said, size: int) -> Score:
    """Distinct-1 or -2 of all replies together; its standard error is the jackknife's, questions left out in turn."""
    numbers: dict[str, int] = {}
    ids = [[[numbers.setdefault(word, len(numbers)) for word in tokens(text)] for text in texts] for texts in said]

    def without(left_out: int | None = None) -> float:
        kept = (text for place, texts in enumerate(ids) for text in texts if place != left_out)
        return distinct(kept, size=size)

    return Score(without(), _jackknife([without(place) for place in range(len(ids))]), {})


def length(said: Said) -> Score:
    """Words and marks of a reply."""
    return mean_of(said, lambda text: float(len(tokens(text))))


def relevance(model: ChatModel, questions: Sequence[str], said: Said) -> Score:
    """Reciprocal rank of the question that a reply was made for among all, by `log p(S|T) − log p(S)`.

    Without `log p(S)`, the language model's, short and common questions would be first whatever the reply.
    """
    told = [model.backward_row([question], "")[1] for question in questions]
    prior = model.log_language([(words[:0], words) for words in told])  # (Q,)
    found = []
    for place, texts in enumerate(said):
        replies = [model.target(text)[:-1] for text in texts]
        scores = model.log_backward([(reply, words) for reply in replies for words in told])
        over = scores.reshape(len(texts), len(told)) - prior
        found.append([1 / rank_of(row, place) for row in over])
    return by_question(found)


def rank_of(scores: FloatArray, place: int) -> float:
    """Of one among scores (Q,), from 1; those as good as it count half."""
    others = np.delete(scores, place)
    return 1 + float((others > scores[place]).sum()) + float((others == scores[place]).sum()) / 2


def cosines(vectors: Mapping[str, FloatArray], said: Said, wanted: Sequence[str]) -> Score:
    """Between each reply and what is wanted of replies to its question, by vectors (D,) of unit length."""
    return by_question(
        [[float(vectors[text] @ vectors[want]) for text in texts] for texts, want in zip(said, wanted, strict=True)]
    )


def _jackknife(values: Sequence[float]) -> float:
    count = len(values)
    return float(np.sqrt((count - 1) * np.var(values))) if count > 1 else math.nan
