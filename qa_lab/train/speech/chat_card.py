"""What came of `train chat`, and the model's card."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from qa_lab.train.request import Request
from qa_lab.train.speech.chat_settings import ChatSettings


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run, on held-out dialogues."""

    replies: int
    held_out: int
    perplexities: Mapping[str, float]  # of each part
    accuracy: float  # of the acceptor
    parameters: int
    words: int
    seconds: float
    rejects: int

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "replies": self.replies,
            "held_out": self.held_out,
            "rejected": self.rejects,
            "words": self.words,
            "parameters": self.parameters,
            "seconds": self.seconds,
            "perplexity": dict(self.perplexities),
            "acceptor": {"accuracy": self.accuracy},
        }

    def text(self, out: Path) -> str:
        """Figures, and where the model is."""
        figures = ", ".join(f"{name} {value:.1f}" for name, value in self.perplexities.items())
        return (
            f"{self.replies:,} replies for training, {self.held_out:,} held out, {self.words:,} words\n"
            f"perplexity: {figures}; the acceptor tells true words from drawn ones {self.accuracy:.0%} of the time\n"
            f"written to {out}; measure it: qa-bot eval dialogue --data FILE --model {out}\n"
        )


def card(outcome: Outcome, settings: ChatSettings, request: Request) -> str:
    """Data, seed, settings and figures, as Markdown."""
    figures = "".join(f"| perplexity, {name} | {value:.1f} |\n" for name, value in outcome.perplexities.items())
    return f"""# Chat model, trained with qa-bot

| | |
| --- | --- |
| data | {", ".join(path.name for path in request.data)} |
| replies for training, held out | {outcome.replies:,}, {outcome.held_out:,} |
| words | {outcome.words:,} |
| trained parameters | {outcome.parameters:,} |
| seed | {request.seed} |
| seconds | {outcome.seconds:,.0f} |
{figures}| accuracy of the acceptor | {outcome.accuracy:.3f} |

Perplexities are those of held-out dialogues; words that the model does not know count as one.
The licence follows from that of the data; see there.

## Settings

```json
{json.dumps({**asdict(settings), "words": Path(settings.words).name}, indent=2)}
```
"""
