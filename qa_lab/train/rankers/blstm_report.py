"""What came of `train blstm`, for people, for programs and for the ranker's card."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from qa_lab.train.data.answer_sets import Figures
from qa_lab.train.rankers.blstm_settings import BLSTMSettings
from qa_lab.train.request import Request


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run."""

    questions: int
    pairs: int
    held_out: int  # questions
    bm25: Figures
    network: Figures | None  # the mean of its steps
    joined: Figures | None
    importances: dict[str, float]
    parameters: int  # trained ones of the network
    seconds: float
    rejects: int

    def as_dict(self) -> dict[str, object]:
        """For JSON, with the names of ir-measures."""
        rows = {"bm25": self.bm25, "network": self.network, "joined": self.joined}
        return {
            "questions": self.questions,
            "pairs": self.pairs,
            "held_out": self.held_out,
            "rejected": self.rejects,
            "parameters": self.parameters,
            "seconds": self.seconds,
            **{name: figures.as_dict() for name, figures in rows.items() if figures is not None},
            "importances": self.importances,
        }

    def text(self, out: Path) -> str:
        """Figures of each, what the trees look at, and where the ranker is."""
        rows = {"BM25": self.bm25, "network": self.network, "joined": self.joined}
        lines = [f"{name}: MAP {f.ap:.3f}, MRR {f.rr:.3f}" for name, f in rows.items() if f is not None]
        told = ", ".join(f"{name} {share:.0%}" for name, share in list(self.importances.items())[:6])
        return "\n".join(
            [
                f"{self.pairs:,} pairs of {self.questions:,} questions, {self.held_out:,} questions held out",
                *lines,
                *([f"the trees look at: {told}"] if told else []),
                f"written to {out}",
                "",
            ]
        )


def card(outcome: Outcome, settings: BLSTMSettings, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    rows = {"BM25": outcome.bm25, "network, mean of its steps": outcome.network, "joined by trees": outcome.joined}
    figures = "\n".join(f"| {name} | {f.ap:.3f} | {f.rr:.3f} |" for name, f in rows.items() if f is not None)
    importances = "\n".join(f"| {name} | {share:.1%} |" for name, share in outcome.importances.items())
    shares = (
        f"\nShares of the trees' gains:\n\n| feature | share |\n| --- | --- |\n{importances}\n" if importances else ""
    )
    return f"""# Stacked LSTM ranker, trained with qa-bot

| | |
| --- | --- |
| made of | {settings.use} |
| data | {", ".join(path.name for path in request.data)} |
| pairs, questions | {outcome.pairs:,}, {outcome.questions:,} |
| held out (questions) | {outcome.held_out:,} |
| trained parameters of the network | {outcome.parameters:,} |
| seed | {request.seed} |
| seconds | {outcome.seconds:,.0f} |

On the held-out questions with right and wrong answers:

| | MAP | MRR |
| --- | --- | --- |
{figures}
{shares}
The licence follows from that of the data and of the word vectors; see there.

## Settings

```json
{json.dumps(asdict(settings), indent=2)}
```
"""
