"""Query formulation: one question becomes several queries (thesis, section 7.2.2).

Title and body together, the part that asks, title, body, and the noun phrases are asked side by side, of the title and
of the text of documents; pairs of neighbouring words are asked of the title. Keyword queries keep only the words that
carry information: what people wrap a question in ("hello, I would like to know …") would otherwise drown the two words
that matter.
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
"""Weight of a dense list beside the keyword queries, whose weights are below: chosen on the same questions."""
FIELDS: tuple[Field, ...] = ("all", "title")
WHOLE, FOCUS, TITLE, BODY, PHRASES, BIGRAMS = 1.0, 0.5, 0.25, 0.25, 0.25, 0.25
MAX_PAIRS = 24  # a phrase costs ten times what a term does; titles are short, so that it is little all the same
SYNONYM = 1.0
SHORT, SHORT_TITLE = 6, 10
"""Terms that carry information; a question of no more, with a body and without, is its own shortened query.

A body is where people tell a story. Of 1,000 titles of MedQuAD as many find their document with ten as with six (P@1
.976 and .977), and the longer ones ask two queries in place of five.
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
"""Stems of words that people wrap a question in; they say nothing about what is asked."""

_INTERROGATIVE = re.compile(
    r"(what|which|who|whom|whose|when|where|why|how|is|are|am|can|could|do|does|did|should|will|would|has|have|may|"
    r"might|was|were)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class WeightedQuery:
    """A keyword query, what it was made from, and its weight in fusion."""

    name: str
    query: KeywordQuery
    weight: float


@dataclass(frozen=True, slots=True)
class Formulation:
    """Everything that is asked for one question: keyword queries, the text to encode, and the distinct terms of the
    question that carry information."""

    keyword: tuple[WeightedQuery, ...]
    text: str
    content_terms: tuple[str, ...]


def formulate(
    question: Question, *, noun_phrases: NounPhrases | None = None, synonyms: Synonyms | None = None
) -> Formulation:
    """Queries for both engines, none twice.

    The weights of the forms were chosen on the development questions of LiveQA-Med; encoding the asking part beside the
    whole brought nothing there.
    """
    whole = question_text(question)
    focus = asking_sentences(question)
    forms = [("whole", whole, WHOLE), ("focus", focus, FOCUS)]
    if question.body.strip():
        forms += [("title", question.title, TITLE), ("body", question.body, BODY)]
    carrying = tuple(dict.fromkeys(content_terms(whole)))
    long = len(carrying) > (SHORT if question.body.strip() else SHORT_TITLE)
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
    return Formulation(tuple(_distinct(keyword)), whole, carrying)


def question_text(question: Question) -> str:
    """Title and body as one text; a body that begins with the title is not told twice."""
    title, body = question.title.strip(), question.body.strip()
    if body.casefold().startswith(title.casefold()):
        return body or title
    return f"{title} {body}".strip()


def asking_sentences(question: Question) -> str:
    """The title with the sentences of the body that ask; title and body where none does."""
    body = question.body
    asking = [body[start:end] for start, end in sentences(body) if _asks(body[start:end])]
    return f"{question.title.strip()} {' '.join(asking)}".strip() if asking else question_text(question)


def content_terms(text: str) -> list[str]:
    """Index terms that carry information, in order; every term where nothing else is left."""
    found = terms(text)
    return [term for term in found if term not in QUESTION_STOP_STEMS] or found


def _pairs(text: str) -> tuple[Phrase, ...]:
    """Neighbouring terms that carry information, side by side, the first `MAX_PAIRS` distinct ones."""
    pairs = dict.fromkeys(pair for pair in pairwise(content_terms(text)) if pair[0] != pair[1])
    return tuple((pair, 1.0, 0) for pair in list(pairs)[:MAX_PAIRS])


def _asks(sentence: str) -> bool:
    return sentence.endswith("?") or _INTERROGATIVE.match(sentence) is not None


def _with_synonyms(found: Sequence[str], text: str, synonyms: Synonyms | None) -> tuple[tuple[str, float], ...]:
    """Each term with weight 1 + ln(how often it is asked), and one-word synonyms of words with a single sense."""
    weights = {term: 1 + log(count) for term, count in Counter(found).items()}
    if synonyms is None:
        return tuple(weights.items())
    for word in dict.fromkeys(text.split()):
        if len(stem := terms(word)) == 1 and stem[0] in found:
            expansions = [terms(other) for other in synonyms(word)]
            weights = dict.fromkeys((each[0] for each in expansions if len(each) == 1), SYNONYM) | weights
    return tuple(weights.items())


def _distinct(queries: Iterable[WeightedQuery]) -> Iterator[WeightedQuery]:
    """The first of those that ask the same, with the weights of all; what asks nothing goes."""
    kept: dict[object, WeightedQuery] = {}
    for each in queries:
        key = (each.query.field, frozenset(each.query.terms), each.query.phrases)
        before = kept.get(key)
        kept[key] = replace(before, weight=before.weight + each.weight) if before else each
    return (each for each in kept.values() if each.query.terms or each.query.phrases)
