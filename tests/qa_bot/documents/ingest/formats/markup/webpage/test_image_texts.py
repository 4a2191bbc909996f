"""Alternative texts of images beside other texts."""

import pytest

from qa_bot.documents.ingest.formats.markup.html import fragment


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p><img alt='Save button'> Save button: stores the file.", "Save button: stores the file."),
        ("<p><a href='/x'><img alt='Water tank'> <b>Water Tank</b></a>", "**Water Tank**"),
        ("<p>Press <img alt='Start'> Start to begin.", "Press Start to begin."),
        ("<p>Press Start <img alt='Start'> to begin.", "Press Start to begin."),
        ("<ul><li><img alt='Filter'><span>Filter</span></li></ul>", "- Filter"),
        ("<div><p><img alt='A red house'></p><p>A red house</p></div>", "A red house"),
        ("<h3>A red house</h3><img alt='A red house'>", "### A red house"),
    ],
)
def test_a_label_beside_an_image_is_not_doubled(html: str, expected: str) -> None:
    assert fragment(html).text == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>Press <img alt='OK'> twice.", "Press OK twice."),
        ("<p>Press <img alt='Start'> Starter to begin.", "Press Start Starter to begin."),
        ("<p><img alt='Start'></p><p>Start it.</p>", "Start\n\nStart it."),
        ("<p><img alt='Up'><img alt='Up'> twice", "Up Up twice"),
        ("<ul><li><img alt='Filter'></li><li>Filter</li></ul>", "- Filter\n- Filter"),
        ("<p><img alt='☆'> ☆", "☆ ☆"),
    ],
)
def test_other_texts_of_images_are_kept(html: str, expected: str) -> None:
    assert fragment(html).text == expected


def test_a_cell_with_an_image_keeps_its_text() -> None:
    table = "<table><tr><th>Icon<th>Meaning<tr><td><img alt='Warning'><td>Warning</table>"
    assert "| Warning | Warning |" in fragment(table).text
