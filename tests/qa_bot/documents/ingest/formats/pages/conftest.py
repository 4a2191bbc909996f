"""PDF files with given lines at given places."""

import io

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject, NumberObject

FONTS = ("Helvetica", "Helvetica-Bold", "Courier")


def line(x, y, text, *, size=10, font="Helvetica"):
    """A line of text with its left end at x, and y points below the upper edge of a page of 612 × 792 points."""
    text = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /F{FONTS.index(font)} {size} Tf {x} {792 - y} Td ({text}) Tj ET"


def rule(x0, x1, y):
    """A drawn horizontal line."""
    return f"{x0} {792 - y} m {x1} {792 - y} l S"


def upright(x, y0, y1):
    """A drawn vertical line."""
    return f"{x} {792 - y0} m {x} {792 - y1} l S"


def pdf(*pages, metadata=None, password=None, rotate=0, field=""):
    """A PDF with the drawing operators of each page, and a form's field with this content on the first."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    objects += [f"<< /Type /Font /Subtype /Type1 /BaseFont /{font} /Encoding /WinAnsiEncoding >>" for font in FONTS]
    fonts = " ".join(f"/F{number} {number + 3} 0 R" for number in range(len(FONTS)))
    kids = []
    for operators in pages:
        stream = "\n".join(operators)
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R "
            f"/Resources << /Font << {fonts} >> >> >>"
        )
    if field:
        look = f"BT /F0 10 Tf 2 2 Td ({field}) Tj ET"
        objects[len(objects) - 2 * len(pages) + 1] = objects[len(objects) - 2 * len(pages) + 1].replace(
            "/Type /Page ", f"/Type /Page /Annots [{len(objects) + 2} 0 R] "
        )
        objects.append(
            f"<< /Type /XObject /Subtype /Form /BBox [0 0 200 14] /Resources << /Font << {fonts} >> >> "
            f"/Length {len(look)} >>\nstream\n{look}\nendstream"
        )
        objects.append(
            f"<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V ({field}) /F 4 /Rect [200 690 400 704] "
            f"/AP << /N {len(objects)} 0 R >> >>"
        )
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    data += f"xref\n0 {size}\n0000000000 65535 f \n{table}".encode()
    data += f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{data.index(b'xref')}\n%%EOF\n".encode()
    return _rewritten(data, metadata, password, rotate) if metadata or password or rotate else data


def _rewritten(data, metadata, password, rotate):
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    if metadata:
        writer.add_metadata(metadata)
    if rotate:
        for page in writer.pages:
            page[NameObject("/Rotate")] = NumberObject(rotate)
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


class Drawing:
    """The functions above, for tests."""

    line = staticmethod(line)
    rule = staticmethod(rule)
    upright = staticmethod(upright)
    pdf = staticmethod(pdf)

    @staticmethod
    def lines(texts, *, x=72, y=100, pitch=12, **style):
        """Lines one below the other."""
        return [line(x, y + pitch * number, text, **style) for number, text in enumerate(texts)]


@pytest.fixture
def draw():
    return Drawing


@pytest.fixture
def text_of(reads, draw):
    def text_of(*pages, **options):
        (record,), rejects, _ = reads("a.pdf", draw.pdf(*pages, **options))
        assert rejects == []
        return record.text

    return text_of
