"""Query formulation: turns one question into several keyword queries and a text to encode (Wang 2018, §7.2.2).

Queries are made from title and body together, from the sentences that ask, from the title, the body and the noun
phrases; each is searched in the titles and in the texts of documents. Pairs of neighbouring words are searched in
titles. Keyword queries contain only content terms, because the words around them ("hello, I would like to know …")
would drown the two that matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from qa_core.text.analysis import character_ngrams, sentences, terms
from qa_core.types import Question
from retrievers.engines.index import Field, KeywordQuery, Phrase
from retrievers.expansion import LikelyAnswers
from retrievers.question_terms import (
    ENGLISH_ONLY,
    SearchLanguages,
    content_terms,
    content_words,
    query_terms,
    whole_verbs,
)

NounPhrases = Callable[[str], Sequence[str]]
Synonyms = Callable[[str], Sequence[str]]

DENSE_WEIGHT = 1.5
"""Weight of a dense list in fusion; it and the weights of keyword queries below were chosen on the same questions."""
FIELDS: tuple[Field, ...] = ("all", "title")
WHOLE, FOCUS, TITLE, BODY, PHRASES, BIGRAMS = 1.0, 0.5, 0.25, 0.25, 0.25, 0.25
MAX_PAIRS = 24  # a phrase costs ten times as much as a term, but titles are short
SYNONYM_WEIGHT = 1.0
GRAMS = 1.0
"""Weight of pieces of words, which are searched if documents are in other languages than English."""
SHORT, SHORT_TITLE = 6, 10
"""Content terms up to which a question, with a body and without, needs no noun phrases and no bigrams.

Bodies tell stories, so their limit is lower. On 1,000 titles of MedQuAD, limits of ten and six terms find the document
equally well (P@1 .976 and .977), and with ten the longer titles take two queries instead of five.
"""

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
    """The queries of one question: keyword queries, the text to encode, and the distinct content terms.

    The content terms are those of the analysis `languages.first`.
    """

    keyword: tuple[WeightedQuery, ...]
    text: str
    content_terms: tuple[str, ...]
    languages: SearchLanguages = ENGLISH_ONLY
    likely: LikelyAnswers | None = None  # whose words expand the keyword queries of the text

    def content_in(self, language: str) -> tuple[str, ...]:
        """The distinct content terms in the analysis of another language."""
        if language == self.languages.first:
            return self.content_terms
        return tuple(dict.fromkeys(content_terms(self.text, language, self.languages.question)))


def formulate(
    question: Question,
    *,
    languages: SearchLanguages = ENGLISH_ONLY,
    noun_phrases: NounPhrases | None = None,
    synonyms: Synonyms | None = None,
    check: Callable[[], object] = lambda: None,
) -> Formulation:
    """Distinct queries for keyword and dense search.

    The weights of the forms were chosen on the development questions of LiveQA-Med, where also encoding the asking
    sentences gained nothing.

    Args:
        languages: of the question and of the documents, see `search_languages`.
        noun_phrases, synonyms: of English questions.
        check: called between the queries, and may raise when there is no more time.
    """
    whole = whole_verbs(question_text(question), languages)
    searched = whole_verbs(question_text(question), languages, keep=True)
    focus = whole_verbs(asking_sentences(question), languages, keep=True)
    if languages.question not in {"", "en"}:
        noun_phrases = synonyms = None
    forms = [("whole", searched, WHOLE), ("focus", focus, FOCUS)]
    if question.body.strip():
        forms += [("title", question.title, TITLE), ("body", question.body, BODY)]
    distinct = tuple(dict.fromkeys(content_terms(whole, languages.first, languages.question)))
    long = len(distinct) > (SHORT if question.body.strip() else SHORT_TITLE)
    if noun_phrases and long:
        forms.append(("noun phrases", " ".join(noun_phrases(whole)), PHRASES))
    keyword: list[WeightedQuery] = []
    for name, text, weight in forms:
        check()
        weighted = _with_synonyms(query_terms(text, languages), text, synonyms)
        keyword += [WeightedQuery(f"{name}:{field}", KeywordQuery(weighted, field), weight) for field in FIELDS]
    if long:
        keyword.append(WeightedQuery("bigrams:title", KeywordQuery((), "title", _pairs(whole, languages)), BIGRAMS))
    if languages.analyses != ("en",):
        keyword.append(WeightedQuery("whole:grams", KeywordQuery(_grams(whole, languages), "grams"), GRAMS))
    return Formulation(tuple(_merged(keyword)), whole, distinct, languages)


def question_text(question: Question) -> str:
    """Title and body as one text; a title that the body begins with is not repeated."""
    title, body = question.title.strip(), question.body.strip()
    if body.casefold().startswith(title.casefold()):
        return body or title
    return f"{title} {body}".strip()


def asking_sentences(question: Question) -> str:
    """The title and the sentences of the body that ask; title and body if none asks."""
    body = question.body
    asking = [body[start:end] for start, end in sentences(body) if asks(body[start:end])]
    return f"{question.title.strip()} {' '.join(asking)}".strip() if asking else question_text(question)


def piece_query(formulation: Formulation) -> KeywordQuery:
    """The pieces of the question's content words."""
    return KeywordQuery(_grams(formulation.text, formulation.languages), "grams")


def _grams(text: str, languages: SearchLanguages) -> tuple[tuple[str, float], ...]:
    """The distinct pieces of the content words: they find compounds by their parts, and parts by their compounds."""
    pieces = character_ngrams(" ".join(content_words(text, languages)))
    return tuple(dict.fromkeys(pieces, 1.0).items())


def _pairs(text: str, languages: SearchLanguages) -> tuple[Phrase, ...]:
    """The first `MAX_PAIRS` distinct pairs of neighbouring content terms."""
    content = content_terms(text, languages.first, languages.question)
    pairs = dict.fromkeys(pair for pair in pairwise(content) if pair[0] != pair[1])
    return tuple((pair, 1.0, 0) for pair in list(pairs)[:MAX_PAIRS])


def asks(sentence: str) -> bool:
    """Whether a sentence is a question."""
    return sentence.endswith("?") or _INTERROGATIVE.match(sentence) is not None


def _with_synonyms(weights: Mapping[str, float], text: str, synonyms: Synonyms | None) -> tuple[tuple[str, float], ...]:
    """Terms with their weights, and one-word synonyms of words with a single sense."""
    if synonyms is None:
        return tuple(weights.items())
    added: list[str] = []
    for word in dict.fromkeys(text.split()):
        if len(stem := terms(word)) == 1 and stem[0] in weights:
            expansions = [terms(synonym) for synonym in synonyms(word)]
            added += [e[0] for e in reversed(expansions) if len(e) == 1]
    return tuple((term, weights.get(term, SYNONYM_WEIGHT)) for term in dict.fromkeys((*reversed(added), *weights)))


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
