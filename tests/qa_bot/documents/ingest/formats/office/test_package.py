"""What all office files share: the content decides, parts are bounded, links are cleaned."""

import io

import pytest
from docx import Document
from openpyxl import Workbook
from pptx import Presentation

from qa_bot.documents.ingest.formats.office.names import short
from qa_bot.documents.ingest.formats.office.package import picture_text, web_link
from qa_bot.documents.ingest.formats.office.properties import Properties


def saved(document):
    data = io.BytesIO()
    document.save(data)
    return data.getvalue()


def word():
    document = Document()
    document.add_paragraph("Text.")
    return document


def sheet():
    workbook = Workbook()
    workbook.active.append(["Text."])
    return workbook


def slides():
    presentation = Presentation()
    presentation.slides.add_slide(presentation.slide_layouts[0]).shapes.title.text = "Text."
    return presentation


@pytest.mark.parametrize("make", [word, sheet, slides])
@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.pptm", "a.doc", "a.bin"])
def test_the_content_decides_before_the_suffix(reads, make, name):
    (record,), rejects, _ = reads(name, saved(make()))
    assert rejects == []
    assert record.text.endswith("Text.")


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("our  page", "https://x.y/a b(c)", "[our page](https://x.y/a%20b%28c%29)"),
        ("https://x.y/", "https://x.y/", "https://x.y/"),
        (" our page ", "https://x.y/", " [our page](https://x.y/) "),
        ("\nx.y ", "https://x.y", "\n[x.y](https://x.y) "),
        ("a@b.c", "mailto:a@b.c", "a@b.c"),
        ("run me", "javascript:alert(1)", "run me"),
        (" ", "https://x.y/", " "),
    ],
)
def test_links_of_the_web_are_kept(text, target, expected):
    assert web_link(text, target) == expected


def test_names_pictures_and_properties():
    assert short("http://schemas.openxmlformats.org/wordprocessingml/2006/main}p") == "w:p"
    assert (short("http://unknown}p"), short("p")) == ("p", "p")
    assert (picture_text(" A red\n door "), picture_text("Picture1.PNG")) == ("A red door", "")
    properties = Properties.of(title=" A\n b ", date="2024-11-25 someday", language="pt-BR", keywords="a; b,a")
    assert properties == Properties("A b", "2024-11-25", "pt", tags=("a", "b"))
    assert Properties.of(date="2024-13-45", language="?", status="Final") == Properties()
