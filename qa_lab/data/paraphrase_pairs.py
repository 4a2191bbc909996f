"""Labelled pairs of questions: which are for training, for early stopping, and kept aside for measuring."""

from __future__ import annotations

from qa_core.encoders.pair_tokens import TextPair
from qa_core.training.pair_classifier import LabelledPairs
from retrievers.training.questions import QuestionSet

HELD_OUT, KEPT_ASIDE = "development", "test"
"""Salts: which questions are held out for early stopping, and which are kept aside to measure with afterwards."""


def kept_aside(questions: QuestionSet, share: float) -> tuple[QuestionSet, QuestionSet]:
    """Questions for training, and the share that `eval` measures with; both sides of a labelled pair stay together."""
    return questions.split(share, salt=KEPT_ASIDE)


def held_out(questions: QuestionSet, share: float) -> tuple[QuestionSet, QuestionSet]:
    """Questions for training, and the share for early stopping."""
    return questions.split(share, salt=HELD_OUT)


def labelled(questions: QuestionSet, *, limit: int | None = None) -> tuple[list[TextPair], list[bool]]:
    """All pairs with their labels, similar ones first; with a limit so many, half of each kind if there are enough."""
    pairs: list[TextPair] = []
    labels: list[bool] = []
    different = len(questions.different) if limit is None else min(limit // 2, len(questions.different))
    similar = len(questions.similar) if limit is None else min(limit - different, len(questions.similar))
    different = different if limit is None else min(limit - similar, len(questions.different))
    for edges, label in ((questions.similar[:similar], True), (questions.different[:different], False)):
        chosen = edges.tolist()
        pairs += [(questions.texts[first], questions.texts[second]) for first, second in chosen]
        labels += [label] * len(chosen)
    return pairs, labels


def labelled_pairs(questions: QuestionSet) -> LabelledPairs:
    """All pairs, as training takes them. Raises ValueError without any."""
    pairs, labels = labelled(questions)
    return LabelledPairs(tuple(pairs), tuple(labels))
