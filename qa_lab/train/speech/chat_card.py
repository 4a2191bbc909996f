"""Result of `train chat`, and the model's card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from qa_lab.train.card import card_text
from qa_lab.train.request import Request
from qa_lab.train.speech.chat_settings import ChatSettings
from qa_lab.train.verb import Outcome


@dataclass(frozen=True)
class ChatOutcome(Outcome):
    """Result on held-out dialogues."""

    replies: int
    held_out: int
    rejected: int
    words: int
    parameters: int
    seconds: float
    perplexity: Mapping[str, float]  # of each part
    acceptor: Mapping[str, float]  # accuracy

    def text(self, out: Path) -> str:
        figures = ", ".join(f"{name} {value:.1f}" for name, value in self.perplexity.items())
        return (
            f"{self.replies:,} replies for training, {self.held_out:,} held out, {self.words:,} words\n"
            f"perplexity: {figures}; the acceptor separates true words from drawn ones {self.acceptor['accuracy']:.0%} "
            f"of the time\nwritten to {out}; measure it: qa-bot eval dialogue --data FILE --model {out}\n"
        )


def card(outcome: ChatOutcome, config: ChatSettings, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    facts = {
        "data": request.data_names,
        "replies for training, held out": f"{outcome.replies:,}, {outcome.held_out:,}",
        "words": f"{outcome.words:,}",
        "trained parameters": f"{outcome.parameters:,}",
        "seed": request.seed,
        "seconds": f"{outcome.seconds:,.0f}",
        **{f"perplexity, {name}": f"{value:.1f}" for name, value in outcome.perplexity.items()},
        "accuracy of the acceptor": f"{outcome.acceptor['accuracy']:.3f}",
    }
    text = """Perplexities are those of held-out dialogues; all unknown words count as one word.
The licence follows from that of the data; see there."""
    return card_text(
        "Chat model, trained with qa-bot", facts, text, asdict(config) | {"words": Path(config.words).name}
    )
