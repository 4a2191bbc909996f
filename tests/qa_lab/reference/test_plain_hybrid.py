import numpy as np
import pytest

from qa_lab.reference.encoders import choose, open_encoder
from qa_lab.reference.plain_hybrid import PlainHybrid, reciprocal_ranks
from qa_lab.reference.replies import Turn


@pytest.fixture
def pipeline(document):
    documents = [
        document("## Sleep\n\nCats sleep all day.", name="cats.md", title="Cats"),
        document("Boats float on water.", name="boats.md", title="Boats"),
    ]
    return PlainHybrid(documents, open_encoder(choose("starter")))


def test_the_first_chunk_answers(pipeline):
    reply = pipeline.reply(Turn("Why do cats sleep all day?"))
    assert (reply.answered, reply.text, reply.documents) == (True, "Cats sleep all day.", ("cats.md",))
    assert [extract.document for extract in pipeline.ranked(Turn("boats on water"), 2)] == ["boats.md", "cats.md"]
    assert len(pipeline.passages()) == 2


def test_unlike_questions_are_refused_unless_an_answer_is_forced(pipeline):
    turn = Turn("quarterly tax return")
    assert not pipeline.reply(turn).answered
    assert pipeline.reply(turn, forced=True).answered


def test_a_follow_up_is_searched_with_the_question_before_it(pipeline):
    assert pipeline.ranked(Turn("and why?", ("Do boats float?",)), 1)[0].document == "boats.md"


def test_reciprocal_ranks():
    assert reciprocal_ranks(np.array([0.5, 0.9, 0.0])) == pytest.approx([1 / 62, 1 / 61, 0])
