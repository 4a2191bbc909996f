"""Three passages in two documents, and a pipeline that ranks them in a fixed order."""

from qa_lab.evaluate.workplace.losses import losses
from qa_lab.evaluate.workplace.questions import GradedQuestion
from qa_lab.reference.replies import Extract, Reply, Turn

PASSAGES = [Extract("a.md", "Old: 5 days."), Extract("a.md", "Now: **27 days**."), Extract("b.md", "Until March.")]


class Fixed:
    def __init__(self, order, reply, forced):
        self._order, self._reply, self._forced = order, reply, forced

    def reply(self, turn, *, forced=False):
        return self._forced if forced else self._reply

    def ranked(self, turn, k):
        return [PASSAGES[i] for i in self._order][:k]

    def passages(self):
        return PASSAGES


def lost(gold, *, order=(0, 1, 2), reply=None, forced="Old: 5 days."):
    refused = Reply(False)
    question = GradedQuestion("q", Turn("?"), "direct", gold, documents=("a.md",), lead=10)
    pipeline = Fixed(order, reply or refused, Reply(True, forced, ("a.md",)))
    return losses(pipeline, [(question, pipeline.reply(question.turn))]).as_dict()


def test_the_first_stage_without_the_gold():
    counts = lost((("27 days",),))
    assert counts["answerable"] == counts["in stored text"] == counts["in one passage"] == 1
    assert (counts["in a top-3 passage"], counts["in a top-1 passage"]) == (1, 0)
    assert (counts["right document first"], counts["in the full text of the top-10 documents"]) == (1, 1)
    assert (counts["in the composed answer"], counts["refused"], counts["refused with gold in the answer"]) == (0, 1, 0)


def test_gold_of_two_documents_is_in_no_passage():
    counts = lost((("27 days",), ("March",)), forced="Until March. Now: 27 days.")
    assert (counts["in stored text"], counts["in one passage"], counts["in a top-100 passage"]) == (1, 0, 0)
    assert counts["in the full text of the top-10 documents"] == 1
    assert (counts["in the composed answer"], counts["in its lead"]) == (1, 0)
    assert counts["refused with gold in the answer"] == 1


def test_parts_of_words_do_not_count():
    assert lost((("7 days",),))["in stored text"] == 0


def test_precision_counts_answers_to_unanswerable_questions():
    right = GradedQuestion("q", Turn("?"), "direct", (("5 days",),))
    nothing = GradedQuestion("r", Turn("??"), "unanswerable")
    reply = Reply(True, "Old: 5 days.", ("a.md",))
    counts = losses(Fixed((0,), reply, reply), [(right, reply), (nothing, reply), (nothing, Reply(False))]).as_dict()
    assert (counts["answerable"], counts["answers"], counts["precision"]) == (1, 2, 0.5)
