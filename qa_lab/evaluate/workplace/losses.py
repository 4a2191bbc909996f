"""Where answers are lost: how far the gold texts of answerable questions get, stage by stage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from qa_lab.evaluate.workplace.grading import flat, holds_all, holds_one, names
from qa_lab.evaluate.workplace.questions import GradedQuestion, Groups
from qa_lab.reference.replies import Pipeline, Reply

STORED, ONE_PASSAGE = "in stored text", "in one passage"
DEPTHS = (100, 10, 3, 1)
TOP_DOCUMENTS = 10
FULL_TEXT, RIGHT_DOCUMENT = "in the full text of the top-10 documents", "right document first"
COMPOSED, LEAD = "in the composed answer", "in its lead"
REFUSED, REFUSED_RIGHT = "refused", "refused with gold in the answer"
_, TOP_TEN, _, TOP_ONE = _TOP = tuple(f"in a top-{k} passage" for k in DEPTHS)
STAGES = (
    STORED,
    ONE_PASSAGE,
    *_TOP,
    FULL_TEXT,
    RIGHT_DOCUMENT,
    COMPOSED,
    LEAD,
    REFUSED,
    REFUSED_RIGHT,
)


@dataclass(frozen=True, slots=True)
class Losses:
    """Ids of answerable questions by stage, and counts of the answers that were not refused.

    A stage of passages counts a question if one passage has all its gold; stages of documents and answers count it if
    they have all gold together. The composed answer is the one before refusal.
    """

    answerable: int
    reached: Mapping[str, frozenset[str]]
    answers: int
    right: int

    @property
    def precision(self) -> float:
        """Share of the answers that hold all gold; 0 without any."""
        return self.right / self.answers if self.answers else 0.0

    def as_dict(self) -> dict[str, float]:
        counts = {stage: len(self.reached[stage]) for stage in STAGES}
        return {"answerable": self.answerable, **counts, "answers": self.answers, "precision": round(self.precision, 4)}


def losses(pipeline: Pipeline, replies: Sequence[tuple[GradedQuestion, Reply]]) -> Losses:
    """The stages that each answerable question reaches; every question is asked again without refusal.

    Args:
        replies: the questions in order, with their replies.
    """
    stored = _Stored(pipeline)
    reached: dict[str, set[str]] = {stage: set() for stage in STAGES}
    answers = right = 0
    for question, reply in replies:
        if reply.answered:
            answers += 1
            right += bool(question.gold) and holds_all(flat(reply.text), question.gold)
        forced = pipeline.reply(question.turn, forced=True)
        if question.gold:
            for stage in _stages(pipeline, stored, question, reply, forced):
                reached[stage].add(question.id)
    answerable = sum(bool(question.gold) for question, _ in replies)
    return Losses(answerable, {stage: frozenset(ids) for stage, ids in reached.items()}, answers, right)


class _Stored:
    """The passages of a pipeline as flat texts, and the texts of whole documents."""

    def __init__(self, pipeline: Pipeline) -> None:
        parts: dict[str, list[str]] = {}
        for document, text in pipeline.passages():
            parts.setdefault(document, []).append(flat(text))
        self.passages = [text for texts in parts.values() for text in texts]
        self.documents = {document: " ".join(texts) for document, texts in parts.items()}


def _stages(
    pipeline: Pipeline, stored: _Stored, question: GradedQuestion, reply: Reply, forced: Reply
) -> Iterable[str]:
    gold, ranked = question.gold, pipeline.ranked(question.turn, max(DEPTHS))
    passages = [flat(extract.text) for extract in ranked]
    top = list(dict.fromkeys(extract.document for extract in ranked))[:TOP_DOCUMENTS]
    text = flat(forced.text)
    in_answer = holds_all(text, gold)
    first = ranked[0].document if ranked else ""
    tests = {
        STORED: _together(stored.documents.values(), gold),
        ONE_PASSAGE: _in_one(stored.passages, gold),
        **{f"in a top-{k} passage": _in_one(passages[:k], gold) for k in DEPTHS},
        FULL_TEXT: _together([stored.documents.get(document, "") for document in top], gold),
        RIGHT_DOCUMENT: any(names(path, first) for path in question.documents),
        COMPOSED: in_answer,
        LEAD: holds_all(text[: question.lead], gold),
        REFUSED: not reply.answered,
        REFUSED_RIGHT: not reply.answered and in_answer,
    }
    return (stage for stage, passed in tests.items() if passed)


def _together(texts: Iterable[str], gold: Groups) -> bool:
    """Whether each group is in some text."""
    texts = list(texts)
    return all(any(_may_hold(text, group) and holds_one(text, group) for text in texts) for group in gold)


def _in_one(texts: Iterable[str], gold: Groups) -> bool:
    return any(all(_may_hold(text, group) for group in gold) and holds_all(text, gold) for text in texts)


def _may_hold(text: str, group: Sequence[str]) -> bool:
    """A quick test that most texts fail: some alternative without regard to word bounds."""
    return any(alternative.startswith("re:") or flat(alternative) in text for alternative in group)
