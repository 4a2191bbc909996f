"""The documents that a question is asked of: a collection, a folder, a period, a language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from difflib import get_close_matches
from typing import Any, NamedTuple

from retrievers.engines.index import Filter, Index

KINDS = {"collection": "a collection", "folder": "a folder or document", "language": "a language of your documents"}
"""What a value of a filter names, by its field in the index."""
FACTS_HAVE_NO_PLACE = (
    "Expected keyword, dense or hybrid as the engine of a search in some documents, but got facts, which belong to no "
    "document; choose another engine, or leave out collection, under, dates and language."
)
NAMES = ("collection", "under", "since", "until", "language", "include_archived")
"""The keys of a request that narrow a question."""
NEARLY, FURTHER = 0.85, 2
"""Likeness from which on a key is a misspelt one of them, and characters that it may have more or less."""


class ScopeError(ValueError):
    """No document can be meant; the message says what is there."""


class FactsScopeError(ScopeError):
    """Facts are asked of some documents only."""

    def __init__(self) -> None:
        super().__init__(FACTS_HAVE_NO_PLACE)


class Knowledge(NamedTuple):
    """How much the bot answers from."""

    documents: int
    facts: int
    further: int = 0  # documents of the starter collection, which is asked if the others do not answer


@dataclass(frozen=True, slots=True)
class Scope:
    """What the user narrows a question to; everything by default.

    `since` and `until` are dates (`2024`, `2024-05`, `2024-05-31`), both included. `include_archived` ranks archived
    documents like all others. `leave_out` is the id of a document that is not found: the question itself, in a
    collection of questions (Wang 2018, §7.2.1); only callers set it.
    """

    collections: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    language: str = ""
    include_archived: bool = False
    leave_out: str = ""

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Scope:
        """From the keys in `NAMES`; None means no filter, and other keys are ignored.

        Raises ScopeError for a date that is none, for an empty text, for a value of another type, and for a key that
        is nearly one of these.
        """
        _expect_spelt(fields)
        scope = cls(
            _values(fields, "collection"),
            _values(fields, "under"),
            _text(fields, "since"),
            _text(fields, "until"),
            _text(fields, "language").lower(),
            _flag(fields, "include_archived"),
        )
        scope.filter()
        return scope

    def filter(self) -> Filter:
        """What the index looks at."""
        return Filter(
            self.collections,
            tuple(map(_id_path, self.under)),
            (self.language,) if self.language else (),
            _day(self.since, (1, 1)) if self.since else 0,
            _day(self.until, (12, 31)) if self.until else 0,
        )

    def __str__(self) -> str:
        """The filters by name: `collection hr, since 2024`; "" for everything."""
        named = [("collection", one) for one in self.collections] + [("under", one) for one in self.under]
        named += [("since", self.since), ("until", self.until), ("language", self.language)]
        return ", ".join(f"{name} {value}" for name, value in named if value)

    def filter_in(self, index: Index) -> Filter:
        """The filter for an index, in which the document that is left out has a key."""
        return replace(self.filter(), but=index.named(self.leave_out)) if self.leave_out else self.filter()

    def expect_documents(self, index: Index) -> Filter:
        """The filter, if each of its values occurs in the index.

        Raises ScopeError for an unknown collection, folder or language; it names near ones.
        """
        only = self.filter()
        if only and (unknown := index.unknown(only)) is not None:
            near = f"{', '.join(unknown.near) or 'none'}{', …' if unknown.more else '.'}"
            paths = self.under if unknown.field == "folder" else ()
            value = next((path for path in paths if _id_path(path) == unknown.value), unknown.value)
            raise ScopeError(f"Expected {KINDS[unknown.field]}, but got {value!r}; there are: {near}")
        return only


EVERYTHING = Scope()


def _expect_spelt(keys: Iterable[str]) -> None:
    for key in keys:
        lower = key.casefold()
        alike = [name for name in NAMES if abs(len(name) - len(key)) <= FURTHER]
        swapped = [name for name in alike if sorted(name) == sorted(lower)]
        near = swapped or get_close_matches(lower, alike, n=1, cutoff=NEARLY)
        if near and key not in NAMES:
            raise ScopeError(f"Expected the field `{near[0]}`, but got `{key}`; correct its name.")


def _values(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = fields.get(name)
    values = () if value is None else (value,) if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not all(isinstance(one, str) for one in values):
        raise ScopeError(f"Expected a text or a list of texts as `{name}`, but got {value!r}.")
    return tuple(values)


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or not value.strip():
        raise ScopeError(f"Expected a text as `{name}`, but got {value!r}.")
    return value


def _flag(fields: Mapping[str, Any], name: str) -> bool:
    value = fields.get(name) or False
    if not isinstance(value, bool):
        raise ScopeError(f"Expected true or false as `{name}`, but got {value!r}.")
    return value


def _id_path(path: str) -> str:
    """A folder as in ids of documents: pages have normalised ids without `https://`, files without `./`."""
    if path.strip()[:8].lower().startswith(("http://", "https://")):
        from qa_bot.documents.websites.urls import UrlError, document_id, parse_url  # late: few paths are of pages

        with suppress(UrlError):
            return document_id(parse_url(path)).strip("/")
    plain = re.sub(r"^(?:https?://|(?:\./)+)", "", path.strip(), flags=re.IGNORECASE)
    return plain.strip("/")


def _day(text: str, rest: tuple[int, int]) -> int:
    """A date as YYYYMMDD; a missing month or day is that of `rest`."""
    parts = text.strip().split("-")
    try:
        numbers = [int(part) for part in parts]
        year, month, day = [*numbers, *rest[len(numbers) - 1 :]]
        is_complete = len(numbers) > len(rest)
        day = day if is_complete else min(day, _last_day(year, month))
        return int(date(year, month, day).strftime("%Y%m%d"))
    except (ValueError, OverflowError):
        raise ScopeError(f"Expected a date like 2024, 2024-05 or 2024-05-31, but got {text!r}.") from None


def _last_day(year: int, month: int) -> int:
    following = date(year + month // 12, month % 12 + 1, 1)
    return date.fromordinal(following.toordinal() - 1).day
