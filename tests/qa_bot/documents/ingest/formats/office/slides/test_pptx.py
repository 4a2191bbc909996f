"""Presentations: slides in order, bullets and steps, tables, charts, diagrams, notes."""

import io
import re
import zipfile

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.oxml.ns import qn
from pptx.util import Inches, Pt

from qa_bot.documents.ingest.records import Position

BOX = (Inches(1), Inches(1), Inches(4), Inches(2))


@pytest.fixture
def deck():
    """A presentation, and a function that adds a slide with a title and a text with bullets."""
    presentation = Presentation()
    presentation.core_properties.title = "PowerPoint Presentation"

    def add(title="", *bullets, layout=1):
        slide = presentation.slides.add_slide(presentation.slide_layouts[layout])
        if title:
            slide.shapes.title.text = title
        if bullets:
            slide.placeholders[1].text = "\n".join(bullets)
        return slide

    return presentation, add


def saved(presentation, change=None):
    data = io.BytesIO()
    presentation.save(data)
    if change is None:
        return data.getvalue()
    out = io.BytesIO()
    with zipfile.ZipFile(data) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return out.getvalue()


@pytest.fixture
def text_of(reads):
    def text_of(data):
        (record,), rejects, notices = reads("a.pptx", data)
        assert (rejects, notices) == ([], [])
        return record.text

    return text_of


def test_slides_are_pages_in_the_order_of_the_show(reads, deck):
    presentation, add = deck
    add("Goals", layout=0)
    add("Second", "One", "Two").notes_slide.notes_text_frame.text = "Say hello.\nSmile."
    add("Third", "Alone")
    add(layout=6)
    slides = presentation.slides._sldIdLst
    slides.insert(1, slides[2])
    (record,), rejects, _ = reads("a.pptx", saved(presentation))
    assert rejects == []
    assert record.text == ("## Goals\n\n## Third\n\nAlone\n\n## Second\n\n- One\n- Two\n\nNotes: Say hello.\n\nSmile.")
    starts = [record.text.index(f"## {title}") for title in ("Goals", "Third", "Second")]
    assert record.positions == tuple(Position(start, page=page) for page, start in enumerate(starts, 1))
    assert (record.id, record.title, record.date) == ("a.pptx", "Goals", "")


@pytest.mark.parametrize(
    ("size", "text"), [(32, "## Rental\n\nWrench: 5 EUR"), (18, "## Slide 1\n\nRental\n\nWrench: 5 EUR")]
)
def test_the_largest_text_is_the_title_of_a_slide_without_one(text_of, deck, size, text):
    presentation, add = deck
    slide = add(layout=6)
    for number, (words, points) in enumerate([("Rental", size), ("Wrench: 5 EUR", 18)]):
        frame = slide.shapes.add_textbox(0, number * 900_000, 900_000, 900_000).text_frame
        frame.text = words
        frame.paragraphs[0].runs[0].font.size = Pt(points)
    assert text_of(saved(presentation)) == text


def test_levels_steps_links_and_text_without_bullets(text_of, deck):
    _, add = deck
    slide = add("How", "Ask", "Who", "Go", "Once", "Twice")
    paragraphs = slide.placeholders[1].text_frame.paragraphs
    paragraphs[1].level = 1
    for paragraph in paragraphs[3:]:
        number = paragraph._p.get_or_add_pPr().makeelement(qn("a:buAutoNum"), {"startAt": "4"})
        paragraph._p.get_or_add_pPr().append(number)
    run = slide.shapes.add_textbox(*BOX).text_frame.paragraphs[0].add_run()
    run.text = "Our page"
    run.hyperlink.address = "https://x.y/"
    assert text_of(saved(deck[0])) == (
        "## How\n\n- Ask\n    - Who\n- Go\n4. Once\n5. Twice\n\n[Our page](https://x.y/)"
    )


def test_tables_with_merged_cells(text_of, deck):
    _, add = deck
    table = add("Rates", layout=5).shapes.add_table(3, 3, *BOX).table
    for row, texts in enumerate((["", "2024", ""], ["A", "1", "2"], ["", "3", "4"])):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(1, 0).merge(table.cell(2, 0))
    assert text_of(saved(deck[0])) == (
        "## Rates\n\n|  | 2024 | 2024 |\n| --- | --- | --- |\n| A | 1 | 2 |\n| A | 3 | 4 |"
    )


