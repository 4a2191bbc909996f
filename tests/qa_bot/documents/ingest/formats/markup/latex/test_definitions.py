"""The macros and environments that a document defines."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.documents.ingest.formats.markup.latex.definitions import GROWTH, SPARE_GROWTH, expanded
from qa_bot.documents.ingest.formats.markup.latex.document import latex

STATUTE = r"""\documentclass{article}
\newcommand{\Abschnitt}[1]{\section{#1}}
\newcommand{\Satz}[2]{

\begin{samepage} {\bf (#1)} #2 % the text
\end{samepage}
}
\newenvironment{Artikel}[2]{
\bigskip \centerline{{\bf Art. #1} [#2]}
}{
}
\begin{document}
\title{Statutes}\maketitle
\Abschnitt{The board}
\begin{Artikel}{22}{Term}
\Satz{1}{It is elected \emph{yearly}.}

\Satz{2}{It meets monthly.}
\end{Artikel}
\begin{Artikel}{23}{Duties}
It keeps minutes.
\end{Artikel}
\end{document}"""


def test_a_document_that_defines_commands_for_articles_and_clauses():
    assert latex(STATUTE) == (
        "Statutes",
        "",
        "## The board\n\n### Art. 22 [Term]\n\n(1) It is elected *yearly*.\n\n(2) It meets monthly.\n\n"
        "### Art. 23 [Duties]\n\nIt keeps minutes.",
    )


@pytest.mark.parametrize(
    ("definition", "use", "text"),
    [
        (r"\newcommand{\a}{word}", r"a \a{} b \a, \a\ c", "a word b word, word c"),
        (r"\newcommand\club{The Club\xspace}", r"\club meets at \club.", "The Club meets at The Club."),
        (r"\newcommand*{\x}[2][now]{#2 #1}", r"\x{go} \x[later]{stop}", "go now stop later"),
        (r"\DeclareRobustCommand{\x}[1]{<#1>}", r"\x{a}\x b", "<a><b>"),
        (r"\NewDocumentCommand{\x}{O{now} m}{#2 #1}", r"\x{go}", "go now"),
        (r"\def\x#1#2{#2#1}", r"\x{a}{b}", "ba"),
        (r"\newcommand{\x}[1]{\y{#1}}\newcommand{\y}[1]{(#1)}", r"\x{\x{a}}", "((a))"),
        (r"\newcommand{\x}[1]{(#1)}\let\y\x\newcommand{\z}{\y}", r"\y{a}\z{b}", "(a)(b)"),
        (r"\providecommand{\x}{a}\renewcommand{\x}{b}\providecommand{\x}{c}", r"\x", "b"),
        (r"\newenvironment{x}[1][Ad]{#1: }{ (o)}", r"\begin{x}a\end{x}\begin{x}[T]b\end{x}", "Ad: a (o)\n\nT: b (o)"),
        (r"\renewcommand{\section}[1]{lost}", r"\section{Fees}a", "## Fees\n\na"),
        (r"\newcommand{\x}[2]{#1#2}", r"\x{a} b \x", "ab"),
    ],
)  # fmt: skip
def test_definitions_are_put_in_place(definition, use, text):
    assert latex(f"{definition}\\begin{{document}}{use}\\end{{document}}")[2] == text


def test_arguments_of_unknown_commands_and_environments_are_words():
    assert latex(r"\Satz{1}{The board.}")[2] == "1 The board."
    assert latex(r"\begin{Artikel}{22}{Term}The board.\end{Artikel}")[2] == "22 Term\n\nThe board."


@pytest.mark.parametrize(
    "definitions",
    [
        r"\newcommand{\x}{\x\x}",
        r"\newcommand{\x}{\y}\newcommand{\y}{\x}",
        r"\newcommand{\x}[1]{\x{#1#1}}",
        r"\newenvironment{a}{\begin{a}}{\end{a}}\newcommand{\x}{\begin{a}}",
    ],
)
def test_definitions_that_lead_back_to_themselves_leave_the_text(definitions):
    assert latex(rf"{definitions}\begin{{document}}before \x{{in}} after")[2].split() in (
        ["before", "in", "after"],
        ["before", "inin", "after"],
    )


def test_growth_is_bounded():
    names = [f"\\{letter}x" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    doubled = "".join(rf"\newcommand{{{b}}}[1]{{{a}{{#1}}{a}{{#1}}}}" for a, b in pairwise(names))
    for source in (
        rf"\newcommand{{\Ax}}[1]{{#1}}{doubled}" + "\\Zx{word}" * 500 + "\\Fx{word}" * 5000,
        r"\newcommand{\x}[1]{#1#1}" + r"\x{" * 60 + "a" + "}" * 60,
        r"\newcommand{\x}[2]{#1#2}" + r"\x{" * 5000 + "a" + "}" * 5000,
        rf"\newcommand{{\x}}{{{'x' * 19_000}}}" + r"\x " * 5000,
    ):
        (text,) = expanded([source]).parts
        assert len(text) <= (GROWTH + 1) * len(source) + SPARE_GROWTH


PIECES = (
    r"\newcommand", r"\newenvironment", r"\def", r"\let", r"\a", r"\b", r"{\a}", "[2]", "[x]", "{#1 \\b{#2}}", "{", "}",
    r"\begin{e}", r"\end{e}", "{e}", "#1", "\n", r"\begin{enumerate}[label=\alph*)]", r"\item ", r"\end{enumerate}",
    r"\newcounter{c}", r"\stepcounter{c}", r"\thec", r"\textbf{a}", r"\section{s}", r"\begin{center}", r"\bf ", "a",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_any_definitions_end(pieces):
    source = "".join(pieces)
    title, date, text = latex(source)
    assert "\\newcommand{\\a}{" not in text
    assert (title, date) == ("", "") or title
    assert sum(map(len, expanded([source]).parts)) <= (GROWTH + 2) * len(source) + SPARE_GROWTH
