"""Columns of labels and values beside each other, and their titles."""

import pytest

from qa_bot.documents.ingest.formats.markup.html import fragment

PRICES = """<div class=box><div class=title>{}</div><div class=rows>
<div><p>Adults:</p><p>Children:<br><small>(4 to 18 years)</small></p><p>Babies:</p></div>
<div><p>{}</p><p>2.00 €</p><p>free</p></div></div></div>"""


def test_titles_head_their_rows():
    day, evening = PRICES.format("Day*", "3.50 €"), PRICES.format("Evening", "2.50 €")
    html = f"<h1>Pool</h1><div>{day}{evening}</div><p>* deposit</p>"
    rows = "- Adults: {}\n- Children (4 to 18 years): 2.00 €\n- Babies: free"
    assert fragment(html).text == (
        f"# Pool\n\n## Day*\n\n{rows.format('3.50 €')}\n\n## Evening\n\n{rows.format('2.50 €')}\n\n##\n\n\\* deposit"
    )


@pytest.mark.parametrize(
    "columns",
    [
        "<p>Monday<br>Friday</p><p>8:00 – 12:00 Uhr<br>geschlossen</p>",
        "<ul><li>Monday<li>Friday</ul><ul><li>8:00 – 12:00 Uhr<li>geschlossen</ul>",
        "<div><span>Monday</span> <span>Friday</span></div><div>8:00 – 12:00 Uhr<br>geschlossen<br></div>",
        "<div><div><p>Monday:</p><p>Friday:</p></div></div><div><p>8:00 – 12:00 Uhr</p><p>geschlossen</p></div>",
    ],
)
def test_two_columns_are_items(columns):
    assert fragment(f"<div>{columns}</div>").text == "- Monday: 8:00 – 12:00 Uhr\n- Friday: geschlossen"


def test_three_columns_are_a_table():
    html = "<div><div><p>Tea</p><p>Milk</p></div><p>2 €<br>3 €</p><p>3 €<br>–</p></div>"
    assert fragment(html).text == "|  |  |  |\n| --- | --- | --- |\n| Tea | 2 € | 3 € |\n| Milk | 3 € | – |"


def test_cells_with_several_lines_are_several_rows():
    adults = "<tr><td>Adults<br>Children<br>(to 12 years)<td>3 €<br>2 €"
    html = f"<table><tr><th>Who<th>Price{adults}<tr><td>Dogs<td>1 €</table>"
    assert fragment(html).text == (
        "| Who | Price |\n| --- | --- |\n| Adults | 3 € |\n| Children (to 12 years) | 2 € |\n| Dogs | 1 € |"
    )


@pytest.mark.parametrize(
    "columns",
    [
        "<p>Tea<br>Milk</p><p>2 €</p>",
        "<p>Tea<br>Milk</p><p>We sell it.<br>We drink it.</p>",
        "<p>Anna Berg<br>Otto Hahn</p><p>030 555 12<br>030 555 13</p>",
        "<p>1<br>2</p><p>3<br>4</p>",
        "<div><p>Tea:</p><ul><li>green</ul></div><div><p>2 €</p><p>3 €</p></div>",
        "<p>Tea:<br>Milk:</p>beside<p>2 €<br>3 €</p>",
    ],
)
def test_other_columns_are_read_one_after_another(columns):
    text = fragment(f"<div>{columns}</div>").text
    assert "|" not in text
    assert "Tea: 2" not in text
    assert "- Tea:" not in text


@pytest.mark.parametrize("title", ["We have several prices, which follow.", "Prices:", "5 €", "<ul><li>x</ul>"])
def test_other_text_before_rows_stays(title):
    assert "#" not in fragment(PRICES.format(title, "3.50 €")).text
