import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrievers.training.examples import Examples, Pair, batches, steps

PAIRS = [
    Pair("why do cats sleep?", "to save energy", ("because of the moon", "to save energy")),
    Pair("why do cats sleep?", "they are hunters"),
    Pair("how many legs has a spider?", "eight"),
    Pair("how many arms has an octopus?", "eight"),
]


def test_texts_are_numbered_once():
    examples = Examples.of([*PAIRS, PAIRS[0]])
    assert examples.questions == tuple(dict.fromkeys(pair.question for pair in PAIRS))
    assert examples.answers == ("to save energy", "because of the moon", "they are hunters", "eight")
    assert examples.pairs.tolist() == [[0, 0], [0, 2], [1, 3], [2, 3]]
    assert examples.right() == [frozenset({0, 2}), frozenset({3}), frozenset({3})]


def test_a_right_answer_is_never_a_negative():
    examples = Examples.of(PAIRS)
    assert examples.negatives == ((1,), (), ())
    assert examples.with_negatives([[2, 3], [3, 0], []]).negatives == ((1, 3), (0,), ())


def test_known_right_answers_are_not_allowed_as_negatives():
    (batch,) = batches(Examples.of(PAIRS), np.random.default_rng(0), size=10, hard=1)
    right = Examples.of(PAIRS).right()
    assert batch.allowed.tolist() == [[int(a) not in right[q] for a in batch.answers] for q in batch.questions]
    assert batch.answers[4:].tolist() == [1, 1]  # the hard negative of question 0, once per pair
    assert len(batch) == 4


@given(st.integers(2, 40), st.integers(1, 50), st.integers(0, 5))
def test_batches_hold_every_pair_once_in_nearly_equal_parts(count: int, size: int, seed: int):
    examples = Examples.of(Pair(f"q{i}", f"a{i}") for i in range(count))
    epoch = list(batches(examples, np.random.default_rng(seed), size=size))
    seen = sorted(int(question) for batch in epoch for question in batch.questions)
    assert seen == list(range(count))
    lengths = {len(batch) for batch in epoch}
    assert max(lengths) <= size
    assert max(lengths) - min(lengths) <= 1
    assert len(epoch) == steps(examples, size=size)
    assert all(np.array_equal(~batch.allowed, np.eye(len(batch), dtype=bool)) for batch in epoch)


@pytest.mark.parametrize(
    "pairs",
    [[], [("one", "answer")], [("one", "same"), ("two", "same")], [("same", "one"), ("same", "two")]],
    ids=["none", "one", "all-identical answers", "one question"],
)
def test_fewer_than_two_questions_or_answers_are_refused(pairs: list[tuple[str, str]]):
    with pytest.raises(ValueError, match="at least two questions with different answers"):
        Examples.of(Pair(*pair) for pair in pairs)
