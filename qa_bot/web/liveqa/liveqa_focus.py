"""What a question is about, for people who read many of them: foci as spans of its text, and one sentence for it all.

Both are asked for by TREC LiveQA beside the answer. A focus is a noun phrase of the kind that query formulation asks
for; where there is none (other languages, "how to behave?"), a word that carries information.
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
from retrievers.formulate import QUESTION_STOP_STEMS

Rarity = Callable[[str], float]
"""How much an index term says, never negative; usually its inverse document frequency."""
Weights = Mapping[str, float]
"""What each term of a question that carries information counts, by `weigh`."""

FOCI = 5
SUMMARY = 140
"""Longest summary, in characters."""
ENOUGH = 2
TITLE = 0.75
"""What the title has ahead of a sentence of the body, in the unit of `_asking`: it was written to say it all."""

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


def alike(_: str) -> float:
    """Every term says as much as any other."""
    return 1.0


def analyse(question: Question, *, rarity: Rarity = alike) -> Analysis:
    """Foci of title and body, and the summary; some 2 ms for a question of 500 characters."""
    weights = weigh(question, rarity=rarity)
    return Analysis(foci(question.title, weights), foci(question.body, weights), summary(question, weights))


def weigh(question: Question, *, rarity: Rarity = alike) -> Weights:
    """rarity(t) · (1 + ln(how often t stands in title and body)) for each term that carries information."""
    counts = Counter(terms(f"{question.title}\n{question.body}"))
    return {term: rarity(term) * (1 + log(count)) for term, count in counts.items() if term not in QUESTION_STOP_STEMS}


def foci(text: str, weights: Weights, *, most: int = FOCI) -> tuple[Span, ...]:
    """Spans of the `most` phrases that weigh most, in order, disjoint; each at its first place in the text."""
    phrases = noun_phrases(text)
    spans = _located(text, phrases) if phrases else _words(text)
    told = {span: _told(text[slice(*span)], weights) for span in spans}
    weightiest = sorted((span for span, weight in told.items() if weight), key=lambda span: -told[span])
    return tuple(sorted(weightiest[:most]))


def summary(question: Question, weights: Weights, *, limit: int = SUMMARY) -> str:
    """The sentence that asks most, on one line, cut at a word where it is longer than `limit`.

    The title counts as one sentence. Sentences are compared by how plainly they ask (a sentence of fewer than
    `ENOUGH` terms that carry information asks about what stands elsewhere, and counts for less), plus their share of
    all weight, less what would have to be cut off.
    """
    body = question.body
    found = [question.title, *(body[start:end] for start, end in sentences(body))]
    whole = sum(weights.values()) or 1.0

    def worth(place: int) -> float:
        sentence = found[place]
        asking = _asking(sentence) + (TITLE if place == 0 else 0.0)
        complete = min(1.0, len(weights.keys() & set(terms(sentence))) / ENOUGH)
        return asking * complete + _told(sentence, weights) / whole - max(0.0, len(sentence) / limit - 1)

    best = max((place for place, text in enumerate(found) if text.strip()), key=worth, default=0)
    return shortened(" ".join(found[best].split()), limit)


def shortened(text: str, limit: int) -> str:
    """The text, or as many of its words as leave room for "…" within `limit` characters (at least 1)."""
    if len(text) <= limit:
        return text
    head = text[:limit]  # one more than there is room for: the word before a blank is whole
    whole = head.rpartition(" ")[0] if " " in head[limit // 2 :] else head[:-1]
    return whole.rstrip(" ,;:-–(") + "…"


def _asking(sentence: str) -> float:
    """How plainly a sentence asks, from 0 to 2."""
    mark = not _QUESTION_MARKS.isdisjoint(sentence[len(sentence.rstrip(_ENDS)) :])
    opens = _OPENING.match(sentence.lstrip()) is not None
    return mark + 0.5 * opens + 0.5 * (opens or _WISH.search(sentence) is not None)


def _told(text: str, weights: Weights) -> float:
    """Weight of the distinct terms of a text, added up."""
    return sum(weights.get(term, 0.0) for term in set(terms(text)))


def _located(text: str, phrases: Iterable[str]) -> Iterator[Span]:
    """Where phrases that follow each other in the text stand, whatever space lies between their words."""
    places = list(_places(text))
    written = [text[start:end] for start, end in places]
    after = 0
    for phrase in phrases:
        wanted = phrase.split()
        found = (at for at in range(after, len(written)) if written[at : at + len(wanted)] == wanted)
        if (first := next(found, None)) is not None:
            after = first + len(wanted)
            yield places[first][0], places[after - 1][1]


def _words(text: str) -> Iterator[Span]:
    """Each word, at its first place; a whole clause in scripts without spaces."""
    first: dict[str, Span] = {}
    for found in _UNBROKEN.finditer(text):
        first.setdefault(found[0].casefold(), found.span())
    yield from first.values()


def _places(text: str) -> Iterator[Span]:
    """The span of each token; tokens leave out nothing but space."""
    after = 0
    for token in tokens(text):
        start = text.index(token, after)
        after = start + len(token)
        yield start, after
