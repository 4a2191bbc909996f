"""Labelled pairs of questions, and which of them are for training, to stop by, and kept aside to measure with."""

from __future__ import annotations

from qa_core.networks.pair_classifier import LabelledPairs
from qa_core.networks.pair_tokens import TextPair
from qa_lab.train.retrieval.similar import HELD_OUT, KEPT_ASIDE
from retrievers.training.questions import QuestionSet


def kept_aside(questions: QuestionSet, share: float) -> tuple[QuestionSet, QuestionSet]:
    """What is trained on, and the share that `eval` measures with; no labelled pair is torn."""
    return questions.split(share, salt=KEPT_ASIDE)


def held_out(questions: QuestionSet, share: float) -> tuple[QuestionSet, QuestionSet]:
    """What is trained on, and the share that training stops by."""
    return questions.split(share, salt=HELD_OUT)


def labelled(questions: QuestionSet, *, limit: int | None = None) -> tuple[list[TextPair], list[bool]]:
    """All pairs with their labels, the different ones behind the similar ones; of each kind `limit / 2` at most."""
    pairs: list[TextPair] = []
    labels: list[bool] = []
    for edges, label in ((questions.similar, True), (questions.different, False)):
        chosen = edges[: None if limit is None else -(-limit // 2)].tolist()
        pairs += [(questions.texts[first], questions.texts[second]) for first, second in chosen]
        labels += [label] * len(chosen)
    return pairs, labels


def labelled_pairs(questions: QuestionSet) -> LabelledPairs:
    """All pairs, as training takes them. Raises ValueError where there are none."""
    pairs, labels = labelled(questions)
    return LabelledPairs(tuple(pairs), tuple(labels))
