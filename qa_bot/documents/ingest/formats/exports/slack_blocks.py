"""What a message of Slack says: its text, the blocks that it is built of, previews and names of files."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

Item = Mapping[str, Any]
WORD = re.compile(r"\w+")
MARKUP = re.compile(r"<[^<>]*>")
MOST_PARTS = 1000
"""Blocks and fields of a message that are read; Slack allows 50 blocks."""
SIGNS = {
    "user": ("<@", "user_id", ">"),
    "channel": ("<#", "channel_id", ">"),
    "usergroup": ("<!subteam^", "usergroup_id", ">"),
    "broadcast": ("<!", "range", ">"),
    "emoji": (":", "name", ":"),
}
"""How elements of running text are written in the text of a message: around which of their fields."""


def message_text(item: Item) -> str:
    """The text of a message, and what its blocks, previews and files say beyond it, in Slack's markup.

    Programs often send text only in blocks. Messages of people have a text that says the same as their blocks.
    """
    parts: list[str] = []
    known: set[str] = set()
    first = ""
    for part in islice(filter(None, _parts(item)), MOST_PARTS):
        words = " ".join(["", *WORD.findall(MARKUP.sub(" ", part)), ""])
        if not parts or not (words.isspace() or words in known or words in first):
            first = first or words
            known.add(words)
            parts.append(part)
    return "\n".join(parts)


def _parts(item: Item) -> Iterator[str]:
    yield _string(item.get("text"))
    yield from _blocks(item.get("blocks"))
    for attachment in _dicts(item.get("attachments")):
        yield from _attachment(attachment)
    for shared in _dicts(item.get("files")):
        if shared.get("name"):
            yield f"File: {shared.get('title') or shared.get('name')}"


def _attachment(attachment: Item) -> Iterator[str]:
    """The texts of a preview or of a message of a program; the fallback says the same in a line."""
    texts = [_string(attachment.get(key)) for key in ("pretext", "title", "text")]
    texts += filter(None, map(_field, _dicts(attachment.get("fields"))))
    texts += _blocks(attachment.get("blocks"))
    yield from texts if any(texts) else [_string(attachment.get("fallback"))]


def _field(field: Item) -> str:
    return ": ".join(filter(None, (_string(field.get(key)) for key in ("title", "value"))))


def _blocks(blocks: object) -> Iterator[str]:
    for block in _dicts(blocks):
        if block.get("type") == "rich_text":
            yield from map(_rich_text, _dicts(block.get("elements")))
        else:  # a header, section, image, context …
            texts = [block.get(key) for key in ("title", "text", "alt_text")]
            texts += [*_dicts(block.get("fields")), *_texts_of_context(block)]
            yield from filter(None, map(_plain_text, texts))


def _texts_of_context(block: Item) -> list[Item]:
    """The texts below a section; pictures among them, and buttons, say nothing."""
    elements = _dicts(block.get("elements")) if block.get("type") == "context" else []
    return [element for element in elements if element.get("type") in {"mrkdwn", "plain_text"}]


def _plain_text(text: object) -> str:
    return _string(text.get("text")) if isinstance(text, Mapping) else _string(text)


def _rich_text(part: Item) -> str:
    """A paragraph, list, quotation or block of code of a text that a person wrote."""
    if part.get("type") == "rich_text_list":
        is_numbered = part.get("style") == "ordered"
        items = enumerate(_dicts(part.get("elements")), 1)
        return "\n".join(f"{f'{number}.' if is_numbered else '•'} {_running_text(item)}" for number, item in items)
    text = _running_text(part)
    return f"```{text}```" if part.get("type") == "rich_text_preformatted" and text else text


def _running_text(part: Item) -> str:
    return "".join(map(_element, _dicts(part.get("elements"))))


def _element(element: Item) -> str:
    kind = element.get("type")
    text = html.escape(_string(element.get("text")), quote=False)
    if kind == "link":
        address = _string(element.get("url"))
        return f"<{address}|{text}>" if text else f"<{address}>"
    before, field, after = SIGNS.get(str(kind), ("", "", ""))
    return f"{before}{_string(element.get(field))}{after}" if field else text


def _string(value: object) -> str:
    return value.strip("\n") if isinstance(value, str) else ""


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
