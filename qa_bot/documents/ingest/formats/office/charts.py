"""Charts as tables of the values that they show, and diagrams (SmartArt) as lists."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.formats.office.names import child, whole_number

MOST_POINTS = 10_000  # of a series; the index of a point is not trusted
DEEPEST_ITEM = 5


def chart_table(chart: Element) -> tuple[str, list[list[str]]]:
    """A chart's title, and a header row with the series and one row for each category."""
    title = next(chart.iter("c:title"), None)
    series = list(chart.iter("c:ser"))
    names = [drawn_text(child(one, "c:tx")) for one in series]
    labels = _points(series[0], "c:cat", "c:xVal") if series else {}
    values = [_points(one, "c:val", "c:yVal") for one in series]
    points = sorted({point for column in [labels, *values] for point in column})
    rows = [[labels.get(point, ""), *(column.get(point, "") for column in values)] for point in points]
    return drawn_text(title), [["", *names], *rows] if rows else []


def _points(series: Element, *kinds: str) -> dict[int, str]:
    points = {}
    for kind in kinds:
        data = child(series, kind)
        for point in data.iter("c:pt") if data is not None else ():
            index = whole_number(point.get("idx"), -1)
            if 0 <= index < MOST_POINTS:
                points[index] = drawn_text(point)
    return points


def drawn_text(element: Element | None) -> str:
    """The text of runs, or of cached values, in one line."""
    if element is None:
        return ""
    runs = [node.text or "" for node in element.iter("a:t")]
    return " ".join("".join(runs or [node.text or "" for node in element.iter("c:v")]).split())


def diagram_items(data: Element) -> Iterator[tuple[int, str]]:
    """Depth and text of the points of a diagram, in the order in which they are shown."""
    texts, root = {}, ""
    for point in data.iter("dgm:pt"):
        name, kind = point.get("modelId", ""), point.get("type", "node")
        if kind == "doc":
            root = name
        elif kind in {"node", "asst"}:
            texts[name] = drawn_text(point)
    children: dict[str, list[tuple[int, str]]] = {}
    for link in data.iter("dgm:cxn"):
        if link.get("type", "parOf") == "parOf":
            position = whole_number(link.get("srcOrd")), link.get("destId", "")
            children.setdefault(link.get("srcId", ""), []).append(position)
    seen: set[str] = set()
    waiting = [(0, name) for _, name in sorted(children.get(root, []), reverse=True)]
    while waiting:
        depth, name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if texts.get(name):
            yield min(depth, DEEPEST_ITEM), texts[name]
        waiting += [(depth + bool(texts.get(name)), inner) for _, inner in sorted(children.get(name, []), reverse=True)]
    yield from ((0, text) for name, text in texts.items() if name not in seen and text)
