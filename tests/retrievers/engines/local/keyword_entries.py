"""Passages of a keyword index, and scores by the formula."""

from __future__ import annotations

from collections import Counter
from math import log

from hypothesis import strategies as st

from retrievers.engines.index import KeywordQuery
from retrievers.engines.local.keyword import KeywordIndex
from retrievers.engines.local.keyword_writer import Entry, KeywordWriter

# key, document, terms of the title, terms of all
ENTRIES = [
    Entry(10, 1, ["sleep", "cat"], ["sleep", "cat", "cat", "sleep", "all", "day"]),
    Entry(11, 1, ["sleep", "cat"], ["cat", "purr"]),
    Entry(20, 2, ["boil", "egg"], ["boil", "egg", "minute", "egg", "water", "egg", "cat"]),
    Entry(30, 3, ["train", "dog"], ["dog", "sleep", "too", "dog", "bark", "day"]),
]


def write(path, entries, **options):
    with KeywordWriter(path, analyser=str.split, **options) as writer:
        writer.add(entries)
    return KeywordIndex(path, analyser=str.split)


def query(text, *, field="all", phrases=()):
    return KeywordQuery(tuple((term, 1.0) for term in text.split()), field, phrases)


def keys(hits):
    return hits.passages.tolist()


def scores(hits):
    return dict(zip(keys(hits), hits.scores.tolist(), strict=True))


def key_pairs(hits):
    return set(zip(keys(hits), hits.documents.tolist(), strict=True))


def bm25(texts, terms, *, k1=1.2, b=0.75):
    """Scores of keyed lists of terms for weighted terms, straight from the formula."""
    average = sum(map(len, texts.values())) / len(texts) or 1.0
    scores = dict.fromkeys(texts, 0.0)
    for term, weight in terms:
        n = sum(term in text for text in texts.values())
        idf = log(1 + (len(texts) - n + 0.5) / (n + 0.5))
        for key, text in texts.items():
            f = Counter(text)[term]
            scores[key] += weight * idf * f * (k1 + 1) / (f + k1 * (1 - b + b * len(text) / average))
    return {key: score for key, score in scores.items() if score > 0}


texts = st.lists(st.sampled_from("abcdef"), max_size=6)
