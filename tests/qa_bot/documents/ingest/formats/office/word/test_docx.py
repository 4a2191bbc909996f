"""Word documents: structure, changes, controls, and hostile files."""

import io
from datetime import UTC, datetime

import pytest
from docx import Document
from docx.enum.style import WD_STYLE_TYPE

from qa_bot.documents.ingest import Limits
from tests.qa_bot.documents.ingest.formats.office.word.body_xml import cell, paragraph, table


def saved(document):
    data = io.BytesIO()
    document.save(data)
    return data.getvalue()


def test_a_document_of_every_block(reads, tmp_path):
    document = Document()
    document.core_properties.title = "Old title"
    document.core_properties.modified = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
    document.core_properties.language = "de-DE"
    document.core_properties.keywords = "travel, costs; travel"
    document.core_properties.content_status = "Draft"
    document.add_paragraph("Travel", style="Title")
    document.add_heading("Booking", 1)
    document.add_paragraph("Ask first.")
    for text in ("Open the form", "Fill it in"):
        document.add_paragraph(text, style="List Number")
    document.add_paragraph("Trains", style="List Bullet")
    document.add_paragraph("Night trains", style="List Bullet 2")
    document.add_paragraph("Cheap is good.", style="Quote")
    document.add_paragraph("Late is dear", style="Intense Quote")
    document.add_heading("Costs", 2)
    rates = document.add_table(2, 2)
    for target, text in zip(rates._cells, ["Country", "Rate", "France", "40 | 50"], strict=True):
        target.text = text
    (record,), rejects, _ = reads("a.docx", saved(document))
    assert rejects == []
    assert record.text == (
        "# Travel\n\n# Booking\n\nAsk first.\n\n1. Open the form\n2. Fill it in\n- Trains\n    - Night trains\n\n"
        "> Cheap is good.\n\n> Late is dear\n\n## Costs\n\n| Country | Rate |\n| --- | --- |\n| France | 40 \\| 50 |"
    )
    assert (record.id, record.title, record.where) == ("a.docx", "Travel", f"{tmp_path}/a.docx:1")
    assert (record.date, record.language, record.draft) == ("2024-05-06T07:08:09Z", "de", True)
    assert (record.tags, record.kind, record.positions) == (("travel", "costs"), "prose", ())


def test_headings_by_localised_style_outline_level_and_bold_lines(text_of, docx):
    styles = (
        "<w:style w:styleId='berschrift1'><w:name w:val='heading 1'/></w:style>"
        "<w:style w:styleId='T2'><w:name w:val='Überschrift 2'/></w:style>"
        "<w:style w:styleId='Own'><w:name w:val='Own'/><w:basedOn w:val='T2'/></w:style>"
        "<w:style w:styleId='TOC1'><w:name w:val='toc 1'/></w:style>"
    )
    bold = "<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>{}</w:t></w:r></w:p>"
    body = (
        paragraph("Contents 1", "<w:pStyle w:val='TOC1'/>")
        + paragraph("One", "<w:pStyle w:val='berschrift1'/>")
        + paragraph("Two", "<w:pStyle w:val='Own'/>")
        + paragraph("Three", "<w:outlineLvl w:val='2'/>")
        + bold.format("Four")
        + bold.format("Deposit 100 euros")
        + paragraph("Text.")
        + bold.format("Not a heading.")
        + bold.format("Alone")
    )
    expected = "# One\n\n## Two\n\n### Three\n\n###### Four\n\nDeposit 100 euros\n\nText.\n\nNot a heading.\n\nAlone"
    assert text_of(docx(body, styles=styles)) == expected


BOLD = "<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>{}</w:t></w:r></w:p>"


def test_a_bold_line_before_a_heading_at_the_beginning_is_the_title(reads, docx):
    body = BOLD.format("Returns") + BOLD.format("Packing") + paragraph("Use a box.")
    (record,), _, _ = reads("a.docx", docx(body))
    assert record.title == "Returns"
    assert record.text == "# Returns\n\n###### Packing\n\nUse a box."


@pytest.mark.parametrize(("title", "expected"), [("Roof guide", "Roof guide"), ("Word Document", "house")])
def test_the_first_of_several_chapters_is_no_title(reads, title, expected):
    document = Document()
    document.core_properties.title = title
    for heading in ("Roof", "Cellar"):
        document.add_heading(heading, 1)
        document.add_paragraph("It is dry.")
    (record,), _, _ = reads("house.docx", saved(document))
    assert record.title == expected
    assert record.text.startswith("# Roof\n")


