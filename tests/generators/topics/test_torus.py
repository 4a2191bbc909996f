import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from generators.topics.torus import window_sums


@st.composite
def cases(draw):
    height, width = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    window = draw(st.integers(1, min(height, width)))
    values = draw(arrays(np.float64, (2, height * width), elements=st.floats(0, 10)))
    return values, (height, width), window


def looped(values, shape, window, *, backwards):
    """The definition, cell by cell."""
    (height, width), before = shape, (window - 1) // 2
    sums = np.zeros_like(values)
    for k in range(height * width):
        for down in range(-before, window - before):
            for right in range(-before, window - before):
                i = (k // width + down) % height * width + (k % width + right) % width
                if backwards:
                    sums[:, i] += values[:, k]
                else:
                    sums[:, k] += values[:, i]
    return sums


@given(cases(), st.booleans())
def test_window_sums_equal_the_definition(case, backwards):
    values, shape, window = case
    sums = window_sums(values, shape, window, backwards=backwards)
    np.testing.assert_allclose(sums, looped(values, shape, window, backwards=backwards), atol=1e-9)


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (1, [[0, 1, 2], [3, 4, 5], [6, 7, 8]]),
        (2, [[8, 12, 10], [20, 24, 22], [14, 18, 16]]),  # 0 + 1 + 3 + 4 first, and 8 + 6 + 2 + 0 around the corner
        (3, [[36, 36, 36]] * 3),
    ],
)
def test_windows_wrap_around_the_torus(window, expected):
    sums = window_sums(np.arange(9.0)[None], (3, 3), window)
    np.testing.assert_allclose(sums.reshape(3, 3), expected)


def test_sums_are_never_negative():
    values = np.zeros((1, 64), dtype=np.float32)
    values[0, :3] = [0.1, 0.7, 1e8]
    assert window_sums(values, (8, 8), 3).min() >= 0
