"""Keyword features of a pair: BM25, overlaps, lengths, and whether the answer has the expected kind of word.

    keywords = Keywords.of(pool.answers)
    keywords.features([("who wrote it", "it was written by Ann")])  # (1, F), columns as in FEATURES

BM25 is the keyword baseline of Wang (2018, §6.3.2 and §6.3.3). A feature that is undefined for a pair is NaN, which
gradient boosting treats as missing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from qa_core.networks.checkpoints import tensor_text, text_tensor
from qa_core.text.analysis import STOP_TERMS, terms, words
from qa_core.types import FloatArray
from rankers.neural import TextPair

Encode = Callable[[Sequence[str]], FloatArray]
"""Texts to unit vectors (N, D)."""

K1, B = 1.2, 0.75
MOST_CHARACTERS = 20_000
"""Characters of a text that are read, about 3,000 words."""


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


ASKING = _word_set(
    "what which who whom whose when where why how did does do has have had were been being am can could would should "
    "may might about from he she his her its i you we me my your our us him them there's it's what's who's"
)
"""Words of questions that are ignored like stop words, because they rarely make an answer right."""

FEATURES = (
    "bm25",
    "overlap",  # share of the words of the question
    "overlap_idf",  # the same, weighted by idf
    "overlap_stems",
    "jaccard",
    "pairs",  # share of the pairs of neighbouring words of the question
    "rarest_shared",  # idf
    "rarest_missing",  # idf
    "density",  # shared words per word of the span around them
    "question_words",
    "answer_words",
    "numbers_shared",  # share of the numbers of the question
    "names_shared",  # share of the capitalised words of the question
    "numbers_new",
    "dates_new",
    "names_new",
    "asked",  # kind of question, a number
    "expected",  # whether the answer has a new word of the expected kind
)
COSINE = "cosine"

_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        (
            "number",
            r"\bhow (?:many|much|long|old|far|tall|big|large|fast|high|deep|often|hot|cold|heavy|wide)\b"
            r"|\bwhat (?:is|was|are|were) the (?:\w+ ){0,2}"
            r"(?:population|number|percentage|percent|cost|price|speed|height|length|age|distance|rate|temperature)\b"
            r"|\bwhat (?:number|percent|percentage|age|size|amount)\b",
        ),
        ("date", r"\bwhen\b|\b(?:what|which) (?:\w+ )?(?:year|date|day|month|century|decade|time)\b"),
        (
            "place",
            r"\bwhere\b|\b(?:what|which) (?:\w+ )?"
            r"(?:country|city|state|town|place|county|continent|river|island|region|location|province|nation)\b",
        ),
        ("person", r"\bwho(?:se|m|'s)?\b|\b(?:what|which) (?:\w+ )?(?:person|man|woman|president|author|actor)\b"),
        ("reason", r"\bwhy\b"),
        ("manner", r"\bhow\b"),
        ("thing", r"\b(?:what|which)\b"),
    )
)
KINDS = tuple(name for name, _ in _KINDS)

_DATES = _word_set(
    "january february march april june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday yesterday today century"
)  # not "may", which is more often a verb
_NUMBERS = _word_set(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen"
)
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_LEFT_OUT = STOP_TERMS | ASKING
_NAME = re.compile(r"(?<=[\w,;:)\"'’”] )[A-Z][\w'’]*")  # capitalised within a sentence


class AnalysedText:
    """A text, analysed once for all its pairs; what only one side needs is computed on demand."""

    def __init__(self, text: str) -> None:
        self.text = text[:MOST_CHARACTERS]
        self.words = words(self.text)
        self.content = [word for word in self.words if word not in _LEFT_OUT]
        self.counts: Mapping[str, int] = Counter(self.content)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(terms(self.text)) - ASKING

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(word for word in self.counts if word[0].isdigit() or word in _NUMBERS)

    @cached_property
    def dates(self) -> frozenset[str]:
        return frozenset(word for word in self.counts if word in _DATES or _YEAR.fullmatch(word))

    @cached_property
    def names(self) -> frozenset[str]:
        """Case-folded words that are capitalised within a sentence."""
        return frozenset(part for name in _NAME.findall(self.text) for part in words(name))

    @cached_property
    def kind(self) -> int:
        """Index in KINDS of the first kind that matches the question, or −1."""
        opening = self.text[:500].lower()
        return next((i for i, (_, pattern) in enumerate(_KINDS) if pattern.search(opening)), -1)


@dataclass(frozen=True, slots=True, eq=False)
class Keywords:
    """Collection statistics of BM25, and the keyword features that use them."""

    counts: Mapping[str, int]  # answers that contain a word
    answers: int  # distinct answers
    mean_length: float  # in content words

    @classmethod
    def of(cls, answers: Iterable[str]) -> Self:
        """Statistics of the distinct answers; without answers all words are equally rare."""
        counts: Counter[str] = Counter()
        total = number = 0
        for answer in dict.fromkeys(answers):
            content = AnalysedText(answer).content
            counts.update(set(content))
            total += len(content)
            number += 1
        return cls(counts, number, total / max(1, number))

    @classmethod
    def unpacked(cls, weights: Mapping[str, NDArray[Any]], answers: int, mean_length: float, source: Path) -> Self:
        """The inverse of `packed`; raises ValueError if words and counts differ in number."""
        words = [word for word in tensor_text(weights.get("keywords"), source).split("\n") if word]
        counts = weights.get("counts", np.zeros(0))
        if len(words) != len(counts):
            raise ValueError(f"{source}: Expected a count for each of {len(words)} keywords, but got {len(counts)}.")
        return cls(dict(zip(words, counts.tolist(), strict=True)), answers, mean_length)

    def packed(self) -> dict[str, NDArray[Any]]:
        """Words and counts as tensors."""
        counts = np.array([*self.counts.values()], dtype=np.int64)
        return {"keywords": text_tensor("\n".join(self.counts)), "counts": counts}

    def idf(self, word: str) -> float:
        """`ln(1 + (N − n + 0.5) / (n + 0.5))`, positive for every word."""
        n = self.counts.get(word, 0)
        return math.log(1 + (self.answers - n + 0.5) / (n + 0.5))

    def bm25(self, question: AnalysedText, answer: AnalysedText) -> float:
        """`Σ idf(w) · f(k1 + 1) / (f + k1(1 − b + b · |a| / avg))` over the distinct words on both sides."""
        norm = K1 * (1 - B + B * len(answer.content) / (self.mean_length or 1.0))
        shared = ((word, answer.counts[word]) for word in question.counts if word in answer.counts)
        return math.fsum(self.idf(word) * count * (K1 + 1) / (count + norm) for word, count in shared)

    def features(self, pairs: Sequence[TextPair], *, encode: Encode | None = None) -> FloatArray:
        """(N, F), columns as in FEATURES; `encode` adds the cosine of the two texts as the last column."""
        texts = _analysed(pairs)
        rows = [self._row(texts[question], texts[answer]) for question, answer in pairs]
        table = np.array(rows, dtype=np.float32).reshape(len(pairs), len(FEATURES))
        return table if encode is None else np.hstack([table, cosines(pairs, encode)[:, None]])

    def score(self, pairs: Sequence[TextPair]) -> FloatArray:
        """BM25 (N,) of pairs."""
        texts = _analysed(pairs)
        return np.array([self.bm25(texts[q], texts[a]) for q, a in pairs], dtype=np.float32)

    def _row(self, question: AnalysedText, answer: AnalysedText) -> list[float]:
        query = list(question.counts)
        shared = [word for word in query if word in answer.counts]
        idf = {word: self.idf(word) for word in query}
        union = len(question.counts.keys() | answer.counts.keys())
        numbers, dates, names = (
            len(new)
            for new in (
                answer.numbers - question.numbers,
                answer.dates - question.dates,
                answer.names - question.names - question.counts.keys(),
            )
        )
        return [
            self.bm25(question, answer),
            _share(len(shared), len(query)),
            _share(math.fsum(idf[word] for word in shared), math.fsum(idf.values())),
            _share(len(question.stems & answer.stems), len(question.stems)),
            _share(len(shared), union),
            _neighbours(question.content, answer.content),
            max((idf[word] for word in shared), default=0.0),
            max((idf[word] for word in query if word not in answer.counts), default=0.0),
            _density(shared, answer.content),
            len(question.words),
            len(answer.words),
            _share(len(question.numbers & answer.numbers), len(question.numbers)),
            _share(sum(name in answer.counts for name in question.names), len(question.names)),
            numbers,
            dates,
            names,
            question.kind,
            _expected(question.kind, numbers, dates, names),
        ]


def cosines(pairs: Sequence[TextPair], encode: Encode) -> FloatArray:
    """Cosines (N,) of questions and answers, each text encoded once."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    row_of = {text: row for row, text in enumerate(texts)}
    vectors = encode(texts) if texts else np.zeros((0, 1), dtype=np.float32)
    left, right = ([row_of[pair[side]] for pair in pairs] for side in (0, 1))
    products: FloatArray = np.einsum("nd,nd->n", vectors[left], vectors[right]).astype(np.float32)
    return products


def _analysed(pairs: Sequence[TextPair]) -> dict[str, AnalysedText]:
    return {text: AnalysedText(text) for text in dict.fromkeys(text for pair in pairs for text in pair)}


def _expected(kind: int, numbers: int, dates: int, names: int) -> float:
    """1 or 0; NaN if the kind of question expects no kind of word."""
    count = {"number": numbers, "date": dates, "place": names, "person": names}.get(KINDS[kind] if kind >= 0 else "")
    return math.nan if count is None else float(count > 0)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _neighbours(question: Sequence[str], answer: Sequence[str]) -> float:
    pairs = set(pairwise(question))
    return _share(len(pairs & set(pairwise(answer))), len(pairs))


def _density(shared: Sequence[str], answer: Sequence[str]) -> float:
    """Shared words per word from the first of them to the last; NaN without shared words."""
    words = set(shared)
    positions = [position for position, word in enumerate(answer) if word in words]
    return len(positions) / (positions[-1] - positions[0] + 1) if positions else math.nan
