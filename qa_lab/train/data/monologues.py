"""What one person said: text with a sentence a line.

A line of two fields with a tab between them is what somebody else said and the sentence behind it, as in film scripts;
a long line is taken by sentence.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from generators.training.persona_training import Spoken
from qa_bot.documents.ingest.example_lines import Line, read_lines
from qa_bot.documents.ingest.records import Notice, Reject
from qa_core.text.sentences import sentences
from qa_lab.train.errors import TrainingDataError

LONG = 300
"""Characters of a line that is one sentence, whatever marks it holds."""
LONGEST = 2_000
"""Characters of a sentence."""


@dataclass(frozen=True, slots=True)
class Monologue:
    """Distinct sentences in the order of the data."""

    spoken: tuple[Spoken, ...]
    rejects: tuple[Reject, ...] = ()
    notices: tuple[Notice, ...] = ()
    repeated: int = 0  # sentences that stood there before

    @property
    def pairs(self) -> Sequence[Spoken]:
        """The sentences, as the reports of what was read count them."""
        return self.spoken


def read_monologue(paths: Sequence[Path], *, limit: int | None = None) -> Monologue:
    """The sentences of files and folders, the first `limit` of them.

    Raises:
        TrainingDataError: there is no sentence at all.
        FileNotFoundError: nothing is at a path.
    """
    kept: dict[str, Spoken] = {}
    rejects: list[Reject] = []
    notices: list[Notice] = []
    repeated = 0
    for path in paths:
        before = ""
        for item in read_lines([path], _fields):
            match item:
                case Reject():
                    rejects.append(item)
                case Notice():
                    notices.append(item)
                case Line(told=fields):
                    before = fields[0] if len(fields) > 1 else before
                    for text in _sentences(fields[-1], item.where, rejects):
                        repeated += text in kept
                        kept.setdefault(text, Spoken(text, before))
                        before = text
            if limit is not None and len(kept) >= limit:
                break
    if not kept:
        named = ", ".join(map(str, paths))
        first = f": {rejects[0].where}: {rejects[0].reason}" if rejects else "; give text with a sentence a line."
        raise TrainingDataError(f"Expected sentences in {named}, but got none{first}")
    return Monologue(tuple(kept.values())[:limit], tuple(rejects), tuple(notices), repeated)


def split_monologue(spoken: Sequence[Spoken], share: float) -> tuple[list[Spoken], list[Spoken]]:
    """Those for training and those held out, a `share` of all and at least one.

    A hash decides, alike for every order.
    """
    count = min(len(spoken), max(1, math.floor(share * len(spoken))))
    held = set(sorted((each.text for each in spoken), key=_digest)[:count])
    train = [each for each in spoken if each.text not in held]
    return train, [each for each in spoken if each.text in held]


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
            rejects.append(
                Reject(
                    where, f"Expected at most {LONGEST:,} characters in a sentence, but got {len(part):,}; split it."
                )
            )
        elif part:
            yield part


def _digest(text: str) -> bytes:
    return hashlib.blake2b(" ".join(text.casefold().split()).encode(), digest_size=8).digest()