def test_an_underlined_line_is_a_heading_unless_it_is_an_address(text_of, docx):
    underlined = "<w:p><w:r><w:rPr><w:u w:val='single'/></w:rPr><w:t>{}</w:t></w:r></w:p>"
    body = paragraph("Rules.") + underlined.format("Packing") + paragraph("Use a box.")
    body += underlined.format("ann@example.org") + paragraph("Write to her.")
    assert text_of(docx(body)) == "Rules.\n\n###### Packing\n\nUse a box.\n\nann@example.org\n\nWrite to her."


def test_a_bold_line_before_text_at_the_beginning_is_no_title(reads, docx):
    (record,), _, _ = reads("a.docx", docx(BOLD.format("Packing") + paragraph("Use a box.")))
    assert record.title == "a"
    assert record.text == "###### Packing\n\nUse a box."


LARGE = "<w:p><w:r><w:rPr><w:sz w:val='32'/></w:rPr><w:t>{}</w:t></w:r></w:p>"


def test_a_line_in_large_letters_at_the_beginning_is_the_title(reads, docx):
    body = LARGE.format("House rules") + paragraph("As of May.") + BOLD.format("Rest") + paragraph("From 10.")
    (record,), _, _ = reads("a.docx", docx(body))
    assert record.title == "House rules"
    assert record.text == "# House rules\n\nAs of May.\n\n###### Rest\n\nFrom 10."
    (record,), _, _ = reads("a.docx", docx(paragraph("Dear all,") + LARGE.format("Hello") + paragraph("Bye.")))
    assert (record.title, record.text) == ("a", "Dear all,\n\nHello\n\nBye.")


def test_sections_of_rules_are_headings_and_capitals_above_them_the_title(reads, docx):
    rules = ("STATUTES", "§ 1 Name", "(1) The club is Oar.", "§ 2 Fees", "They are due in May.", "§ 3 sets no limit.")
    (record,), _, _ = reads("a.docx", docx("".join(map(paragraph, rules))))
    assert record.title == "STATUTES"
    assert record.text == (
        "# STATUTES\n\n###### § 1 Name\n\n(1) The club is Oar.\n\n###### § 2 Fees\n\nThey are due in May.\n\n"
        "§ 3 sets no limit."
    )
    (record,), _, _ = reads("a.docx", docx(paragraph("ACME LTD") + paragraph("Dear all,")))
    assert (record.title, record.text) == ("a", "ACME LTD\n\nDear all,")


def test_typed_items(text_of, docx):
    typed = ("You need:", "- flour", "• salt", "Then:", "1. Mix.", "2) Bake.", "In 2024. Yes.")
    expected = "You need:\n\n- flour\n- salt\n\nThen:\n\n1. Mix.\n2. Bake.\n\nIn 2024. Yes."
    assert text_of(docx("".join(map(paragraph, typed)))) == expected


NUMBERING = (
    "<w:abstractNum w:abstractNumId='0'>"
    "<w:lvl w:ilvl='0'><w:start w:val='3'/><w:numFmt w:val='decimal'/><w:lvlText w:val='%1.'/></w:lvl>"
    "<w:lvl w:ilvl='1'><w:start w:val='1'/><w:numFmt w:val='lowerLetter'/><w:lvlText w:val='%1.%2)'/></w:lvl>"
    "</w:abstractNum>"
    "<w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num>"
    "<w:num w:numId='2'><w:abstractNumId w:val='0'/>"
    "<w:lvlOverride w:ilvl='0'><w:startOverride w:val='1'/></w:lvlOverride></w:num>"
)


def test_bold_items_above_text_are_headings(text_of, docx):
    def item(text, level=0, bold="<w:b/>"):
        number = f"<w:pPr><w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='1'/></w:numPr></w:pPr>"
        return f"<w:p>{number}<w:r><w:rPr>{bold}</w:rPr><w:t>{text}</w:t></w:r></w:p>"

    body = item("Leave") + paragraph("It is 30 days.") + item("Sick notes") + paragraph("On day 3.") + item("Ann")
    expected = (
        "###### 3. Leave\n\nIt is 30 days.\n\n###### 4. Sick notes\n\nOn day 3.\n\n5. Ann\n6. Bob\n    - 6.a) Cid"
    )
    assert text_of(docx(body + item("Bob") + item("Cid", 1, ""), numbering=NUMBERING)) == expected


