"""Rows and merged cells of LaTeX's tables."""

import pytest

DOCUMENT = r"\documentclass{article}\begin{document}\begin{tabular}{lrr}%s\end{tabular}\end{document}"
TABLE = "| Day | Degrees inside | Degrees outside |\n| --- | --- | --- |\n| Monday | 21 | 3 |"


@pytest.mark.parametrize(
    "header",
    [
        r"\toprule Day & \multicolumn{2}{c}{Degrees}\\\cmidrule{2-3} & inside & outside\\\midrule ",
        r"\toprule & \multicolumn{2}{c}{Degrees}\\\cmidrule(lr){2-3} Day & inside & outside\\\midrule ",
        r"\hline \multirow{2}{*}{Day} & \multicolumn{2}{c|}{Degrees}\\\cline{2-3} & inside & outside\\\hline ",
        r"Day & \multicolumn{2}{c}{Degrees}\\ & inside & outside\\",
    ],
)
def test_names_of_groups_are_in_the_names_of_their_columns(reads, header):
    (record,), _, _ = reads("a.tex", DOCUMENT % (header + r"Monday & 21 & 3\\"))
    assert record.text == TABLE


def test_a_merged_cell_is_in_each_of_its_columns(reads):
    rows = r"Day & inside & outside\\\hline Monday & \multicolumn{2}{c}{out of order}\\\hline Friday & 20 & 1"
    (record,), _, _ = reads("a.tex", DOCUMENT % rows)
    assert record.text.split("\n")[2:] == ["| Monday | out of order | out of order |", "| Friday | 20 | 1 |"]


def test_a_row_below_merged_cells_is_no_header_without_a_sign(reads):
    (record,), _, _ = reads("a.tex", DOCUMENT % r"Day & \multicolumn{2}{c}{Degrees}\\ Monday & 21 & 3")
    assert record.text == "| Day | Degrees | Degrees |\n| --- | --- | --- |\n| Monday | 21 | 3 |"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            r"\multirow{2}{*}{HCl} & 1 & 2\\\cline{2-3} & 3 & 4\\ & 5 & 6\\",
            ["| HCl | 1 | 2 |", "| HCl | 3 | 4 |", "|  | 5 | 6 |"],
        ),
        (r"\multirow[t]{2}{3cm}{\textbf{H}} & 1 & 2\\ & 3 & 4", ["| **H** | 1 | 2 |", "| **H** | 3 | 4 |"]),
        (
            r"\multicolumn{2}{l}{a} & \multirow{3}{*}{b}\\ 1 & 2 &\\ 3 & 4 &\\",
            ["| a | a | b |", "| 1 | 2 | b |", "| 3 | 4 | b |"],
        ),
        (r"\multirow{3}{*}{a} & 1 & 2\\ b & 3 & 4\\ & 5 & 6\\", ["| a | 1 | 2 |", "| b | 3 | 4 |", "|  | 5 | 6 |"]),
        (r"\multirow{9}{*}{a} & 1 & 2\\ \bottomrule", ["| a | 1 | 2 |"]),
    ],
)
def test_a_cell_of_several_rows_is_in_each_of_them(reads, rows, expected):
    (record,), _, _ = reads("a.tex", DOCUMENT % (r"Acid & Mol & pH\\\hline " + rows))
    assert record.text.split("\n")[2:] == expected


@pytest.mark.parametrize(("formula", "sign"), [(r"\Rightarrow", "⇒"), (r"\to", "→"), (r"\checkmark", "✓")])
def test_a_sign_may_begin_an_item(reads, formula, sign):
    text = rf"\documentclass{{article}}\begin{{document}}\begin{{itemize}}\item[${formula}$] Save it.\end{{itemize}}"
    (record,), _, _ = reads("a.tex", text + r"\end{document}")
    assert record.text == f"- {sign} Save it."
