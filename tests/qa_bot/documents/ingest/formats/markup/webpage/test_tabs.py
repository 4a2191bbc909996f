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


@pytest.mark.parametrize("tabs", [MATERIAL, DOCUSAURUS, BUTTONS])
def test_labels_are_before_their_contents(tabs):
    html = tabs.format("<p>Cool it.</p>")
    assert fragment(html).text == "**Tea:** Boil it.\n\n**Milk:** Cool it."
    assert page(f"<title>Cups</title><p>Cups.</p>{html}")[1] == "Cups.\n\n**Tea:** Boil it.\n\n**Milk:** Cool it."


def test_a_tab_of_code_has_its_label_above():
    assert fragment(MATERIAL.format("<pre>cool</pre>")).text.endswith("it.\n\n**Milk:**\n\n```\ncool\n```")


def test_tabs_in_tabs():
    html = DOCUSAURUS.format(DOCUSAURUS.format("<p>Cool it.</p>"))
    assert fragment(html).text == "**Tea:** Boil it.\n\n**Milk:**\n\n**Tea:** Boil it.\n\n**Milk:** Cool it."


def test_labels_of_other_contents_stay():
    html = '<div class="tabbed-labels"><label>Tea</label><label>Milk</label></div><p>x'
    assert fragment(html).text == "Tea Milk\n\nx"
