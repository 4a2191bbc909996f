"""Front matter of Markdown files: YAML between `---`, TOML between `+++`, a title block of Pandoc, or what Logseq has.

The only file that imports yaml.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from qa_bot.documents.ingest.dates import first_day, iso_date
from qa_bot.documents.ingest.formats.markup.webpage.metadata import declared_language

LONGEST = 64 * 1024  # characters
FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?\n)?(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
SIMPLE_LINE = re.compile(r"^([A-Za-z_-]+):[ \t]*+(.*)$", re.MULTILINE)
TITLE_BLOCK = re.compile(r"\A(?=%[ \t]+\S)(?:%[^\n]*(?:\n[ \t]+\S[^\n]*)*(?:\n|\Z)){1,3}")
"""Up to three fields behind "%": title, authors, date; their further lines are indented."""
PAGE_PROPERTIES = re.compile(r"\A(?:[A-Za-z][\w./-]{0,60}::[ \t].*(?:\n|\Z))+")
"""Of Logseq; they are also in the text, because readers see most of them."""
LINK_SIGNS = re.compile(r"\[\[|\]\]|(?<![^\s,])#")
TITLES = ("title", "titel")
DATES = (
    *("updated", "last_updated", "last-updated", "lastupdated", "last_modified_at", "last_modified", "lastmod"),
    *("modified", "date_modified", "last_reviewed", "reviewed", "stand", "aktualisiert", "geändert", "date", "datum"),
    *("date_approved", "published", "created", "gültig_ab", "gueltig_ab"),
)
LANGUAGES = ("lang", "language", "locale", "sprache")
TRUE = {True, "true", "yes", "on", "1"}
OLD = {"archived", "archive", "obsolete", "deprecated", "superseded", "outdated", "retired", "withdrawn"}
MAX_TAGS = 50
MOST_NESTED = 500
"""Signs that may begin nested values; libyaml ends the process if some thousands are nested."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a file says of itself; `redirect` is an address that replaces it, `end` the offset of its text."""

    title: str = ""
    date: str = ""
    language: str = ""
    archived: bool = False
    draft: bool = False
    tags: tuple[str, ...] = ()
    redirect: str = ""
    end: int = 0


def front_matter(source: str) -> FrontMatter:
    """The front matter of a file; without one, or if it cannot be read, the fields are empty."""
    match = FRONT_MATTER.match(source[:LONGEST])
    if match is None and (properties := PAGE_PROPERTIES.match(source[:LONGEST])):
        lines = (LINK_SIGNS.sub("", line).partition("::") for line in properties[0].splitlines())
        return _matter({name: value.strip() for name, _, value in lines}, end=0)
    if match is None:
        return _title_block(source[:LONGEST])
    fields = _fields(match[2] or "", is_toml=match[1] == "+++")
    if fields is None:
        return FrontMatter()  # a text between two lines
    return _matter(fields, match.end())


def _matter(fields: Mapping[Any, Any], end: int) -> FrontMatter:
    lower = {str(name).lower().replace(" ", "_"): value for name, value in fields.items()}
    status = _text(lower.get("status")).lower()
    return FrontMatter(
        title=next(filter(None, (_text(lower.get(name)) for name in TITLES)), ""),
        date=next(filter(None, (iso_date(lower.get(name)) or first_day(lower.get(name)) for name in DATES)), ""),
        language=next(filter(None, (declared_language(lower.get(name)) for name in LANGUAGES)), ""),
        archived=status in OLD or any(_is_true(lower.get(name)) for name in OLD),
        draft=status == "draft" or _is_true(lower.get("draft")) or lower.get("published") is False,
        tags=_tags(lower),
        redirect=_text(lower.get("redirect_to")),
        end=end,
    )


def _title_block(source: str) -> FrontMatter:
    """The title of Pandoc's title block, and the date in another field, alone or behind a label ("Issued: …")."""
    match = TITLE_BLOCK.match(source)
    if match is None:
        return FrontMatter()
    title, *others = [_text(field) for field in re.split(r"^%", match[0], flags=re.MULTILINE)[1:]]
    dates = [iso_date(field) or iso_date(field.rpartition(": ")[2]) for field in reversed(others)]
    return FrontMatter(title=title, date=next(filter(None, dates), ""), end=match.end())


def _fields(text: str, *, is_toml: bool) -> Mapping[Any, Any] | None:
    """None if the text is no mapping."""
    try:
        fields = tomllib.loads(text) if is_toml else yaml.load(text, _loader(text))  # noqa: S506  # safe ones
    except (tomllib.TOMLDecodeError, yaml.YAMLError, ValueError, RecursionError):
        return {name: value.rstrip(" \t").strip("\"'") for name, value in SIMPLE_LINE.findall(text)} or None
    return fields if isinstance(fields, Mapping) else {} if fields is None else None


def yaml_values(text: str) -> list[Any]:
    """The values of the documents of a YAML file; [] if it cannot be read."""
    try:
        return list(yaml.load_all(text, _loader(text)))
    except (yaml.YAMLError, ValueError, RecursionError):
        return []


def _loader(text: str) -> type[Any]:
    """One of the loaders that make plain values only; libyaml's is ten times as fast."""
    is_flat = sum(map(text.count, "[{-?")) <= MOST_NESTED
    loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader) if is_flat else yaml.SafeLoader
    return loader


def _text(value: object) -> str:
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def _is_true(value: object) -> bool:
    return (value.lower() if isinstance(value, str) else value) in TRUE if isinstance(value, str | bool) else False


def _tags(fields: Mapping[str, Any]) -> tuple[str, ...]:
    tags: dict[str, None] = {}
    for name in ("tags", "keywords", "categories"):
        value = fields.get(name)
        parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
        tags |= dict.fromkeys(filter(None, (_text(part) for part in parts[:MAX_TAGS])))
    return tuple(tags)[:MAX_TAGS]
