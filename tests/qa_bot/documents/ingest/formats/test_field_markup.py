"""Fields and cells that hold HTML."""

import pytest

from qa_bot.documents.ingest.formats.field_markup import field_text, is_html, plain_field


@pytest.mark.parametrize("text", ["<p>a</p>", '<P class="x">a</P>', "see <a href='u'>it</a>", "Monday<br />Tuesday"])
def test_html(text):
    assert is_html(text)


@pytest.mark.parametrize("text", ["a < b", "a <b> c", "write <br>", "List<String> a</String>", "</p> only", "x<y></y>"])
def test_no_html(text):
    assert not is_html(text)


def test_texts_are_paragraphs():
    assert field_text("a", "- b") == ("a\n\n- b", False)
    assert field_text("<b>a</b>", "- b") == ("**a**\n\n\\- b", True)


def test_entities_are_characters_beside_html():
    assert plain_field("a &amp; b") == "a &amp; b"
    assert plain_field("a &amp; b", "<p>c</p>") == "a & b"
    assert plain_field("<i>a</i> &amp; b") == "a & b"
