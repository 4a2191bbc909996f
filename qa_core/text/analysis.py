"""Text analysis: normalised text, words, index terms in many languages; the only file that imports PyStemmer."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise

import Stemmer

from qa_core.text.function_words import stop_words
from qa_core.text.languages import LANGUAGES
from qa_core.text.sentences import sentences as sentences
from qa_core.text.stop_words import word_set

ANALYSER_VERSION = "qa-bot/3"
"""The rules of `terms` and Snowball's stemmers (of PyStemmer 3). Change it when `terms` gives other terms: an index
names the version that made it, and one made by another is rebuilt."""


STOP_TERMS = word_set(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with"
)
"""Lucene's 33 English stop words, which `terms` leaves out."""


def _ranges(characters: Iterator[str]) -> str:
    """The body of a regular expression's character class; the characters come in code point order."""
    runs: list[list[int]] = []
    for point in map(ord, characters):
        if runs and runs[-1][1] == point - 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return "".join(f"\\u{first:04x}-\\u{last:04x}" for first, last in runs)


# `\w` does not match combining marks; without them words of Hindi, Thai and decomposed Latin would be split.
_MARKS = _ranges(
    c
    for c in map(chr, (*range(0x300, 0x1E00), *range(0x20D0, 0x20F1), *range(0xA66F, 0xABEE), *range(0xFE20, 0xFE30)))
    if unicodedata.category(c)[0] == "M"
)
# Scripts written without spaces: Thai, Lao, Myanmar, Khmer, kana, Han (with its extensions).
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)

# ---------------------------------------------------------------------------------------------------- tidy text

_UNWANTED = re.compile(
    # Controls, halves of surrogate pairs, invisible marks (soft hyphen, zero-width space, byte order mark) and the
    # overrides of writing direction; the joiners of Persian and Hindi (200c, 200d) stay.
    r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\u00ad\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff]+"
)
_TOO_MANY_MARKS = re.compile(rf"([{_MARKS}]{{30}})[{_MARKS}]+")
_LINE_ENDS = re.compile(r"[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_ODD_BLANKS = re.compile(r"[^\S\n ]+")
_SPACES = re.compile(r" {2,}([-*•‣▪·](?= ))?")


def normalise(text: str) -> str:
    """Text for display and storage: NFC, without control characters, runs of spaces and runs of empty lines.

    Line ends become "\\n"; the items of a list in one line ("…   - first   - second") get their lines back.
    """
    text = _ODD_BLANKS.sub(" ", clean_characters(text))
    text = _SPACES.sub(_single_space, text)
    text = text.replace(" \n", "\n").replace("\n ", "\n")
    return re.sub("\n{3,}", "\n\n", text).strip()


def clean_characters(text: str) -> str:
    """NFC, without control characters; line ends become "\\n"."""
    text = _compose(_UNWANTED.sub("", text))
    return _LINE_ENDS.sub("\n", text.replace("\r\n", "\n"))


def _compose(text: str) -> str:
    """NFC with at most 30 combining marks in a row (Unicode's stream-safe form): sorting them takes quadratic time."""
    return text if text.isascii() else unicodedata.normalize("NFC", _TOO_MANY_MARKS.sub(r"\1", text))


def _single_space(spaces: re.Match[str]) -> str:
    if spaces[1] is None:
        return " "
    return ("\n" if len(spaces[0]) > 3 else " ") + spaces[1]


# --------------------------------------------------------------------------------------------------------- words

_WORD = re.compile(rf"\d+(?:[.,]\d+)+|[\w{_MARKS}\u200c\u200d]+(?:'[\w{_MARKS}]+)*")


def words(text: str) -> list[str]:
    """Case-folded words of any script with their accents, for vocabularies and word vectors.

    "Don’t" is one word, "don't" (with a straight apostrophe); so are "3.5" and "1,000". Hyphens split words.
    """
    return _WORD.findall(_compose(text.casefold()).replace("’", "'"))


# --------------------------------------------------------------------------------------------------- index terms

_TAIL = r"(?:'(?:s|t|d|m|ll|re|ve)(?![^\W_]))?"  # dropped from "dog's" and "don't"
_DECIMALS = r"(?:(?<=\d)\.\d+)*"
_PLAIN_RUN = re.compile(rf"[a-z0-9]+{_DECIMALS}")
_ASCII_RUN = re.compile(rf"([a-z0-9]+{_DECIMALS}){_TAIL}")
_RUN = re.compile(rf"([{_UNSPACED}]+|(?:[^\W_{_UNSPACED}]+[{_MARKS}]*)+{_DECIMALS}){_TAIL}")
_DIGITS = frozenset("0123456789")
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")
_ACCENTS = re.compile(r"[\u0300-\u036f\u200c\u200d]+")
_LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "’": "'", "‘": "'"}
)
_ASCII_LOOKALIKES = tuple(zip("’‘“”–—…•®™\u00a0", "''         ", strict=True))
_FOLDED_LOOKALIKES = tuple(pair for pair in _ASCII_LOOKALIKES if pair[0] != "™")  # which is folded to letters
_MEMO_SIZE = 16_384  # words, about 2 MB; twelve times as many are no faster (31,000 passages, 32,000 words)


