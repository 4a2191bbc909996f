import math

import pytest

from qa_core.measures.agreement import interval, krippendorff_alpha

# Krippendorff's example of four observers and twelve units, 0 for a missing label; its nominal alpha is .743
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3),
    (0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0),
)


def test_the_published_example():
    units = [[label for label in unit if label] for unit in zip(*OBSERVERS, strict=True)]
    assert krippendorff_alpha(units) == pytest.approx(0.743, abs=0.0005)


def test_hand_worked_figures():
    assert krippendorff_alpha([["A", "A"], ["B", "B"], ["tie"]]) == 1.0
    # n = 4, two of each label: D_o = (2 + 2) / 4 = 1, D_e = (16 − 8) / (4 · 3) = 2/3
    assert krippendorff_alpha([["A", "B"], ["B", "A"]]) == pytest.approx(-0.5)
    # n = 6: of three judges one differs, (9 − 5) / 2 = 2; chance 36 − 26 = 10; 1 − 5 · 2 / 10
    assert krippendorff_alpha([["A", "A", "B"], ["A", "A", "A"]]) == pytest.approx(0.0)


def test_differences_of_numbers_by_hand():
    units = [[label for label in unit if label] for unit in zip(*OBSERVERS, strict=True)]
    assert krippendorff_alpha(units, interval) == pytest.approx(0.849, abs=0.0005)  # published beside the nominal one
    # pairs 1 2 and 4 4: D_o = (1 + 1) / 1 / 4 = 1/2, D_e = 2 (1 + 9 · 2 + 4 · 2) / (4 · 3) = 54 / 12
    assert krippendorff_alpha([[1, 2], [4, 4]], interval) == pytest.approx(1 - 0.5 / 4.5)


def test_alpha_is_undefined_without_differences_or_pairs():
    assert math.isnan(krippendorff_alpha([["A", "A"], ["A", "A"]]))
    assert math.isnan(krippendorff_alpha([["A"], ["B"]]))
    assert math.isnan(krippendorff_alpha([]))
