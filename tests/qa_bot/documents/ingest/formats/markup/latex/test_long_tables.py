"""Tables of several pages in LaTeX."""

import pytest

CAPTION = r"\caption{Rooms}\label{rooms}\\ "
FIRST = r"\hline Room & Head \\ \hline \endfirsthead "
HEAD = r"\caption[]{Rooms (continued)}\\ Room & Head \\ \hline \endhead "
FOOT = r"\hline \multicolumn{2}{r}{Continued on next page} \\ \endfoot "
LAST = r"\hline Sum & 2 \\ \endlastfoot "
ROWS = r"A1 & Ann \\ B2 & Bob \\ "
TABLE = "| Room | Head |\n| --- | --- |\n| A1 | Ann |\n| B2 | Bob |"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (CAPTION + FIRST + HEAD + FOOT + r"\endlastfoot " + ROWS, f"Rooms\n\n{TABLE}"),
        (CAPTION + FIRST + HEAD + FOOT + LAST + ROWS, f"Rooms\n\n{TABLE}\n| Sum | 2 |"),
        (r"Room & Head \\ \endhead \hline \endfoot " + ROWS + CAPTION, f"Rooms\n\n{TABLE}"),
        (CAPTION + r"Room & Head \\ " + ROWS, f"Rooms\n\n{TABLE}"),
        (r"Room & Head \\ " + ROWS, TABLE),
    ],
)
def test_a_table_has_one_header_and_its_caption_above(reads, content, expected):
    (record,), _, _ = reads("a.tex", rf"\begin{{longtable}}[c]{{l@{{}}l}}{content}\end{{longtable}}")
    assert record.text == expected


def test_tables_without_an_end_stay(reads):
    (record,), _, _ = reads("a.tex", "a" + r"\begin{longtable}{l}b" * 5000)
    assert record.text.startswith("a")
