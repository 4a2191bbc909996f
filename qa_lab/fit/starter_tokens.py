"""Token ids of training texts, and the content words of questions for late interaction."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Self

import numpy as np
import torch

from qa_core.encoders.sentence_layout import SentenceLayout
from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_lab.fit.late_interaction_loss import QuestionWords
from qa_lab.reference.words import ENGLISH, GERMAN

LENGTH = 96  # tokens
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class TokenReader:
    """`frequencies` counts the texts in which a word stands, of `texts` in all."""

    tokeniser: SubwordTokeniser
    frequencies: Counter[str]
    texts: int

    @classmethod
    def of(cls, layout: SentenceLayout, texts: Sequence[str]) -> Self:
        frequencies = Counter(word for text in texts for word in {*_WORD.findall(text.lower())})
        return cls(SubwordTokeniser.load(layout.weights, max_length=LENGTH), frequencies, len(texts))

    def rows(self, texts: Sequence[str]) -> list[list[int]]:
        return self.tokeniser.sequences(texts)

    def rarity(self, word: str) -> float:
        """Inverse document frequency, 1 for a word of one text."""
        return log(1 + self.texts / max(1, self.frequencies[word])) / log(1 + self.texts)

    def question_words(self, texts: Sequence[str], *, length: int) -> QuestionWords:
        """The content words of questions of at most `length` tokens."""
        rows = [self._words(text) for text in texts]
        pieces = np.zeros((len(texts), max(map(len, rows)), length), dtype=np.float32)
        weights = np.zeros(pieces.shape[:2], dtype=np.float32)
        for i, words in enumerate(rows):
            for j, (word, places) in enumerate(words):
                pieces[i, j, places] = 1 / len(places)
                weights[i, j] = self.rarity(word)
        return QuestionWords(torch.from_numpy(pieces), torch.from_numpy(weights))

    def _words(self, text: str) -> list[tuple[str, list[int]]]:
        """Each content word with the places of its tokens; without any, the first token is its only word."""
        offsets = self.tokeniser.tokenizer.encode(text).offsets
        spans = [(match[0].lower(), match.start(), match.end()) for match in _WORD.finditer(text)]
        placed = [
            (word, [i for i, (a, b) in enumerate(offsets) if b > a >= start and b <= end]) for word, start, end in spans
        ]
        placed = [(word, places) for word, places in placed if places]
        content = [(word, places) for word, places in placed if word not in ENGLISH | GERMAN]
        return content or placed or [("", [0])]
