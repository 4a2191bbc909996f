"""Results of `train persona`, and the persona's card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from qa_lab.train.card import card_text
from qa_lab.train.request import Request
from qa_lab.train.speech.persona_settings import PersonaSettings
from qa_lab.train.verb import Outcome

FEW = 200
"""Sentences below which a persona mostly quotes."""


@dataclass(frozen=True, slots=True)
class Change:
    """Perplexity on held-out sentences of the speaker, before and after tuning."""

    base: float
    tuned: float


@dataclass(frozen=True)
class PersonaOutcome(Outcome):
    """Result on held-out sentences."""

    name: str
    fingerprint: str  # of the base
    sentences: int
    held_out: int
    rejected: int
    unknown_words: float  # share of the words that the base does not know
    changes: Mapping[str, Change]  # of the speaker's language model and of forward
    multiplied: float  # perplexity with the weights
    weights: tuple[float, float]  # of the base and of the language model when they are multiplied
    parameters: int  # that differ from the base
    seconds: float

    def as_dict(self) -> dict[str, object]:
        values = asdict(self)
        values["base"] = values.pop("fingerprint")
        values["perplexity"] = {**values.pop("changes"), "multiplied": values.pop("multiplied")}
        values["multiply"] = list(values.pop("weights"))
        return values

    def text(self, out: Path) -> str:
        figures = ", ".join(f"{name} {change.base:.1f} to {change.tuned:.1f}" for name, change in self.changes.items())
        few = f"only {self.sentences} sentences: expect quotations more than a voice\n" if self.sentences < FEW else ""
        return (
            f"{self.sentences:,} sentences for training, {self.held_out:,} held out, "
            f"{self.unknown_words:.1%} of their words unknown to the base\n{few}"
            f"perplexity: {figures}; multiplied {self.multiplied:.1f}\n"
            f"written to {out}\n"
        )


@dataclass(frozen=True)
class QuotedOutcome(Outcome):
    """Result of a persona on a local transformer, which is not tuned."""

    name: str
    base: str  # fingerprint
    sentences: int
    rejected: int
    seconds: float

    def text(self, out: Path) -> str:
        return f"{self.sentences:,} sentences to quote, {self.seconds:,.0f} s\nwritten to {out}\n"


def quoted_card(outcome: QuotedOutcome, request: Request) -> str:
    """Data and base, as Markdown."""
    facts = {
        "data": request.data_names,
        "base, by fingerprint": outcome.base,
        "sentences": f"{outcome.sentences:,}",
        "seconds": f"{outcome.seconds:,.0f}",
    }
    text = """The base is a local transformer, which was not tuned: this persona is quoted. The folder holds its
sentences unchanged: the licence follows from that of the data; see there."""
    return card_text(f"Persona {outcome.name}, made with qa-bot", facts, text)


def card(outcome: PersonaOutcome, config: PersonaSettings, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    first, second = outcome.weights
    facts = {
        "data": request.data_names,
        "base, by fingerprint": outcome.fingerprint,
        "sentences for training, held out": f"{outcome.sentences:,}, {outcome.held_out:,}",
        "words unknown to the base": f"{outcome.unknown_words:.1%}",
        "trained parameters": f"{outcome.parameters:,}",
        "seed": request.seed,
        "seconds": f"{outcome.seconds:,.0f}",
        **{
            f"perplexity, {name}: base, persona": f"{change.base:.1f}, {change.tuned:.1f}"
            for name, change in outcome.changes.items()
        },
        f"perplexity, base^{first:g} × language model^{second:g}": f"{outcome.multiplied:.1f}",
    }
    text = """Perplexities are those of held-out sentences. The folder holds the sentences for training unchanged, to
quote them: the licence follows from that of the data; see there."""
    return card_text(f"Persona {outcome.name}, trained with qa-bot", facts, text, asdict(config))
