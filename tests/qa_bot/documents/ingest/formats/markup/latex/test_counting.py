"""Counters and the labels of lists."""

import pytest

from qa_bot.documents.ingest.formats.markup.latex.document import latex


@pytest.mark.parametrize(
    ("options", "items"),
    [
        ("", ["1. a", "2. b"]),
        ("[label=-]", ["- a", "- b"]),
        (r"[label=\textbullet]", ["- a", "- b"]),
        (r"[label=\alph*)]", ["- a) a", "- b) b"]),
        (r"[label={(\roman*)}, leftmargin=*]", ["- (i) a", "- (ii) b"]),
        (r"[label=\S\,\arabic*]", ["- § 1 a", "- § 2 b"]),
        (r"[label=(\arabic*)]", ["- (1) a", "- (2) b"]),
        ("[start=4]", ["4. a", "5. b"]),
        ("[a)]", ["- a) a", "- b) b"]),
        ("[noitemsep]", ["1. a", "2. b"]),
    ],
)
def test_labels(options, items):
    _, _, text = latex(rf"\begin{{enumerate}}{options}\item a\item b\end{{enumerate}}")
    assert text.splitlines() == items


def test_labels_of_the_document_and_of_lists_inside_others():
    inner = r"\begin{enumerate}\item a\begin{enumerate}\item b\item c\end{enumerate}\end{enumerate}"
    assert latex(inner)[2].split("\n") == ["1. a", "    - (a) b", "    - (b) c"]
    redefined = rf"\renewcommand{{\labelenumii}}{{\alph{{enumii}})}}\begin{{document}}{inner}"
    assert latex(redefined)[2].split("\n") == ["1. a", "    - a) b", "    - b) c"]
    fixed = f"\\setlist[enumerate,2]{{label=\\Alph*.}}\n\\begin{{document}}{inner}"
    assert latex(fixed)[2].split("\n") == ["1. a", "    - A. b", "    - B. c"]


def test_a_list_goes_on():
    source = (
        r"\begin{enumerate}\item a\end{enumerate}Then: \begin{enumerate}[resume]\item b\setcounter{enumi}{6}\item c"
    )
    assert latex(source)[2] == "1. a\n\nThen:\n\n2. b\n7. c"


def test_counters_number_articles():
    source = r"""\newcounter{art}
\newcommand{\art}[1]{\refstepcounter{art}\subsection*{Art. \theart: #1}}
\begin{document}\section{A}\art{Name}a\art{Seat}b\setcounter{art}{8}\art{Fees}c"""
    assert [line for line in latex(source)[2].split("\n") if line.startswith("#")] == [
        "## A",
        "### Art. 1: Name",
        "### Art. 2: Seat",
        "### Art. 9: Fees",
    ]


def test_sections_whose_number_has_words():
    source = (
        r"\renewcommand{\thesection}{\S~\arabic{section}}\begin{document}\section{Name}a\section*{B}b\section{Fees}c"
    )
    assert latex(source)[2] == "## § 1 Name\n\na\n\n## B\n\nb\n\n## § 2 Fees\n\nc"


def test_theorems():
    source = (
        "\\newtheorem{rule}{Rule}[section]\n\\begin{document}\\begin{rule}[Fees]a\\end{rule}\\begin{rule}b\\end{rule}"
    )
    assert latex(source)[2] == "**Rule 1 (Fees)** a\n\n**Rule 2** b"


def test_clauses_of_scrjura():
    clauses = r"\Clause{title={Fees, \emph{and} dues}}\label{a} Pay. \Paragraph{title=Fines,number=3a} Pay more."
    assert latex(clauses)[2] == "#### § 1 Fees, and dues\n\nPay.\n\n#### § 3a Fines\n\nPay more."


def test_clauses_below_others_have_letters():
    names = ("Clause", "SubClause", "SubClause", "Clause", "SubParagraph")
    clauses = "\n\n".join(rf"\{name}{{title=Fees}} Pay." for name in names)
    headings = [line for line in latex(clauses)[2].splitlines() if line.startswith("#")]
    assert headings == [f"#### § {number} Fees" for number in ("1", "1a", "1b", "2", "2a")]


def test_items_in_an_argument_end_with_it():
    assert latex("\\changes{\n\\item Of May\n}\n\n\\rules[Rules]{Rules}\n\nPay.")[2] == "Of May\n\nRules\n\nPay."


def test_labels_whose_macros_have_several_lines():
    head = "\\newcommand{\\sign}{\n\\S\n}\n\\setlist[itemize,1]{label=\\sign, left=0pt}\n"
    assert latex(rf"{head}\begin{{document}}Pay.\end{{document}}")[2] == "Pay."
