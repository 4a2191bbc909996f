"""Formulas of pages as text."""

import pytest

from qa_bot.documents.ingest.formats.markup.html import fragment, page, plain

POWER = "<msup><mi>r</mi><mn>2</mn></msup>"


@pytest.mark.parametrize(
    ("mathml", "expected"),
    [
        ("<mfrac><mrow><mi>p</mi><mo>+</mo><mi>q</mi></mrow><mn>4</mn></mfrac>", "(p+q)/4"),
        (f"<mi>A</mi><mo>=</mo><mi>π</mi><mo>&#x2062;</mo>{POWER}", "A=πr²"),
        ("<msub><mi>x</mi><mrow><mi>i</mi><mo>-</mo><mn>1</mn></mrow></msub>", "x_(i-1)"),
        ("<msqrt><mn>2</mn><mi>g</mi></msqrt>", "√(2g)"),
        ("<mroot><mn>8</mn><mn>3</mn></mroot>", "³√(8)"),
        ("<munderover><mo>∑</mo><mi>i</mi><mn>9</mn></munderover><mi>i</mi>", "∑_i⁹ i"),
        (f"<semantics><mrow>{POWER}</mrow><annotation encoding='application/x-tex'>r^2</annotation></semantics>", "r²"),
        ("<mfrac><mn>1</mn></mfrac>", "1"),
    ],
)
def test_structure_becomes_signs(mathml, expected):
    assert fragment(f"<p>It is <math>\n{mathml}\n</math>.</p>").text == f"It is {expected}."


def test_an_empty_formula_has_its_alternative_text():
    assert fragment("<p>It is <math alttext='r^2'></math>.</p>").text == "It is r^2."


def test_formulas_of_pages_are_not_doubled_by_what_is_shown():
    shown = f"<span><math>{POWER}</math></span><span aria-hidden=true>r2</span>"
    html = f"<html><body><main><p>The area grows with {shown}.</p></main></body></html>"
    assert page(html)[1] == "The area grows with r²."
    assert plain(f"<p>with <math>{POWER}</math></p>") == "with r²"


def test_nested_and_deep_formulas():
    assert fragment(f"<p>It is <math><mi>x</mi><math>{POWER}</math></math>.</p>").text == "It is xr²."
    assert "x" in fragment(f"<p>{'<math><msqrt>' * 200}x").text
