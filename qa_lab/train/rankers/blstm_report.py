"""Result of `train blstm`, and the ranker's card."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from qa_lab.data.answer_sets import Figures
from qa_lab.train.card import card_text, table
from qa_lab.train.rankers.blstm_settings import BLSTMSettings
from qa_lab.train.request import Request
from qa_lab.train.verb import Outcome


@dataclass(frozen=True)
class BLSTMOutcome(Outcome):
    """Result on held-out questions."""

    questions: int
    pairs: int
    held_out: int  # questions
    rejected: int
    parameters: int  # of the network, trained
    seconds: float
    bm25: Figures
    network: Figures | None  # the mean of its steps
    joined: Figures | None
    importances: dict[str, float]

    def as_dict(self) -> dict[str, object]:
        return {name: value for name, value in Outcome.as_dict(self).items() if value is not None}

    def text(self, out: Path) -> str:
        rows = {"BM25": self.bm25, "network": self.network, "joined": self.joined}
        lines = [f"{name}: {figures}" for name, figures in rows.items() if figures is not None]
        largest = ", ".join(f"{name} {share:.0%}" for name, share in islice(self.importances.items(), 6))
        head = f"{self.pairs:,} pairs of {self.questions:,} questions, {self.held_out:,} questions held out"
        features = [f"largest shares of the trees' gains: {largest}"] if largest else []
        return "\n".join([head, *lines, *features, f"written to {out}", ""])


def card(outcome: BLSTMOutcome, config: BLSTMSettings, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    facts = {
        "made of": config.use,
        "data": request.data_names,
        "pairs, questions": f"{outcome.pairs:,}, {outcome.questions:,}",
        "held out (questions)": f"{outcome.held_out:,}",
        "trained parameters of the network": f"{outcome.parameters:,}",
        "reads": f"of a question: {config.question}; of a document: its passage",
        "seed": request.seed,
        "seconds": f"{outcome.seconds:,.0f}",
    }
    rows = {"BM25": outcome.bm25, "network, mean of its steps": outcome.network, "joined by trees": outcome.joined}
    text = f"""On the held-out questions with right and wrong answers:

{table(("", "MAP", "MRR"), [(name, f"{f.ap:.3f}", f"{f.rr:.3f}") for name, f in rows.items() if f is not None])}
"""
    if outcome.importances:
        shares = [(name, f"{share:.1%}") for name, share in outcome.importances.items()]
        text += f"\nShares of the trees' gains:\n\n{table(('feature', 'share'), shares)}\n"
    text += "\nThe licence follows from that of the data and of the word vectors; see there."
    return card_text("Stacked LSTM ranker, trained with qa-bot", facts, text, asdict(config))
