"""The index terms of a question in each language that the searched documents are in.

A document is analysed in its language, so a question is analysed in its own and in those of the documents: the German
analysis of "Kubernetes-Regeln" finds German documents, the English one English documents. Words that say nothing about
the topic are left out by the list of the question's language in every analysis, since "die" is an article in German
and a verb in English.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from math import log
from typing import NamedTuple

from qa_core.text.analysis import STOP_TERMS, fold, looks_english, terms
from qa_core.text.analysis import words as split_words
from qa_core.text.function_words import question_stop_words
from qa_core.text.languages import analysis_language
from retrievers.german.verbs import with_whole_verbs

MAX_LANGUAGES = 4
"""Languages that a question is analysed in: each adds terms to search."""
COMMON = 0.02
"""Share of the passages from which on a language of the home is searched by questions in another language."""
OTHER_LANGUAGE = 0.5
"""Weight of terms that only the analysis in another language than the question's gives."""

_QUESTION_STOP_WORDS = """
a about advice advise advised advises advising after again against all also am an and any anybody anyone anything are
arent around as ask asked asking asks at away be because been before being below between both but by came can cannot
cant come comes coming compare compared compares comparing concerned concerning concerns could couldn dear define
defined defines describe describes did didn didnt differ difference differences different differing differs do does
doesn doesnt doing don dont during each else ever everybody everyone everything explain explained explaining explains
few find finding finds for found from further gave general get gets getting give given gives go goes going gone good got
had has hasn hasnt have haven havent having he hello help helped helping helps her here hers hey hi him his hope hoped
hopes hoping how hows i if im in info information informed into is isn isnt it its itself ive just kind kinds knew know
knowing known knows less let lets like liked likely likes list little ll look looked looking looks lot love madam many
may maybe me mean meaning means might mine more most much must my myself need needed needing needs never no nobody none
nor not nothing now of off often on once one ones only or other others our ours out over own people per please possible
quite re really regard regarding regards said same say saying says see seem seemed seeming seems she should shouldn
shouldnt show showed showing shows sir so some somebody someone something sort sorts stand standing stands still such
suggest suggested suggesting suggests sure take taken takes taking tell telling tells than thank thanked thanking thanks
that thats the their them then there these they theyre thing things think thinking thinks this those thought through to
told too tried tries try trying two u under until up upon us use used uses using ve very want wanted wanting wants was
wasn wasnt way we well went were weren werent what whats when where wheres whether which while who whom whos whose why
will wish wished wishes wishing with without wonder wondered wondering wonders wont would wouldn wouldnt yes yet you
your youre yours yourself
"""
_WONT = re.compile(r"\bwon['’]t\b", re.IGNORECASE)
"""Words are split at apostrophes, and "won" means something."""
_THIS_DEVICE = re.compile(
    r"\b(the|this|my|our|your|das|die|dieses|diese|mein|meine|unser|unsere) "
    r"(?:device|machine|appliance|unit|gerät|maschine)"
    r"(?=\W*$|[.,;:?!]|\s(?:is|does|do|has|have|can|will|with|to|from|in|on|off|for|at|by|and|or|if|when|while|after|before"
    r"|ist|hat|kann|wird|mit|zu|zum|von|in|im|an|auf|aus|ab|ein|bei|beim|für|und|oder|wenn|nach|vor|nicht|sich|selbst)\b)",
    re.IGNORECASE,
)
"""What a manual is about as a whole: its steps for "how do I descale the machine" need not say "machine"."""
QUESTION_STOP_WORDS = frozenset(fold(_QUESTION_STOP_WORDS).split()) | frozenset(map(fold, STOP_TERMS))
"""English courtesies and function words, folded, with their inflections. They say nothing about the topic of a
question; other words with their stems may: "wellness", "goods", "mining"."""
_TIME_OF_DAY = re.compile(r"\b(?:um|ab|bis) (?:wie ?viel|welche[rn]?) Uhr\b", re.IGNORECASE)
_NAME_IN_CAPITALS = re.compile(r"\b(?:US|WHO)\b")
"""Names that are stop words in small letters: "does US law apply", but "can you tell us"."""


def _plain(question: str) -> str:
    return _THIS_DEVICE.sub(r"\1", _WONT.sub("will not", _TIME_OF_DAY.sub("wann", question)))


