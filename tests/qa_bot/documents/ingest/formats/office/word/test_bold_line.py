"""Bold lines of Word documents that are headings."""

from tests.qa_bot.documents.ingest.formats.office.word.body_xml import paragraph

BOLD = "<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>{}</w:t></w:r></w:p>"


def test_a_question_in_bold_type_heads_its_answer(text_of, docx):
    body = paragraph("Ask us.") + BOLD.format("May I bring a dog?") + paragraph("Yes.") + BOLD.format("Really?")
    assert text_of(docx(body)) == "Ask us.\n\n###### May I bring a dog?\n\nYes.\n\nReally?"


def test_a_first_line_in_bold_type_heads_the_lines_below_it(text_of, docx):
    run = "<w:p><w:r><w:rPr>{}</w:rPr><w:t>{}</w:t></w:r><w:r><w:t>{}</w:t><w:br/><w:t>{}</w:t></w:r></w:p>"
    body = paragraph("Ask us.") + run.format("<w:b/>", "Keys", "", "At the office.")
    body += run.format("<w:b/>", "Deposit:", " 50 €", "In cash.") + run.format("", "Kiel", "", "Hafenweg 3")
    expected = "Ask us.\n\n###### Keys\n\nAt the office.\n\nDeposit: 50 €\nIn cash.\n\nKiel\nHafenweg 3"
    assert text_of(docx(body)) == expected
