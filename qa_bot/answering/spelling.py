"""Spelling: words of an English or German question that nothing knows become the nearest words of the documents.

A word is kept if the documents or the encoder's vocabulary know it, or if it is short. An English word with a capital
is kept, since it may be a name. The encoder knows few German words, so a correct one may be unknown: in a home with
German documents a word becomes another only if they differ in the ways that people misspell German. The documents that
share the most pieces with a word are searched for near words, so that no list of all words of a home is needed.

A code that the documents write with other zeros is written as they do: "e7" becomes "e07"; so is a word that they write
with a hyphen or as two: "wifi" becomes "Wi-Fi". A short name that a document explains, as in "Brezza 300 (BZ300)" or
"Bring Your Own Device (BYOD)", becomes the full one, or the full one the short one, if more passages have that and
none has only the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from qa_core.text.analysis import looks_english, terms, words
from qa_core.text.synonyms import synonyms
from qa_core.types import Encoder, Passage, Question
from retrievers.engines.index import Index, KeywordQuery
from retrievers.formulate import formulate, piece_query
from retrievers.german_synonyms import is_german_word

SHORTEST = 4
"""Letters of a word that is corrected."""
LONGEST_WORD, LONGEST = 40, 300
"""Letters of a word, and characters of a question that is corrected."""
SHORT = 6
"""A shorter word may have one error, others two."""
LONG = 8
"""Letters of a word that may have two errors in its consonants: "beeping" is not "being"."""
SHORTEST_GERMAN = 6
"""Letters of a German word that is corrected: many shorter words are spelt alike."""
SHORTEST_MISTYPED, LONG_GERMAN = 5, 9
"""Letters of a German word that may be mistyped, and of one that may have two errors. In 870 questions
of ten sets eight words more are corrected, and two right ones become other forms of them."""
_WORD, _PART = re.compile(r"\w+"), re.compile(r"[^\W\d_]+")
_VOWELS = re.compile(r"[aeiouy]")
_HYPHENED = re.compile(r"\w+(?:-\w+)+")
_CODE = re.compile(r"\b([A-Za-z]{1,3})(\d{1,4})\b")
_SHORT_NAME = re.compile(r"\b(?:[A-Z][A-Z&]{1,7}s?|(?=[A-Za-z]*\d)[A-Za-z]{1,4}-?\d[\w-]{0,6})\b")
"""Initials, or letters with a number: "BYOD", "BZ300"."""
_MODEL = re.compile(r"\b(?:(?!(?:The|An?|Our|Your|Der|Die|Das|Les?|La)\b)[A-Z][\w-]* ){1,3}\d[\w.-]*\b")
"""A name with a number: "Brezza 300"."""
_RUN = (3, 5)
"""Words of a name whose initials are looked for."""
DEFINING = 5
"""Passages in which the explanation of a short name is looked for."""
_INFLECTIONS = frozenset("emnrs")
_SPELLINGS = [
    (re.compile(spelling), letter)
    for spelling, letter in (
        ("ä|ae", "e"), ("ö|oe", "o"), ("ü|ue|y", "u"), ("ß|z|ts", "s"), ("ei|ai", "i"), ("ie", "i"), ("eu|au", "u"),
        ("ph|v", "f"), ("th|d", "t"), ("ck|q", "k"), ("p", "b"), ("(?<=[aeiou])h", ""), (r"(.)\1+", r"\1"),
    )
]  # fmt: skip
"""Letters that people confuse in German words, in this order."""
SEARCHED = (50, 200)
"""Passages that share the most pieces with a word; more of them if the first have no near word. Of 136 words of 18F
with a random error, 50 passages correct .860, these .890, 400 passages .912 at three times the cost."""
MOST_DIGITS = 4
"""Digits of a code that zeros are added to."""
MOST_UNKNOWN = 5
"""A question with more unknown words is about something else."""


def corrected(question: str, index: Index, encoder: Encoder) -> str:
    """The question with its unknown words corrected; unchanged if every word is known or has no near one."""
    if len(question) > LONGEST or not index.has_units:
        return question
    question = _as_more_passages_name_it(question, index)
    question = _CODE.sub(lambda code: _known_code(code[1], code[2], index), question)
    language = _language(question, index)
    is_english, is_german = language in {"", "en"} and _may_be_english(question, index), language in {"", "de"}
    if not is_english and not is_german:
        return question
    languages = ("en", "de") if is_german else ("en",)
    if is_english:
        question = _WORD.sub(lambda word: _in_two(word[0], index) or word[0], question)
    unknown = {match[0] for match in _WORD.finditer(question) if not _is_known(match[0], languages, index, encoder)}
    unknown -= {part for match in _HYPHENED.finditer(question) if synonyms(match[0]) for part in match[0].split("-")}
    if not unknown or len(unknown) > MOST_UNKNOWN:
        return question
    nearest = {word: _correction(word, index, is_english=is_english, is_german=is_german) for word in unknown}
    return _WORD.sub(lambda match: nearest.get(match[0]) or match[0], question)


def _as_more_passages_name_it(question: str, index: Index) -> str:
    """The question with full names for short ones, or the reverse, where all passages with one have the other, too."""
    for match in _SHORT_NAME.finditer(question):
        full = _full_name(match[0], index) if _is_rare(match[0], index) else ""
        if full and not _has(question, full) and _is_rarer(match[0], full, index):
            question = question.replace(match[0], full)
    for full in (*_MODEL.findall(question), *_runs(question)):
        short = _short_name(full, index) if _is_rare(full, index) else ""
        if short and not _has(question, short) and _is_rarer(full, short, index):
            question = question.replace(full, short)
    return question


def _is_rare(name: str, index: Index) -> bool:
    """Whether so few passages have a name that all of them can be looked at."""
    return 0 < _passages_with(name, index) <= DEFINING


def _is_rarer(name: str, other: str, index: Index) -> bool:
    """Whether few passages have a name, all of them the other one, too, and more passages that one."""
    texts = [text.casefold() for text in _defining(name, index)]
    present = [text for text in texts if name.casefold() in text]
    is_beside = all(other.casefold() in text for text in present)
    return len(present) <= DEFINING and is_beside and _passages_with(other, index) > len(present)


def _has(question: str, name: str) -> bool:
    return name.casefold() in question.casefold()


def _runs(question: str) -> list[str]:
    """Runs of words whose initials the documents may have as a word: "bring your own device"."""
    matches = [*_PART.finditer(question)]
    spans = [(at, at + length) for length in range(_RUN[1], _RUN[0] - 1, -1) for at in range(len(matches) - length + 1)]
    return [question[matches[first].start() : matches[last - 1].end()] for first, last in spans]


def _full_name(short: str, index: Index) -> str:
    """The name that a passage explains a short one by, in front of it in brackets; "" if none does."""
    for text in _defining(short, index):
        for match in re.finditer(rf"([^()\n]{{3,80}}?)[ ]*\({re.escape(short)}\)", text, re.IGNORECASE):
            if full := _named_so(match[1], short):
                return full
    return ""


def _short_name(full: str, index: Index) -> str:
    """The short name in brackets behind a full one in a passage; "" if none has it."""
    initials = "".join(word[0] for word in _WORD.findall(full))
    if not any(letter.isdigit() for letter in full):
        known = any(index.document_frequency("all", term) for term in terms(initials))
        return initials.upper() if known and _full_name(initials, index).casefold() == full.casefold() else ""
    written = re.compile(rf"\b{re.escape(full)}\s*\(({_SHORT_NAME.pattern})\)", re.IGNORECASE)
    return next((match[1] for text in _defining(full, index) if (match := written.search(text))), "")


def _named_so(before: str, short: str) -> str:
    """The end of a text that a short name means: a name with the same number, or words with its initials."""
    digits = re.sub(r"\D", "", short)
    if digits:
        models = [*_MODEL.finditer(before)]
        is_so = bool(models) and models[-1].end() == len(before) and re.sub(r"\D", "", models[-1][0]) == digits
        return models[-1][0] if is_so else ""
    parts = [*_PART.finditer(before)][-len(short) :]
    return before[parts[0].start() :] if [part[0][0].casefold() for part in parts] == [*short.casefold()] else ""


def _defining(name: str, index: Index) -> list[str]:
    """Texts of the passages that have a name."""
    weights = tuple((term, 1.0) for term in dict.fromkeys(terms(name)) if index.document_frequency("all", term))
    hits = index.keyword_hits(KeywordQuery(weights), DEFINING + 1) if weights else None
    passages = [] if hits is None else index.passages(hits.passages.tolist()).values()
    return ["\n".join((passage.source.title, *passage.place.heading, passage.text)) for passage in passages]


def _passages_with(name: str, index: Index) -> int:
    """An upper bound on the number of passages that have a name."""
    return min((index.document_frequency("all", term) for term in terms(name)), default=0)


def _known_code(letters: str, digits: str, index: Index) -> str:
    """The code with as many zeros as in the documents; unchanged if they have it, or no spelling of it."""
    number = digits.lstrip("0") or "0"
    spellings = dict.fromkeys((digits, *(number.zfill(length) for length in range(1, MOST_DIGITS + 1))))
    known = (spelt for spelt in spellings if index.document_frequency("all", f"{letters}{spelt}".lower()))
    return letters + next(known, digits)


def _language(question: str, index: Index) -> str:
    """The language of the question if the home has German documents, otherwise "en"; "" if it is undecided."""
    if not index.languages.get("de"):
        return "en"
    from qa_core.text.language_detection import language_of

    return language_of(question, is_question=True)


def _may_be_english(question: str, index: Index) -> bool:
    """Whether a question looks English. If all documents are, one that is in doubt does, too: "wat" may be "what"."""
    if looks_english(question) or any(count for code, count in index.languages.items() if code != "en"):
        return looks_english(question)
    from qa_core.text.language_detection import language_of

    return looks_english(question, in_doubt=True) and language_of(question, is_question=True) in {"", "en"}


def _is_known(word: str, languages: tuple[str, ...], index: Index, encoder: Encoder) -> bool:
    if "_" in word:
        return all(_is_known(part, languages, index, encoder) for part in _PART.findall(word))
    if not SHORTEST <= len(word) <= LONGEST_WORD or not word.isalpha():
        return True
    stems = {stem for language in languages for stem in terms(word, language)}
    return (
        not stems
        or any(index.document_frequency("all", stem) for stem in stems)
        or encoder.knows(word)
        or any(encoder.knows(stem) for stem in stems)
        or ("en" in languages and bool(synonyms(word)))
    )


def _in_two(word: str, index: Index) -> str:
    """A word that the documents do not have, as they write it in two parts: "Wi-Fi" for "wifi"; "" if they do not."""
    if not SHORTEST <= len(word) <= LONGEST_WORD or not word.isalpha() or _is_in(index, word):
        return ""
    for at in range(2, len(word) - 1):
        parts = (*terms(word[:at]), *terms(word[at:]))
        if len(parts) == 2 and all(index.document_frequency("all", part) for part in parts):
            hits = index.keyword_hits(KeywordQuery((), phrases=((parts, 1.0, 0),)), 1)
            written = re.compile(rf"\b{word[:at]}[- ]{word[at:]}\b", re.IGNORECASE)
            for passage in index.passages(hits.passages.tolist()).values():
                if match := written.search(_text(passage)):
                    return match[0]
    return ""


def _correction(word: str, index: Index, *, is_english: bool, is_german: bool) -> str:
    """The nearest word of the documents, or "". Parts of an identifier such as MAX_LENGHT are corrected separately."""
    if "_" in word:
        parts = {part: _nearest(part, index, _near) for part in _PART.findall(word) if not _is_in(index, part)}
        return _PART.sub(lambda match: _with_case(parts.get(match[0]) or match[0], match[0]), word)
    if is_german and len(word) >= SHORTEST_GERMAN and (nearest := _nearest(word, index, _spelt_alike)):
        return nearest
    if is_german and len(word) >= SHORTEST_MISTYPED and not is_german_word(word):
        nearest = _nearest(word, index, _mistyped)
        if nearest:
            return nearest
    return _nearest(word, index, _near) if is_english and word.isascii() and not word[0].isupper() else ""


def _is_in(index: Index, word: str) -> bool:
    """Whether the documents have a word, or it is too short to be corrected."""
    return len(word) < SHORTEST or any(index.document_frequency("all", stem) for stem in terms(word))


def _with_case(word: str, like: str) -> str:
    return word.upper() if like.isupper() else word


def _nearest(word: str, index: Index, near: Callable[[str, str], int]) -> str:
    """The nearest word of the passages with its pieces; the first letter, then frequency decides between equals."""
    query, lower = piece_query(formulate(Question(word))), word.lower()
    for searched in SEARCHED:
        passages = index.passages(index.keyword_hits(query, searched).passages.tolist())
        counts = Counter(known for passage in passages.values() for known in words(_text(passage)))
        nearest = [
            (edits, known[0] != lower[0], -count, known)
            for known, count in counts.items()
            if (edits := near(lower, known))
        ]
        if nearest or len(passages) < searched:
            return min(nearest)[3] if nearest else ""
    return ""


def _near(word: str, known: str) -> int:
    """Edits from a misspelt word to a known one; 0 if it is too far.

    A short word has one error, which is neither its first letter nor a letter too many. Another word may have two
    errors, or one in its first letter; two errors of a word that is not long are in its vowels alone. The -s of a
    plural is one error more, however long the word is.
    """
    if edits := _errors(word, known):
        return edits
    edits = _errors(word[:-1], known) if _is_plural_of(word, known) else 0
    return edits and edits + 1


def _is_plural_of(word: str, known: str) -> bool:
    """Whether a word may be the misspelt plural of another one: "emials" of "email"."""
    return len(word) >= SHORT and word.endswith("s") and word[-2] not in "su" and not known.endswith("s")


def _errors(word: str, known: str) -> int:
    """See `_near`, without plurals."""
    short = len(word) < SHORT
    allowed = 1 if short or known[0] != word[0] else 2
    if not known.isalpha() or abs(len(known) - len(word)) > allowed:
        return 0
    if short and (known[0] != word[0] or len(known) < len(word)):
        return 0
    edits = distance(word, known)
    if edits > 1 and len(word) < LONG and _VOWELS.sub("", word) != _VOWELS.sub("", known):
        return 0
    return edits if edits <= allowed else 0


def _spelt_alike(word: str, known: str) -> int:
    """Edits from a misspelt word to a known German one; 0 if more than confused letters and an ending differ.

    An ending is one letter of inflection: "Kürzel" is no misspelt "Kürze".
    """
    if not known.isalpha():
        return 0
    letters, others = _confused(word), _confused(known)
    longer = max(letters, others, key=len)
    is_inflected = letters[:-1] == others or letters == others[:-1]
    if letters != others and not (is_inflected and longer[-1] in _INFLECTIONS):
        return 0
    return distance(word, known)


def _mistyped(word: str, known: str) -> int:
    """Edits from a mistyped German word to a known one; 0 if it is too far, another form, or a function word.

    A word may have one error, a long one two.
    """
    is_form = word.startswith(known) or known.startswith(word) or word[:-1] == known[:-1]
    if is_form or not known.isalpha() or known[0] != word[0] or not terms(known, "de"):
        return 0
    edits = distance(word, known)
    return edits if edits <= (1 if len(word) < LONG_GERMAN else 2) else 0


def _confused(word: str) -> str:
    """A word with one letter for each that people confuse."""
    for spelling, letter in _SPELLINGS:
        word = spelling.sub(letter, word)
    return word


def _text(passage: Passage) -> str:
    return f"{passage.source.title} {' '.join(passage.place.heading)} {passage.text}"


def distance(a: str, b: str) -> int:
    """Edits between two words: insertion, deletion, replacement, swap of neighbours.

    Optimal string alignment (Damerau 1964).
    """
    before: list[int] = []
    above = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            edits = min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                edits = min(edits, before[j - 2] + 1)
            row.append(edits)
        before, above = above, row
    return above[-1]
