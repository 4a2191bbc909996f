"""Tables of questions and answers, whose rows begin with "Q:" and "A:", become headings with text below them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from qa_bot.documents.ingest.formats.markup.webpage.structured.trees import inner_html, levels_below, replace_by
from qa_bot.documents.ingest.formats.markup.webpage.tables import rows_of

ASKS = re.compile(r"(?:q|question|f|frage)\s?\d{0,3}\s?[.:)]", re.IGNORECASE)
ANSWERS = re.compile(r"(?:a|answer|antwort|r|réponse)\s?\d{0,3}\s?[.:)]", re.IGNORECASE)
NUMBER = re.compile(r"\d{1,3}[.)]?")


class _Line(NamedTuple):
    """A row without its label."""

    text: LexborNode
    asks: bool


def head_by_questions(root: LexborNode) -> None:
    """Replace the tables below the element by their questions, one level below the heading above, and their answers.

    The last question does not head what follows the table.
    """
    for table, below in levels_below(root, lambda node: node.tag == "table"):
        if not table.css("th, table table") and (lines := _lines(table)):
            replace_by(table, f"<details>{''.join(_markup(lines, below))}</details>")


def _lines(table: LexborNode) -> list[_Line]:
    """The rows of a table; [] unless each is a question or an answer, and a question is the first."""
    lines = []
    for row in rows_of(table):
        cells = [cell for cell in row.cells if (text := cell.text().strip()) and not NUMBER.fullmatch(text)]
        if len(cells) != 2:
            return []
        label = cells[0].text().strip()
        asks = ASKS.fullmatch(label) is not None
        if not asks and ANSWERS.fullmatch(label) is None:
            return []
        lines.append(_Line(cells[1], asks))
    return lines if len(lines) > 1 and lines[0].asks and not lines[-1].asks else []


def _markup(lines: list[_Line], level: int) -> Iterator[str]:
    for text, asks in lines:
        if asks:
            words = " ".join(text.text().split())
            yield f"<h{level}>{inner_html(text) if text.css_first('p, div, ul, ol, br') is None else words}</h{level}>"
        else:
            yield f"<div>{inner_html(text)}</div>"
