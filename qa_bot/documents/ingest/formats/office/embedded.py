"""What a document or a slide shows from other parts of its file: charts, diagrams (SmartArt), inserted pages."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.files.decoding import encoding_of
from qa_bot.documents.ingest.formats.markup.html import fragment
from qa_bot.documents.ingest.formats.office.charts import chart_table, diagram_items
from qa_bot.documents.ingest.formats.office.package import Link, Package
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter

CHUNK = "w:altChunk"
REFERENCES = {"c:chart": "r:id", "dgm:relIds": "r:dm", CHUNK: "r:id"}
"""Element that shows another part → its attribute with the id of the link."""
PAGES = (".htm", ".html", ".xhtml")


def write_embedded(reference: Element, package: Package, links: Mapping[str, Link], writer: MarkdownWriter) -> None:
    """Writes the part that an element of `REFERENCES` shows; parts of other kinds are left out."""
    link = links.get(reference.get(REFERENCES[reference.tag], ""))
    if link is None or link.target not in package.names:
        return
    if reference.tag == CHUNK:
        _write_page(package, link.target, writer)
    elif (part := package.tree(link.target)) is not None and reference.tag == "c:chart":
        title, rows = chart_table(part)
        writer.paragraph(title)
        writer.table(rows)
    elif part is not None:
        for depth, text in diagram_items(part):
            writer.item(text, depth=depth)


def _write_page(package: Package, name: str, writer: MarkdownWriter) -> None:
    if name.lower().endswith(PAGES):
        with package.open(name) as stream:
            data = stream.read()
        fragment(data.decode(encoding_of(data), "replace"), writer)