def test_steps_have_the_numbers_that_word_shows(text_of, docx):
    def item(text, number, level, more=""):
        return paragraph(text, f"{more}<w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='{number}'/></w:numPr>")

    body = (
        item("Third", 1, 0)
        + item("Inner", 1, 1)
        + item("Second inner", 1, 1)
        + item("Fourth", 1, 0)
        + item("Inner again", 1, 1)
        + paragraph("Between.")
        + item("Restarted", 2, 0)
        + item("Not numbered", 0, 0)
        + item("Scope", 1, 1, "<w:outlineLvl w:val='1'/>")
    )
    assert text_of(docx(body, numbering=NUMBERING)) == (
        "3. Third\n    - 3.a) Inner\n    - 3.b) Second inner\n4. Fourth\n    - 4.a) Inner again\n\nBetween.\n\n"
        "1. Restarted\n\nNot numbered\n\n## 1.a) Scope"
    )


def test_changes_are_read_as_accepted(text_of, docx):
    body = (
        "<w:p><w:r><w:t>The limit is </w:t></w:r><w:del><w:r><w:delText>100</w:delText><w:t>!</w:t></w:r></w:del>"
        "<w:ins><w:r><w:t>200</w:t></w:r></w:ins><w:moveFrom><w:r><w:t> here</w:t></w:r></w:moveFrom>"
        "<w:r><w:t> euros.</w:t></w:r></w:p>"
        "<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>First half,</w:t></w:r></w:p>"
        + paragraph("second half.")
        + "<w:tbl><w:tr>"
        + cell("Name")
        + cell("Age")
        + "</w:tr><w:tr><w:trPr><w:del/></w:trPr>"
        + cell("Gone")
        + cell("1")
        + "</w:tr><w:tr>"
        + cell("Anna")
        + cell("7")
        + "</w:tr></w:tbl>"
    )
    assert text_of(docx(body)) == (
        "The limit is 200 euros.\n\nFirst half, second half.\n\n| Name | Age |\n| --- | --- |\n| Anna | 7 |"
    )


def test_merged_cells_and_nested_tables(text_of, docx):
    inner = table([cell("a"), cell("b")], [cell("c"), cell("d")])
    body = table(
        [cell("Rates 2024", "<w:gridSpan w:val='3'/>")],
        [cell("Region"), cell("City"), cell("Rate")],
        [cell("North", "<w:vMerge w:val='restart'/>"), cell("Kiel"), cell("1")],
        [cell("", "<w:vMerge/>"), cell("Husum"), cell("2")],
        [cell("All others", "<w:gridSpan w:val='2'/>"), f"<w:tc>{paragraph('See:')}{inner}{paragraph('')}</w:tc>"],
    )
    assert text_of(docx(body)) == (
        "Rates 2024\n\n| Region | City | Rate |\n| --- | --- | --- |\n| North | Kiel | 1 |\n| North | Husum | 2 |\n"
        "| All others | All others | See: a, b; c, d |"
    )


def test_names_of_groups_above_the_names_of_columns(text_of, docx):
    body = table(
        [cell("Part", "<w:vMerge w:val='restart'/>"), cell("Private", "<w:gridSpan w:val='2'/>"), cell("Rental")],
        [cell("", "<w:vMerge/>"), cell("new"), cell("used"), cell("")],
        [cell("Frame"), cell("10 years"), cell("5 years"), cell("2 years")],
        [cell("Fork"), cell("5 years"), cell("3 years"), cell("1 year")],
    )
    assert text_of(docx(body)) == (
        "| Part | Private new | Private used | Rental |\n| --- | --- | --- | --- |\n"
        "| Frame | 10 years | 5 years | 2 years |\n| Fork | 5 years | 3 years | 1 year |"
    )


def test_a_table_that_is_a_layout_is_read_as_its_blocks(text_of, docx):
    heading = paragraph("Box", "<w:outlineLvl w:val='0'/>")
    body = table([f"<w:tc>{heading}{paragraph('Text.')}</w:tc>", cell("Beside.")])
    assert text_of(docx(body)) == "# Box\n\nText.\n\nBeside."


