"""What came of `train persona`, and the persona's card."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from qa_lab.train.request import Request
from qa_lab.train.speech.persona_settings import PersonaSettings

FEW = 200
"""Sentences below which a voice is hardly one."""


@dataclass(frozen=True, slots=True)
class Change:
    """Perplexity on held-out sentences of the speaker, of the base and of what became of it."""

    base: float
    tuned: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run."""

    name: str
    fingerprint: str  # of the base
    sentences: int
    held_out: int
    unknown: float  # share of the words that the base does not know
    changes: Mapping[str, Change]  # of the speaker's language model and of forward
    weights: tuple[float, float]  # of the base and of the language model when they are multiplied
    multiplied: float  # perplexity with these weights
    parameters: int  # that are not the base's
    seconds: float
    rejects: int

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "name": self.name,
            "base": self.fingerprint,
            "sentences": self.sentences,
            "held_out": self.held_out,
            "rejected": self.rejects,
            "unknown_words": self.unknown,
            "perplexity": {
                **{name: asdict(change) for name, change in self.changes.items()},
                "multiplied": self.multiplied,
            },
            "multiply": list(self.weights),
            "parameters": self.parameters,
            "seconds": self.seconds,
        }

    def text(self, out: Path) -> str:
        """Figures, and where the persona is."""
        figures = ", ".join(f"{name} {each.base:.1f} to {each.tuned:.1f}" for name, each in self.changes.items())
        few = f"only {self.sentences} sentences: expect quotations more than a voice\n" if self.sentences < FEW else ""
        return (
            f"{self.sentences:,} sentences for training, {self.held_out:,} held out, "
            f"{self.unknown:.1%} of their words unknown to the base\n{few}"
            f"perplexity: {figures}; multiplied {self.multiplied:.1f}\n"
            f"written to {out}\n"
        )


@dataclass(frozen=True, slots=True)
class QuotedOutcome:
    """What came of a run on a local transformer."""

    name: str
    fingerprint: str  # of the base
    sentences: int
    seconds: float
    rejects: int

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "name": self.name,
            "base": self.fingerprint,
            "sentences": self.sentences,
            "rejected": self.rejects,
            "seconds": self.seconds,
        }

    def text(self, out: Path) -> str:
        return f"{self.sentences:,} sentences to quote, {self.seconds:,.0f} s\nwritten to {out}\n"


def quoted_card(outcome: QuotedOutcome, request: Request) -> str:
    """Data and base, as Markdown."""
    return f"""# Persona {outcome.name}, made with qa-bot

| | |
| --- | --- |
| data | {", ".join(path.name for path in request.data)} |
| base, by fingerprint | {outcome.fingerprint} |
| sentences | {outcome.sentences:,} |
| seconds | {outcome.seconds:,.0f} |

The base is a local transformer, which was not tuned: this persona is quoted. The folder holds its sentences word by
word: the licence follows from that of the data; see there.
"""


def card(outcome: Outcome, settings: PersonaSettings, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    figures = "".join(
        f"| perplexity, {name}: base, persona | {each.base:.1f}, {each.tuned:.1f} |\n"
        for name, each in outcome.changes.items()
    )
    first, second = outcome.weights
    return f"""# Persona {outcome.name}, trained with qa-bot

| | |
| --- | --- |
| data | {", ".join(path.name for path in request.data)} |
| base, by fingerprint | {outcome.fingerprint} |
| sentences for training, held out | {outcome.sentences:,}, {outcome.held_out:,} |
| words unknown to the base | {outcome.unknown:.1%} |
| trained parameters | {outcome.parameters:,} |
| seed | {request.seed} |
| seconds | {outcome.seconds:,.0f} |
{figures}| perplexity, base^{first:g} × language model^{second:g} | {outcome.multiplied:.1f} |

Perplexities are those of held-out sentences. The folder holds the sentences for training word by word, to quote them:
the licence follows from that of the data; see there.

## Settings

```json
{json.dumps(asdict(settings), indent=2)}
```
"""
