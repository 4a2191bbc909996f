"""Words that only a style makes bold or large are as those in `b`."""

import pytest

from qa_bot.documents.ingest.formats.markup.html import fragment

TEXT = "The garage has fourteen spaces for people who work at the site."


@pytest.mark.parametrize(
    "heading",
    [
        "<p><span style='font-weight: bold'>Fees</span></p>",
        "<p><span style='FONT-WEIGHT: 700; color: red'>Fe</span><span style='font-weight:600'>es</span></p>",
        "<div style='font: bold 12px Arial'>Fees</div>",
        "<p style='font-weight:bolder'><span style='color:red'>Fees</span></p>",
        "<p><span style='font-size: 24px'>Fees</span></p>",
        "<div style='font-size:1.5em'>Fees</div>",
        "<div style='font-size:x-large'><font color=red>Fees</font></div>",
        "<p><font size=5>Fees</font></p>",
        "<p><font size='+2'><b>Fees</b></font></p>",
    ],
)
def test_lines_that_are_bold_or_large_by_style(heading: str) -> None:
    assert fragment(f"<p>{TEXT}</p>{heading}<p>{TEXT}</p>").text == f"{TEXT}\n\n**Fees**\n\n{TEXT}"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<p style='font-size:20px'>{TEXT}</p><p style='font-size:20px'>Fees</p>", f"{TEXT}\n\nFees"),
        (f"<p>{TEXT}</p><p style='font-size:24px'>We are open today.</p>", f"{TEXT}\n\nWe are open today."),
        ("<p>See the <span style='font-weight:bold'>red</span> sign.", "See the **red** sign."),
        ("<p>See the <span style='font-size:30px'>red</span> sign.", "See the red sign."),
        ("<b style='font-weight:normal'><p>See the sign.</p></b>", "See the sign."),
        ("<p style='font-weight:bold'><span style='font-weight:400'>See the sign</span>", "See the sign"),
        ("<div style='font-weight:bold'><p>One</p><p>Two</p></div>", "One\n\nTwo"),
        ("<div style='font-weight:bold'>One <span style='font-weight:400'>or two</span></div>", "One or two"),
        ("<p style='font-size:9'>One</p><p style='font-size:1e9%'>Two</p><font size=x>Three", "One\n\nTwo\n\nThree"),
        (
            f"<div><span style='font-size:24px'>Fees</span><br>{TEXT}</div>",
            f"**Fees**\n{TEXT}",
        ),
        (
            "<table><tr><td style='font-weight:bold'>Day<td style='font-weight:bold'>Fee<tr><td>May 1<td>5</table>",
            "| Day | Fee |\n| --- | --- |\n| May 1 | 5 |",
        ),
    ],
)
def test_other_words_with_a_style(html: str, expected: str) -> None:
    assert fragment(html).text == expected
