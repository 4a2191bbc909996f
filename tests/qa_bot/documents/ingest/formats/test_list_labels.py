"""The signs and depths of items of lists."""

import pytest

from qa_bot.documents.ingest.formats.list_labels import Depths, first_labels, number_and_label, numeral


def test_numerals():
    assert [numeral(4, form) for form in ("1", "a", "A", "i", "I", "")] == ["4", "d", "D", "iv", "IV", "4"]
    assert [numeral(number, "i") for number in (1949, 0, 5000)] == ["mcmxlix", "0", "5000"]
    assert [numeral(number, "a") for number in (26, 27, 28, 0)] == ["z", "aa", "bb", "0"]


@pytest.mark.parametrize(
    ("sign", "expected"),
    [
        ("3.", (3, "3.")),
        ("(2)", (2, "(2)")),
        ("1.2", (1, "1.2")),
        ("b)", (None, "b)")),
        ("xviii.", (None, "xviii.")),
        ("§ 4", (None, "§ 4")),
        ("·", (None, "")),
        ("o", (None, "")),
        ("§", (None, "")),
    ],
)
def test_the_number_and_the_label_of_a_sign(sign, expected):
    assert number_and_label(f" {sign}\u00a0 ") == expected


def test_depths_begin_at_the_first_level():
    depths = Depths()
    assert [depths.depth(level) for level in (1, 1, 3, 3, 1, 2, 0, 1)] == [0, 0, 1, 1, 0, 1, 0, 1]
    depths.clear()
    assert depths.depth(4) == 0


@pytest.mark.parametrize(
    ("labels", "firsts"),
    [
        ("a b c", "a a a"),
        ("a i ii b", "a i i a"),
        ("g h i j", "g g g g"),
        ("i ii iii iv v", "i i i i i"),
        ("A C", "- -"),
        ("B C", "B B"),
        ("i i", "- -"),
        ("v z", "- -"),
        ("a", "-"),
    ],
)
def test_letters_in_order_are_labels_of_a_list(labels, firsts):
    assert [first or "-" for first in first_labels(labels.split())] == firsts.split()
