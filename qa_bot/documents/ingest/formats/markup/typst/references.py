"""References of Typst to labels, as the titles of their headings or as readable names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from qa_bot.documents.ingest.formats.markup.html import plain
from qa_bot.documents.ingest.formats.markup.typst.inline import inline

LABELLED = re.compile(r"^={1,6}[ \t]+([^\n]{1,200}?)[ \t]*<([A-Za-z][\w:.-]{0,100})>[ \t]*$", re.MULTILINE)
KIND = re.compile(r"(?:fig|tbl|tab|eq|sec|chap|lst|app)[:-]")
"""What begins the label of a figure, a table and the like."""


def titles(text: str) -> dict[str, str]:
    """Label → title, of the headings that have labels; those with code in them are left out."""
    return {label: plain(inline(title, [])).strip() for title, label in LABELLED.findall(text) if "#" not in title}


def reference(mark: str, titles_of_labels: Mapping[str, str]) -> str:
    """The title of a label, else a readable name: `fig:opening-hours` → `opening hours`.

    A word in brackets is before it: `prices[Table]` → `Table prices`.
    """
    label, _, word = mark.rstrip("]").partition("[")
    name = titles_of_labels.get(label) or re.sub(r"[-_:]+", " ", KIND.sub("", label, count=1))
    return f"{word} {name}".lstrip()
