"""How much likelier the words of drawn replies are for the speaker than for the base, as a measure of style."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from generators.conversation.padded_batches import columns, row_scores
from generators.conversation.random_stream import RandomStream
from generators.conversation.ranking import GenerationConfig
from generators.personas.persona import Persona
from generators.personas.persona_decoder import PersonaDecoder, draw
from qa_core.networks.decoder_types import END_ID


def speaker_gain(
    persona: Persona, decoder: PersonaDecoder, questions: Sequence[str], *, generation: GenerationConfig, seed: int
) -> float:
    """Mean of `log p_speaker(w) − log p_base(w)` in nats a word, ends included, by the two language models.

    All replies that the decoder draws count, before they are ranked. Raises ValueError if it draws no word.
    """
    rows = []
    for number, question in enumerate(questions):
        stream = RandomStream(seed * 1_000_003 + number)
        drawn = draw(persona.base, decoder, [question], stream=stream, generation=generation)
        texts = [np.array(text.tokens, dtype=np.int64) for text in drawn if text.tokens]
        rows += [(text[:0], np.append(text, END_ID)) for text in texts]
    if not rows:
        raise ValueError("Expected replies with words, but got none; give questions, or draw more candidates.")
    speaker = row_scores(rows, lambda batch: persona.speaker.log_likelihood(*columns(batch)[2:]))
    gains = speaker - persona.base.log_language(rows)
    return float(gains.sum(dtype=np.float64)) / sum(len(target) for _, target in rows)
