"""Labels of tabs."""

import pytest

from qa_bot.documents.ingest.formats.markup.html import fragment, page

MATERIAL = """<div class="tabbed-set"><input id="t1" type="radio"><div class="tabbed-labels"><label for="t1">Tea</label
><label for="t2">Milk</label></div><div class="tabbed-content"><div class="tabbed-block"><p>Boil it.</p></div><div
class="tabbed-block">{}</div></div></div>"""
DOCUSAURUS = """<div><ul role="tablist"><li role="tab">Tea</li><li role="tab">Milk</li></ul><div><div role="tabpanel">
<p>Boil it.</p></div><div role="tabpanel" hidden>{}</div></div></div>"""
BUTTONS = """<div role="tablist"><button role="tab" aria-controls="p1">Tea</button><button role="tab" aria-controls="p2"
>Milk</button></div><div role="tabpanel" id="p1">Boil it.</div> <div role="tabpanel" id="p2">{}</div>"""


BOOTSTRAP = """<ul class="nav nav-tabs"><li><a data-toggle="tab" href="#t1">Tea</a>
<li><a data-toggle="tab" href="#nav-2">Milk</a></ul><p></p><div class="tab-content">
<div id="t1" class="tab-pane"><p>Boil it.</p></div><div id="nav-2" class="tab-pane">{}</div></div>"""
NAV = """<nav><div role="tablist"><button role="tab" data-bs-target="#t1">Tea</button><button role="tab" data-bs-target=
"#t2">Milk</button></div></nav><div class="row"><div id="t1">Boil it.</div><div id="t2">{}</div></div>"""


@pytest.mark.parametrize("tabs", [MATERIAL, DOCUSAURUS, BUTTONS, BOOTSTRAP, NAV])
def test_labels_are_before_their_contents(tabs):
    html = tabs.format("<p>Cool it.</p>")
    assert fragment(html).text == "**Tea:** Boil it.\n\n**Milk:** Cool it."
    assert page(f"<title>Cups</title><p>Cups.</p>{html}")[1] == "Cups.\n\n**Tea:** Boil it.\n\n**Milk:** Cool it."


def test_a_tab_of_code_has_its_label_above():
    assert fragment(MATERIAL.format("<pre>cool</pre>")).text.endswith("it.\n\n**Milk:**\n\n```\ncool\n```")


def test_two_rows_for_the_same_contents():
    row = NAV.partition("</nav>")[0]
    html = NAV.format("Cool it.")
    assert page(f"<title>Cups</title>{row}</nav>{html}")[1] == "**Tea:** Boil it.\n\n**Milk:** Cool it."


def test_tabs_in_tabs():
    html = DOCUSAURUS.format(DOCUSAURUS.format("<p>Cool it.</p>"))
    assert fragment(html).text == "**Tea:** Boil it.\n\n**Milk:**\n\n**Tea:** Boil it.\n\n**Milk:** Cool it."


def test_labels_of_other_contents_stay():
    html = '<div class="tabbed-labels"><label>Tea</label><label>Milk</label></div><p>x'
    assert fragment(html).text == "Tea Milk\n\nx"


EXPANDS = "<button aria-expanded=false aria-controls=x>Dogs?</button>"


@pytest.mark.parametrize(
    "html",
    [
        f"{EXPANDS}<div id=x hidden><p>Six euros.</div>",
        "<div role=button aria-expanded=false><span>Dogs?</span></div> <div style='display:none'>Six euros.</div>",
        f"{EXPANDS}<div id=x role=region hidden>Six euros.</div>",
        f"{EXPANDS}<div id=x aria-hidden=true>Six euros.</div>",
        "<button class=accordion>Dogs?</button><div class=panel><p>Six euros.</div>",
        "<div class=faq><button>Dogs?</button> <div>Six euros.</div></div>",
        "<button class=q>Dogs?</button><div class=panel hidden>Six euros.</div>",
        "<p><button data-bs-toggle=collapse data-bs-target='#x'>Dogs?</button></p><div id=x hidden>Six euros.</div>",
        "<p><b>Dogs?</b></p><div hidden=until-found>Six euros.</div>",
    ],
)
def test_questions_and_answers_that_a_click_shows(html):
    assert page(f"<title>Camp</title><p>Help.</p>{html}<p>End.")[1] == "Help.\n\n**Dogs?**\n\nSix euros.\n\nEnd."


def test_a_question_that_is_a_term():
    html = f"<title>Camp</title><dl><dt>{EXPANDS}<dd id=x hidden>Six euros.</dl>"
    assert page(html)[1] == "- **Dogs?**: Six euros."


@pytest.mark.parametrize(
    "html",
    [
        "<button>Copy</button><div class=code>Help.</div>",
        "<button class=navbar-toggle>Menu</button><div class=panel>Help.</div>",
        "<button aria-haspopup=menu aria-controls=x>Menu</button><ul id=x hidden><li>A</ul><p>Help.",
        "<button data-bs-toggle=modal data-bs-target='#x'>Map</button><div id=x hidden>A</div><p>Help.",
    ],
)
def test_other_buttons_are_left_out(html):
    assert page(f"<title>Camp</title>{html}")[1] == "Help."


LINKS = """<div class="tabs"><a href="#d">Tea</a> <a href="#s">Milk</a></div><div id="d"><p>Boil it.</p></div>
<div id="s" {}><p>Cool it.</p></div>"""
LIST = """<div><ul><li><a href="#d">Tea</a><li><a href="#s">Milk</a></ul></div><div id="d"><p>Boil it.</p></div>
<div id="s" style="display:none"><p>Cool it.</p></div>"""


@pytest.mark.parametrize("tabs", [LINKS.format('style="display:none"'), LINKS.format("hidden"), LINKS.format(""), LIST])
def test_links_alone_are_tabs(tabs):
    text = page(f"<title>Cups</title><p>Cups.</p>{tabs}")[1]
    assert text == "Cups.\n\n**Tea:** Boil it.\n\n**Milk:** Cool it."


def test_a_table_of_contents_is_no_row_of_tabs():
    html = (
        '<p><a href="#d">Tea</a> <a href="#s">Milk</a></p><div id="d"><p>Boil.</p></div><div id="s"><p>Cool.</p></div>'
    )
    assert page(f"<title>Cups</title>{html}")[1] == "Tea Milk\n\nBoil.\n\nCool."


def test_the_other_language_of_a_page():
    html = '<div lang="de"><p>Tee ist da.</p></div><div lang="en" style="display:none"><p>There is tea.</p></div>'
    assert page(f"<title>Cups</title>{html}")[1] == "Tee ist da.\n\nThere is tea."


def test_two_rows_of_links_to_the_same_contents():
    row, _, rest = LINKS.format("hidden").partition("\n")
    links, _, first = row.partition("</div>")
    html = f"{links}</div>{links}</div>{first}\n{rest}"
    assert page(f"<title>Cups</title>{html}")[1] == "**Tea:** Boil it.\n\n**Milk:** Cool it."
