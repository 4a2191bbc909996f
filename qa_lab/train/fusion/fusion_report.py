"""Result of `train fusion`, and the fusion's card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from qa_bot.answering.models.ranker_loading import parse_ranker_specs
from qa_lab.train.card import card_text, table
from qa_lab.train.fusion.feedback import Comparison
from qa_lab.train.fusion.fusion_settings import FusionSettings
from qa_lab.train.request import Request
from qa_lab.train.verb import Outcome

_SHOWN = 8  # stages whose figures are printed


@dataclass(frozen=True)
class FusionOutcome(Outcome):
    """Figures of the fusion, and of each stage alone."""

    questions: int
    candidates: int
    held_out: int  # questions; 0 for cross-validation
    fusion: Mapping[str, float]
    stages: Mapping[str, Mapping[str, float]]  # best first
    importances: Mapping[str, float]
    seconds: float = 0.0
    rejected: int = 0
    votes: Comparison | None = None  # comparison with the ranking in force, if votes are learned from

    @property
    def how(self) -> str:
        """How the figures were measured."""
        return f"on {self.held_out:,} held-out questions" if self.held_out else "by cross-validation"

    def as_dict(self) -> dict[str, object]:
        values = asdict(self)
        if self.votes is None:
            del values["votes"]
            return values
        return values | {"votes": asdict(self.votes) | {"better": self.votes.better}}

    def text(self, out: Path) -> str:
        rows = {"fusion": self.fusion, **dict([*self.stages.items()][:_SHOWN])}
        width = max(map(len, rows))
        figures = (
            f"{name:{width}}  {', '.join(f'{m} {value:.3f}' for m, value in row.items())}" for name, row in rows.items()
        )
        gains = [(name, share) for name, share in self.importances.items() if share >= 0.005]
        bars = (f"{name:{width}}  {'█' * round(40 * share)} {share:.0%}" for name, share in gains)
        return "\n".join(
            (
                f"{self.candidates:,} candidates of {self.questions:,} questions; {self.how}, and each stage alone:",
                *figures,
                "",
                "shares of the trees' gains:",
                *bars,
                "",
                *self._verdict(out),
                "",
            )
        )

    def _verdict(self, out: Path) -> Iterator[str]:
        """Whether to use it; a fusion from votes only if it is better than the ranking in force."""
        if self.votes is not None:
            yield from filter(None, (self.votes.text_of_trial(), self.votes.text()))
        if self.votes is not None and not self.votes.better:
            yield f"keep the present one: {'; '.join(self.votes.shortcomings)} (the new one is in {out})"
            yield f"or let people decide: qa-bot config set ranking.challenger {out}"
        else:
            yield f"use it: qa-bot config set ranking.fusion {out}"


def card(outcome: FusionOutcome, config: FusionSettings, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    facts = {
        "data": request.data_names or "votes",
        "questions, candidates": f"{outcome.questions:,}, {outcome.candidates:,}",
        "seed": request.seed,
    }
    measures = list(outcome.fusion)
    rows = {f"the fusion, {outcome.how}": outcome.fusion, **outcome.stages}
    figures = [(name, *(f"{row[measure]:.3f}" for measure in measures)) for name, row in rows.items()]
    gains = [(name, f"{share:.3f}") for name, share in outcome.importances.items()]
    text = f"""{table(("", *measures), figures)}

{table(("stage", "share of the gains"), gains)}
{_verdict(outcome)}
The licence follows from that of the data."""
    models = ", ".join(spec.folder.name for spec in parse_ranker_specs(config.models))
    return card_text("Fusion trained with qa-bot", facts, text, asdict(config) | {"models": models})


def _verdict(outcome: FusionOutcome) -> str:
    """How a fusion from votes compares with the ranking that was in force."""
    if (comparison := outcome.votes) is None:
        return ""
    verdict = "better" if comparison.better else f"not better: {'; '.join(comparison.shortcomings)}"
    text = comparison.text()
    return f"\n{text[0].upper()}{text[1:]}.\nSo it was {verdict}.\n"
