"""Judges of a study's replies: n-gram models, style classifiers, the backward model and an encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from generators.conversation.chat_model import ChatModel
from generators.conversation.detokenise import tokens
from qa_core.measures.metrics import Score
from qa_core.types import Encoder
from qa_lab.studies.ngrams import Ngrams
from qa_lab.studies.study_measures import (
    Replies,
    by_question,
    cosines,
    fluency,
    length,
    perplexity,
    relevance,
    variety,
)
from qa_lab.studies.study_systems import StudyQuestion
from qa_lab.studies.style_classifier import StyleClassifier, balanced, cross_validated

SURPRISE, TOPIC = "surprise", "hint"


@dataclass(frozen=True, slots=True, eq=False)
class Judges:
    base: ChatModel
    encoder: Encoder
    dialogue: Ngrams  # of turns
    voices: Ngrams  # of turns and the speakers' sentences
    styles: Mapping[str, StyleClassifier]
    accuracy: Mapping[str, Score]  # cross-validated, of the style classifiers

    @classmethod
    def of(
        cls,
        base: ChatModel,
        encoder: Encoder,
        turns: Sequence[str],
        sentences: Mapping[str, Sequence[str]],
        *,
        seed: int,
    ) -> Self:
        """Train judges on texts that neither the base nor the personas have seen: turns, and sentences by speaker.

        Raises DatasetError if there are too few texts.
        """
        rng = np.random.default_rng(seed)
        sides = {name: balanced(texts, turns, rng) for name, texts in sentences.items()}
        turn_words = [tokens(text) for text in turns]
        sentence_words = [tokens(text) for texts in sentences.values() for text in texts]
        known = base.vocabulary.tokens
        return cls(
            base,
            encoder,
            Ngrams.of(turn_words, known=known),
            Ngrams.of([*turn_words, *sentence_words], known=known),
            {name: StyleClassifier.of(*both) for name, both in sides.items()},
            {name: cross_validated(*both) for name, both in sides.items()},
        )

    def measure(self, replies: Replies, examples: Sequence[StudyQuestion]) -> dict[str, Score]:
        """All measures of a system's replies by name; measures of style are named after the speaker."""
        questions, hints = [example.question for example in examples], [example.hint for example in examples]
        texts = list(dict.fromkeys([*questions, *hints, *(text for texts in replies for text in texts)]))
        vectors = dict(zip(texts, self.encoder.encode(texts), strict=True))
        dialogue, voices = fluency(replies, self.dialogue), fluency(replies, self.voices)
        return {
            "perplexity": perplexity(dialogue),
            "perplexity, voices": perplexity(voices),
            "distinct-1": variety(replies, 1),
            "distinct-2": variety(replies, 2),
            "words": length(replies),
            "MRR": relevance(self.base, questions, replies),
            "question": cosines(vectors, replies, questions),
            TOPIC: cosines(vectors, replies, hints),
            **self._styles(replies),
            SURPRISE: dialogue,
            f"{SURPRISE}, voices": voices,
        }

    def _styles(self, replies: Replies) -> dict[str, Score]:
        """For each speaker, the share of replies that the classifier accepts, and the mean probability."""
        scores: dict[str, Score] = {}
        for name, classifier in self.styles.items():
            probabilities = [classifier.probabilities(texts) for texts in replies]
            scores[name] = by_question([(row >= 0.5).tolist() for row in probabilities])
            scores[f"p({name})"] = by_question([row.tolist() for row in probabilities])
        return scores
