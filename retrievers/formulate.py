"""Query formulation: turns one question into several keyword queries and a text to encode (Wang 2018, §7.2.2).

Queries are made from title and body together, from the sentences that ask, from the title, the body and the noun
phrases; each is searched in the titles and in the texts of documents. Pairs of neighbouring words are searched in
titles. Keyword queries contain only content terms, because the words around them ("hello, I would like to know …")
would drown the two that matter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log

from qa_core.text.analysis import STOP_TERMS, sentences, terms
from qa_core.types import Question
from retrievers.engines.index import Field, KeywordQuery, Phrase

NounPhrases = Callable[[str], Sequence[str]]
Synonyms = Callable[[str], Sequence[str]]

DENSE_WEIGHT = 1.5
"""Weight of a dense list in fusion; it and the weights of keyword queries below were chosen on the same questions."""
FIELDS: tuple[Field, ...] = ("all", "title")
WHOLE, FOCUS, TITLE, BODY, PHRASES, BIGRAMS = 1.0, 0.5, 0.25, 0.25, 0.25, 0.25
MAX_PAIRS = 24  # a phrase costs ten times as much as a term, but titles are short
SYNONYM_WEIGHT = 1.0
SHORT, SHORT_TITLE = 6, 10
"""Content terms up to which a question, with a body and without, needs no noun phrases and no bigrams.

Bodies tell stories, so their limit is lower. On 1,000 titles of MedQuAD, limits of ten and six terms find the document
equally well (P@1 .976 and .977), and with ten the longer titles take two queries instead of five.
"""

_QUESTION_STOP_WORDS = """
a about advice advise after again against all also am an and any anybody anyone anything are around as ask asking at
away be because been before being below between both but by can cannot cant concerned could couldn dear did didn do
does doesn doing don during each else few find finding for found from further general get gets getting give go going
good got had has hasn have haven having he hello help her here hers hey hi him his hope how i if im in info information
into is isn it its itself ive just kind know known let like ll look looking lot love madam many may maybe me might mine
more most much must my myself need needed no nor not now of off often on once one only or other our ours out over own
people please possible quite re really regarding said same say see seem she should shouldn sir so some somebody someone
something sort still such suggest sure take taken taking tell than thank thanks that the their them then there these
they thing things think this those thought through to told too tried try trying two u under until up upon us use used
using ve very want wanted wants was wasn way we well went were weren what when where whether which while who whom whose
why will wish with without won wonder wondering would wouldn yes yet you your yours yourself
"""
QUESTION_STOP_STEMS = frozenset(terms(_QUESTION_STOP_WORDS, stop=False)) | frozenset(
    terms(" ".join(STOP_TERMS), stop=False)
)
"""Stems of courtesies and function words, which say nothing about the topic of a question."""

_INTERROGATIVE = re.compile(
    r"(what|which|who|whom|whose|when|where|why|how|is|are|am|can|could|do|does|did|should|will|would|has|have|may|"
    r"might|was|were)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class WeightedQuery:
    """A keyword query with its origin (`form:field`) and its weight in fusion."""

    name: str
    query: KeywordQuery
    weight: float


@dataclass(frozen=True, slots=True)
class Formulation:
    """The queries of one question: keyword queries, the text to encode, and the distinct content terms."""

    keyword: tuple[WeightedQuery, ...]
    text: str
    content_terms: tuple[str, ...]


def formulate(
    question: Question, *, noun_phrases: NounPhrases | None = None, synonyms: Synonyms | None = None
) -> Formulation:
    """Distinct queries for keyword and dense search.

    The weights of the forms were chosen on the development questions of LiveQA-Med, where also encoding the asking
    sentences gained nothing.
    """
    whole = question_text(question)
    focus = asking_sentences(question)
    forms = [("whole", whole, WHOLE), ("focus", focus, FOCUS)]
    if question.body.strip():
        forms += [("title", question.title, TITLE), ("body", question.body, BODY)]
    distinct = tuple(dict.fromkeys(content_terms(whole)))
    long = len(distinct) > (SHORT if question.body.strip() else SHORT_TITLE)
    if noun_phrases and long:
        forms.append(("noun phrases", " ".join(noun_phrases(whole)), PHRASES))
    keyword = [
        WeightedQuery(
            f"{name}:{field}", KeywordQuery(_with_synonyms(content_terms(text), text, synonyms), field), weight
        )
        for name, text, weight in forms
        for field in FIELDS
    ]
    if long:
        keyword.append(WeightedQuery("bigrams:title", KeywordQuery((), "title", _pairs(whole)), BIGRAMS))
    return Formulation(tuple(_merged(keyword)), whole, distinct)


def question_text(question: Question) -> str:
    """Title and body as one text; a title that the body begins with is not repeated."""
    title, body = question.title.strip(), question.body.strip()
    if body.casefold().startswith(title.casefold()):
        return body or title
    return f"{title} {body}".strip()


def asking_sentences(question: Question) -> str:
    """The title and the sentences of the body that ask; title and body if none asks."""
    body = question.body
    asking = [body[start:end] for start, end in sentences(body) if _asks(body[start:end])]
    return f"{question.title.strip()} {' '.join(asking)}".strip() if asking else question_text(question)


def content_terms(text: str) -> list[str]:
    """Index terms without `QUESTION_STOP_STEMS`, in order; all terms if none would remain."""
    stems = terms(text)
    return [term for term in stems if term not in QUESTION_STOP_STEMS] or stems


def _pairs(text: str) -> tuple[Phrase, ...]:
    """The first `MAX_PAIRS` distinct pairs of neighbouring content terms."""
    pairs = dict.fromkeys(pair for pair in pairwise(content_terms(text)) if pair[0] != pair[1])
    return tuple((pair, 1.0, 0) for pair in list(pairs)[:MAX_PAIRS])


def _asks(sentence: str) -> bool:
    return sentence.endswith("?") or _INTERROGATIVE.match(sentence) is not None


def _with_synonyms(stems: Sequence[str], text: str, synonyms: Synonyms | None) -> tuple[tuple[str, float], ...]:
    """Each term with weight 1 + ln(its count), and one-word synonyms of words with a single sense."""
    weights = {term: 1 + log(count) for term, count in Counter(stems).items()}
    if synonyms is None:
        return tuple(weights.items())
    for word in dict.fromkeys(text.split()):
        if len(stem := terms(word)) == 1 and stem[0] in stems:
            expansions = [terms(synonym) for synonym in synonyms(word)]
            weights = dict.fromkeys((e[0] for e in expansions if len(e) == 1), SYNONYM_WEIGHT) | weights
    return tuple(weights.items())


def _merged(queries: Iterable[WeightedQuery]) -> Iterator[WeightedQuery]:
    """Equal queries as the first of them with the sum of their weights; empty queries are dropped."""
    merged: dict[object, WeightedQuery] = {}
    for weighted in queries:
        query = weighted.query
        key = (query.field, frozenset(query.terms), query.phrases)
        if key in merged:
            merged[key] = replace(merged[key], weight=merged[key].weight + weighted.weight)
        elif query.terms or query.phrases:
            merged[key] = weighted
    return iter(merged.values())
