import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from generators.conversation.padded_batches import row_scores, shuffled_batches

LENGTHS = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 5)), max_size=40)


def rows_of(lengths: list[tuple[int, int]]) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(np.full(source, 5), np.full(target, 6)) for source, target in lengths]


@given(LENGTHS, st.integers(1, 6), st.integers(0, 3))
def test_batches_have_every_row_once_and_sources_of_one_length(lengths, size, seed):
    rows = rows_of(lengths)
    batches = [chosen.tolist() for chosen in shuffled_batches(rows, np.random.default_rng(seed), size=size)]
    assert sorted(row for batch in batches for row in batch) == list(range(len(rows)))
    assert all(len(batch) <= size and len({lengths[row][0] for row in batch}) == 1 for batch in batches)
    again = [chosen.tolist() for chosen in shuffled_batches(rows, np.random.default_rng(seed), size=size)]
    assert again == batches


def test_scores_are_in_the_order_of_the_rows():
    rows = rows_of([(3, 1), (0, 4), (2, 2), (1, 900)])
    scores = row_scores(
        rows, lambda batch: np.array([len(target) + 1000.0 * len(source) for source, target in batch], dtype=np.float32)
    )
    assert scores.tolist() == [3001, 4, 2002, 1900]
    assert row_scores([], lambda batch: np.zeros(len(batch), dtype=np.float32)).shape == (0,)
