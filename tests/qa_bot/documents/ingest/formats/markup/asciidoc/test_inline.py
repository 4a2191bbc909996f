"""Inline markup of AsciiDoc."""

import pytest


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('It is "`fresh`".', "It is “fresh”."),
        ("It is '`old`'.", "It is ‘old’."),
        ("It isn`'t, say the bakers`' sons.", "It isn’t, say the bakers’ sons."),
        ('"`It`\'s *very*\nfresh`", she said.', "“It’s **very** fresh”, she said."),
        ("Buy ((flour)).", "Buy flour."),
        ("(((bread,rye)))Buy rye.", "Buy rye."),
        ("The `make`'s end, `$((1))`.", "The `make`'s end, `$((1))`."),
    ],
)
def test_quotation_marks_and_terms_of_the_index(reads, source, expected):
    (record,), _, _ = reads("a.adoc", source)
    assert record.text == expected


@pytest.mark.parametrize("piece", ['"` ', "'` ", "((", "`'"])
def test_broken_marks_end_in_time(reads, piece):
    (record,), _, _ = reads("a.adoc", f"a {piece * 30_000}")
    assert record.text
