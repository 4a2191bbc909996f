"""The elements of HTML that have a meaning, and how they are read."""

from __future__ import annotations

from qa_bot.documents.ingest.formats.markup.webpage.inline import Emphasis

EMPHASIS = {
    "b": Emphasis.STRONG,
    "strong": Emphasis.STRONG,
    "i": Emphasis.ITALIC,
    "em": Emphasis.ITALIC,
    "del": Emphasis.DELETED,
    "s": Emphasis.DELETED,
    "strike": Emphasis.DELETED,
}
BLOCKS = (
    "address article body caption center dialog div fieldset figcaption figure footer form header hgroup "
    "hr html legend main nav section td th tr tbody thead tfoot option"
)
UNREAD = (
    "audio base canvas col colgroup datalist embed frame frameset head iframe link map math meta noembed noframes "
    "noscript object param rp script select source style svg template textarea title track video"
)
HANDLERS = {
    **{f"h{level}": "_heading" for level in range(1, 7)},
    **dict.fromkeys(("ul", "ol", "menu", "dir"), "_list"),
    **dict.fromkeys(("code", "samp", "kbd", "tt"), "_code"),
    **dict.fromkeys(EMPHASIS, "_emphasis"),
    **dict.fromkeys(BLOCKS.split(), "_block"),
    **dict.fromkeys(UNREAD.split(), "_nothing"),
    "-text": "_text",
    "-comment": "_nothing",
    "a": "_link",
    "blockquote": "_quote",
    "br": "_break",
    **dict.fromkeys(("aside", "details"), "_aside"),
    "button": "_button",
    "dl": "_definitions",
    "img": "_image",
    "input": "_input",
    "label": "_label",
    "li": "_stray_item",
    "p": "_paragraph",
    "pre": "_preformatted",
    "q": "_quotation_marks",
    "summary": "_summary",
    "sup": "_superscript",
    "table": "_table",
}
"""Tag → method of `BlockWriter`; other elements only contain text."""
