"""Spelling: words of an English question that nothing knows become the nearest words of the documents.

A word is kept if the documents or the encoder's vocabulary know it, if it is short, or if it has a capital: names are
not corrected. The documents that share the most pieces with a word are searched for near words, so that no list of all
words of a home is needed.
"""

from __future__ import annotations

import re
from collections import Counter

from qa_core.text.analysis import looks_english, terms, words
from qa_core.types import Encoder, Passage, Question
from retrievers.engines.index import Index
from retrievers.formulate import formulate, piece_query

SHORTEST = 4
"""Letters of a word that is corrected."""
LONGEST_WORD, LONGEST = 40, 300
"""Letters of a word, and characters of a question that is corrected."""
SHORT = 6
"""A shorter word may have one error, others two."""
SEARCHED = 50
"""Passages that share the most pieces with a word."""
MOST_UNKNOWN = 5
"""A question with more unknown words is about something else."""


def corrected(question: str, index: Index, encoder: Encoder) -> str:
    """The question with its unknown words corrected; unchanged if every word is known or has no near one."""
    if len(question) > LONGEST or not index.has_units or not looks_english(question):
        return question
    unknown = {match[0] for match in re.finditer(r"\w+", question) if not _is_known(match[0], index, encoder)}
    if not unknown or len(unknown) > MOST_UNKNOWN:
        return question
    nearest = {word: _nearest(word, index) for word in unknown}
    return re.sub(r"\w+", lambda match: nearest.get(match[0]) or match[0], question)


def _is_known(word: str, index: Index, encoder: Encoder) -> bool:
    if not SHORTEST <= len(word) <= LONGEST_WORD or not (word.isascii() and word.isalpha()) or word[0].isupper():
        return True
    stems = terms(word)
    return (
        not stems
        or any(index.document_frequency("all", stem) for stem in stems)
        or encoder.knows(word)
        or any(encoder.knows(stem) for stem in stems)
    )


def _nearest(word: str, index: Index) -> str:
    """The nearest word of the passages with its pieces; the first letter, then frequency decides between equals."""
    hits = index.keyword_hits(piece_query(formulate(Question(word))), SEARCHED)
    counts = Counter(
        known for passage in index.passages(hits.passages.tolist()).values() for known in words(_text(passage))
    )
    near = [
        (edits, known[0] != word[0], -count, known) for known, count in counts.items() if (edits := _near(word, known))
    ]
    return min(near)[3] if near else ""


def _near(word: str, known: str) -> int:
    """Edits from a misspelt word to a known one; 0 if it is too far.

    A short word has one error, which is neither its first letter nor a letter too many. Another word may have two
    errors, or one in its first letter.
    """
    short = len(word) < SHORT
    allowed = 1 if short or known[0] != word[0] else 2
    if not known.isalpha() or abs(len(known) - len(word)) > allowed:
        return 0
    if short and (known[0] != word[0] or len(known) < len(word)):
        return 0
    edits = distance(word, known)
    return edits if edits <= allowed else 0


def _text(passage: Passage) -> str:
    return f"{passage.source.title} {' '.join(passage.place.heading)} {passage.text}"


def distance(a: str, b: str) -> int:
    """Edits between two words: insertion, deletion, replacement, swap of neighbours.

    Optimal string alignment (Damerau 1964).
    """
    before: list[int] = []
    above = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            edits = min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                edits = min(edits, before[j - 2] + 1)
            row.append(edits)
        before, above = above, row
    return above[-1]
