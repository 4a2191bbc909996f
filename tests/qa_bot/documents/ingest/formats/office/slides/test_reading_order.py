"""The order of text boxes on slides: rows from left to right, columns as in the file."""

from xml.etree import ElementTree

import pytest

from qa_bot.documents.ingest.formats.office.names import qualify
from qa_bot.documents.ingest.formats.office.slides.reading_order import in_reading_order

SPACES = " ".join(
    f'xmlns:{prefix}="http://schemas.openxmlformats.org/{name}/2006/main"'
    for prefix, name in (("a", "drawingml"), ("p", "presentationml"))
)


def slide(*boxes, more=""):
    shapes = "".join(
        f'<p:sp><p:nvSpPr><p:nvPr>{more}</p:nvPr></p:nvSpPr><p:spPr><a:xfrm><a:off x="{left}" y="{top}"/>'
        f'<a:ext cx="{width}" cy="{height}"/></a:xfrm></p:spPr><p:txBody><a:p><a:pPr rtl="{int(name.isupper())}"/>'
        f"<a:r><a:t>{name}</a:t></a:r></a:p></p:txBody></p:sp>"
        for name, left, top, width, height in boxes
    )
    return qualify(ElementTree.fromstring(f"<p:spTree {SPACES}>{shapes}</p:spTree>"))


def read(tree):
    return "".join(node.text for shape in in_reading_order(tree) for node in shape.iter("a:t"))


@pytest.mark.parametrize(
    ("boxes", "order"),
    [
        ([("c", 60, 50, 30, 8), ("a", 5, 50, 30, 8), ("b", 32, 51, 25, 9)], "abc"),  # a row
        ([("c", 0, 50, 30, 8), ("b", 40, 10, 30, 8), ("a", 0, 10, 30, 8)], "abc"),  # a row above a box
        ([("b", 0, 20, 90, 10), ("a", 0, 5, 90, 10), ("c", 0, 40, 90, 10)], "abc"),  # a column
        ([("a", 0, 5, 40, 5), ("b", 0, 15, 40, 50), ("c", 50, 5, 40, 5), ("d", 50, 15, 40, 50)], "abcd"),  # two columns
        ([("b", 0, 10, 40, 50), ("a", 50, 10, 40, 5)], "ba"),  # of other heights
        ([("B", 0, 10, 40, 5), ("A", 50, 10, 40, 5)], "AB"),  # written from right to left
        ([("b", 0, 10, 40, 5), ("a", 20, 10, 40, 5)], "ba"),  # one upon the other
    ],
)
def test_rows_are_read_from_left_to_right_and_columns_as_in_the_file(boxes, order):
    assert read(slide(*boxes)) == order


def test_placeholders_and_boxes_without_a_place_stay_in_the_order_of_the_file():
    row = ("b", 50, 10, 40, 5), ("a", 0, 10, 40, 5)
    assert read(slide(*row)) == "ab"
    assert read(slide(*row, more="<p:ph/>")) == "ba"
    tree = slide(*row)
    for shape in tree:
        shape.remove(shape[1])
    assert read(tree) == "ba"
