"""Foci of a question, as spans of its text, and its summary in one sentence: TREC LiveQA wants both with the answer.

A focus is a noun phrase as in query formulation; if there is none (other languages, "how to behave?"), an informative
word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import log

from qa_core.text.analysis import sentences, terms
from qa_core.text.noun_phrases import noun_phrases, tokens
from qa_core.types import Question, Span
from retrievers.question_terms import QUESTION_STOP_WORDS

Rarity = Callable[[str], float]
"""Informativeness of an index term, never negative; usually its inverse document frequency."""
Weights = Mapping[str, float]
"""Weight of each informative term of a question, from `weigh`."""

FOCI = 5
SUMMARY = 140
"""Longest summary, in characters."""
ENOUGH = 2
TITLE = 0.75
"""Bonus of the title over sentences of the body, in units of `_asking`, because a title usually states the question."""

_OPENING = re.compile(
    r"(?:(?:and|so|but|also|then|ok|hi|hello|please|my question is|i was wondering|i wonder)\b[\s,:]*)*"
    r"(?:what|which|who|whom|whose|when|where|why|how|is|are|am|can|could|do|does|did|should|will|would|has|have|may|"
    r"might|was|were)\b",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"\b(?:wonder|want to know|like to know|need to know|looking for|(?:need|want) (?:help|information|advice)|"
    r"(?:tell|advise|explain|help) (?:me|us)|question is|"
    r"how (?:to|do|can|long|much|many)|what (?:is|are|can|should))\b",
    re.IGNORECASE,
)
_UNBROKEN = re.compile(r"[^\s!-&(-,./:-@\[-`{-~¡«»¿“”„‘…،؛؟।、。，；：！？（）「」『』]+")
_QUESTION_MARKS = frozenset("?？؟՞፧")
_ENDS = "?？؟՞፧.!…\"'”’»)] \t\n"


@dataclass(frozen=True, slots=True)
class Analysis:
    """Foci in the order of the text, and a summary of up to `SUMMARY` characters."""

    title_foci: tuple[Span, ...]
    body_foci: tuple[Span, ...]
    summary: str


def uniform(_: str) -> float:
    """The same rarity for every term."""
    return 1.0


def analyse(question: Question, *, rarity: Rarity = uniform) -> Analysis:
    """Foci of title and body, and the summary; about 2 ms for a question of 500 characters."""
    weights = weigh(question, rarity=rarity)
    return Analysis(foci(question.title, weights), foci(question.body, weights), summary(question, weights))


def weigh(question: Question, *, rarity: Rarity = uniform) -> Weights:
    """rarity(t) · (1 + ln(frequency of t in title and body)) for each informative term t."""
    counts = Counter(terms(f"{question.title}\n{question.body}", leave_out=QUESTION_STOP_WORDS))
    return {term: rarity(term) * (1 + log(count)) for term, count in counts.items()}


def foci(text: str, weights: Weights, *, most: int = FOCI) -> tuple[Span, ...]:
    """Disjoint spans of the `most` heaviest phrases, each at its first occurrence, in the order of the text."""
    phrases = noun_phrases(text)
    spans = _located(text, phrases) if phrases else _words(text)
    weight_of = {span: _weight(text[slice(*span)], weights) for span in spans}
    heaviest = sorted((span for span, weight in weight_of.items() if weight), key=lambda span: -weight_of[span])
    return tuple(sorted(heaviest[:most]))


def summary(question: Question, weights: Weights, *, limit: int = SUMMARY) -> str:
    """The best question sentence on one line, cut at a word if it is longer than `limit`.

    The title counts as one sentence. The score of a sentence is how clearly it asks (less if it has fewer than
    `ENOUGH` informative terms, because it then refers to other sentences), plus its share of all weight, minus the
    share that would be cut off.
    """
    body = question.body
    candidates = [question.title, *(body[start:end] for start, end in sentences(body))]
    total = sum(weights.values()) or 1.0

    def score(index: int) -> float:
        sentence = candidates[index]
        asking = _asking(sentence) + (TITLE if index == 0 else 0.0)
        complete = min(1.0, len(weights.keys() & set(terms(sentence))) / ENOUGH)
        return asking * complete + _weight(sentence, weights) / total - max(0.0, len(sentence) / limit - 1)

    best = max((index for index, text in enumerate(candidates) if text.strip()), key=score, default=0)
    return shortened(" ".join(candidates[best].split()), limit)


def shortened(text: str, limit: int) -> str:
    """The text, or its first words followed by "…" within `limit` characters (at least 1)."""
    if len(text) <= limit:
        return text
    head = text[:limit]  # one character more than fits, so that a blank there keeps the last word
    whole = head.rpartition(" ")[0] if " " in head[limit // 2 :] else head[:-1]
    return whole.rstrip(" ,;:-–(") + "…"


def _asking(sentence: str) -> float:
    """How clearly a sentence asks, from 0 to 2."""
    mark = not _QUESTION_MARKS.isdisjoint(sentence[len(sentence.rstrip(_ENDS)) :])
    opens = _OPENING.match(sentence.lstrip()) is not None
    return mark + 0.5 * opens + 0.5 * (opens or _WISH.search(sentence) is not None)


def _weight(text: str, weights: Weights) -> float:
    """Sum of the weights of a text's distinct terms."""
    return sum(weights.get(term, 0.0) for term in set(terms(text)))


def _located(text: str, phrases: Iterable[str]) -> Iterator[Span]:
    """Spans of phrases in the order of the text, with any space between their words."""
    spans = list(_token_spans(text))
    words = [text[start:end] for start, end in spans]
    after = 0
    for phrase in phrases:
        parts = phrase.split()
        matches = (index for index in range(after, len(words)) if words[index : index + len(parts)] == parts)
        if (first := next(matches, None)) is not None:
            after = first + len(parts)
            yield spans[first][0], spans[after - 1][1]


def _words(text: str) -> Iterator[Span]:
    """Spans of distinct words at their first occurrence; of clauses in scripts without spaces."""
    first: dict[str, Span] = {}
    for match in _UNBROKEN.finditer(text):
        first.setdefault(match[0].casefold(), match.span())
    yield from first.values()


def _token_spans(text: str) -> Iterator[Span]:
    """The span of each token; tokens cover everything but space."""
    after = 0
    for token in tokens(text):
        start = text.index(token, after)
        after = start + len(token)
        yield start, after
