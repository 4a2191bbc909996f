"""Whether a document says, or its path shows, that it is out of date. Precision comes first.

A document that speaks about archives is not archived: only notices about "this page", banners and marks in titles
count, and whole words of a path.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from qa_core.text.analysis import fold
from qa_core.text.stop_words import word_set

_PAST = r"archived|superseded|obsolete|deprecated|outdated|out[ -]of[ -]date|withdrawn|retired|discontinued|repealed"
_PAST_GERMAN = r"archiviert|veraltet|überholt|außer kraft|aufgehoben|nicht mehr (?:gültig|in kraft)"
_PAST_FRENCH = r"archivée?|obsolète|périmée?|abrogée?"
_NO_LONGER = (
    r"no longer (?:being )?(?:maintained|valid|current|in (?:force|effect|use)|supported|updated|applicable|applies)"
)
_THIS = (
    r"(?:page|document|policy|guide|guideline|article|version|handbook|manual|procedure|process|file|faq|wiki|section"
    r"|content|information|post|runbook|documentation|notice|rule|regulation|instruction|form|template)"
)
_GERMAN = (
    r"(?:seite|dokument|version|fassung|anleitung|artikel|handbuch|regelung|leitfaden|merkblatt|verfahren"
    r"|\w*(?:richtlinie|ordnung|satzung|vereinbarung|anweisung))"
)
_SPANISH = (
    r"(?:página|política|guía|versión|documento|artículo|manual|norma|reglamento|procedimiento|instrucción|información)"
)
_PAST_SPANISH = r"archivad[ao]|obsolet[ao]|derogad[ao]|caducad[ao]"
_FRENCH = r"(?:page|document|version|politique|guide|article|procédure|manuel|règlement|note)"
_IF = re.compile(
    r"\b(?:if|when|once|whether|unless|until|in case|may|might|wenn|falls|sobald|ob|si|quand|lorsque)\b", re.I
)
_BEFORE = r"(?:[>\s\[(⚠️!]|[*_](?=\S))*"
_LABEL = r"(?:(?:note|notice|warning|important|hinweis|achtung|attention|remarque)[\s*_:!–—]{1,6})?"
_NOTICES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bthis {_THIS}(?: (?:here|below))? (?:is|was|has been|is now|has now been) (?:now |officially )?"
        rf"(?:an? )?(?:{_PAST}|{_NO_LONGER}|replaced by)\b",
        rf"\bthis is an? (?:{_PAST}|old) (?:{_THIS}|copy|draft)\b",
        rf"\bdiese[rs]? {_GERMAN} (?:ist|wurde|wird) (?:inzwischen |jetzt |bereits |leider |seit [^.\n]{{1,30}} )?"
        rf"(?:{_PAST_GERMAN}|abgelaufen|nicht (?:mehr|länger) (?:gültig|aktuell|gepflegt|in kraft)"
        r"|(?:durch|von) [^.\n]{1,80} (?:ersetzt|abgelöst)|ersetzt durch)\b",
        rf"\bce(?:tte|t)? {_FRENCH} (?:est|a été) (?:désormais |maintenant )?"
        r"(?:archivée?|obsolète|périmée?|remplacée? par)\b",
        rf"\bce(?:tte|t)? {_FRENCH} n[’']est plus (?:valable|valide|à jour|en vigueur|maintenue?|d[’']actualité)",
        rf"\b(?:diese[rs]?|d(?:ie|er|as)) {_GERMAN} gilt (?:seit (?:[^.\n]|(?<=\d)\.){{1,30}} )?nicht (?:mehr|länger)"
        r"(?=\W*$|[.!;]| seit\b)",
        rf"\best[ae] {_SPANISH} (?:está|es|ha sido|fue) (?:ahora |ya )?(?:{_PAST_SPANISH}|sustituid[ao] por)\b",
        rf"\best[ae] {_SPANISH} ya no (?:es|está) (?:válid[ao]|vigente|en vigor|actualizad[ao]|actual)\b",
    )
)
_MARK = rf"archived|superseded|obsolete|deprecated|outdated|{_PAST_GERMAN}|{_PAST_FRENCH}"
_BANNERS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^\W*(?:status|state|statut)\W{{1,6}}(?:{_MARK})\b",
        rf"^{_BEFORE}{_LABEL}(?:{_MARK})"
        r"(?:\W*$|\W{0,3}[:–—(]| (?:on|since|as of|seit|am|zum|ab|depuis|le)\b| in favou?r of\b)",
        rf"^{_BEFORE}{_LABEL}(?:{_SPANISH} )?(?:{_PAST_SPANISH})(?:\W*$| (?:desde|el)\b)",
        rf"^{_BEFORE}{_LABEL}(?:superseded by|replaced by|ersetzt durch|abgelöst durch|remplacée? par|{_NO_LONGER}"
        r"|(?:sustituid|reemplazad)[ao] por)\b",
    )
)
"""A line that begins with a mark, and is no heading or item."""
_TITLE = re.compile(
    rf"^[\s*_]*[\[(]?(?:{_PAST}|{_MARK})[\])]?\s*(?::|–|—|- |\])"
    rf"|[(\[][^()\[\]]*\b(?:{_PAST}|old version|old|alte fassung|{_MARK})\b[^()\[\]]*[)\]]"
    rf"|(?:–|—| -|:)\s*(?:{_PAST}|{_MARK})\s*$",
    re.IGNORECASE,
)
ENDINGS = word_set("archive archived archiv archiviert old deprecated obsolete superseded outdated veraltet obsolète")
BEGINNINGS = word_set("archived deprecated obsolete superseded outdated veraltet archiviert")
_PERIODS = word_set("year years month months week weeks day days how an the")
_COPIES = (
    r"(?:versions?|version(?:en|es|i)|fassung(?:en)?|stande|ausgaben?|editions?|ediciones|releases|revisions?|copies"
    r"|kopien|documents?|dokumente|docs|files|dateien)"
)
_EARLIER = (
    r"(?:old|older|previous|earlier|former|outdated|superseded|archived|alte|altere|fruhere|vorherige|veraltete"
    r"|archivierte|anciennes?|vieilles)"
)
_LATE_EARLIER = r"(?:archivees?|obsoletes?|perimees?|precedent(?:es|i)|anterieures|antiguas|anteriores|vecchie)"
_FOLDER = re.compile(
    r"(?:.* )?(?:archives?|archived|archiv|archivio|archiviert|old|deprecated|obsolet|obsoletes?|superseded|outdated"
    rf"|veraltet)|alt|altes|(?:.* )?(?:{_EARLIER} {_COPIES}|{_COPIES} {_LATE_EARLIER})"
)
"""Folded words of a folder for what is out of date, without numbers; "Alt" alone, which has other meanings."""


def is_archived(title: str, lines: Sequence[str], path: str) -> bool:
    """Whether title, first and last lines, or the path below the source say that a document is out of date."""
    return bool(_TITLE.search(title)) or any(map(_is_notice, lines)) or _is_archive_path(path)


def _is_notice(line: str) -> bool:
    line = line[:500]
    if any(banner.match(line) for banner in _BANNERS):
        return True
    return any(
        match and not _IF.search(line, max(0, line.rfind(". ", 0, match.start())), match.start())
        for match in (pattern.search(line) for pattern in _NOTICES)
    )


def _is_archive_path(path: str) -> bool:
    """`archive/a.md`, `faq-2023-old.md`, `deprecated_vpn.md`; not `old-town.md` or `10-years-old.md`."""
    *folders, name = path.casefold().split("/")
    if any(map(_is_archive, folders)):
        return True
    words = _words(name.partition(".")[0])
    if len(words) < 2:
        return bool(words) and words[0] in BEGINNINGS
    return words[0] in BEGINNINGS or (words[-1] in ENDINGS and words[-2] not in _PERIODS)


def _is_archive(folder: str) -> bool:
    """`Archiv 2019`, `x-old`, `old versions`, `Alt`; not `ten-years-old` or `old-town`."""
    words = re.findall(r"[^\W\d_]+", fold(folder))
    return _FOLDER.fullmatch(" ".join(words)) is not None and _PERIODS.isdisjoint(words[-2:-1])


def _words(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", name)
