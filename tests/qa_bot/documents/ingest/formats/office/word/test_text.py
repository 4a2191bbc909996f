"""The text of paragraphs of Word documents: runs, their styles, fields, and entries of tables of contents."""

import io

from docx import Document

from tests.qa_bot.documents.ingest.formats.office.conftest import NAMESPACES
from tests.qa_bot.documents.ingest.formats.office.word.body_xml import cell, paragraph, table


def test_right_to_left_vertical_and_annotated_text(text_of, docx):
    body = (
        paragraph("סעיף א", "<w:bidi/><w:outlineLvl w:val='0'/>") + "<w:p><w:pPr><w:bidi/></w:pPr>"
        "<w:bdo w:val='rtl'><w:r><w:rPr><w:rtl/></w:rPr><w:t>שלום</w:t></w:r></w:bdo></w:p>"
        + table(
            [cell("部署", "<w:textDirection w:val='tbRl'/>"), cell("番号", "<w:textDirection w:val='tbRl'/>")],
            [cell("営業"), cell("3")],
        )
        + "<w:p><w:r><w:ruby><w:rt><w:r><w:t>とうきょう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東京</w:t></w:r>"
        "</w:rubyBase></w:ruby></w:r><m:oMath><m:r><m:t> x=1</m:t></m:r></m:oMath>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r></w:p>"
    )
    assert text_of(docx(body)) == "# סעיף א\n\nשלום\n\n| 部署 | 番号 |\n| --- | --- |\n| 営業 | 3 |\n\n東京 x=1"


def test_raised_digits_and_struck_text_are_marked(text_of, docx):
    run = "<w:r><w:rPr>{}</w:rPr><w:t xml:space='preserve'>{}</w:t></w:r>"
    up, struck = "<w:vertAlign w:val='superscript'/>", "<w:strike/>"
    runs = [
        ("", "Up to 10"),
        (up, "3"),
        ("", " tiles"),
        (up, "1"),
        ("", ", "),
        (struck, "not "),
        (struck, "9"),
        ("", "."),
    ]
    runs += [("<w:strike w:val='0'/>", " H"), ("<w:vertAlign w:val='subscript'/>", "2"), ("", "O")]
    body = f"<w:p>{''.join(run.format(*parts) for parts in runs)}</w:p>"
    assert text_of(docx(body)) == "Up to 10³ tiles [1], ~~not 9~~. H2O"


def test_styles_of_characters_raise_strike_hide_and_embolden(text_of, docx):
    styles = "".join(
        f"<w:style w:type='character' w:styleId='{name}'><w:name w:val='{name}'/><w:rPr>{properties}</w:rPr></w:style>"
        for name, properties in {
            "Up": "<w:vertAlign w:val='superscript'/>",
            "Gone": "<w:strike/>",
            "Secret": "<w:vanish/>",
            "Strong": "<w:b/>",
            "Mono": "<w:rFonts w:ascii='Consolas'/>",
        }.items()
    )
    run = "<w:r><w:rPr><w:rStyle w:val='{}'/>{}</w:rPr><w:t xml:space='preserve'>{}</w:t></w:r>"
    level = "<w:vertAlign w:val='baseline'/>"
    runs = [("", "", "Up to 10"), ("Up", "", "3"), ("", "", " tiles, "), ("Gone", "", "not 9"), ("Secret", "", "!")]
    runs += [("Up", level, " 4"), ("Gone", "<w:strike w:val='0'/>", " or 5.")]
    body = f"<w:p>{''.join(run.format(*parts) for parts in runs)}</w:p>"
    body += f"<w:p>{run.format('Strong', '', 'Tools')}</w:p>" + paragraph("A saw.")
    body += f"<w:p>{run.format('Mono', '', 'make  all')}</w:p>"
    expected = "Up to 10³ tiles, ~~not 9~~ 4 or 5.\n\n###### Tools\n\nA saw.\n\n```\nmake  all\n```"
    assert text_of(docx(body, styles=styles)) == expected


def test_entries_that_only_lead_to_headings_are_left_out(text_of, docx):
    """In Google Docs and in Word without numbers of pages."""
    link = "<w:p>{}<w:hyperlink w:anchor='{}'><w:r><w:t xml:space='preserve'>{}</w:t></w:r></w:hyperlink></w:p>"
    entries = link.format("", "_Toc1", "Roof") + link.format("", "_heading=h.2", "Cellar")
    others = link.format("<w:r><w:t xml:space='preserve'>See </w:t></w:r>", "_Toc1", "Roof")
    others += link.format("", "_Ref1", "Table 3")
    assert text_of(docx(entries + others)) == "See Roof\n\nTable 3"


