"""Columns of Word documents that tabs make."""

import pytest

from tests.qa_bot.documents.ingest.formats.office.word.body_xml import paragraph

BOLD = "<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>{}</w:t></w:r></w:p>"
TAB = "</w:t><w:tab/><w:t>"


def lines(*texts):
    return "".join(paragraph(text.replace("\t", TAB)) for text in texts)


def test_lines_of_three_columns_are_rows(text_of, docx):
    body = (
        paragraph("Our hours:") + BOLD.format(f"Day{TAB}Opens{TAB}Closes") + lines("Mon\t\t9:00\t17:00", "Sat\t10\t13")
    )
    expected = "Our hours:\n\n| Day | Opens | Closes |\n| --- | --- | --- |\n| Mon | 9:00 | 17:00 |\n| Sat | 10 | 13 |"
    assert text_of(docx(body + paragraph("Ring the bell."))) == f"{expected}\n\nRing the bell."


def test_a_tab_begins_the_names_of_columns_or_indents_all_lines(text_of, docx):
    named = lines("\tJune\tJuly", "Adults\t9 €\t12 €", "Children\t4 €\t6 €")
    table = "|  | June | July |\n| --- | --- | --- |\n| Adults | 9 € | 12 € |\n| Children | 4 € | 6 € |"
    assert text_of(docx(named)) == table
    indented = lines("\tKind\tPrice", "\tAdults\t9 €", "\tChildren\t4 €")
    assert text_of(docx(indented)) == "| Kind | Price |\n| --- | --- |\n| Adults | 9 € |\n| Children | 4 € |"


@pytest.mark.parametrize(
    "texts",
    [
        ("To:\tAnn", "From:\tBob", "Date:\t3 May 2025"),
        ("TOP 1\tWelcome", "TOP 2\tFees", "TOP 3\tOther"),
        ("Yes: 1\tNo: 2\tAbsent: 3", "Signed\tAnn"),
    ],
)
def test_other_lines_with_tabs_are_paragraphs(text_of, docx, texts):
    assert text_of(docx(lines(*texts))) == "\n\n".join(text.replace("\t", " ") for text in texts)
