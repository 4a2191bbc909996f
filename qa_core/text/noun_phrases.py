"""Noun phrases by rules: runs of content words between function words, verbs and punctuation.

The rules suit hastily typed questions, on which a tagger trained on newspapers errs as often. They favour recall: a
wrong phrase costs one needless query, a missed phrase may cost the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from qa_core.text.analysis import looks_english
from qa_core.text.stop_words import FUNCTION_WORDS, word_set

_BREAKERS = FUNCTION_WORDS | word_set(
    "two three four five six seven eight nine ten hi hello hey dear sir madam regards mr mrs ms dr u im ive id dont "
    "plus common doesnt cant wont isnt didnt whats wich note"
)
_VERBS = (
    "accept add advise affect agree allow appear apply ask assist assume avoid believe belong bother carry check "
    "clear compare complain complete confirm consider contain continue cover create decide decrease define depend "
    "describe determine develop die differ dissolve ease eliminate ensure exist expect explain fail figure fix follow "
    "happen hear help hope identify imagine improve include increase indicate inform install intend invent involve "
    "join keep know last learn let like live locate look lower manage mean mention migrate move narrow need notice "
    "obtain occur offer pay prescribe prevent produce provide purchase raise reach realise realize receive recommend "
    "reduce refer relate remain remember remove replace reply require resolve respond save seem show solve specialise "
    "specialize start stop struggle suffer suggest suppose survive switch talk thank transmit treat try turn "
    "understand wait want warn wash wish wonder worry"
)
_IRREGULAR = word_set(
    "became become bought bring brought buy came come comes coming drove eat eaten eating eats feel feeling feels "
    "felt find finding finds found gave get gets getting give given gives giving go goes going gone got gotten heard "
    "held kept knew known led left made make makes making meant met ought put puts ran read said saw say saying says "
    "see seeing seen sees send sent shown slept spoke spoken take taken takes taking taught tell telling tells think "
    "thinking thought told took tries understood used using went woke write written wrote"
)
_NOUNS_TOO = word_set(
    "answer answers cause causes cure cures drink drinks experience flush leads sleep sleeps sound state stay use uses "
    "visit work works"
)
"""Verbs after a content word or a word of `_BEFORE_VERBS`, nouns elsewhere."""
_BEFORE_VERBS = word_set("to not can could would will should that which what who i we they you he she u not")
_PRONOUNS = word_set("i we they you he she who u")
_BEFORE_PARTICIPLES = word_set("am are was were been")
_GENERIC = word_set(
    "thing things way ways bit kind kinds sort sorts type types question questions info information issue issues "
    "problem problems reason reasons case cases person people part fact idea answer answers name contact date time "
    "times year years month months week weeks day days ago today yesterday tomorrow night hour hours minute minutes "
    "couple example number son daughter wife husband mother father mom dad friend doctor doctors age topic site use "
    "work twice morning point search"
)
_WEAK = word_set(
    "able available aware bad best better big correct dangerous different difficult due easy effective exact fine "
    "good great happy harmful helpful important likely little long longer main necessary new next normal old open "
    "past possible previous ready real right sad safe serious sick similar small sorry suitable sure true unable "
    "useful useless usual various worse worst worth wrong"
)
"""Adjectives that are cut from both ends of a phrase."""
_NOT_ADVERBS = word_set(
    "anomaly assembly belly bully butterfly daily early elderly family fly folly holly homily italy jelly july likely "
    "lily lonely melancholy monopoly monthly multiply rally reply sally supply tally weekly yearly"
)
_TOKEN = re.compile(r"\[[A-Z_]+\]|[^\W_]+(?:[-'’_][^\W_]+|(?<=\d)[.,]\d+)*|\S")
_QUANTITY = re.compile(
    r"\b\d+(?:[.,]\d+)?[ -]?(?:[mμ]?[gl]|mcg|[ckm]?m|kg|ft|lbs?|oz|m?hz|[kmg]b|times?|minutes?|hours?|days?|weeks?"
    r"|months?|years?(?: of age|[ -]old)?)\b|\b\d+(?:[.,]\d+)?%",
    re.IGNORECASE,
)


def _inflected(verb: str) -> tuple[str, ...]:
    """A regular verb with its -s, -ed and -ing forms."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"
    stem = verb[:-1] if verb.endswith("e") else verb
    double = verb[-1] if verb in {"stop", "occur", "refer"} else ""
    hiss = "es" if verb.endswith(("s", "sh", "ch", "x")) else "s"
    return verb, verb + hiss, stem + double + "ed", stem + double + "ing"


