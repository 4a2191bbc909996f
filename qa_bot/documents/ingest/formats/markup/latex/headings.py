"""Lines that a document centres or sets in bold, as headings."""

from __future__ import annotations

import re

from qa_bot.documents.ingest.dates import is_date

LONGEST = 100  # characters
ENDS = ".!?…:;,"
CLAUSE = re.compile(r"<b>\s*(\(\d{1,3}[a-z]?\))\s*</b>")
CENTRED = r"<center>((?:[^<]|</?[bi]>|<br>|<p>(?=\s*</center>)){1,400})</center>"
BOLD = r"(?:(?<=<p>)|(?<=</center>)|(?<=</h[1-6]>))\s*<b>([^<]{1,150})</b>\s*(?=<p>|<br>|<[ou]l>|<center>)"
LINE = re.compile(rf"<h([1-6])>|{CENTRED}|{BOLD}")
TAG = re.compile(r"<[^<>]*>")
FIRST = re.compile(rf"(?:\s|<p>)*{CENTRED}")


def with_headings(html: str) -> str:
    """The document with such lines as headings, one level below the section around them.

    Numbers of clauses in bold, as in "(1) The club …", are plain.
    """
    level, html = 1, CLAUSE.sub(r"\1", html)

    def heading(match: re.Match[str]) -> str:
        nonlocal level
        if match[1]:
            level = int(match[1])
            return match[0]
        text = _words(match[2] or match[3])
        deeper = min(6, level + 1)
        return f"<h{deeper}>{text}</h{deeper}>" if _may_be_heading(text) else match[0]

    return LINE.sub(heading, f"<p>{html}")


def first_line(html: str) -> tuple[str, str]:
    """A centred line above everything else, as a title, and the document after it; "" and the document without one."""
    match = FIRST.match(html)
    text = _words(match[1]) if match else ""
    return (text, html[match.end() :]) if match and _may_be_heading(text) else ("", html)


def _words(html: str) -> str:
    return " ".join(TAG.sub(lambda tag: " " if tag[0] in {"<br>", "<p>"} else "", html).split())


def _may_be_heading(text: str) -> bool:
    has_letters = sum(map(str.isalpha, text)) > 1
    return len(text) <= LONGEST and has_letters and text[-1] not in ENDS and not is_date(text)
