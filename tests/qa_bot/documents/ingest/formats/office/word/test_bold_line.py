"""Bold lines of Word documents that are headings."""

from tests.qa_bot.documents.ingest.formats.office.word.body_xml import paragraph

BOLD = "<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>{}</w:t></w:r></w:p>"


def test_a_question_in_bold_type_heads_its_answer(text_of, docx):
    body = paragraph("Ask us.") + BOLD.format("May I bring a dog?") + paragraph("Yes.") + BOLD.format("Really?")
    assert text_of(docx(body)) == "Ask us.\n\n###### May I bring a dog?\n\nYes.\n\nReally?"
