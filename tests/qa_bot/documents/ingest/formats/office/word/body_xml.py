"""The XML of paragraphs and tables in the body of a Word document."""


def paragraph(text, properties=""):
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space='preserve'>{text}</w:t></w:r></w:p>"


def cell(text, properties=""):
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"


def table(*rows):
    return "<w:tbl>{}</w:tbl>".format("".join(f"<w:tr>{''.join(cells)}</w:tr>" for cells in rows))
