import numpy as np
import pytest

from qa_core.distinct import distinct


@pytest.mark.parametrize("numbers", [[], [3], [3, 1, 3, 2, 1], [7, 7, 7]])
def test_distinct_numbers_are_those_of_numpy(numbers: list[int]) -> None:
    array = np.array(numbers, dtype=np.int64)
    result = distinct(array)
    assert result.tolist() == np.unique(array).tolist()
    assert result.dtype == np.int64