class _Stems(dict[str, str]):
    """Cache from case-folded words to their stems; the stem of a stop word is empty."""

    def __init__(self, language: str, stop: frozenset[str]) -> None:
        super().__init__()
        self._language = LANGUAGES[language]
        self._stop = frozenset(map(fold, stop)) if self._language.folded_first else stop
        self._stemmer = Stemmer.Stemmer(self._language.stemmer, 0)
        self._lock = threading.Lock()  # a Snowball stemmer is not thread-safe

    def __missing__(self, word: str) -> str:
        stem = "" if word in self._stop else self._stem(word)
        if len(self) >= _MEMO_SIZE:
            self.clear()
        self[word] = stem
        return stem

    def _stem(self, word: str) -> str:
        language = self._language
        if not language.latin and word.isascii():
            return _ALL_STEMS["en"][word]
        for pattern, replacement in language.repairs:
            word = pattern.sub(replacement, word)
        with self._lock:
            stem = str(self._stemmer.stemWord(word))
        if language.stemmer == "french" and stem.endswith("y"):
            stem = f"{stem[:-1]}i"  # "paye" becomes "pai" like "payer"
        return stem if stem.isascii() else fold(stem) or word


class _Languages(dict[str, _Stems]):
    """The caches by language, made when a language is used first."""

    def __init__(self, *, stop: bool) -> None:
        super().__init__()
        self._leaves_out = stop

    def __missing__(self, language: str) -> _Stems:
        words = STOP_TERMS if language == "en" else stop_words(language)
        stems = self[language] = _Stems(language, words | _DIGITS if self._leaves_out else frozenset())
        return stems


_STEMS = _Languages(stop=True)
_ALL_STEMS = _Languages(stop=False)


def terms(text: str, language: str = "", *, stop: bool = True, leave_out: Collection[str] = frozenset()) -> list[str]:
    """Index terms: words without case and accents, stemmed by the Snowball stemmer of a language, without stop words.

    Hyphens, apostrophes and underscores split; "dog's" is "dog", "don't" is "don", "3.5" is one term. A single digit
    is joined to the word before it: "type 2" gives "type" and "type2". A run of Han, kana, Thai, Lao, Khmer or
    Myanmar characters gives its overlapping pairs of characters (a single character gives itself).

    Args:
        language: a code of ISO 639-1; texts in an unknown language, or one without a stemmer, are analysed as English.
        stop: whether stop words are left out. If not, the result is one term per word: stop words and digits stay,
            nothing is joined.
        leave_out: folded words that are left out like stop words, if those are.
    """
    if not text.isascii():
        for odd, plain in _ASCII_LOOKALIKES:
            text = text.replace(odd, plain)
    language = language if language in LANGUAGES else "en"
    runs = _runs(text, folded=LANGUAGES[language].folded_first)
    if not stop:
        all_stems = _ALL_STEMS[language]
        return [all_stems[word] for word in runs]
    stems = _STEMS[language]
    if leave_out:
        runs = ["" if fold(word) in leave_out else word for word in runs]  # a digit is not joined across the gap
    if not _DIGITS.isdisjoint(runs):
        runs = list(_with_digits(runs, stems))
    return [stem for word in runs if (stem := stems[word])]


