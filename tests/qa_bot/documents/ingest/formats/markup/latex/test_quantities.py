"""Quantities in LaTeX."""

import pytest

from qa_bot.documents.ingest.formats.markup.latex.document import latex


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"\SI{12}{\celsius}", "12 °C"),
        (r"\qty[per-mode=symbol]{5}{\kilo\gram} and \SI{7}{km/h}", "5 kg and 7 km/h"),
        (r"\qty{1,5}{\kilo\gram\per\cubic\metre}, \unit{\metre\per\second\squared}", "1,5 kg/m³, m/s²"),
        (r"\si{\newton\metre}, \si{\kilo\watt\hour}, \si{\km}, \si{\metre\tothe{-1}}", "N·m, kWh, km, m⁻¹"),
        (r"\num{1.2e-3}, \num{4{,}2 \pm 0{,}1}, \numlist{1;2}, \numrange{1}{2}", "1.2·10⁻³, 4,2 ± 0,1, 1, 2, 1–2"),
        (r"\SIrange{1}{2}{\micro\metre} at \ang{45} or \ang{1;2;}", "1–2 µm at 45° or 1°2′"),
        (r"$4{,}20$ € and $10\,000$, $20\,\%$, $30\,\mathrm{km/h}$, $5^\circ$", "4,20 € and 10 000, 20 %, 30 km/h, 5°"),
        (r"$a{,}b$ and $2a$ and $3\,\mathrm{kg}^2$", r"`a,b` and `2a` and `3\,\mathrm{kg}^2`"),
        (r"\EUR{30}, \EUR{1{,}50}, 20\,\EUR", "30 €, 1,50 €, 20 €"),
        (r"\begin{equation}\label{e}E=mc^2\end{equation}", "```\nE=mc^2\n```"),
        (r"\newcommand{\unit}[1]{Unit #1}\unit{4}", "Unit 4"),
    ],
)
def test_numbers_have_their_units(source, expected):
    assert latex(source)[2] == expected


@pytest.mark.parametrize("piece", [r"\SI{", r"\qty{1}{\per", r"\ang{", r"\num", r"$1{,}", r"\caption{a}\label{"])
def test_broken_quantities_end_in_time(piece):
    latex(piece * 5000 + " x")
