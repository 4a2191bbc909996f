"""Parts of German compounds, in the form of index terms."""

import pytest

from retrievers.german.compounds import begins_compound, has_parts, is_in_compound


@pytest.mark.parametrize(
    ("term", "terms", "expected"),
    [
        ("urlaub", {"urlaubsantrag"}, True),
        ("antrag", {"urlaubsantrag"}, True),
        ("lauf", {"urlaubsantrag"}, False),
        ("gas", {"gasgeruch"}, True),
        ("tag", {"vertrag"}, False),  # too short for the end of a compound
        ("urlaub", set(), False),
        ("sitzung", {"vorstandssitz"}, True),  # the stem of the longer word loses more
        ("jung", {"vorstandsj"}, False),
    ],
)
def test_a_word_begins_or_ends_a_compound(term, terms, expected):
    assert is_in_compound(term, terms) is expected


@pytest.mark.parametrize(
    ("term", "terms", "expected"),
    [
        ("bereitschaftswoch", {"bereitschaft", "woch"}, True),
        ("mietvertrag", {"miet", "vertrag"}, True),
        ("bereitschaftswoch", {"bereitschaft", "tag"}, False),
        ("bereitschaftswoch", {"woch"}, False),
        ("woch", {"woch", "bereitschaft"}, False),
    ],
)
def test_a_compound_consists_of_two_words(term, terms, expected):
    assert has_parts(term, terms) is expected


@pytest.mark.parametrize(
    ("first", "second", "terms", "expected"),
    [
        ("ras", "mah", {"rasenmah"}, True),
        ("ras", "mah", {"rasen", "mah"}, False),
        ("in", "mah", {"inmah"}, False),  # too short
        ("bucher", "schrank", {"bucherschrank"}, True),
    ],
)
def test_two_words_may_begin_one(first, second, terms, expected):
    assert begins_compound(first, second, terms) is expected
