"""Boxes around the articles of blogs and help centres are left out."""

import pytest

from qa_bot.documents.ingest.formats.markup.html import page

TEXT = "The garage has fourteen spaces for people who work here."


@pytest.mark.parametrize(
    "box",
    [
        "<div class='sharedaddy sd-block sd-like'><h3 class=sd-title>Like this:</h3>Loading...</div>",
        "<div id=jp-relatedposts class=jp-relatedposts><h3>Related</h3><p>A wheel for beginners</div>",
        "<div class='yarpp yarpp-related'><h3>Related posts:</h3><ol><li><a href=/1>A wheel</a></ol></div>",
        "<div class=comment-respond><h3>Leave a Reply</h3><form>Your email will not be published.</form></div>",
        "<div class=author-box><h4>About Maya</h4><p>Maya throws pots since 1999, in Bristol and in Rome.</div>",
        "<div class=author-bio><h4>Maya</h4><p>Maya throws pots since 1999, in Bristol and in Rome.</div>",
        "<div class='saboxplugin-wrap'><div class=saboxplugin-authorname>Maya</div><p>Maya throws pots.</div>",
        "<div class='kk-star-ratings'>5/5 - (1 vote)</div>",
        "<div class='heateor_sss_sharing_container'>Spread the love</div>",
        "<div class='betterdocs-article-reactions'><h5>What are your feelings?</h5><ul><li>Happy</ul></div>",
        "<div class='hkb-article__related'><h3>Related Articles</h3><ul><li>Fees</ul></div>",
        "<div class=ht-voting>Was this article helpful? <a>Yes</a><a>No</a></div>",
        "<div class='wedocs-feedback-wrap'>Was this article helpful to you? <a>Yes <span>3</span></a></div>",
        "<div class='elementor-widget elementor-widget-share-buttons'>Share on X</div>",
        "<section class=articleRatings>Did this answer your question? <span>Thanks for the feedback</span></section>",
        "<div class=articleFoot><p class=help>Still need help? <a>Contact Us</a><time>March 3</time></div>",
        "<section class=related><h3>Related Articles</h3><ul><li><a href=/a>Fees</a></ul></section>",
        "<div class=article-subscribe>Follow</div><small class=article-votes-count>1 out of 2</small>",
        "<div class=article-relatives><h2>Recent</h2><ul><li><a href=/a>Fees</a></ul></div>",
    ],
)
def test_boxes_of_programs_are_left_out(box: str) -> None:
    assert page(f"<title>Cars</title><article><h2>Spaces</h2><p>{TEXT}</p>{box}</article>")[1] == (
        f"## Spaces\n\n{TEXT}"
    )