def test_the_field_of_a_table_of_contents_is_left_out(text_of, docx):
    sign = "<w:r><w:fldChar w:fldCharType='{}'/></w:r>"
    run = "<w:r><w:t xml:space='preserve'>{}</w:t></w:r>"
    begin = sign.format("begin") + "<w:r><w:instrText> TOC \\\\o </w:instrText></w:r>" + sign.format("separate")
    page = (
        sign.format("begin")
        + "<w:r><w:instrText> PAGEREF _1 </w:instrText></w:r>"
        + run.format("2")
        + sign.format("end")
    )
    entries = f"<w:p>{begin}{run.format('Roof ')}{page}</w:p><w:p>{run.format('Cellar ')}{page}</w:p>"
    heading, text = paragraph("Roof", "<w:outlineLvl w:val='0'/>"), paragraph("Built in 1920") + paragraph("Dry.")
    expected = "Contents\n\n# Roof\n\nBuilt in 1920\n\nDry."
    for end in (f"<w:p>{sign.format('end')}</w:p>", ""):  # the field's end is missing
        assert text_of(docx(paragraph("Contents") + entries + end + heading + text)) == expected
    without_heading = entries + f"<w:p>{sign.format('end')}</w:p>" + text
    assert text_of(docx(without_heading)) == "Built in 1920\n\nDry."


def test_formulas_have_their_structure_and_links_their_spaces(text_of, docx):
    power = "<m:sSup><m:e><m:r><m:t>v</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
    link = "<w:hyperlink r:id='l1'><w:r><w:t xml:space='preserve'> the form </w:t></w:r></w:hyperlink>"
    body = (
        "<w:p><w:r><w:t xml:space='preserve'>It is </w:t></w:r>"
        f"<m:oMath><m:r><m:t>K=m</m:t></m:r>{power}</m:oMath><w:r><w:t>.</w:t></w:r></w:p>"
        f"<w:p><w:r><w:t>See</w:t></w:r>{link}<w:r><w:t>now</w:t></w:r></w:p>"
    )
    text = text_of(docx(body, links={"l1": ("hyperlink", "https://x.y/")}))
    assert text == "It is K=mv².\n\nSee [the form](https://x.y/) now"


def test_signs_of_symbol_and_wingdings_are_shown(text_of, docx):
    sign = "<w:r><w:sym w:font='{}' w:char='{}'/></w:r>"
    run = "<w:r><w:rPr>{}</w:rPr><w:t xml:space='preserve'>{}</w:t></w:r>"
    symbol, wingdings = (f"<w:rFonts w:ascii='{name}' w:hAnsi='{name}'/>" for name in ("Symbol", "Wingdings"))
    styles = f"<w:style w:type='character' w:styleId='Greek'><w:name w:val='Greek'/><w:rPr>{symbol}</w:rPr></w:style>"
    runs = [
        run.format("", "Store at "),
        sign.format("Symbol", "F0A3"),
        run.format("", " 8 "),
        sign.format("Times New Roman", "00B0"),
        run.format("", "C, "),
        run.format(symbol, "\uf0b1"),
        run.format("", " 2, "),
        run.format(wingdings, "\uf0e0"),
        run.format("<w:rStyle w:val='Greek'/>", " a"),
        run.format("", " = £ 3"),
    ]
    assert text_of(docx(f"<w:p>{''.join(runs)}</w:p>", styles=styles)) == "Store at ≤ 8 °C, ± 2, → α = £ 3"


def test_a_large_first_letter_is_part_of_its_word(text_of, docx):
    first = "<w:framePr w:dropCap='drop' w:lines='3'/>"
    body = paragraph("H", first) + paragraph("edwig gave the land.") + paragraph("A", first) + paragraph(" boat came.")
    body += paragraph("Apart.", "<w:framePr w:dropCap='none'/>") + paragraph("Next.")
    assert text_of(docx(body)) == "Hedwig gave the land.\n\nA boat came.\n\nApart.\n\nNext."


