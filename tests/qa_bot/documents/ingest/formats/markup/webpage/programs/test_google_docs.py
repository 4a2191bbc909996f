"""Documents that Google Docs saved as web pages."""

from qa_bot.documents.ingest.formats.markup.html import read_page

STYLES = """<style>ol{margin:0;padding:0}.c1{font-weight:700}.c2{font-style:italic}.c3{text-decoration:line-through}
.lst-kix_b-1>li:before{content:"" counter(lst-ctr-kix_b-1,lower-latin) ". "}.c4{color:#000;font-weight:400}</style>"""


def markdown(body: str) -> str:
    return read_page(f"<html><head>{STYLES}</head><body class='c9 doc-content'>{body}</body></html>").markdown


def test_emphasis_of_classes():
    spans = '<span class="c4">No </span><span class="c4 c1">dogs</span><span class="c2">, ever</span>'
    assert markdown(f'<p class="c4">{spans}<span class="c3">cats</span></p>') == "No **dogs***, ever*~~cats~~"


def test_bold_headings_are_headings():
    assert markdown('<p>Text</p><h2 id="h.1"><span class="c1">Rules</span></h2><p>None.</p>') == (
        "Text\n\n## Rules\n\nNone."
    )


def test_the_title_is_that_of_the_page():
    page = read_page(
        f'{STYLES}<p class="c4 title" id="h.2"><span class="c1">Travel</span></p><h1>Trains</h1><p>Book.</p>'
    )
    assert page.metadata.title == "Travel"
    assert page.markdown == "# Trains\n\nBook."


def test_lists_beside_each_other_are_nested():
    html = (
        '<ul class="c1 lst-kix_a-0 start"><li>one</li></ul><ul class="lst-kix_a-1 start"><li>inner</li></ul>'
        '<ul class="c1 lst-kix_a-0"><li>two</li></ul><p>Text</p>'
        '<ol class="lst-kix_b-0 start" start="3"><li>three</li></ol>'
        '<ol class="lst-kix_b-1 start" start="1"><li>by mail</li><li>by phone</li></ol>'
        '<ol class="lst-kix_b-0" start="4"><li>four</li></ol>'
    )
    assert markdown(html) == (
        "- one\n    - inner\n- two\n\nText\n\n3. three\n    - a. by mail\n    - b. by phone\n4. four"
    )


def test_links_contents_and_comments():
    html = (
        '<p class="c4"><span class="c4"><a class="c5" href="#h.x1">1. Rules</a></span></p>'
        '<h1 id="h.x1">Rules</h1><p>See <a href="https://www.google.com/url?q=https://a.example/t?b%3D1&amp;sa=D">it</a>.'
        '<sup><a href="#cmnt1" id="cmnt_ref1">[a]</a></sup></p>'
        '<div><p><a href="#cmnt_ref1" id="cmnt1">[a]</a><span class="c4">Still true?</span></p></div>'
    )
    assert markdown(html) == "See [it](https://a.example/t?b=1).\n\nComment: Still true?"


def test_other_pages_keep_their_lists():
    page = read_page('<ul class="a-0"><li>one</ul><ul class="a-1"><li>two</ul><p class="title">Bold</p>')
    assert page.markdown == "- one\n- two\n\nBold"