def test_text_boxes_pictures_notes_and_links(text_of, docx):
    box = "<w:txbxContent>" + paragraph("In a box.") + "</w:txbxContent>"
    body = (
        "<w:p><w:r><w:t>Before</w:t></w:r><w:r><mc:AlternateContent><mc:Choice><w:drawing>"
        f"<wps:txbx>{box}</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict>"
        "</mc:Fallback></mc:AlternateContent></w:r></w:p>"
        "<w:p><w:r><w:drawing><wp:inline><wp:docPr descr='A red door'/></wp:inline></w:drawing></w:r>"
        "<w:r><w:drawing><wp:inline><wp:docPr descr='image1.png'/></wp:inline></w:drawing></w:r></w:p>"
        "<w:p><w:r><w:t>See</w:t><w:footnoteReference w:id='2'/><w:endnoteReference w:id='2'/></w:r>"
        "<w:r><w:t xml:space='preserve'> the </w:t></w:r>"
        "<w:hyperlink r:id='web'><w:r><w:t>page</w:t></w:r></w:hyperlink>"
        "<w:hyperlink r:id='file'><w:r><w:t>.</w:t></w:r></w:hyperlink></w:p>"
        "<w:p><w:r><w:fldChar w:fldCharType='begin'/><w:instrText>HYPERLINK \"mailto:a@b.c\"</w:instrText>"
        "<w:fldChar w:fldCharType='separate'/><w:t>Write</w:t><w:fldChar w:fldCharType='end'/></w:r></w:p>"
    )
    data = docx(
        body,
        links={"web": ("hyperlink", "https://x.y/z"), "file": ("hyperlink", "file:///etc/passwd")},
        footnotes=f"<w:footnote w:id='2'>{paragraph('A footnote.')}</w:footnote><w:footnote w:id='3'/>",
        endnotes=f"<w:endnote w:id='2'>{paragraph('An endnote.')}</w:endnote>",
    )
    assert text_of(data) == (
        "Before\n\nIn a box.\n\nA red door\n\nSee[1][2] the [page](https://x.y/z).\n\n[Write](mailto:a@b.c)\n\n"
        "## Notes\n\n[1] A footnote.\n\n[2] An endnote."
    )


def test_forms_and_controls(text_of, docx):
    body = (
        "<w:sdt><w:sdtPr/><w:sdtContent>" + paragraph("In a control.") + "</w:sdtContent></w:sdt>"
        "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>"
        + paragraph("Enter text.")
        + "</w:sdtContent></w:sdt>"
        "<w:p><w:r><w:t xml:space='preserve'>Name: </w:t></w:r>"
        "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr>"
        "<w:sdtContent><w:r><w:t>Click here.</w:t></w:r></w:sdtContent></w:sdt>"
        "<w:sdt><w:sdtContent><w:r><w:t>Anna</w:t></w:r></w:sdtContent></w:sdt></w:p>"
        "<w:p><w:r><w:fldChar w:fldCharType='begin'><w:ffData>"
        "<w:checkBox><w:default w:val='1'/></w:checkBox></w:ffData>"
        "</w:fldChar><w:fldChar w:fldCharType='end'/><w:t>Agreed</w:t></w:r></w:p>"
        "<w:p><w:r><w:sym w:font='Wingdings' w:char='F0FC'/><w:sym w:char='F000'/><w:t>Read</w:t></w:r></w:p>"
        "<w:p><w:r><w:fldChar w:fldCharType='begin'><w:ffData><w:ddList><w:result w:val='1'/><w:listEntry w:val='red'/>"
        "<w:listEntry w:val='blue'/></w:ddList></w:ffData></w:fldChar><w:fldChar w:fldCharType='end'/></w:r></w:p>"
        "<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val='Table of Contents'/></w:docPartObj></w:sdtPr>"
        "<w:sdtContent>" + paragraph("Intro 3") + "</w:sdtContent></w:sdt>"
    )
    assert text_of(docx(body)) == "In a control.\n\nName: Anna\n\n☒ Agreed\n\n✓Read\n\nblue"


def test_code_by_style_and_by_font(text_of):
    document = Document()
    document.styles.add_style("Source Code", WD_STYLE_TYPE.PARAGRAPH)
    document.add_paragraph("Run:")
    document.add_paragraph("if x:", style="Source Code")
    document.add_paragraph("    go()", style="Source Code")
    document.add_paragraph("Or:")
    document.add_paragraph().add_run("make  all").font.name = "Consolas"
    assert text_of(saved(document)) == "Run:\n\n```\nif x:\n    go()\n```\n\nOr:\n\n```\nmake  all\n```"


