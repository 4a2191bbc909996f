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
        ("<p><img alt='Start'> now</p><p>Start it.</p>", "Start now\n\nStart it."),
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


DOCBOOK = (
    "<div class='figure'><p class='title'>Abbildung 10.8. Konten wählen</p><div class='figure-contents'><div><table>"
    "<tr><td><div><a><span><img alt='Konten wählen'></span></a></div></td></tr></table></div></div></div>"
)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<div>Open it.<p><a><img alt='Fenster Abgleichen'></a></p></div>", "Open it."),
        ("<p>Open it.<div><table><tr><td><img alt='Menü Datei'></td></tr></table></div>", "Open it."),
        ("<ol><li>Open it.<p><img alt='Main window'></p></ol>", "1. Open it."),
        (DOCBOOK, "Abbildung 10.8. Konten wählen"),
        ("<p>Press <img alt='gerbview_drill_file_png'> twice.", "Press twice."),
    ],
)
def test_names_of_images_are_no_sentences(html: str, expected: str) -> None:
    assert fragment(html).text == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>Intro.</p><p><img alt='The lamp blinks twice.'></p>", "Intro.\n\nThe lamp blinks twice."),
        (
            "<p>Intro.</p><p><img alt='Sales of the four regions rose from 3 to 5 million in a year'></p>",
            "Intro.\n\nSales of the four regions rose from 3 to 5 million in a year",
        ),
        ("<h2><img alt='Brezza 500'></h2><p>Heavy.</p>", "## Brezza 500\n\nHeavy."),
        ("<ul><li><p><img alt='Filter'></p></li><li>Pump</li></ul>", "- Filter\n- Pump"),
        ("<p><img alt='Opening hours 9 to 5'></p>", "Opening hours 9 to 5"),
    ],
)
def test_images_that_tell_something_keep_their_texts(html: str, expected: str) -> None:
    assert fragment(html).text == expected


def test_many_images_take_linear_time_and_no_text_is_lost() -> None:
    page = "<p><img alt='Main window'></p>" * 20_000 + "<p>The end.</p>"
    assert fragment(page).text == "The end."


def test_the_figure_of_many_images_is_searched_once_for_each() -> None:
    """Quadratic code would run into the suite's timeout."""
    alternative = "the picture of a thing that we have seen in this house"
    image = f"<p><img alt='{alternative}'></p>"
    page = f"<figure>{image * 20_000}<figcaption>{alternative}</figcaption></figure><p>The end.</p>"
    assert fragment(page).text == f"{alternative}\n\nThe end."
