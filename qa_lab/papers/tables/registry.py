"""All tables, and those that a command names."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from qa_lab.evaluate.datasets import DatasetError
from qa_lab.papers.declarations import PAPERS, Table
from qa_lab.papers.tables import hyperqa_tables, ranker_tables, retrieval_tables, speech_tables, word_tables


def _order(table: Table) -> tuple[int, list[float]]:
    letter, _, number = table.id.partition(" ")
    return list(PAPERS).index(letter), [float(part) for part in number.split(".")]


TABLES: tuple[Table, ...] = tuple(
    sorted(
        (
            *ranker_tables.TABLES,
            *retrieval_tables.TABLES,
            *speech_tables.TABLES,
            *word_tables.TABLES,
            *hyperqa_tables.TABLES,
        ),
        key=_order,
    )
)


def chosen(names: Sequence[str]) -> tuple[Table, ...]:
    """The tables with these ids, or of these papers; all without names. `T 6.3`, `T6.3` and `t6.3` are one.

    Raises:
        DatasetError: for an unknown name, with the nearest known one.
    """
    if not names:
        return TABLES
    names_by_key = {_plain(name): name for name in names}
    known = {_plain(table.id) for table in TABLES} | {letter.lower() for letter in PAPERS}
    if unknown := [name for plain, name in names_by_key.items() if plain not in known]:
        nearest = difflib.get_close_matches(_plain(unknown[0]), known, n=1, cutoff=0)
        raise DatasetError(
            f"Expected a table such as T6.3, or a paper (T, D, P, X, H), but got {unknown[0]}; the nearest is "
            f"{nearest[0].upper()}; `qa-bot eval papers --list` lists all."
        )
    return tuple(table for table in TABLES if _plain(table.id) in names_by_key or table.id[0].lower() in names_by_key)


def _plain(name: str) -> str:
    return name.replace(" ", "").lower()
