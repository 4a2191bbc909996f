"""Tables of several pages as if they were on one: the caption above, the header once, the foot of the last page."""

from __future__ import annotations

import re

from qa_bot.documents.ingest.formats.markup.latex.arguments import argument

BEGIN = r"\\begin\s*\{(?:longtable|xltabular)\*?\}"
TABLE = re.compile(
    rf"({BEGIN})((?:(?!{BEGIN}).)*?)(\\end\s*\{{(?:longtable|xltabular)\*?\}})",
    re.DOTALL,
)
OPTION = re.compile(r"\s*\[[^\[\]]{0,20}\]")
MARK = re.compile(r"\\end(firsthead|head|foot|lastfoot)\b")
"""Ends the rows that a page begins or ends with."""
CAPTION = re.compile(
    r"\\caption\*?\s*(?:\[[^\[\]]{0,300}\])?\s*\{(?:[^{}]|\{[^{}]{0,200}\}){0,600}\}(?:\s*\\label\s*\{[^{}]{1,200}\})?"
)
LINE_END = re.compile(r"\s*(?:\\\\|\\tabularnewline)(?:\[[^\[\]]{0,20}\])?")


def on_one_page(text: str) -> str:
    """The text, such tables in it rewritten."""
    return TABLE.sub(lambda table: _rewritten(table[1], table[2], table[3]), text) if "\\begin" in text else text


def _rewritten(begin: str, content: str, end: str) -> str:
    start = option.end() if (option := OPTION.match(content)) else 0
    for _ in range(1 + ("xltabular" in begin)):
        start = argument(content, start)[1]
    *marked, body = MARK.split(content[start:])
    parts = dict(zip(marked[1::2], marked[::2], strict=True))
    head = parts.get("firsthead", parts.get("head", ""))
    foot = parts.get("lastfoot", parts.get("foot", ""))
    rows = f"{head}{body}{foot}"
    caption = CAPTION.search(rows)
    if caption is None:
        return f"{begin}{content[:start]}{rows}{end}"
    line_end = LINE_END.match(rows, caption.end())
    rows = rows[: caption.start()] + rows[line_end.end() if line_end else caption.end() :]
    return f"{caption[0]}\n\n{begin}{content[:start]}{rows}{end}"
