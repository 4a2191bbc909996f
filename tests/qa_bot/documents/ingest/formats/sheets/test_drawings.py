"""Text boxes and titles of charts on the sheets of a workbook."""

import io
import zipfile

from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference

DRAWING = "xl/drawings/drawing1.xml"
BOX = (
    '<xdr:sp xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><xdr:txBody>'
    "<a:p><a:r><a:t>Call </a:t></a:r><a:r><a:t>Ann.</a:t></a:r></a:p><a:p/><a:p><a:r><a:t>Then order.</a:t></a:r></a:p>"
    "</xdr:txBody></xdr:sp>"
)


def workbook(*rows):
    """The bytes of a workbook with a table, a chart with a title, and a box with two paragraphs."""
    book = Workbook()
    book.active.title = "Costs"
    for row in rows:
        book.active.append(row)
    chart = BarChart()
    chart.title = "Costs by room"
    chart.add_data(Reference(book.active, min_col=2, min_row=1, max_row=2))
    book.active.add_chart(chart, "D2")
    data, out = io.BytesIO(), io.BytesIO()
    book.save(data)
    with zipfile.ZipFile(data) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            end = part.rindex(b"</") if name == DRAWING else len(part)
            new.writestr(name, part[:end] + BOX.encode() + part[end:] if name == DRAWING else part)
    return out.getvalue()


def test_boxes_and_titles_of_charts_follow_the_tables_of_their_sheet(reads):
    (record,), rejects, _ = reads("a.xlsx", workbook(["Room", "Cost"], ["Attic", 7]))
    assert rejects == []
    assert record.text == (
        "## Costs\n\n| Room | Cost |\n| --- | --- |\n| Attic | 7 |\n\nChart: Costs by room\n\nCall Ann.\n\nThen order."
    )


def test_a_sheet_with_a_chart_only_has_its_title(reads):
    (record,), _, _ = reads("a.xlsx", workbook())
    assert record.text == "## Costs\n\nChart: Costs by room\n\nCall Ann.\n\nThen order."
