"""Slides of beamer and questions of exams."""

import pytest

from qa_bot.documents.ingest.formats.markup.latex.document import latex


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"\begin{frame}{Costs}Budget is 40 EUR.\end{frame}", "## Costs\n\nBudget is 40 EUR."),
        (r"\begin{frame}<1->[t]{Costs}{Of all}It is dear.\end{frame}", "## Costs\n\nOf all\n\nIt is dear."),
        (r"\frame{\frametitle{Costs}\framesubtitle{Of all}It is dear.}", "## Costs\n\nOf all\n\nIt is dear."),
        (r"\section{Year}\begin{frame}{Costs}a\end{frame}", "## Year\n\n### Costs\n\na"),
        (r"\begin{frame}Thanks.\end{frame}", "Thanks."),
        (r"\begin{itemize}[<+->]\item<1-> May \item<2,3> \only<2>{June}\end{itemize}", "- May\n- June"),
        (r"\begin{choices}\choice red \CorrectChoice blue\end{choices}", "- A. red\n- B. blue"),
        (r"\begin{checkboxes}\choice red \CorrectChoice blue\end{checkboxes}", "- red\n- blue"),
        (r"\question[5] Do it.\begin{parts}\part[2] Explain it. \part Draw it.\end{parts}",
         "Do it.\n\n- (a) Explain it.\n- (b) Draw it."),
        (r"\part{One}\begin{parts}\part a\end{parts}", "# One\n\n- (a) a"),
        (r"\begin{verbatim}\item<1-> \begin{parts}\end{verbatim}", "```\n\\item<1-> \\begin{parts}\n```"),
    ],
)  # fmt: skip
def test_slides_have_headings_and_choices_are_items(source, expected):
    assert latex(source)[2] == expected


@pytest.mark.parametrize("piece", ["\\begin{frame}{", "\\frametitle{", "\\newacronym{a}{b}{c", "\\item<1-", "\\gls["])
def test_broken_commands_end_in_time(piece):
    latex(piece * 5000)
