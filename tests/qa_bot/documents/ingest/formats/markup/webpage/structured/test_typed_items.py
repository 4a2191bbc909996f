"""Lists whose numbers or bullets their author typed."""

import pytest

from qa_bot.documents.ingest.formats.markup.html import fragment


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>Do this:</p><p>1. Open <a href='https://x.y/'>it</a>.</p>\n<p>2)&nbsp; Read it.</p><p>Done.", None),
        ("<p>Do this:</p><div><b>1.</b> Open [it](https://x.y/).</div><div> <span>2.</span> Read it.</div>Done.", None),
        ("Do this:<p>1. Open [it](https://x.y/).<br>2. Read it.</p><p>Done.", None),
        ("<p>Bring:<br>- tea<br>- <i>milk</i></p>", "Bring:\n\n- tea\n- *milk*"),
        ("<p>• tea</p><p>&nbsp;</p><p>• milk</p>", "- tea\n- milk"),
    ],
)
def test_typed_signs_make_lists(html, expected):
    assert fragment(html).text == (expected or "Do this:\n\n1. Open [it](https://x.y/).\n2. Read it.\n\nDone.")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>1. May: closed</p><p>3. May: open</p>", "1\\. May: closed\n\n3\\. May: open"),
        ("<p>1. Fees</p><p>They are low.</p><p>2. Rooms</p>", "1\\. Fees\n\nThey are low.\n\n2\\. Rooms"),
        ("<p><b>1. Fees</b></p><p><b>2. Rooms</b></p>", "**1. Fees**\n\n**2. Rooms**"),
        ("<p>- tea<br>or milk</p>", "\\- tea\nor milk"),
        ("<p><i>- tea<br>- milk</i></p>", "*- tea\n\\- milk*"),
        ("<ul><li><p>1. tea</p><p>2. milk</p></ul>", "- 1\\. tea\n\n    2\\. milk"),
    ],
)
def test_other_paragraphs_are_no_items(html, expected):
    assert fragment(html).text == expected
