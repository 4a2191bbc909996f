"""Sentences of one speaker: text with a sentence a line.

A line of two fields with a tab between them is another speaker's sentence and the reply to it, as in film scripts. A
long line is split into sentences.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from generators.training.persona_training import Spoken
from qa_bot.documents.ingest.example_lines import read_lines
from qa_bot.documents.ingest.records import Reject
from qa_core.text.sentences import sentences
from qa_lab.data.reading import Reading, TrainingData
from qa_lab.data.splitting import normalised, text_hash

LONG = 300
"""Characters of a line that is taken as one sentence."""
LONGEST = 2_000
"""Characters of a sentence, at most."""


def read_monologue(paths: Sequence[Path], *, limit: int | None = None) -> TrainingData[tuple[Spoken, ...]]:
    """The distinct sentences of files and folders, the first `limit` of them.

    Raises:
        TrainingDataError: there are no sentences.
        FileNotFoundError: a path does not exist.
    """
    reading, spoken, repeated = Reading(paths), dict[str, Spoken](), 0
    for path in paths:
        before = ""
        for line in reading.readable(read_lines([path], _fields)):
            before = line.example[0] if len(line.example) > 1 else before
            for text in _sentences(line.example[-1], line.where, reading.rejects):
                repeated += text in spoken
                spoken.setdefault(text, Spoken(text, before))
                before = text
            if limit is not None and len(spoken) >= limit:
                break
    examples = tuple(spoken.values())[:limit]
    return reading.result(
        examples,
        len(examples),
        "sentences",
        units=("sentence", "sentences"),
        repeated=repeated,
        advice="give text with a sentence a line.",
    )


def split_monologue(spoken: Sequence[Spoken], share: float) -> tuple[list[Spoken], list[Spoken]]:
    """Sentences for training and held-out ones: exactly the share, rounded down, but at least one."""
    count = min(len(spoken), max(1, math.floor(share * len(spoken))))
    held_out = set(sorted((sentence.text for sentence in spoken), key=lambda text: text_hash(normalised(text)))[:count])
    parts: tuple[list[Spoken], list[Spoken]] = ([], [])
    for sentence in spoken:
        parts[sentence.text in held_out].append(sentence)
    return parts


def _fields(line: str) -> tuple[str, ...]:
    """The line, or its two fields."""
    if "\0" in line:
        raise ValueError("Expected text, but got a line with bytes of zero; is it a binary file?")
    fields = tuple(field.strip() for field in line.split("\t") if field.strip())
    if not fields or len(fields) > 2:
        raise ValueError(f"Expected a sentence, or two fields with a tab between them, but got {len(fields)} fields.")
    return fields


def _sentences(text: str, where: str, rejects: list[Reject]) -> Iterator[str]:
    parts = [text] if len(text) <= LONG else [text[start:end] for start, end in sentences(text)]
    for part in (" ".join(part.split()) for part in parts):
        if len(part) > LONGEST:
            reason = f"Expected at most {LONGEST:,} characters in a sentence, but got {len(part):,}; split it."
            rejects.append(Reject(where, reason))
        elif part:
            yield part
