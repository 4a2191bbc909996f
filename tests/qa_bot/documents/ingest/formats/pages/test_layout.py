"""Tables of contents of PDF files are left out."""

import pytest

LONG = "A line of body text that is long enough to reach the right edge of the column of the page."


@pytest.mark.parametrize(
    ("heading", "is_dropped"), [("Contents", True), ("Inhaltsverzeichnis", True), ("Pumps", False)]
)
def test_three_entries_with_leaders_are_a_table_of_contents(text_of, draw, heading, is_dropped):
    titles = ["Hoses", "Valves", "Filters"]
    entries = [f"{title} ........ {number}" for number, title in enumerate(titles, 2)]
    contents = [draw.line(72, 80, heading, size=14), *draw.lines(entries, y=100)]
    pages = [[draw.line(72, 80, title, size=18), *draw.lines([LONG, LONG])] for title in titles]
    text = text_of(contents, *pages)
    assert text.startswith("# Hoses\n" if is_dropped else f"## {heading}\n\n# Hoses\n")
    assert "...." not in text