_VERB_FORMS = _IRREGULAR | frozenset(form for verb in _VERBS.split() for form in _inflected(verb))


def tokens(text: str) -> list[str]:
    """Words (hyphens, apostrophes and decimal points kept) and single marks of punctuation."""
    matches: list[str] = _TOKEN.findall(text)
    return matches


def noun_phrases(text: str) -> list[str]:
    """Noun phrases of an English text, as written, in order; [] for other languages.

    Repetitions in any case and amounts ("5 mg", "two weeks") are left out.
    """
    if not looks_english(text):
        return []
    runs = map(_trimmed, _runs(_QUANTITY.sub(";", text)))
    return _distinct(" ".join(run) for run in runs if _is_informative(run))


def _distinct(phrases: Iterable[str]) -> list[str]:
    first: dict[str, str] = {}
    for phrase in phrases:
        first.setdefault(phrase.casefold(), phrase)
    return list(first.values())


def _runs(text: str) -> Iterator[list[str]]:
    """Maximal runs of content words."""
    run: list[str] = []
    before = ""
    for word in tokens(text):
        lower = word.lower().replace("’", "'")
        if not _breaks(word, lower, before=before, run=run):
            run.append(word)
        elif run:
            yield run
            run = []
        before = lower
    if run:
        yield run


def _breaks(word: str, lower: str, *, before: str, run: Sequence[str]) -> bool:
    """Whether a token (with its lower-case form and the one before it) ends the run of content words so far."""
    if lower in _BREAKERS or lower in _VERB_FORMS or not word[0].isalnum():
        return True
    if word[0].isdecimal():  # "type 2 diabetes" is one phrase, "0115-0672" is not a phrase
        return not (run and word.isdecimal() and len(word) < 3) and not any(map(str.isalpha, word))
    return _is_contraction(lower) or _is_verb(word, lower, before, run) or _is_adverb(lower)


def _is_contraction(lower: str) -> bool:
    start, mark, end = lower.rpartition("'")
    return bool(mark) and (end in {"t", "m", "re", "ve", "ll", "d"} or start in _BREAKERS)  # "it's", not "dog's"


def _is_verb(word: str, lower: str, before: str, run: Sequence[str]) -> bool:
    if lower in _NOUNS_TOO:
        return bool(run) or before in _BEFORE_VERBS
    if before in _PRONOUNS:
        return word.islower()
    return before in _BEFORE_PARTICIPLES and lower.endswith(("ing", "ed"))


def _is_adverb(lower: str) -> bool:
    return len(lower) > 4 and lower.endswith("ly") and not lower.endswith("aly") and lower not in _NOT_ADVERBS


def _trimmed(run: list[str]) -> list[str]:
    """The run without weak adjectives at either end, participles at the end and numbers at the start."""
    start, end = 0, len(run)
    while end > start and (run[end - 1].lower() in _WEAK or _is_participle(run[end - 1])):
        end -= 1
    while start < end and (run[start].lower() in _WEAK or run[start].isdecimal()):
        start += 1
    return run[start:end]


def _is_participle(word: str) -> bool:
    """Whether a word looks like "used", not like "speed"."""
    return len(word) > 4 and word.endswith("ed") and not word.endswith("eed")


def _is_informative(run: Sequence[str]) -> bool:
    """Whether a run is more than generic words or a stray letter."""
    if all(word.lower() in _GENERIC or word.isdecimal() for word in run):
        return False
    return len(run) > 1 or len(run[0]) > 2 or (len(run[0]) == 2 and run[0].isupper())
