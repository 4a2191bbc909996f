import numpy as np

from retrievers.training.examples import Examples, Pair
from retrievers.training.negatives import by_keywords, by_vectors, trusted

EXAMPLES = Examples.of(
    [
        Pair("why do cats sleep all day", "cats sleep to save energy"),  # 0
        Pair("how do cats hunt", "cats hunt at dawn"),  # 1
        Pair("why do cats sleep all day", "hunters sleep a lot"),  # 2
        Pair("what is tax", "a duty paid to the state"),  # 3
    ]
)
QUESTIONS = np.array([[1, 0], [0.6, 0.8], [0, 1]], dtype=np.float32)
ANSWERS = np.array([[0.8, 0.6], [0.6, 0.8], [1, 0], [0, 1]], dtype=np.float32)


def test_keyword_negatives_share_words_but_are_wrong():
    assert by_keywords(EXAMPLES, 2) == [[1], [0], []]


def test_vector_negatives_are_the_nearest_wrong_answers():
    assert by_vectors(EXAMPLES, QUESTIONS, ANSWERS, 2) == [[1, 3], [0, 3], [1, 0]]
    assert by_vectors(EXAMPLES, QUESTIONS, ANSWERS, 1) == [[1], [0], [1]]


def test_answers_that_score_above_the_right_one_are_dropped():
    # question 2: its answer scores 1, so all pass; questions 1 and 0 (by its second answer) too
    assert trusted(EXAMPLES, [[1, 3], [0, 3], [1]], QUESTIONS, ANSWERS, margin=0.05) == [[1, 3], [0, 3], [1]]
    turned = QUESTIONS[[2, 1, 0]]  # question 0: its right answer scores .6, so the bound is .65
    assert trusted(EXAMPLES, [[1, 3], [], [1, 2]], turned, ANSWERS, margin=0.05) == [[], [], []]
    assert trusted(EXAMPLES, [[1, 3], [], []], turned, ANSWERS, margin=0.2) == [[1], [], []]
