"""Linked data of pages."""

import json

import pytest

from qa_bot.documents.ingest.formats.markup.html import page

RECIPE = {
    "@type": "Recipe",
    "recipeIngredient": ["1 leek", "2 l water"],
    "recipeInstructions": [
        {"@type": "HowToStep", "text": "Cut it."},
        {"@type": "HowToStep", "text": "Boil &amp; stir."},
    ],
}
PARTS = "## Ingredients\n\n- 1 leek\n- 2 l water\n\n## Steps\n\n1. Cut it.\n2. Boil & stir."
QUESTION = {"@type": "Question", "name": "When?", "acceptedAnswer": {"text": "<p>On Monday.</p><ul><li>At 9</li></ul>"}}
PLACE = {"name": "Hall", "address": {"streetAddress": "Lind 4", "postalCode": "36037", "addressLocality": "Fulda"}}


def text_of(data, html=""):
    return page(f'<title>T</title><script type="application/ld+json">{json.dumps(data)}</script>{html}')[1]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (RECIPE, PARTS),
        ({**RECIPE, "recipeInstructions": "Cut it.\nBoil & stir."}, PARTS),
        ({"@graph": [{"@type": "FAQPage", "mainEntity": [QUESTION]}]}, "## When?\n\nOn Monday.\n\n- At 9"),
        (
            {"@type": "NewsArticle", "headline": "New", "articleBody": "It sails.\n\nFar."},
            "## New\n\nIt sails.\n\nFar.",
        ),
        (
            {"@type": "HowTo", "tool": ["Key"], "step": [{"itemListElement": [{"text": "Pull"}, {"name": "Push"}]}]},
            "## Tools\n\n- Key\n\n## Steps\n\n1. Pull\n2. Push",
        ),
        (
            {"@type": "Product", "additionalProperty": [{"name": "Weight", "value": 310, "unitText": "g"}]},
            "## Properties\n\n- Weight: 310 g",
        ),
        ({"@type": "Store", "openingHours": "Mo-Fr 08:00-18:00"}, "## Opening hours\n\n- Mo-Fr 08:00-18:00"),
        (
            {
                "@type": "Store",
                "openingHoursSpecification": {"dayOfWeek": ["https://schema.org/Monday"], "opens": "8", "closes": "9"},
            },
            "## Opening hours\n\n- Monday 8-9",
        ),
        (
            {"@type": "MusicEvent", "name": "Gig", "startDate": "2025-05-03", "location": PLACE},
            "## Gig\n\n- Begin: 2025-05-03\n- Place: Hall, Lind 4 36037 Fulda",
        ),
        ({"@type": "Organization", "name": "Club", "address": {"streetAddress": "Lind 4"}}, ""),
        ([1, "a", None, {"@type": ["Thing"]}], ""),
    ],
)
def test_what_a_page_does_not_show(data, expected):
    assert text_of(data) == expected


def test_what_a_page_shows_is_not_repeated():
    html = "<ul><li>1 <b>leek</b><li>2 l water</ul><p>Cut it. Boil &amp; stir.</p>"
    assert text_of(RECIPE, html) == "- 1 **leek**\n- 2 l water\n\nCut it. Boil & stir."
    assert text_of(RECIPE, "<p>We love soup.</p>") == f"We love soup.\n\n{PARTS}"
    assert text_of(QUESTION, "<h2>When?</h2><p>On <i>Monday</i>.<br>At 9</p>") == "## When?\n\nOn *Monday*.\nAt 9"


def test_broken_data_is_left_out():
    assert page('<script type="application/ld+json">{"a"</script><p>Tea.</p>')[1] == "Tea."
    assert page(f'<script type="application/ld+json">{"[" * 10**5}</script><p>Tea.</p>')[1] == "Tea."


def test_opening_hours_of_microdata():
    html = '<p>Shop</p><meta itemprop="openingHours" content="Mo-Fr 08:00-18:00">'
    assert page(html)[1] == "Shop\n\n## Opening hours\n\n- Mo-Fr 08:00-18:00"