class SearchLanguages(NamedTuple):
    """The language of a question ("" if undecided), and those of the analyses that it is searched with."""

    question: str = ""
    analyses: tuple[str, ...] = ("en",)

    @property
    def first(self) -> str:
        """The analysis that the question's content is counted in."""
        return self.question if self.question in self.analyses else self.analyses[0]


ENGLISH_ONLY = SearchLanguages()


def search_languages(text: str, passages: Mapping[str, int]) -> SearchLanguages:
    """The analyses for a question: its own language first if any document has it, then the common ones.

    Where words leave open which language it is, it is one that documents have.

    Args:
        passages: number of passages by language of their analysis. If all are English, the language of a question
            that looks English is not detected.
    """
    if not passages.keys() - {"en"} and looks_english(text):
        return ENGLISH_ONLY
    from qa_core.text.language_detection import language_among, language_of

    question = language_of(text, is_question=True) or language_among(text, {*passages, "en"})
    analysis = analysis_language(question) if question else ""
    least = COMMON * sum(passages.values())
    common = [code for code, n in sorted(passages.items(), key=lambda item: -item[1]) if n >= least or code == "en"]
    held = [analysis] if passages.get(analysis) else []
    return SearchLanguages(analysis, tuple(dict.fromkeys(held + common))[:MAX_LANGUAGES])


def whole_verbs(text: str, languages: SearchLanguages, *, keep: bool = False) -> str:
    """A question with the separated prefixes of its German verbs in front of them; see `with_whole_verbs`."""
    return with_whole_verbs(text, keep=keep) if languages.question == "de" else text


def content_terms(text: str, language: str = "en", question_language: str = "") -> list[str]:
    """Index terms in a language without the question's stop words, in order; all terms if none would remain.

    Args:
        language: of the analysis.
        question_language: of the text, whose stop words are left out; by default `language`.
    """
    return _content(text, language, question_language or language) or terms(_plain(text), language)


def has_content(text: str, languages: SearchLanguages) -> bool:
    """Whether a text has a word that is no stop word of its question: "for how long?" has none."""
    return bool(_content(text, languages.first, languages.question or languages.first))


def _content(text: str, language: str, question_language: str) -> list[str]:
    """Index terms without stop words, which are words in an English question, and stems in others."""
    plain = _plain(text)
    if question_language == "en":
        return terms(plain, language, leave_out=_english_stop_words(plain))
    stop = _stop_terms(language, question_language)
    return [term for term in terms(plain, language) if term not in stop]


def _english_stop_words(text: str) -> frozenset[str]:
    """The stop words of an English question without the names in it."""
    if text.isupper() or not _NAME_IN_CAPITALS.search(text):
        return QUESTION_STOP_WORDS
    return QUESTION_STOP_WORDS.difference(map(fold, _NAME_IN_CAPITALS.findall(text)))


def content_words(text: str, languages: SearchLanguages) -> list[str]:
    """The folded words of a question without stop words of its language, or of any analysis if it is undecided."""
    codes = [languages.question] if languages.question else languages.analyses
    plain = _plain(text)
    stop = frozenset().union(*(_english_stop_words(plain) if c == "en" else _folded_stop_words(c) for c in codes))
    return [word for word in split_words(fold(plain)) if word not in stop]


def query_terms(text: str, languages: SearchLanguages = ENGLISH_ONLY) -> dict[str, float]:
    """Distinct terms of a question in all its analyses, with weights.

    A term weighs 1 + ln(its count). Terms that only an analysis in another language than the question's gives have
    half of that; if the language of the question is undecided or not searched, all analyses count alike.
    """
    weights: dict[str, float] = {}
    for language in languages.analyses:
        factor = OTHER_LANGUAGE if languages.question in languages.analyses and language != languages.question else 1.0
        counts = Counter(content_terms(text, language, languages.question))
        for term, count in counts.items():
            weights[term] = max(weights.get(term, 0.0), factor * (1 + log(count)))
    return weights


@cache
def _folded_stop_words(language: str) -> frozenset[str]:
    return frozenset(map(fold, question_stop_words(language)))


@cache
def _stop_terms(language: str, question_language: str) -> frozenset[str]:
    """The stop words of questions in one language, as terms of an analysis in another."""
    return frozenset(terms(" ".join(sorted(question_stop_words(question_language))), language, stop=False))
