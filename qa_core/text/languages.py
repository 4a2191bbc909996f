"""Languages that texts are analysed in: their Snowball stemmers, and how their words are folded before stemming."""

from __future__ import annotations

import re
from typing import NamedTuple

Repairs = tuple[tuple[re.Pattern[str], str], ...]


class Language(NamedTuple):
    """`stemmer` is Snowball's name.

    Words lose their accents before they are stemmed, so that "conge" finds "congé"; in 17 languages the stems are as
    good as those of accented words, after `repairs` of endings that a stemmer knows by their accents, and of
    abbreviations. Cyrillic words (`folded_first` false) lose them afterwards, because й is a letter of many endings.
    Words in Latin letters inside texts of another script (`latin` false) are stemmed as English.
    """

    stemmer: str
    latin: bool = True
    folded_first: bool = True
    repairs: Repairs = ()


def _repairs(*pairs: tuple[str, str]) -> Repairs:
    return tuple((re.compile(pattern), replacement) for pattern, replacement in pairs)


_GERMAN_ABBREVIATIONS = _repairs(
    (r"nrn?(?=\d?$)", "nummer"),
    (r"(?:^|(?<=\w{3}))str(?=\d?$)", "strasse"),
    *(
        (rf"^{short}(?=\d?$)", word)
        for short, word in (
            ("abs", "absatz"),
            ("abt", "abteilung"),
            ("bsp", "beispiel"),
            ("bzw", "beziehungsweise"),
            ("evtl", "eventuell"),
            ("ggf", "gegebenenfalls"),
            ("inkl", "inklusive"),
            ("mind", "mindestens"),
            ("tel", "telefon"),
            ("zzgl", "zuzuglich"),
        )
    ),
)
"""Written without their full stops: words are folded before they are stemmed. "Rechnungsnr." is "Rechnungsnummer",
"Hauptstr." is "Hauptstraße", and "Abs. 3" has the joined term of "Absatz 3". Ones that are also words ("Art.", "Max.")
stay. German collections have the same points as without (german .733, rules .640, company .848)."""

LANGUAGES = {
    "ar": Language("arabic", latin=False),
    "ca": Language("catalan"),
    "cs": Language("czech"),
    "da": Language("danish"),
    "de": Language("german", repairs=_GERMAN_ABBREVIATIONS),
    "el": Language("greek", latin=False),
    "en": Language("english"),
    "eo": Language("esperanto"),
    "es": Language("spanish"),
    "et": Language("estonian"),
    "eu": Language("basque"),
    "fa": Language("persian", latin=False),
    "fi": Language("finnish"),
    "fr": Language("french", repairs=_repairs(("ees?$", "e"))),
    "ga": Language("irish"),
    "hi": Language("hindi", latin=False),
    "hu": Language("hungarian"),
    "hy": Language("armenian", latin=False),
    "id": Language("indonesian"),
    "it": Language("italian"),
    "lt": Language("lithuanian"),
    "ne": Language("nepali", latin=False),
    "nl": Language("dutch"),
    "no": Language("norwegian"),
    "pl": Language("polish"),
    "pt": Language("portuguese", repairs=_repairs((r"(?<=\w\w)oes$", "ao"), (r"(?<=\w\w)cao$", "ção"))),
    "ro": Language("romanian"),
    "ru": Language("russian", latin=False, folded_first=False, repairs=_repairs(("ё", "е"))),
    "sr": Language("serbian", folded_first=False),
    "st": Language("sesotho"),
    "sv": Language("swedish"),
    "ta": Language("tamil", latin=False),
    "tr": Language("turkish"),
    "yi": Language("yiddish", latin=False),
}
"""By code of ISO 639-1. Texts in other languages are analysed as English: their words are folded, few are changed."""

_ALIASES = {
    "nb": "no", "nn": "no", "hr": "sr", "bs": "sr", "me": "sr", "sh": "sr", "tl": "fil", "iw": "he", "in": "id",
    "ara": "ar", "cat": "ca", "ces": "cs", "cze": "cs", "dan": "da", "deu": "de", "ger": "de", "ell": "el", "gre": "el",
    "eng": "en", "spa": "es", "est": "et", "eus": "eu", "baq": "eu", "fas": "fa", "per": "fa", "fin": "fi", "fra": "fr",
    "fre": "fr", "gle": "ga", "hin": "hi", "hun": "hu", "hye": "hy", "arm": "hy", "ind": "id", "ita": "it", "jpn": "ja",
    "kor": "ko", "lit": "lt", "nep": "ne", "nld": "nl", "dut": "nl", "nor": "no", "nob": "no", "nno": "no", "pol": "pl",
    "por": "pt", "ron": "ro", "rum": "ro", "rus": "ru", "srp": "sr", "hrv": "sr", "swe": "sv", "tam": "ta",
    "tha": "th", "tur": "tr", "ukr": "uk", "vie": "vi", "zho": "zh", "chi": "zh",
}  # fmt: skip
_NAMES = {
    "german": "de", "deutsch": "de", "english": "en", "french": "fr", "français": "fr", "francais": "fr",
    "spanish": "es", "español": "es", "italian": "it", "italiano": "it", "dutch": "nl", "nederlands": "nl",
    "portuguese": "pt", "português": "pt", "swedish": "sv", "svenska": "sv", "polish": "pl", "polski": "pl",
    "russian": "ru", "русский": "ru", "chinese": "zh", "japanese": "ja",
}  # fmt: skip
_TAG = re.compile(r"([a-z]{2,3})(?:[-_.@].*)?")


def language_code(tag: str) -> str:
    """The code of a declared language: "de" for "de-AT", "deu", "de_DE.UTF-8" or "German"; "" if it is not one."""
    tag = tag.strip().lower()
    if tag in _NAMES:
        return _NAMES[tag]
    match = _TAG.fullmatch(tag)
    if match is None or match[1] in {"und", "mul", "zxx", "mis"}:
        return ""
    code = _ALIASES.get(match[1], match[1])
    return code if len(code) == 2 else ""


def analysis_language(language: str) -> str:
    """The language whose analysis a text of `language` gets: itself if it has a stemmer, else English."""
    return language if language in LANGUAGES else "en"
