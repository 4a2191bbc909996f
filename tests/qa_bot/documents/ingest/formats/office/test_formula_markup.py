"""Formulas of Word as text."""

from xml.etree import ElementTree

import pytest

from qa_bot.documents.ingest.formats.office.formula_markup import formula_text
from qa_bot.documents.ingest.formats.office.names import qualify

MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def part(name, *parts):
    """An element; a text becomes a run."""
    inner = "".join(text if text.startswith("<") else f"<m:r><m:t>{text}</m:t></m:r>" for text in parts)
    return f"<m:{name}>{inner}</m:{name}>"


SQUARE = part("sSup", part("e", "v"), part("sup", "2"))
SUM = "<m:naryPr><m:chr m:val='∑'/></m:naryPr>"
PARENTHESES = part("d", part("e", "p+q"))


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        (part("f", part("num", "p+q"), part("den", "4")), "(p+q)/4"),
        (part("f", part("num", "m", SQUARE), part("den", "2r")), "mv²/(2r)"),
        ("<m:r><m:t>K=</m:t></m:r>" + SQUARE, "K=v²"),
        (part("sSup", part("e", PARENTHESES), part("sup", "n")), "(p+q)^(n)"),
        (part("sSubSup", part("e", "x"), part("sub", "1"), part("sup", "3")), "x_1³"),
        (part("rad", "<m:deg/>", part("e", "2g")), "√(2g)"),
        (part("rad", part("deg", "3"), part("e", "8")), "³√(8)"),
        (part("d", "<m:dPr><m:begChr m:val='['/><m:endChr m:val=']'/></m:dPr>", part("e", "1")), "[1]"),
        (
            part("nary", SUM, part("sub", "i=1"), part("sup", "9"), part("e", "i")),
            "∑_(i=1)⁹ i",
        ),
        (part("func", part("fName", "sin"), part("e", "x")), "sin x"),
        (
            part("m", part("mr", part("e", "1"), part("e", "2")), part("mr", part("e", "3"), part("e", "4"))),
            "1, 2; 3, 4",
        ),
    ],
)
def test_structure_becomes_signs(xml, expected):
    node = qualify(ElementTree.fromstring(f"<m:oMath xmlns:m='{MATH}'>{xml}</m:oMath>"))
    assert formula_text(node) == expected
