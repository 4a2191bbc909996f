"""Separable verbs of German main clauses: "Wie rechne ich die Reise ab?" asks about "abrechnen".

The prefix stands at the end of the clause. A preposition never does, so that "ab" before a comma or a question mark
belongs to the verb. In a question the verb stands before its subject or after the question word.

Stems of the analysis tell forms of one verb apart ("liefert", "liefern"; "laden", "geladen"); their bases do not.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from qa_core.text.analysis import fold
from qa_core.text.function_words import function_words
from qa_core.text.stop_words import word_set

SEPARABLE = word_set(
    "ab an auf aus auseinander bei bekannt bereit dar durch ein empor entgegen fern fest fort frei gegenuber gleich "
    "heim her herab heran herauf heraus herbei herein herunter hervor hin hinab hinauf hinaus hinein hinunter hinzu "
    "hoch los mit nach nieder statt teil uber um unter vor voran voraus vorbei weg weiter wieder zu zuruck zurecht "
    "zusammen"
)
"""Prefixes, without accents, that stand at the end of a main clause: "ich gebe es zurück"."""
_UMLAUTS = {"zuruck": "zurück", "uber": "über", "gegenuber": "gegenüber"}
_PREFIXES = sorted((_UMLAUTS.get(prefix, prefix) for prefix in SEPARABLE), key=len, reverse=True)
_PREFIX = "|".join(_PREFIXES)
_INSIDE = re.compile(rf"\b({_PREFIX})(?:zu(?=\w+en\b)|ge(?=\w+t\b|\w+en\b))(\w{{2,}}?)(?:et|t|en)\b")
_BREAK = re.compile(r"([.?!,;:\n]+|\s(?:und|oder|aber|wenn|falls|bevor)\b)")
"""What stands between two clauses."""
_CLAUSE = re.compile(rf"(?P<before>.*\w)\s+(?P<prefix>{_PREFIX})(?P<blank>\s*)", re.DOTALL)
_AT_END = re.compile(rf"\s({_PREFIX})(?=\s*(?:[.?!,;:\n)]|$|(?:und|oder|aber)\b))")
_ACCENTS = str.maketrans("äöü", "aou")
_WORD, _LETTERS = re.compile(r"\w+"), re.compile(r"[^\W\d_]{4,}")
_ENDING = re.compile(r"(?:est|et|st|en|t|n|e)$")
SHORTEST_BASE = 3
"""Letters of the base of a verb."""
_SUBJECTS = word_set("ich du er sie es wir ihr man")
_AUXILIARY = word_set(
    "bin bist ist sind seid war waren wäre wären sei hast hat hab habe haben hatte hatten hätte kann kannst können "
    "könnte muss musst müssen müsste soll sollst sollen sollte will willst wollen wollte darf darfst dürfen dürfte mag "
    "möchte werde wirst wird werden wurde wurden würde würden"
)
_OF_NOUNS = re.compile(r"(?:welche[nmrs]?|wie ?viele?n?)\b", re.IGNORECASE)
"""Question words that a noun follows before the verb."""
_ENDINGS = ("e", "n", "t")
"""Of finite verbs in the present: "schließt", "fallen"."""
_MOST_WORDS = 8
"""Words of a clause before its verb at most."""


def verb_bases(text: str) -> set[str]:
    """What the words of a text have in common with other forms of their verbs: "liefer" of "liefert" and "liefern"."""
    return {base for word in _LETTERS.findall(text) if (base := _verb_base(fold(word)))}


def _verb_base(word: str) -> str:
    """A word without the prefix of a participle and the ending of a person; "" if too little is left."""
    if word.startswith("ge") and word.endswith(("t", "en")) and len(word) >= 6:
        word = word[2:]
    base = _ENDING.sub("", word)
    return base if len(base) >= SHORTEST_BASE else ""


def with_whole_verbs(text: str, *, keep: bool = False) -> str:
    """A German text with the separated prefixes of its main clauses in front of their verbs.

    Args:
        keep: whether the verb stays without its prefix, too.
    """
    return "".join(_joined(clause, keep=keep) for clause in _BREAK.split(text))


def _joined(clause: str, *, keep: bool) -> str:
    match = _CLAUSE.fullmatch(clause)
    verb = _finite_verb([*_WORD.finditer(match["before"])]) if match else None
    if match is None or verb is None:
        return clause
    before, whole = match["before"], f"{match['prefix']}{verb[0].lower()}"
    return f"{before[: verb.start()]}{f'{whole} {verb[0]}' if keep else whole}{before[verb.end() :]}{match['blank']}"


def parted_again(word: str, text: str) -> str:
    """A word of `with_whole_verbs(text)` as the text has it: "bekomme … zurück" for "zurückbekomme"."""
    typed = {match[0].lower(): match[0] for match in _WORD.finditer(text)}
    lowered = word.lower()
    if lowered in typed:
        return word
    for prefix in _PREFIXES:
        verb = lowered.removeprefix(prefix)
        if verb != lowered and verb in typed and prefix in typed:
            beside = re.search(rf"\b{verb}\s+{prefix}\b", text, re.IGNORECASE)
            return f"{typed[verb]}{' ' if beside else ' … '}{typed[prefix]}"
    return word


def separated_prefixes(text: str) -> frozenset[str]:
    """The folded prefixes that stand at the ends of clauses of a text."""
    return frozenset(match[1].translate(_ACCENTS) for match in _AT_END.finditer(text))


def is_separated(stem: str, stems: Container[str], prefixes: Iterable[str]) -> bool:
    """Whether a text has the verb of a stem with its prefix apart: "gibt … ab" has "abgeb".

    Args:
        stems: of the text.
        prefixes: that stand at the ends of its clauses.
    """
    return any(stem.startswith(prefix) and stem[len(prefix) :] in stems for prefix in prefixes)


def infinitives(text: str) -> list[str]:
    """The infinitives of separable verbs whose forms in a text have a syllable inside: "zurückzugeben", "abgegeben".

    They are guesses: "Angebot" gives "anboen".
    """
    return [f"{match[1]}{match[2]}en" for match in _INSIDE.finditer(text.lower())]


def _finite_verb(words: list[re.Match[str]]) -> re.Match[str] | None:
    """The finite verb of a clause; None if it is not recognised, or if an auxiliary comes first."""
    texts = [word[0].lower() for word in words]
    if not words or not _AUXILIARY.isdisjoint(texts):
        return None
    subject = next((at for at, text in enumerate(texts[:_MOST_WORDS]) if text in _SUBJECTS), None)
    if subject is not None:
        verb = subject - 1 if subject > 0 else 1
        return words[verb] if verb < len(words) and _may_be_verb(words[verb][0], first=verb == 0) else None
    for at in range(_first_place(words), min(len(words), _MOST_WORDS)):
        is_before_phrase = at + 1 < len(words) and _begins_phrase(words[at + 1][0])
        is_last = at + 1 == len(words) and texts[at].endswith(_ENDINGS)
        if _may_be_verb(words[at][0], first=at == 0) and (is_before_phrase or is_last):
            return words[at]
    return None


def _first_place(words: list[re.Match[str]]) -> int:
    """Where the verb stands at the earliest: after the noun of "welche Kosten"."""
    if not _OF_NOUNS.match(words[0].string, words[0].start()):
        return 0
    return next((at + 1 for at, word in enumerate(words) if at and word[0][0].isupper()), len(words))


def _may_be_verb(word: str, *, first: bool) -> bool:
    """A noun has a capital, and a function word is no verb."""
    return len(word) > 2 and word.isalpha() and (first or word[0].islower()) and not _is_function_word(word)


def _begins_phrase(word: str) -> bool:
    return word[0].isupper() or _is_function_word(word)


def _is_function_word(word: str) -> bool:
    return word.lower() in function_words("de")
