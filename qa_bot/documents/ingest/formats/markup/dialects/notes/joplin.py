"""Notes as Joplin exports them raw: a title, the text, and a block of properties at the end."""

from __future__ import annotations

import re
from typing import NamedTuple

from qa_bot.documents.ingest.dates import iso_date

PROPERTIES = re.compile(r"id: [0-9a-f]{32}\n(?:[a-z_]{2,40}:(?: [^\n]*)?\n){3,60}type_: (?P<kind>\d{1,2})\s*")
NOTE = "1"
"""Other kinds are notebooks, tags, and the properties of attached files."""


class JoplinItem(NamedTuple):
    """`title`, `text`, `date` and `url` of a note; without text, what else the program stores."""

    title: str
    text: str
    date: str
    url: str
    is_note: bool
    is_encrypted: bool


def joplin_item(source: str) -> JoplinItem | None:
    """The parts of a file; None if it is not from Joplin."""
    before, _, tail = source.rpartition("\n\n") if "\n\n" in source else ("", "", source)
    match = PROPERTIES.fullmatch(tail)
    if match is None:
        return None
    fields = {name: value.strip() for name, _, value in (line.partition(":") for line in tail.splitlines())}
    title, _, text = before.partition("\n")
    return JoplinItem(
        title.strip(),
        text.strip("\n"),
        iso_date(fields.get("user_updated_time") or fields.get("updated_time")),
        fields.get("source_url", ""),
        match["kind"] == NOTE,
        fields.get("encryption_applied") == "1",
    )
