"""The card of a trained encoder: data, seed, settings and figures, as Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from retrievers.training.search import Quality


@dataclass(frozen=True, slots=True)
class Card:
    model: str
    base: str
    data: tuple[str, ...]  # names, without folders
    pairs: int
    held_out: int
    seed: int
    epochs: int  # to the weights that were kept
    before: Quality
    after: Quality
    settings: Mapping[str, object]


def card_text(card: Card) -> str:
    """Markdown."""
    return f"""# Dense encoder trained with qa-bot

| | |
| --- | --- |
| model | {card.model} |
| started from | {card.base} |
| data | {", ".join(card.data)} |
| pairs for training, held out | {card.pairs:,}, {card.held_out:,} |
| seed | {card.seed} |
| epochs | {card.epochs} |

On the held-out questions, by exact search among the held-out answers:

| | S@1 | MRR |
| --- | --- | --- |
| before | {card.before.success:.3f} | {card.before.rr:.3f} |
| after | {card.after.success:.3f} | {card.after.rr:.3f} |

The licence follows from that of the data and of what it started from; see there.

## Settings

```json
{json.dumps(card.settings, indent=2)}
```
"""