def test_comments_follow_their_blocks(text_of, docx):
    mark = "<w:r><w:commentReference w:id='{}'/></w:r>"
    item = "<w:numPr><w:ilvl w:val='{}'/><w:numId w:val='1'/></w:numPr>"
    levels = "".join(f"<w:lvl w:ilvl='{level}'><w:numFmt w:val='bullet'/></w:lvl>" for level in (0, 1))
    numbering = f"<w:abstractNum w:abstractNumId='0'>{levels}</w:abstractNum>"
    numbering += "<w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num>"
    comments = "".join(
        f"<w:comment w:id='{number}' w:author='{author}'>{text}</w:comment>"
        for number, (author, text) in enumerate(
            [("Ann", paragraph("From July.") + paragraph("Ask Bo.")), ("", paragraph("All?")), ("Cy", "")]
        )
    )
    body = (
        paragraph("Closed.").replace("</w:p>", mark.format(0) + mark.format(2) + "</w:p>")
        + paragraph("Roof", item.format(0))
        + paragraph("Tiles", item.format(1)).replace("</w:p>", mark.format(1) + "</w:p>")
        + paragraph("Gutter", item.format(1))
        + table([cell("Name"), cell("Age")], [cell("Bo").replace("</w:p>", mark.format(1) + "</w:p>"), cell("7")])
    )
    assert text_of(docx(body, comments=comments, numbering=numbering)) == (
        "Closed.\n\nComment (Ann): From July. Ask Bo.\n\n- Roof\n    - Tiles\n\n        Comment: All?\n"
        "    - Gutter\n\n| Name | Age |\n| --- | --- |\n| Bo | 7 |\n\nComment: All?"
    )


def test_charts_diagrams_and_inserted_pages_are_read(text_of, docx):
    def points(name, *values):
        inner = "".join(f"<c:pt idx='{index}'><c:v>{value}</c:v></c:pt>" for index, value in enumerate(values))
        return f"<c:{name}>{inner}</c:{name}>"

    title = "<c:title><a:t>Members</a:t></c:title>"
    series = f"<c:ser>{points('tx', 'Boats')}{points('cat', '2024', '2025')}{points('val', '310', '377')}</c:ser>"
    names = "".join(
        f"<dgm:pt modelId='{index}'><dgm:t><a:t>{name}</a:t></dgm:t></dgm:pt>" for index, name in enumerate("AB", 1)
    )
    lines = "<dgm:cxn srcId='0' destId='1'/><dgm:cxn srcId='1' destId='2'/>"
    files = {
        "word/c.xml": f"<c:chartSpace {NAMESPACES}>{title}{series}</c:chartSpace>",
        "word/d.xml": f"<dgm:dataModel {NAMESPACES}><dgm:pt modelId='0' type='doc'/>{names}{lines}</dgm:dataModel>",
        "word/p.html": "<p>The key is under the <b>oar</b>.</p><ul><li>Blue</li></ul>",
        "word/p.mht": "MIME-Version: 1.0",
    }
    kinds = {
        "c": ("chart", "c.xml"),
        "d": ("diagramData", "d.xml"),
        "p": ("aFChunk", "p.html"),
        "m": ("aFChunk", "p.mht"),
    }
    drawing = "<w:r><w:drawing><a:graphicData>{}</a:graphicData></w:drawing></w:r>"
    chart, diagram = drawing.format("<c:chart r:id='c'/>"), drawing.format("<dgm:relIds r:dm='d'/>")
    body = f"<w:p><w:r><w:t>Grown.</w:t></w:r>{chart}</w:p><w:p>{diagram}</w:p>"
    body += "".join(f"<w:altChunk r:id='{name}'/>" for name in "pmx") + paragraph("End.")
    assert text_of(docx(body, links=kinds, files=files)) == (
        "Grown.\n\nMembers\n\n|  | Boats |\n| --- | --- |\n| 2024 | 310 |\n| 2025 | 377 |\n\n- A\n    - B\n\n"
        "The key is under the **oar**.\n\n- Blue\n\nEnd."
    )


def test_further_paragraphs_of_items_have_their_style(text_of):
    document = Document()
    document.add_paragraph("Empty the tank.", style="List Number")
    document.add_paragraph("It may be hot.", style="List Paragraph")
    document.add_paragraph("Rinse it.", style="List Number")
    document.add_paragraph("Ready.")
    document.add_paragraph("Not in a list.", style="List Continue")
    data = io.BytesIO()
    document.save(data)
    expected = "1. Empty the tank.\n\n    It may be hot.\n2. Rinse it.\n\nReady.\n\nNot in a list."
    assert text_of(data.getvalue()) == expected
