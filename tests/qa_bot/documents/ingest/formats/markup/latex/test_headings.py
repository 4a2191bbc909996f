"""Centred and bold lines."""

import pytest

from qa_bot.documents.ingest.formats.markup.latex.document import latex


@pytest.mark.parametrize(
    "line",
    [
        r"\centerline{\bf § 1 Fees}",
        r"\begin{center}\Large § 1\\ Fees\end{center}",
        r"{\centering § 1 Fees\par}",
        "\n\n\\textbf{§ 1 Fees}\n\n",
        r"\par{\bfseries § 1 Fees}\\ ",
    ],
)
def test_a_line_alone_is_a_heading(line):
    assert latex(rf"\title{{T}}\section{{A}}a {line} All pay.")[2] == "## A\n\na\n\n### § 1 Fees\n\nAll pay."


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (r"\centerline{All pay at once.}", "All pay at once."),
        (r"\begin{center}5 March 2024\end{center}", "5 March 2024"),
        ("\n\n\\textbf{Note} that all pay.", "**Note** that all pay."),
        ("\n\n{\\bf (2)} All pay.", "(2) All pay."),
        (r"\begin{itemize}\item \textbf{Fees}\end{itemize}", "- **Fees**"),
    ],
)
def test_other_lines_are_none(line, text):
    assert latex(rf"\title{{T}}{line}")[2] == text


def test_a_centred_first_line_is_the_title():
    assert latex(r"\begin{center}{\Large\bf Statutes}\\ of the club\end{center} All pay.") == (
        "Statutes of the club",
        "",
        "All pay.",
    )
