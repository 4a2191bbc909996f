"""What is said beside the cells of a sheet of Excel: its text boxes, and the titles of its charts."""

from __future__ import annotations

from collections.abc import Iterator

from qa_bot.documents.ingest.formats.office.charts import drawn_text
from qa_bot.documents.ingest.formats.office.names import child
from qa_bot.documents.ingest.formats.office.package import Package


def drawing_texts(package: Package, sheet: str) -> list[str]:
    """The texts of the boxes on a sheet (the name of its part), and "Chart: TITLE" for its charts, in their order."""
    drawings = [link.target for link in package.links(sheet).values() if link.kind == "drawing"]
    texts = (text for name in drawings for text in _texts(package, name))
    return list(dict.fromkeys(filter(None, texts)))  # some are there again for older versions


def _texts(package: Package, name: str) -> Iterator[str]:
    links = package.links(name)
    root = package.tree(name)
    for element in root.iter() if root is not None else ():
        if element.tag == "xdr:txBody":
            yield "\n\n".join(filter(None, map(drawn_text, element.iter("a:p"))))
        elif element.tag == "c:chart" and element.get("r:id") in links:
            chart = package.tree(links[element.get("r:id", "")].target)
            title = drawn_text(child(chart, "c:chart", "c:title"))
            yield f"Chart: {title}" if title else ""
