"""Elements that only their roles make headings or switches."""

import pytest

from qa_bot.documents.ingest.formats.markup.html import read_page


def test_headings():
    html = """<title>Parking - Portal</title><body><div role=heading aria-level=1>Parking</div>
    <div role=heading aria-level=3>Costs</div><p>Thirty euros.</p><span role=heading>Decks</span><p>Two.</p>"""
    page = read_page(html)
    assert page.metadata.title == "Parking"
    assert page.markdown == "### Costs\n\nThirty euros.\n\n## Decks\n\nTwo."


def test_a_switch_in_a_heading_is_its_text():
    html = """<div role=heading aria-level=3><button aria-expanded=false aria-controls=a>Lost keys?</button></div>
    <div id=a hidden>Call the desk.</div>"""
    assert read_page(html).markdown == "### Lost keys?\n\nCall the desk."


def test_switches():
    html = "<div role=button aria-expanded=false><b>Cars</b></div><div style='display: none'>Deck two.</div>"
    assert read_page(html).markdown == "**Cars**\n\nDeck two."


@pytest.mark.parametrize(
    "element",
    [
        "<div role=heading><p>One</p></div>",
        f"<div role=heading>{'word ' * 50}</div>",
        "<div role=button aria-expanded=false><p>One</p></div>",
        "<h2 role=heading aria-level=4>One</h2>",
    ],
)
def test_other_elements_stay(element):
    assert read_page(f"{element}<p>Text.</p>").markdown.startswith(("One\n", "word ", "## One\n"))


def test_menus_stay_hidden():
    links = "<a href=/a>Our products</a> <a href=/b>Our services</a>"
    html = f"<p>Text.</p><div role=button aria-expanded=false>More</div><div style='display:none'>{links}</div>"
    assert "products" not in read_page(html).markdown
