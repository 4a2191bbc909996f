import numpy as np
import pytest

from qa_lab.reference.encoders import choose, open_encoder
from qa_lab.reference.recipe import Recipe, readings_of
from qa_lab.reference.recipe_index import RecipeIndex, min_max
from qa_lab.reference.refusal import Threshold
from qa_lab.reference.replies import Turn

LEAVE = "## Carry-over\n\nThe year ends in December. Up to five days of leave carry over. Ask your manager."
OLD_LEAVE = "## Carry-over\n\nUntil 2020 nine days were kept for the next year."


@pytest.fixture
def recipe(document):
    documents = [
        document(LEAVE, name="leave.md", title="Leave"),
        document("Trains are booked in second class.", name="travel.md", title="Travel"),
        document(OLD_LEAVE, name="archive/leave.md", title="Leave", old=True),
    ]
    index = RecipeIndex(documents, open_encoder(choose("starter")))
    return Recipe(index, Threshold(2.0))


def test_the_answering_sentence_is_first_and_nothing_older_beside_it(recipe):
    reply = recipe.reply(Turn("How many days of leave carry over?"))
    assert reply.answered
    assert "five days" in reply.text[:100]
    assert "nine" not in reply.text
    assert reply.documents == ("leave.md", "travel.md")


def test_typing_errors_are_corrected(recipe):
    assert recipe.ranked(Turn("secnod class tarins"), 1)[0].document == "travel.md"


def test_channels_that_disagree_are_refused_unless_an_answer_is_forced(recipe):
    turn = Turn("Who is the king of the year in second class?")
    strict = Recipe(recipe._index, Threshold(3.6))
    assert not strict.reply(turn).answered
    assert strict.reply(turn, forced=True).answered


def test_a_follow_up_is_read_in_three_ways(recipe):
    turn = Turn("and how many?", ("Does leave carry over?", "Is it unpaid?"))
    assert readings_of(turn) == [
        "and how many?",
        "Does leave carry over? and how many?",
        "Is it unpaid? and how many?",
    ]
    assert recipe.ranked(turn, 3)[0].document == "leave.md"


def test_all_passages_and_a_ranking_of_them(recipe):
    assert [extract.document for extract in recipe.passages()] == ["leave.md", "travel.md", "archive/leave.md"]
    assert len(recipe.ranked(Turn("leave"), 100)) == 3


def test_channels_are_scaled_to_one():
    rows = np.array([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]])
    assert min_max(rows) == pytest.approx(np.array([[0, 0.5, 1], [0, 0, 0]]))


def test_no_text(document):
    with pytest.raises(ValueError, match="Expected documents with text"):
        RecipeIndex([document("")], open_encoder(choose("starter")))
