"""Lists of pages: their letters and Roman numerals, and paragraphs of Word and Outlook."""

import pytest

from qa_bot.documents.ingest.formats.markup.html import fragment, page


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ol type=a><li>rain<li>snow</ol>", "- a. rain\n- b. snow"),
        ("<ol type=I start=4><li>rain</ol>", "- IV. rain"),
        ("<ol type=1><li>rain</ol>", "1. rain"),
        ("<ol style='color:red; list-style-type: upper-latin'><li>rain</ol>", "- A. rain"),
        ("<ol class='lowerroman simple'><li>rain<li>snow</ol>", "- i. rain\n- ii. snow"),
        ("<ol class=upper-management><li>rain</ol>", "1. rain"),
        ("<ol><li style='list-style-type:lower-alpha'>rain</ol>", "- a. rain"),
        ("<ol><li>rain<ol type=a><li>hail</ol><li>snow</ol>", "1. rain\n    - a. hail\n2. snow"),
        ("<ol><li>rain<ol type=a><li>hail</li></ol></li></ol>", "1. rain\n    - a. hail"),
        ("<ol><li>rain</li><ol type=a><li>hail</li></ol><li>snow</li></ol>", "1. rain\n    - a. hail\n2. snow"),
        ("<ul><ul><li>rain</li></ul></ul>", "- rain"),
        ("<ol reversed><li>rain<li>snow</ol>", "2. rain\n1. snow"),
    ],
)
def test_numbers_have_their_form(html, expected):
    assert fragment(html).text == expected


def item(level, sign, text, name="MsoListParagraph"):
    """A paragraph as Word writes it."""
    ignored = f"<![if !supportLists]><span style='mso-list:Ignore'>{sign}<span>&nbsp; </span></span><![endif]>"
    return f"<p class={name} style='text-indent:-18pt;mso-list:l0 level{level} lfo1'>{ignored}{text}</p>"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (item(1, "1.", "Ask Tom") + item(1, "2.", "Wait"), "1. Ask Tom\n2. Wait"),
        (item(2, "a)", "rain") + item(2, "b)", "snow"), "- a) rain\n- b) snow"),
        (item(1, "1.", "Go") + item(2, "o", "by bus") + item(1, "2.", "Come"), "1. Go\n    - by bus\n2. Come"),
        (item(1, "·", "Tea") + "<p>Or:</p>" + item(2, "·", "Milk"), "- Tea\n\nOr:\n\n- Milk"),
        ("<p style='mso-list:l0 level1 lfo1'>No sign</p>", "No sign"),
        (
            "<table><tr><th>a<th>b<tr><td>" + item(1, "1.", "x") + item(1, "2.", "y") + "<td>z</table>",
            "| a | b |\n| --- | --- |\n| x; y | z |",
        ),
    ],
)
def test_paragraphs_of_word_and_outlook_are_items(html, expected):
    assert fragment(html).text == expected


def filtered(sign, text, margin=""):
    """A paragraph as Word writes it if it saves a page filtered."""
    gap = "<span style='font:7.0pt \"Times New Roman\"'>&nbsp;&nbsp; </span>"
    return f"<p class=MsoListParagraphCxSpMiddle style='{margin}text-indent:-18.0pt'><span>{sign}{gap}</span>{text}</p>"


def test_paragraphs_of_filtered_pages_are_items():
    html = filtered("1.", "Go") + filtered("o", "by bus", "margin-left:72.0pt;") + filtered("2.", "Come")
    assert fragment(html).text == "1. Go\n    - by bus\n2. Come"
    assert fragment("<p class=MsoListParagraph>No sign</p>").text == "No sign"


def test_boxes_of_notion():
    item = '<ul class="to-do-list"><li><div class="checkbox checkbox-{}"></div> <span>{}</span></li></ul>'
    assert fragment(item.format("on", "Buy") + item.format("off", "Pay")).text == "- [x] Buy\n- [ ] Pay"


def test_values_without_white_space_between_them():
    html = (
        '<p><span itemprop="street">Lindenstr. 4</span><span itemprop="code">36037</span> <i itemprop="x">Fulda</i></p>'
    )
    assert fragment(html).text == "Lindenstr. 4 36037 *Fulda*"
    html = '<p><span class="selected-value">urgent</span><span class="selected-value">new</span></p>'
    assert fragment(html).text == "urgent, new"


def test_the_author_of_a_quotation_is_before_it():
    html = "<blockquote><div><cite>rider77 wrote:</cite>My chain</div></blockquote>"
    assert fragment(html).text == "> rider77 wrote: My chain"


def test_price_lists_of_elementor() -> None:
    prices = {"Card": "5 €", "Pool": "7 €", "Sauna": "9 €"}
    items = "".join(
        f"<li><a href=/{name}><div><span class=elementor-price-list-title>{name}</span><span></span>"
        f"<span class=elementor-price-list-price>{price}</span></div><p>For a day.</p></a>"
        for name, price in prices.items()
    )
    text = page(f"<ul class=elementor-price-list>{items}</ul>")[1]
    assert text.splitlines()[0] == "- Card: 5 €"
    assert text.count("For a day.") == 3