def test_cells_over_columns_repeat_unless_they_head_a_group(text_of, deck):
    _, add = deck
    table = add("Hours", layout=5).shapes.add_table(4, 3, *BOX).table
    rows = (["Pool", "Sat", "Sun"], ["Summer", "", ""], ["Indoor", "9-17", ""], ["Outdoor", "", ""])
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    table.cell(1, 0).merge(table.cell(1, 2))
    table.cell(2, 1).merge(table.cell(3, 2))
    assert text_of(saved(deck[0])) == (
        "## Hours\n\n| Pool | Sat | Sun |\n| --- | --- | --- |\n| Summer |  |  |\n| Indoor | 9-17 | 9-17 |\n"
        "| Outdoor | 9-17 | 9-17 |"
    )


def test_a_chart_is_a_table_of_its_values(text_of, deck):
    data = CategoryChartData()
    data.categories = ["North", "South"]
    data.add_series("2023", (1.5, 2))
    data.add_series("2024", (3, None))
    chart = deck[1]("Sales", layout=5).shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *BOX, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "By region"
    assert text_of(saved(deck[0])) == (
        "## Sales\n\nBy region\n\n|  | 2023 | 2024 |\n| --- | --- | --- |\n| North | 1.5 | 3 |\n| South | 2 |  |"
    )


def test_groups_pictures_and_furniture(text_of, deck):
    presentation, add = deck
    slide = add(layout=6)
    group = slide.shapes.add_group_shape()
    inner = group.shapes.add_group_shape()
    inner.shapes.add_textbox(*BOX).text_frame.text = "Deep"
    shape = group.shapes.add_textbox(*BOX)
    shape._element.nvSpPr.cNvPr.set("descr", "A map of the office")
    group.shapes.add_textbox(*BOX)._element.nvSpPr.cNvPr.set("descr", "image3.PNG")
    footer = slide.shapes.add_textbox(*BOX)
    footer.text_frame.text = "Confidential"
    footer._element.nvSpPr.nvPr.append(footer._element.makeelement(qn("p:ph"), {"type": "ftr"}))
    assert text_of(saved(presentation)) == "## Slide 1\n\nDeep\n\nA map of the office"


DIAGRAM = """<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"
xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><dgm:ptLst>
<dgm:pt modelId="0" type="doc"/>
<dgm:pt modelId="3"><dgm:t><a:p><a:r><a:t>Works council</a:t></a:r></a:p></dgm:t></dgm:pt>
<dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>Board</a:t></a:r></a:p></dgm:t></dgm:pt>
<dgm:pt modelId="2"><dgm:t><a:p><a:r><a:t>Finance</a:t></a:r></a:p></dgm:t></dgm:pt>
<dgm:pt modelId="9" type="pres"/></dgm:ptLst><dgm:cxnLst>
<dgm:cxn srcId="0" destId="3" srcOrd="1"/><dgm:cxn srcId="0" destId="1" srcOrd="0"/>
<dgm:cxn srcId="1" destId="2" srcOrd="0"/><dgm:cxn srcId="2" destId="1" srcOrd="0"/>
<dgm:cxn srcId="1" destId="9" type="presOf"/></dgm:cxnLst></dgm:dataModel>"""


def test_a_diagram_is_a_list_also_if_it_has_a_circle(text_of, deck):
    slide = deck[1]("Who", layout=5)
    slide.shapes.add_table(1, 1, *BOX)

    def change(name, data):
        if name == "ppt/slides/slide1.xml":
            frame = b'<d:relIds xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram" r:dm="rId77"/>'
            return re.sub(rb"<a:tbl>.*</a:tbl>", frame, data, flags=re.DOTALL)
        if name == "ppt/slides/_rels/slide1.xml.rels":
            link = b'<Relationship Id="rId77" Type="x/diagramData" Target="../slides/data.xml"/></Relationships>'
            return data.replace(b"</Relationships>", link)
        return DIAGRAM.encode() if name == "ppt/slides/data.xml" else data

    data = saved(deck[0], change)
    with zipfile.ZipFile(buffer := io.BytesIO(data), "a") as archive:
        archive.writestr("ppt/slides/data.xml", DIAGRAM)
    assert text_of(buffer.getvalue()) == "## Who\n\n- Board\n    - Finance\n- Works council"