def test_a_strict_document_has_other_namespaces(text_of, docx):
    raw = (
        "<w:document xmlns:w='http://purl.oclc.org/ooxml/wordprocessingml/main'><w:body>"
        + paragraph("Strict.")
        + "</w:body></w:document>"
    )
    assert text_of(docx("", raw=raw)) == "Strict."


BOMB = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
HOSTILE = {
    "laughs": f'<!DOCTYPE d [<!ENTITY e0 "ha">{BOMB}]><w:document xmlns:w="http://x/wordprocessingml/2006/main"/>',
    "external": '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><d>&x;</d>',
    "broken": "<w:document",
    "empty": "<d/>",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_xml_is_rejected(reads, docx, case):
    records, (reject,), _ = reads("a.docx", docx("", raw=HOSTILE[case]))
    assert records == []
    assert {"broken": "well-formed XML", "empty": "document with text"}.get(case, "without entities") in reject.reason


def test_bombs_and_nesting_are_bounded(reads, docx):
    records, (reject,), _ = reads("a.docx", docx(paragraph(" " * 30_000_000)))
    assert records == []
    assert "--max-ratio" in reject.reason
    records, (reject,), _ = reads("b.docx", docx(paragraph("word " * 100_000)), limits=Limits(record_bytes=100_000))
    assert records == []
    assert "--max-record-bytes" in reject.reason
    deep = "<w:tbl><w:tr><w:tc>" * 20_000 + "</w:tc></w:tr></w:tbl>" * 20_000
    records, (reject,), _ = reads("c.docx", docx(deep))
    assert records == []
    assert "nested too deeply" in reject.reason


def test_a_cut_file_and_an_encrypted_one(reads, docx):
    data = docx(paragraph("Text."))
    records, (reject,), _ = reads("a.docx", data[: len(data) // 2])
    assert records == []
    assert "Expected a whole office file" in reject.reason
    locked = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le") + bytes(600)
    records, (reject,), _ = reads("b.docx", locked)
    assert records == []
    assert "password" in reject.reason


def test_macros_are_not_run_and_do_not_matter(reads, docx):
    (record,), rejects, _ = reads("a.docm", docx(paragraph("Text."), vbaProject=""))
    assert (record.text, rejects) == ("Text.", [])


def test_captions_are_no_headings(text_of, docx):
    styles = "".join(
        f"<w:style w:styleId='S{number}'><w:name w:val='{name}'/><w:rPr><w:b/></w:rPr></w:style>"
        for number, name in enumerate(("caption", "Beschriftung", "Légende"))
    )
    body = "".join(paragraph("The red wheel", f"<w:pStyle w:val='S{number}'/>") for number in range(3))
    body += BOLD.format("Table 2: Pressures") + BOLD.format("Tables") + paragraph("Wear goggles.")
    expected = "The red wheel\n\n" * 3 + "Table 2: Pressures\n\n###### Tables\n\nWear goggles."
    assert text_of(docx(body, styles=styles)) == expected


def test_items_of_a_level_have_one_depth_and_keep_their_labels(text_of, docx):
    def item(text, level, more=""):
        return paragraph(text, f"{more}<w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='1'/></w:numPr>")

    forms = [("decimal", "§ %1"), ("decimal", "(%2)"), ("lowerRoman", "%3."), ("decimal", "%2.%4")]
    numbering = "".join(
        f"<w:lvl w:ilvl='{level}'><w:start w:val='1'/><w:numFmt w:val='{form}'/><w:lvlText w:val='{label}'/></w:lvl>"
        for level, (form, label) in enumerate(forms)
    )
    numbering = f"<w:abstractNum w:abstractNumId='0'>{numbering}</w:abstractNum>"
    numbering += "<w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num>"
    body = (
        item("Pets", 0, "<w:outlineLvl w:val='0'/>")
        + item("Ask first.", 1)
        + item("No leave is needed for", 1)
        + item("fish", 2)
        + item("birds", 2)
        + item("small ones", 3)
        + item("Dogs are on a lead.", 1)
        + table([cell("Rule"), cell("Fee")], ["<w:tc>" + item("Cats", 2) + "</w:tc>", cell("5")])
    )
    assert text_of(docx(body, numbering=numbering)) == (
        "# § 1 Pets\n\n- (1) Ask first.\n- (2) No leave is needed for\n    - i. fish\n    - ii. birds\n"
        "        - 2.1 small ones\n- (3) Dogs are on a lead.\n\n| Rule | Fee |\n| --- | --- |\n| i. Cats | 5 |"
    )
