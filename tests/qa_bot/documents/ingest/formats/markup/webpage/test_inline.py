"""Links, emphasis and code inside a block."""

import pytest

from qa_bot.documents.ingest.formats.markup.html import fragment
from qa_bot.documents.ingest.formats.markup.webpage.inline import Inline, markdown_link


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href='https://a.org/x'>the page</a>", "[the page](https://a.org/x)"),
        ("see <a href='mailto:it@a.org'> IT </a>now", "see [IT](mailto:it@a.org) now"),
        ("<a href='mailto:it@a.org?subject=x'>it@a.org</a>", "it@a.org"),
        ("<a href='it.desk@a.org'>IT</a>", "[IT](mailto:it.desk@a.org)"),
        ("<a href='it@a.org'>it@a.org</a> <a href='@ann'>Ann</a>", "it@a.org Ann"),
        ("<a href='https://a.org'>https://a.org</a>", "https://a.org"),
        ("<a href='../b.html'>b</a> <a href='javascript:x()'>c</a> <a>d</a>", "b c d"),
        ("<a href='http://[broken'>e</a>", "e"),
        ("<a href='https://a.org/f(x) y'>f</a>", "[f](https://a.org/f%28x%29y)"),
        ("<a href='https://a.org'><p>one</p><p>two</p></a>", "one\n\ntwo"),
    ],
)
def test_links_to_the_web_and_mail_stay(html, expected):
    assert fragment(html).text == expected


def test_an_address_of_many_characters_is_left_out():
    assert markdown_link("x", "https://a.org/" + "y" * 600) == "x"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("a <b> bold </b>word", "a **bold** word"),
        ("<b>one</b> <b>two</b>", "**one two**"),
        ("x<i>y</i>z", "x*y*z"),
        ("<b>Note:</b>text", "Note:text"),  # `**Note:**text` would not be read as emphasis
        ("<b></b>a <b>2 * 3</b>", "a 2 * 3"),
        ("<b>un<p>closed", "un\n\nclosed"),
        ("<del>old</del> new", "~~old~~ new"),
        ("<a href='https://a.org'><b>x</b></a>", "[**x**](https://a.org)"),
    ],
)
def test_emphasis_is_written_where_markdown_reads_it(html, expected):
    assert fragment(html).text == expected


def test_code_with_backticks_has_more_around_it():
    assert fragment("<code>a  b</code> <code>`</code> <code> </code>").text == "`a b` `` ` ``"


def test_placeholders_in_the_input_do_no_harm():
    inline = Inline()
    inline.text("a\ufdd4b\ufdd57\ufdd6c\ufdd2")
    assert inline.take() == "abc"
