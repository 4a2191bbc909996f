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
from retrievers.german_verbs import with_whole_verbs

MAX_LANGUAGES = 4
"""Languages that a question is analysed in: each adds terms to search."""
COMMON = 0.02
"""Share of the passages from which on a language of the home is searched by questions in another language."""
OTHER_LANGUAGE = 0.5
"""Weight of terms that only the analysis in another language than the question's gives."""

_QUESTION_STOP_WORDS = """
a about advice advise after again against all also am an and any anybody anyone anything are around as ask asking at
away be because been before being below between both but by can cannot cant compare concerned could couldn dear define
describe did didn difference differences do does doesn doing don during each else explain few find finding for found
from further gave general get gets getting give given go goes going gone good got had has hasn have haven having he
hello help her here hers hey hi him his hope how i if im in info information into is isn it its itself ive just kind
knew know known let like list ll look looking lot love madam many may maybe me mean meaning means might mine more most
much must my myself need needed no nor not now of off often on once one only or other our ours out over own people
please possible quite re really regarding said same say see seem she should shouldn show sir so some somebody someone
something sort stand stands still such suggest sure take taken taking tell than thank thanks that the their them then
there these they thing things think this those thought through to told too tried try trying two u under until up upon us
use used using ve very want wanted wants was wasn way we well went were weren what when where whether which while who
whom whose why will wish with without wonder wondering would wouldn yes yet you your yours yourself
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
QUESTION_STOP_STEMS = frozenset(terms(_QUESTION_STOP_WORDS, stop=False)) | frozenset(
    terms(" ".join(STOP_TERMS), stop=False)
)
"""English stems of courtesies and function words, which say nothing about the topic of a question."""


def _plain(question: str) -> str:
    return _THIS_DEVICE.sub(r"\1", _WONT.sub("will not", question))


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

    Args:
        passages: number of passages by language of their analysis. If all are English, the language of a question
            that looks English is not detected.
    """
    if not passages.keys() - {"en"} and looks_english(text):
        return ENGLISH_ONLY
    from qa_core.text.language_detection import language_of

    question = language_of(text, is_question=True)
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
    stems = terms(_plain(text), language)
    stop = _stop_terms(language, question_language or language)
    return [term for term in stems if term not in stop] or stems


def has_content(text: str, languages: SearchLanguages) -> bool:
    """Whether a text has a word that is no stop word of its question: "for how long?" has none."""
    stop = _stop_terms(languages.first, languages.question or languages.first)
    return any(term not in stop for term in terms(_plain(text), languages.first))


def content_words(text: str, languages: SearchLanguages) -> list[str]:
    """The folded words of a question without stop words of its language, or of any analysis if it is undecided."""
    codes = [languages.question] if languages.question else languages.analyses
    stop = frozenset().union(*map(_folded_stop_words, codes))
    return [word for word in split_words(fold(_plain(text))) if word not in stop]


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
    return frozenset(fold(_stop_words(language)).split())


def _stop_words(language: str) -> str:
    """The words around the topic of a question, separated by spaces."""
    return _QUESTION_STOP_WORDS if language == "en" else " ".join(sorted(question_stop_words(language)))


@cache
def _stop_terms(language: str, question_language: str) -> frozenset[str]:
    """The stop words of questions in one language, as terms of an analysis in another."""
    if question_language == "en" == language:
        return QUESTION_STOP_STEMS
    return frozenset(terms(_stop_words(question_language), language, stop=False))
