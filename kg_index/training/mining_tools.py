"""Opens the mention table and triple index for mining.

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
    entities: list[int]  # by descending count


@dataclass(frozen=True, slots=True)
class SpansOfNames:
    """Finds the names of a text with their most counted entities.

    With `nested`, all spans that are a name (Wang (2018), ch. 4.3.3), else the longest ones, without overlaps.
    """

    names: Mentions
    most: int = 5
    nested: bool = True

    def find(self, text: str) -> list[NamedSpan]:
        spans = self.names.find(text)
        return [
            NamedSpan(mention.start, mention.end, self.names.entities(mention.key, most=self.most)[0].tolist())
            for mention in (spans if self.nested else resolve(spans))
        ]


def open_tools(*, mentions: Path, triples: Path, most: int = 5, nested: bool = True) -> Tools:
    """Map both folders. Raises what `Mentions` and `TripleIndex` raise."""
    return Tools(SpansOfNames(Mentions(mentions), most, nested), TripleIndex(triples))
