"""Detects the language of a text: by its script and function words, else by py3langid, which only this file imports.

Function words decide nearly every sentence of the languages of `function_words`, in microseconds. py3langid (Lui &
Baldwin 2012; 5 MB, half a second to load) reads long texts that they do not decide; questions never need it.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any

from qa_core.process_memory import on_disk, release_freed
from qa_core.text.analysis import words
from qa_core.text.function_words import WORD_LISTS, question_stop_words
from qa_core.text.languages import LANGUAGES
from qa_core.text.stop_words import FUNCTION_WORDS

HEAD, SAMPLE = 400, 1500
"""Characters that are read: the head, and if it decides nothing the sample, and as many from the middle of the text."""
LONG_DOCUMENT, SAMPLES, LEAST_SAMPLES = 3000, 7, 3
"""Characters from which on a document has the language of most of its samples of `HEAD` characters, and the least of
them that must agree: a copyright notice in English may stand above German text."""
CLEAR = 1.25
"""A language is decided if its evidence is this many times that of any other …"""
CLEAR_OF_ENGLISH = 1.45
"""… and this many times that of English, whose texts are full of foreign names …"""
ENOUGH, ENOUGH_OF_DOCUMENT, ENOUGH_OF_LONG = 1.0, 2.0, 3.5
"""… and is at least this much: one function word of a question, two of a document, more of a long text."""
LONG = 80
"""Letters from which on a text is long …"""
LEAST_SHARE = 0.06
"""… so that at least this share of its different words must be function words of its language."""
LETTER_EVIDENCE = 0.6
REPEATED = 2
"""Occurrences of a word that count: "los" may be part of a name."""
LONE_LETTER = 0.25
"""Evidence of a word of one letter: texts are full of them for other reasons (initials, "women 's")."""
MODEL_CONFIDENCE = 0.95

_LETTERS = {
    "ß": "de",
    "ä": "de fi sv et",
    "ö": "de fi sv tr hu et",
    "ü": "de tr hu et",
    "ñ": "es",
    "¿": "es es",
    "¡": "es es",
    "ã": "pt",
    "õ": "pt et",
    "ç": "fr pt tr ca",
    "ê": "fr pt",
    "è": "fr it ca",
    "à": "fr it ca pt",
    "ù": "fr it",
    "œ": "fr",
    "û": "fr",
    "ò": "it ca",
    "ì": "it",
    "å": "sv da no",
    "ø": "da no",
    "æ": "da no",
    "ł": "pl",
    "ą": "pl",
    "ę": "pl",
    "ś": "pl",
    "ż": "pl",
    "ź": "pl",
    "ć": "pl",
    "ń": "pl",
    "ě": "cs",
    "ř": "cs",
    "ů": "cs",
    "ő": "hu",
    "ű": "hu",
    "ğ": "tr",
    "ı": "tr",
    "ș": "ro",
    "ț": "ro",
    "ă": "ro",
    "і": "uk",
    "ї": "uk",
    "є": "uk",
    "ґ": "uk",
    "ы": "ru",
    "э": "ru",
    "ё": "ru",
    "ъ": "ru",
    **dict.fromkeys("ơưđạảấầẩẫậắằặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ", "vi"),
}
"""Letters that few languages have, with these languages."""
_ENGLISH_TAILS = {"s", "t", "d", "m", "ll", "re", "ve"}
_SCRIPTS = (
    ("ja", "\u3040-\u30ff"),
    ("ko", "\uac00-\ud7a3\u1100-\u11ff"),
    ("zh", "\u4e00-\u9fff\u3400-\u4dbf"),
    ("th", "\u0e00-\u0e7f"),
    ("el", "\u0370-\u03ff"),
    ("he", "\u0590-\u05ff"),
    ("hy", "\u0530-\u058f"),
    ("ka", "\u10a0-\u10ff"),
    ("ta", "\u0b80-\u0bff"),
)
"""Scripts of one language (nearly), in the order in which they are looked for: Japanese mixes kana and Han."""
_SCRIPT = re.compile("|".join(f"(?P<{code}>[{characters}])" for code, characters in _SCRIPTS))
_LETTER = re.compile(r"[^\W\d_]")
_OTHERS = {"bg", "uk", "be", "mk", "ur", "mr", "bn", "vi"}
"""Languages without function words here that the model may name besides those with a stemmer."""


def language_of(text: str, default: str = "", *, is_question: bool = False) -> str:
    """The language of a text (ISO 639-1), or `default` if that cannot be decided.

    A text that mixes languages has the one with most function words, a long one that of most of its samples; names,
    numbers and single words have none.

    Args:
        is_question: whether one function word is enough ("Zahlt die Firma?"). A short document needs two, since names
            hold some ("Los Angeles").
    """
    enough = ENOUGH if is_question else ENOUGH_OF_DOCUMENT
    if len(text) >= LONG_DOCUMENT and (decided := _of_most_samples(text, enough)):
        return decided
    if decided := _decided(text[:HEAD], enough, may_load_model=len(text) <= HEAD):
        return decided
    if len(text) > HEAD:
        sample = text if len(text) <= 2 * SAMPLE else f"{text[:SAMPLE]} {text[len(text) // 2 :][:SAMPLE]}"
        return _decided(sample, enough, may_load_model=True) or default
    return default


def language_among(question: str, languages: Collection[str]) -> str:
    """The one of some languages that a question has, or "": "Was kostet die Schraube?" may be German or Dutch."""
    text = question[:HEAD]
    evidence = _evidence(words(text), "" if text.isascii() else text)
    return _clear({code: most for code, most in evidence.items() if code in languages}, ENOUGH_OF_DOCUMENT)


def _of_most_samples(text: str, enough: float) -> str:
    """The language of most samples from all over a text, at ties the one that comes first; "" if few agree."""
    step = (len(text) - HEAD) // (SAMPLES - 1)
    samples = (text[start : start + HEAD] for start in range(0, SAMPLES * step, step))
    votes = Counter(filter(None, (_decided(sample, enough, may_load_model=False) for sample in samples)))
    language, count = votes.most_common(1)[0] if votes else ("", 0)
    return language if count >= LEAST_SAMPLES else ""


def _decided(text: str, enough: float, *, may_load_model: bool) -> str:
    """The language by its script, function words and special letters, for long texts by the model, or ""."""
    if not text.isascii() and (script := _script(text)):
        return script
    tokens = words(text)
    evidence = _evidence(tokens, "" if text.isascii() else text)
    if sum(map(len, tokens)) <= LONG:
        return _clear(evidence, enough)
    if decided := _clear(evidence, max(ENOUGH_OF_LONG, LEAST_SHARE * len(set(tokens)))):
        return decided
    return _by_model(text) if may_load_model and evidence.get("en", 0) < 1 else ""


def _script(text: str) -> str:
    """The language of a script that at least a third of the letters have."""
    letters = Counter(match.lastgroup for match in _SCRIPT.finditer(text))
    if not letters:
        return ""
    if 3 * letters.total() < len(_LETTER.findall(text)):
        return ""
    if letters["ja"] and 10 * letters["ja"] >= letters["zh"]:
        return "ja"
    return str(letters.most_common(1)[0][0])


def _evidence(tokens: Iterable[str], text: str) -> dict[str, float]:
    """Function words by language, and letters that only some languages have."""
    evidence: dict[str, float] = defaultdict(float)
    known = _languages_of_words()
    for token, count in Counter(tokens).items():
        weight = min(count, REPEATED) * (LONE_LETTER if len(token) == 1 and token.isascii() else 1.0)
        for part in _parts(token) if "'" in token else (token,):
            for language in known.get(part, ()):
                evidence[language] += weight
    if text:
        for letter in set(text.lower()) & _LETTERS.keys():
            for language in _LETTERS[letter].split():
                evidence[language] += LETTER_EVIDENCE
    return evidence


def _parts(token: str) -> list[str]:
    """The words around an apostrophe: "l" and "eau", but not the "s" of "dog's"; "don't" is one English word."""
    head, _, tail = token.partition("'")
    if tail in _ENGLISH_TAILS:
        return ["the"] if tail != "s" else []
    return [head, tail]


def _clear(evidence: Mapping[str, float], enough: float) -> str:
    """The language with enough evidence that is clearly ahead of the others, or ""."""
    best = max(evidence, key=evidence.__getitem__, default="")
    if not best or evidence[best] < enough:
        return ""
    others = (most * (CLEAR_OF_ENGLISH if code == "en" else CLEAR) for code, most in evidence.items() if code != best)
    return best if all(evidence[best] >= needed for needed in others) else ""


@cache
def _languages_of_words() -> dict[str, tuple[str, ...]]:
    """The languages in which a word is a function word."""
    languages: dict[str, tuple[str, ...]] = dict.fromkeys(FUNCTION_WORDS, ("en",))
    for language in WORD_LISTS:
        for word in question_stop_words(language):
            languages[word.casefold()] = (*languages.get(word.casefold(), ()), language)
    return languages


_MODEL_LOCK = threading.Lock()


@cache
def _model() -> Any:
    """An identifier of 20 MB; the one that py3langid opens has 83 MB."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    whole = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    whole.set_languages(sorted((LANGUAGES.keys() | _OTHERS) & set(whole.labels)))
    transitions = on_disk(whole.tk_nextmove)
    few = (whole.nb_ptc, whole.nb_pc, whole.nb_classes)  # without the weights of other languages, which `whole` keeps
    ours = LanguageIdentifier(*few, transitions, whole.tk_output, norm_probs=True, tk_row=whole.tk_row)
    del whole
    release_freed()  # else what is allocated next lies between the freed tables, and keeps 20 MB
    return ours


def open_model() -> None:
    """Open the model now: amid questions its loading leaves holes in the heaps, and 14 MB come as a surprise."""
    with _MODEL_LOCK:
        _model()


def _by_model(text: str) -> str:
    """The language by py3langid if it is confident, or ""."""
    with _MODEL_LOCK:
        language, confidence = _model().classify(text)
    return str(language) if confidence >= MODEL_CONFIDENCE else ""
