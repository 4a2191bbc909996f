import pytest

from rankers.training.answer_pool import AnswerPool, AnswerSet, check_mixed


def test_a_pool_of_distinct_texts():
    pool = AnswerPool.of(
        [AnswerSet("q", ("a", "b"), (True, False)), AnswerSet("p", ("b", "c", "b"), (False, False, True))]
    )
    assert (pool.questions, pool.answers) == (("q", "p"), ("a", "b", "c"))
    assert pool.question.tolist() == [0, 0, 1, 1]
    assert pool.answer.tolist() == [0, 1, 1, 2]
    assert pool.label.tolist() == [True, False, True, False]  # a pair with both labels is right
    assert [rows.tolist() for rows in pool.right] == [[0], [1]]
    assert [rows.tolist() for rows in pool.wrong] == [[1], [2]]
    assert pool.pairs()[2] == ("p", "b")


def test_every_answer_needs_a_label():
    with pytest.raises(ValueError, match="got 2 answers and 1 labels"):
        AnswerSet("q", ("a", "b"), (True,))


@pytest.mark.parametrize(
    ("labels", "message"), [((True, True), "all 2 are right"), ((False,), "all 1 are wrong"), ((), "got none")]
)
def test_one_kind_of_pairs_is_refused(labels: tuple[bool, ...], message: str):
    pool = AnswerPool.of([AnswerSet("q", tuple("ab"[: len(labels)]), labels)])
    with pytest.raises(ValueError, match=message):
        check_mixed(pool)
