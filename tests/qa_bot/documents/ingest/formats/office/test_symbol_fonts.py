"""Signs of the fonts Symbol and Wingdings."""

import pytest

from qa_bot.documents.ingest.formats.office.symbol_fonts import is_symbol_font, symbol, symbols


@pytest.mark.parametrize(
    ("font", "text", "expected"),
    [
        ("Symbol", "\xa3 22 \xb0C, a = 30", "≤ 22 °Χ, α = 30"),
        ("symbol", "\uf0a3 22 \uf06d", "≤ 22 μ"),
        ("'SymbolMT'", "W D \xb1 \xfe", "Ω Δ ± ⎭"),
        ("Wingdings", "\xe0 \xfc \uf0fe \x81\uf000", "→ ✓ ☑ ①"),
        ("Wingdings 2", "R\uf0a3", "☑☐"),
        ("Webdings", "a\uf072", "✓✗"),
        ("Arial", "a \xa3 \uf0a3 \uf0fc \uf0e0", "a £ ≤ ✓ →"),
        ("Symbola", "a \xa3", "a £"),
        ("Segoe UI Symbol", "a ≤", "a ≤"),
        ("Symbol", "≤ 22", "≤ 22"),
    ],
)
def test_a_text_is_read_as_its_font_shows_it(font, text, expected):
    assert symbols(text, font) == expected


def test_a_font_of_private_codes_leaves_letters():
    assert symbols("a \xa3 \uf0e0", "Arial", private_font="Wingdings") == "a £ →"


@pytest.mark.parametrize(
    ("code", "font", "expected"),
    [
        ("F0A3", "Symbol", "≤"),
        ("00a3", "Symbol", "≤"),
        ("00B1", "Times New Roman", "±"),
        ("F0FC", "", "✓"),
        *((code, "", "") for code in ("F000", "E000", "D800", "FFFFFFFFFFFFFFFFFF", "-1", "x", "")),
    ],
)
def test_a_sign_by_its_code(code, font, expected):
    assert symbol(code, font) == expected


def test_names_of_fonts_of_signs():
    assert [is_symbol_font(name) for name in ("Symbol;", "Wingdings 3", "Symbols Sans", "Arial")] == [1, 1, 0, 0]
