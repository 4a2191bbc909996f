"""All that replies of a study are measured by: counted words, classifiers of styles, the backward model, an encoder."""

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
    Said,
    by_question,
    cosines,
    fluency,
    length,
    perplexity,
    relevance,
    variety,
)
from qa_lab.studies.study_systems import StudyQuestion
from qa_lab.studies.style_classifier import StyleClassifier, alike_many, cross_validated

SURPRISE, TOPIC = "surprise", "hint"


@dataclass(frozen=True, slots=True, eq=False)
class Judges:
    base: ChatModel
    encoder: Encoder
    dialogue: Ngrams  # of turns
    voices: Ngrams  # of turns and of the speakers' sentences
    styles: Mapping[str, StyleClassifier]
    accuracy: Mapping[str, Score]  # of classifiers like these, on texts that they did not learn from

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
        """Of texts that neither the base nor the personas were trained on: turns, and the sentences of each speaker.

        Raises DatasetError where they are too few.
        """
        rng = np.random.default_rng(seed)
        sides = {name: alike_many(texts, turns, rng) for name, texts in sentences.items()}
        told = [tokens(text) for text in turns]
        spoken = [tokens(text) for texts in sentences.values() for text in texts]
        known = base.vocabulary.tokens
        return cls(
            base,
            encoder,
            Ngrams.of(told, known=known),
            Ngrams.of([*told, *spoken], known=known),
            {name: StyleClassifier.of(*both) for name, both in sides.items()},
            {name: cross_validated(*both) for name, both in sides.items()},
        )

    def measured(self, said: Said, asked: Sequence[StudyQuestion]) -> dict[str, Score]:
        """Each measure of a system's replies, those of style by the name of the speaker."""
        questions, hints = [each.question for each in asked], [each.hint for each in asked]
        texts = list(dict.fromkeys([*questions, *hints, *(text for replies in said for text in replies)]))
        vectors = dict(zip(texts, self.encoder.encode(texts), strict=True))
        dialogue, voices = fluency(said, self.dialogue), fluency(said, self.voices)
        return {
            "perplexity": perplexity(dialogue),
            "perplexity, voices": perplexity(voices),
            "distinct-1": variety(said, 1),
            "distinct-2": variety(said, 2),
            "words": length(said),
            "MRR": relevance(self.base, questions, said),
            "question": cosines(vectors, said, questions),
            TOPIC: cosines(vectors, said, hints),
            **self._styles(said),
            SURPRISE: dialogue,
            f"{SURPRISE}, voices": voices,
        }

    def _styles(self, said: Said) -> dict[str, Score]:
        """The share of replies that are taken for the speaker's, and the mean probability."""
        found: dict[str, Score] = {}
        for name, classifier in self.styles.items():
            told = [classifier.probabilities(texts) for texts in said]
            found[name] = by_question([(each >= 0.5).tolist() for each in told])
            found[f"p({name})"] = by_question([each.tolist() for each in told])
        return found
