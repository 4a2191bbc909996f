"""Titles of documents, of their properties and their headings."""

import pytest

from qa_bot.documents.ingest.formats.document_title import first_title, sole_title, stated_title
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter


@pytest.mark.parametrize(
    ("title", "stated"),
    [
        ("  Roof   guide ", "Roof guide"),
        ("Word Document", ""),
        ("Dokument1", ""),
        ("Microsoft Word - roof_v3.docx", ""),
        ("PowerPoint-Präsentation", ""),
        ("HOUSE.pdf", ""),
        ("2024-03", ""),
        ("Document control", "Document control"),
    ],
)
def test_a_title_that_a_program_filled_in_is_none(title, stated):
    assert stated_title(title, "house") == stated


@pytest.mark.parametrize(
    ("blocks", "sole", "first"),
    [
        ([(1, "Roof"), "Dry.", (2, "Cellar"), "Wet."], "Roof", "Roof"),
        ([(1, "Roof"), "Dry.", (1, "Cellar"), "Wet."], "", ""),
        (["Dry.", (1, "Roof"), "Wet."], "", "Roof"),
        ([(1, "Our house"), "Dry.", (1, "Cellar"), "Wet."], "", "Our house"),
        (["Dry."], "", ""),
    ],
)
def test_the_only_heading_and_the_first_of_several(blocks, sole, first):
    writer = MarkdownWriter()
    for block in blocks:
        if isinstance(block, str):
            writer.paragraph(block)
        else:
            writer.heading(*block)
    assert (sole_title(writer), first_title(writer, "house")) == (sole, first)
