"""Rows of tables whose name is what a question asks about: "Steam boiler, volume" or "E18".

The first cell names a row, and so does the second one if the first is a code, as in a list of parts.

A long table is one passage about many things, so neither its vector nor its words say much about one of its rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.types import Passage
from rankers.passage_evidence import Scores

ROW, POWER = 1.5, 4
"""Most that a row gains its passage, and the power that lets only rows with nearly all of the question have it.

Over 34 sets of questions the mean score rises by .0020, over twelve of dialogues by .0147, a manual of sewing machines
that decided nothing gains .022; none loses more than .014. Names behind codes give .0008 and .002 more. With a bonus of
1 the dialogues gain .010; with powers of 1 and 2 the questions lose .0017 and gain .0005, with 16 the dialogues gain
.005.
"""
_RULE = "| ---"
_CODE = re.compile(r"(?=\S*\d)[\w./-]+")
TABLES = 500
"""Passages whose rows are remembered."""


class _Row(NamedTuple):
    label: frozenset[str]
    """The terms of the cell that names it."""
    text: str
    """With the header of its table."""


def row_bonus(
    content_in: Callable[[str], frozenset[str]], rarity: Callable[[str], float], passages: Sequence[Passage]
) -> Scores:
    """What passages (n,) gain by the best row of a table in them.

    It is the share of the terms of the row's name that the question has, times a power of the share of the question, by
    rarity, that the row has with its header, the headings above it and the title.

    Args:
        content_in: the content terms of the question in the analysis of a language.
        rarity: the weight of a term.
    """
    return ROW * np.array([_best_row(content_in, rarity, passage) for passage in passages], np.float64)


def _best_row(content_in: Callable[[str], frozenset[str]], rarity: Callable[[str], float], passage: Passage) -> float:
    if _RULE not in passage.text:
        return 0.0
    language = analysis_language(passage.source.details.language)
    question = content_in(language)
    rows = [row for row in _rows(passage.text, language) if row.label & question]
    if not rows:
        return 0.0
    above = frozenset(terms(" ".join([passage.source.title, *passage.place.heading]), language))
    weights = {term: rarity(term) for term in question}

    def share(row: _Row) -> float:
        had = question & (above | frozenset(terms(row.text, language)))
        covered = sum(weights[term] for term in had) / sum(weights.values())
        return len(row.label & question) / len(row.label) * covered**POWER

    return max(map(share, rows))


@lru_cache(maxsize=TABLES)
def _rows(text: str, language: str) -> tuple[_Row, ...]:
    header, rows, lines = "", list[_Row](), text.split("\n")
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if not line.startswith("|"):
            header = ""
        elif below.startswith(_RULE):
            header = line
        elif header and not line.startswith(_RULE):
            text = f"{header}\n{line}"
            rows.extend(_Row(frozenset(terms(cell, language)), text) for cell in _names(line))
    return tuple(rows)


def _names(row: str) -> list[str]:
    """The cells that name a row: "60-0502" and "Bean hopper" of "| 60-0502 | Bean hopper | 27.50 |"."""
    cells = [cell.strip(" *`") for cell in row.strip("| ").split("|", 2)]
    return cells[: 2 if _CODE.fullmatch(cells[0]) else 1]
