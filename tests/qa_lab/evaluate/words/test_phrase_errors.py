import numpy as np
import pytest

from qa_lab.data.phrases.phrase_preparation import Phrased
from qa_lab.evaluate.words.phrase_errors import absolute_errors, analysed, equivalent_overlap
from retrievers.training.phrases.trees import right_branching


def pair(left: str, right: str, gold: float) -> Phrased:
    return Phrased(right_branching(left.split()), right_branching(right.split()), gold)


PAIRS = [pair("a b", "a c", 5), pair("a b c", "d", 1), pair("e f", "g h", 5), pair("i j", "k", 2)]


def test_errors_are_on_the_scale_of_the_gold():
    assert absolute_errors([0.9, 0.1, 0.5, 0.1], np.array([5.0, 1, 5, 2])).tolist() == pytest.approx([0, 0, 2, 1])
    assert absolute_errors([0.3, 0.3], np.array([1.0, 5])).tolist() == [2, 2]


def test_the_analysis_by_hand():
    results = analysed(PAIRS, ("addition", [0.9, 0.1, 0.5, 0.1]), ("recursive", [0.9, 0.1, 0.9, 0.5]))
    assert [(cell.name, cell.pairs) for cell in results.bands] == [
        ("[1.00, 2.00]", 2),
        ("(2.00, 3.00]", 0),
        ("(3.00, 4.00]", 0),
        ("(4.00, 5.00]", 2),
    ]
    assert (results.bands[0].first, results.bands[0].second) == pytest.approx((0.5, 0.5))
    assert (results.bands[3].first, results.bands[3].second) == pytest.approx((1, 0))
    assert results.bands[3].change == -100
    lengths = {cell.name: cell.pairs for cell in results.length}
    assert lengths["[0.33, 0.56], both"] == 2
    assert lengths["(0.78, 1.00], positive"] == 2
    overlaps = {cell.name: cell.pairs for cell in results.overlap}
    assert overlaps["(0.33, 0.67], positive"] == 1
    assert "| gold (4.00, 5.00] | 2 | 1.00 | 0.00 | -100.0 % |" in results.text()
    assert "nan" not in results.text()


def test_paraphrases_count_as_overlap():
    assert equivalent_overlap(PAIRS[2], set()) == 0
    assert equivalent_overlap(PAIRS[2], {frozenset("eh")}) == 0.5


def test_the_same_score_for_all_cannot_be_analysed():
    with pytest.raises(ValueError, match="got 1 of score 5"):
        analysed(PAIRS[:1], ("a", [0.1]), ("b", [0.2]))
