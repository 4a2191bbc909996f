"""Documents that Word saved as web pages."""

from qa_bot.documents.ingest.formats.markup.html import read_page


def test_the_title_is_a_heading_and_contents_are_left_out():
    html = """<p class=MsoTitle>Travel</p><p class=MsoTocHeading>Contents</p>
    <p class=MsoToc1><a href="#_Toc1">1 Request<span style='display:none'>2</span></a></p>
    <h1><a name="_Toc1">1<span>&nbsp;&nbsp; </span>Request</a></h1><p class=MsoNormal>Ask first.</p>"""
    page = read_page(html)
    assert page.metadata.title == "Travel"
    assert page.markdown == "# 1 Request\n\nAsk first."
