"""Formulas as text on one line."""

import pytest

from qa_bot.documents.ingest.formats.formulas import fraction, limited, lowered, raised, root


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (fraction("a+b", "2"), "(a+b)/2"),
        (fraction("2a", "3"), "2a/3"),
        (fraction("1", "2a"), "1/(2a)"),
        (fraction("x²", "√(y)"), "x²/√(y)"),
        (fraction("(a)+(b)", "(c+d)"), "((a)+(b))/(c+d)"),
        (raised("c", "2"), "c²"),
        (raised("a+b", "-1"), "(a+b)⁻¹"),
        (raised("Na", "+"), "Na⁺"),
        (raised("e", "x+1"), "e^(x+1)"),
        (raised("f", "′"), "f′"),
        (raised("90", "∘"), "90°"),
        (lowered("x", "1"), "x_1"),
        (lowered("x", "i+1"), "x_(i+1)"),
        (limited("∑", "i=1", "n"), "∑_(i=1)^(n)"),
        (root("2"), "√(2)"),
        (root("(a+b)", "3"), "³√(a+b)"),
    ],
)
def test_parts_of_formulas(text, expected):
    assert text == expected


def test_long_parts_take_linear_time():
    assert fraction("a" * 100_000 + "-", "b" * 100_000 + "(").endswith("()")