def test_right_to_left_and_vertical_text(text_of, deck):
    slide = deck[1](layout=6)
    vertical = slide.shapes.add_textbox(*BOX)
    vertical.text_frame.text = "縦書き"
    vertical.text_frame._txBody.bodyPr.set("vert", "eaVert")
    slide.shapes.add_textbox(*BOX).text_frame.text = "مرحبا"
    assert text_of(saved(deck[0])) == "## Slide 1\n\n縦書き\n\nمرحبا"


def test_a_missing_slide_and_an_empty_presentation(reads, deck):
    presentation, add = deck
    records, (reject,), _ = reads("empty.pptx", saved(presentation))
    assert records == []
    assert "document with text" in reject.reason
    add("First", "Kept")
    add("Second", "Broken")
    data = saved(presentation, lambda name, data: b"<p:sld" if name == "ppt/slides/slide2.xml" else data)
    records, (reject,), _ = reads("broken.pptx", data)
    assert records == []
    assert "well-formed XML" in reject.reason


def test_raised_digits_and_struck_text_are_marked(text_of, deck):
    presentation, add = deck
    paragraph = add("Roof", "Up to 10").placeholders[1].text_frame.paragraphs[0]
    for text, name, value in [
        ("3", "baseline", "30000"),
        (" tiles, ", "baseline", "0"),
        ("not 9", "strike", "sngStrike"),
    ]:
        run = paragraph.add_run()
        run.text = text
        run.font._element.set(name, value)
    assert text_of(saved(presentation)) == "## Roof\n\nUp to 10³ tiles, ~~not 9~~"


def test_a_text_box_above_a_chart_is_the_title_of_its_slide(text_of, deck):
    presentation, add = deck
    slide = add(layout=6)
    data = CategoryChartData()
    data.categories = ["May"]
    data.add_series("Cars", (7,))
    slide.shapes.add_chart(XL_CHART_TYPE.LINE, Inches(1), Inches(3), Inches(4), Inches(2), data)
    slide.shapes.add_textbox(*BOX).text_frame.text = "Traffic"
    slide.shapes.add_textbox(Inches(1), Inches(5), Inches(4), Inches(1)).text_frame.text = "Counted by hand."
    expected = "## Slide 1\n\nTraffic\n\n|  | Cars |\n| --- | --- |\n| May | 7 |\n\nCounted by hand."
    assert text_of(saved(presentation)) == expected
    slide.shapes._spTree.remove(slide.shapes[-1]._element)
    assert text_of(saved(presentation)) == "## Traffic\n\n|  | Cars |\n| --- | --- |\n| May | 7 |"


def test_a_hidden_slide_is_marked(text_of, deck):
    presentation, add = deck
    add("Prices", "The boat costs 7 200.")._element.set("show", "0")
    assert text_of(saved(presentation)) == "## Prices (hidden slide)\n\nThe boat costs 7 200."


def test_labels_of_items_are_shown(text_of, deck):
    slide = deck[1]("How", "Ask", "Wait", "Sit", "Go")
    kinds = ("alphaLcParenR", "alphaLcParenR", "romanUcPeriod", "arabicPeriod")
    for paragraph, kind in zip(slide.placeholders[1].text_frame.paragraphs, kinds, strict=True):
        properties = paragraph._p.get_or_add_pPr()
        properties.append(properties.makeelement(qn("a:buAutoNum"), {"type": kind, "startAt": "2"}))
        paragraph.level = 1 + (kind[:5] == "roman")
    assert text_of(saved(deck[0])) == "## How\n\n- b) Ask\n- c) Wait\n    - II. Sit\n4. Go"


def test_signs_of_symbol_and_wingdings_are_shown(text_of, deck):
    presentation, add = deck
    paragraph = add("Storage", "Keep ").placeholders[1].text_frame.paragraphs[0]
    for text, name, font in [
        ("\uf0a3", "a:sym", "Symbol"),
        (" a \uf0e0 ", "a:sym", "Wingdings"),
        ("a", "a:latin", "Symbol"),
    ]:
        run = paragraph.add_run()
        run.text = text
        run.font._element.append(run.font._element.makeelement(qn(name), {"typeface": font}))
    assert text_of(saved(presentation)) == "## Storage\n\nKeep ≤ a → α"
