"""LaTeX."""

import pytest

from qa_bot.documents.ingest.formats.markup.latex.document import latex

FILE = r"""\documentclass[a4paper]{article}
\title{The \emph{manual}} \date{5 March 2024}
\newcommand{\foo}[1]{bar}
\begin{document}
\maketitle % no
\section{Install \& use}\label{a}
Use \textbf{pip}~10\% at \url{https://a.org/x_y} or \href{https://b.org}{the page}\footnote{A note.}.
``Quoted'' -- M\"uller, Fran\c{c}ois, $x^2$, \unknown{kept}\cite{b}.

\begin{enumerate}
\item Open
\item Pour \begin{itemize}\item deep\end{itemize}
\end{enumerate}
\begin{description}\item[RTO] Time.\end{description}
\begin{table}\caption{Fees}\begin{tabular}{l|r}\hline a & b \\ \hline 1 & 2 \\ \multicolumn{2}{c}{all}
\end{tabular}\end{table}
\begin{lstlisting}[language=sh]
pip % install
\end{lstlisting}
\end{document} gone"""


def test_a_document():
    assert latex(FILE) == (
        "The manual",
        "2024-03-05",
        "## Install & use\n\nUse **pip** 10% at https://a.org/x_y or [the page](https://b.org) (A note.). "
        "“Quoted” – Müller, François, `x^2`, kept.\n\n1. Open\n2. Pour\n    - deep\n\n- **RTO**: Time.\n\nFees\n\n"
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n| all |  |\n\n```\npip % install\n```",
    )


def test_a_formula_of_one_sign_is_text():
    assert (
        latex(r"\documentclass{a}\begin{document}Up to $>$ 7 and $a > b$.\end{document}")[2] == "Up to > 7 and `a > b`."
    )


def test_record(reads):
    (record,), _, _ = reads("a.tex", FILE)
    assert (record.id, record.title, record.date, record.markdown) == ("a.tex", "The manual", "2024-03-05", True)
    _, (reject,), _ = reads("b.tex", r"\documentclass{x}")
    assert "LaTeX with text" in reject.reason


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        r"\textbf{",
        r"\begin{a}",
        "$",
        r"\begin{tabular}{",
        r"\item[",
        r"\title{",
        r"\begin{verbatim}",
        r"\end{a}",
        r"\\ & ",
    ],
)
def test_broken_markup_ends_in_time(piece):
    latex(piece * 5000 + " x")


def test_signs_of_german_documents():
    source = r"""\usepackage[ngerman]{babel}\begin{document}"`Ja"', M"uller, Schiff"|fahrt, $>$ 7 km, Buch\-f"uhrung."""
    assert latex(source)[2] == "„Ja“, Müller, Schifffahrt, > 7 km, Buchführung."
    assert latex('"also"')[2] == '"also"'


def test_lengths_and_widths_are_no_words():
    source = r"\parindent0em \parskip1.0ex plus0.1ex minus0.1ex\begin{minipage}[t]{5cm}a\end{minipage}\setlist{nosep}"
    assert latex(source)[2] == "a"


def test_references_show_the_titles_of_their_targets():
    source = (
        r"\section{The \emph{rules}}\label{r}See section~\ref{r}, table \autoref{t} and \ref{none}."
        r"\begin{table}\begin{tabular}{l}a\end{tabular}\caption[F]{Fees}\label{t}\end{table}"
    )
    assert latex(source)[2].startswith("## The rules\n\nSee section The rules, table Fees and .")


def test_a_cell_over_several_rows_is_its_text():
    source = r"\begin{tabular}{ll}\multirow{2}{*}{Kind} & a \\ & b \end{tabular}"
    assert latex(source)[2] == "| Kind | a |\n| --- | --- |\n| Kind | b |"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"Run \verb|a_b %c| or \verb*+{d+ now.", "Run `a_b %c` or `{d` now."),
        (r"Run \lstinline!x{!, \lstinline[language=C]{f(1)} and \mintinline{py}|y|.", "Run `x{`, `f(1)` and `y`."),
        ("Tea % \\verb|x\nis \\verb|hot|.", "Tea is `hot`."),
        ("\\verb|open\nand on", "\\|open and on"),
        ("Tea\n\\begin{comment}\nAsk \\verb|x|.\n\\end{comment}\nis hot.", "Tea is hot."),
        ("Tea\n%\\begin{comment}\nis hot.\n%\\end{comment}\n", "Tea is hot."),
        (r"\begin{verbatim}\begin{comment}x\end{comment}\end{verbatim}", "```\n\\begin{comment}x\\end{comment}\n```"),
        ("a\n%\\begin{verbatim}\n%b\n%\\end{verbatim}\nc", "a c"),
    ],
)
def test_inline_code_and_comments(source, expected):
    assert latex(rf"\documentclass{{x}}\begin{{document}}{source}\end{{document}}")[2] == expected


def test_many_literal_signs_take_little_time():
    for piece in (r"\begin{comment}", r"\verb|", r"\begin{verbatim}", "%", "\\\\"):
        assert latex(piece * 20_000)[0] == ""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"\newcommand{\eur}[1]{#1\,\texteuro}\begin{document}It costs \eur{35} a year.", "It costs 35 € a year."),
        (r"\begin{document}One. \iffalse Two. \fi Three. \iffalse a \else Four.\fi", "One. Three. Four."),
        (r"\begin{document}See \cref{a,b}.\section{Fees}\label{a}x\section{Dogs}\label{b}", "See Fees, Dogs."),
        (r"\begin{document}An \oe uvre \colorbox{red}{hot}\todo{Check this} \raisebox{1ex}{up}.", "An œuvre hot up."),
        (
            r"\begin{document}\begin{tikzpicture}\draw (0,0) -- (1,1) node[right] (x) {Exit $A$} node {};"
            r"\node at (2,1) {Lift};\end{tikzpicture}",
            "Exit A; Lift",
        ),
    ],
)
def test_more_commands(source, expected):
    assert latex(source)[2].split("\n\n## ")[0] == expected


def test_titles_without_notes_and_of_letters():
    assert latex(r"\title{Rules\thanks{Since 1920}}\begin{document}x\end{document}")[0] == "Rules"
    letter = r"\setkomavar{subject}{Rent for 2025}\setkomavar{date}{2025-01-03}\begin{document}Dear all\end{document}"
    assert latex(letter) == ("Rent for 2025", "2025-01-03", "Dear all")