def _with_digits(words: Iterable[str], stems: Mapping[str, str]) -> Iterator[str]:
    """The words; after a single digit comes the word before it joined to the digit.

    Without this, "type 1" and "type 2" have the same terms. Digits as separate terms match every table of numbers
    (and cost .01 of average precision on CACM).
    """
    previous = ""
    for word in words:
        yield word
        if word in _DIGITS and len(previous) > 2 and previous.isalpha() and stems[previous]:
            yield previous + word
        previous = word


def _runs(text: str, *, folded: bool) -> list[str]:
    """Case-folded words or pairs of characters, not stemmed; with their accents unless `folded`."""
    if not text.isascii():
        return list(_unicode_runs(fold(text) if folded else _compose(text.casefold())))
    return (_ASCII_RUN if "'" in text else _PLAIN_RUN).findall(text.lower())


def character_ngrams(text: str, n: int = 4) -> list[str]:
    """Overlapping runs of `n` characters within the folded words of a text, "_" at both ends of a word.

    They find compounds by their parts ("Urlaub" in "Urlaubsantrag"), other inflections and misspelt words, in every
    language. A shorter word gives itself.
    """
    return joined_ngrams(text, n).split()


def joined_ngrams(text: str, n: int = 4) -> str:
    """The same, with a blank between two: an index takes them so, and one string a word needs a tenth of the memory."""
    if not text.isascii():  # a text that is ASCII but for its quotation marks and dashes is folded five times as fast
        for odd, plain in _FOLDED_LOOKALIKES:
            text = text.replace(odd, plain)
    words = _runs(text, folded=True)
    return " ".join(
        [_ngrams_of_word(word, n) if len(word) < _CACHED_LENGTH else _word_ngrams(word, n) for word in words]
    )


def _word_ngrams(word: str, n: int) -> str:
    marked = f"_{word}_"
    return " ".join([marked[start : start + n] for start in range(max(1, len(marked) - n + 1))])


_CACHED_LENGTH = 32
"""Longer words are rare, and would fill the memory of the cache."""
_ngrams_of_word = lru_cache(1 << 13)(_word_ngrams)  # 2 MB when full


def fold(text: str) -> str:
    """Text in NFKC without case and without accents of Latin, Greek and Cyrillic letters."""
    decomposed = unicodedata.normalize("NFKD", _TOO_MANY_MARKS.sub(r"\1", text.casefold()))
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed)).casefold().translate(_LETTERS)


def _unicode_runs(text: str) -> Iterator[str]:
    for run in _RUN.findall(text):
        if not run.isascii() and len(run) > 1 and _UNSPACED_CHARACTER.match(run):
            yield from map("".join, pairwise(run))
        else:
            yield run


# ------------------------------------------------------------------------------------------------------ language

_ENGLISH = word_set(
    "the of and to in is you that it he was for on are with as his they be at this have from or had by what why how "
    "when where which who does do can did should will would my your i we she if not an but there their a me about has "
    "could any after been get because it's i'm don't"
)
_FOREIGN = word_set(
    "der das und ist nicht ein eine mit auf für von zu den dem sich ich wie was warum sind bei le les des du et "
    "est une dans pour que qui sur pas je vous comment pourquoi los las del es un una por con para como qué cómo "
    "porque il lo gli di che è per non sono come perché o os da do em não uma é het een de niet zijn wat hoe och "
    "att det som på är och det hvad og af"
) - {"do", "was", "den", "come", "as"}


def looks_english(text: str, *, in_doubt: bool = False) -> bool:
    """Guess from the first 600 characters: Latin script, and fewer foreign function words than English ones.

    True for keywords without function words, so that English-only steps handle them.

    Args:
        in_doubt: the guess for as many foreign function words as English ones.
    """
    sample = words(text[:600])
    foreign = sum(map(_FOREIGN.__contains__, sample))
    return _mostly_ascii(text[:600]) and (not foreign or sum(map(_ENGLISH.__contains__, sample)) + in_doubt > foreign)


def _mostly_ascii(text: str) -> bool:
    return text.isascii() or 2 * len(re.findall(r"[^\W\d_a-zA-Z]", text)) <= sum(map(str.isalpha, text))
