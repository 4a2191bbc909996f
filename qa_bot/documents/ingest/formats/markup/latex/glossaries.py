"""Acronyms and terms that a document declares, by their names: the first use of an acronym has its long form, too."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from qa_bot.documents.ingest.formats.markup.latex.arguments import MAX_BROKEN, argument, value

OPTION = r"\s*(?:\[[^\[\]]{0,500}\])?\s*"
DECLARATION = re.compile(
    rf"\\(newacronym|newabbreviation|newglossaryentry|longnewglossaryentry)(?![A-Za-z@])\*?{OPTION}(?=\{{)"
)
USE = re.compile(
    rf"\\(gls|acr|ac)(short|long|full|s|l|f)?(pl|p)?\*?(?![A-Za-z@]){OPTION}\{{([^{{}}]{{1,100}})\}}",
    re.IGNORECASE,
)
LIST = re.compile(r"\\print(?:noidx|unsrt)?(?:glossar(?:y|ies)|acronyms)(?![A-Za-z@])(?:\s*\[[^\[\]]{0,500}\])?")
LONG = ("long", "full", "l", "f")
MOST = 2000  # entries
LONGEST = 200  # characters of a name or a long form, which many uses may repeat


@dataclass(slots=True)
class _Entry:
    """`text` is the long form of an acronym, or describes a term."""

    name: str
    text: str
    is_acronym: bool
    is_used: bool = False


class Glossary:
    """The entries that are declared in texts, which are read in their order."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._entries: dict[str, _Entry] = {}
        self._is_listed = False
        self._broken = 0
        for text in texts:
            for match in DECLARATION.finditer(text):
                if len(self._entries) < MOST and self._broken < MAX_BROKEN:
                    self._declare(text, match)

    def filled(self, text: str) -> str:
        """The next text: names in the place of uses, and the entries in that of the first list."""
        return USE.sub(self._used, LIST.sub(self._listed, text)) if self._entries else text

    def _declare(self, text: str, match: re.Match[str]) -> None:
        key, position = argument(text, match.end())
        name, position = argument(text, position)
        long, end = argument(text, position)
        is_acronym = match[1] in {"newacronym", "newabbreviation"}
        self._broken += end == match.end() or (is_acronym and end == position)
        if not is_acronym:
            name, long = value("name", name) or key, value("description", name) or long
        self._entries[key.strip()] = _Entry(name[:LONGEST], long[:LONGEST] if is_acronym else long, is_acronym)

    def _used(self, use: re.Match[str]) -> str:
        entry = self._entries.get(use[4].strip())
        if entry is None:
            return use[0]
        form, end = (use[2] or "").lower(), "s" if use[3] else ""
        is_long = entry.is_acronym and (form in LONG or (not form and not entry.is_used))
        entry.is_used |= not form
        text = f"{entry.text}{end} ({entry.name}{end})" if is_long else f"{entry.name}{end}"
        return f"{text[:1].upper()}{text[1:]}" if use[1][0].isupper() else text

    def _listed(self, _: re.Match[str]) -> str:
        if self._is_listed:
            return ""
        self._is_listed = True
        items = "".join(f"\\item[{{{entry.name}}}] {entry.text}\n" for entry in self._entries.values())
        return f"\\section*{{Glossary}}\n\\begin{{description}}\n{items}\\end{{description}}\n"
