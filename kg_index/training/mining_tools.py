"""The mentions and the triple index of folders, as mining takes them.

mine(pairs, partial(open_tools, mentions=folder / "mentions", triples=folder / "triples"), out)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from kg_index.linking.mentions import Mentions, resolve
from kg_index.training.mining import Tools
from kg_index.triples.triple_index import TripleIndex


class NamedSpan(NamedTuple):
    start: int
    end: int
    entities: list[int]  # the most counted first


@dataclass(frozen=True, slots=True)
class SpansOfNames:
    """The longest names of a text that do not overlap, each with the entities it names most."""

    names: Mentions
    most: int = 5

    def find(self, text: str) -> list[NamedSpan]:
        return [
            NamedSpan(each.start, each.end, self.names.entities(each.key, most=self.most)[0].tolist())
            for each in resolve(self.names.find(text))
        ]


def open_tools(*, mentions: Path, triples: Path, most: int = 5) -> Tools:
    """Maps both, a few milliseconds; what they raise where something is missing or damaged."""
    return Tools(SpansOfNames(Mentions(mentions), most), TripleIndex(triples))
