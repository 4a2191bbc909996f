"""Rewrites a file of phrase pairs with a model's scores, best pairs first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from qa_bot.documents.ingest.records import Reject
from qa_lab.data.phrases.phrase_pairs import BARS, PhrasePair, read_phrase_pairs
from qa_lab.data.phrases.phrase_preparation import phrased
from retrievers.training.phrases.phrase_model import PhraseModel


@dataclass(frozen=True, slots=True)
class Ranked:
    """Number of written pairs, and the rejected ones."""

    pairs: int
    rejects: tuple[Reject, ...]


def rank_phrases(data: Path, model: Path, out: Path, *, limit: int | None = None) -> Ranked:
    """Write the pairs of a file by descending cosine; ties keep their order.

    Lines of PPDB are unchanged but for ` ||| score=0.8312` at the end; other pairs are written with tabs between the
    phrases and the score. A pair with a side without known words has the score 0.

    Raises:
        TrainingDataError: without pairs, or for a damaged file.
        ValueError: for a model of another kind, or if `out` is the input file.
    """
    if out.resolve() == data.resolve():
        raise ValueError(f"Expected another file than {data} to write to, but got the same; name a new one.")
    read = read_phrase_pairs([data], limit=limit)
    items, rejects = [], list(read.rejects)
    for pair in read.examples:
        try:
            items.append((pair, phrased(pair)))
        except ValueError as error:
            rejects.append(Reject(str(data), f"{error} The line is {pair.line[:80]!r}."))
    scores = PhraseModel.load(model).scores([(item.left, item.right) for _, item in items])
    order = sorted(range(len(items)), key=lambda i: -scores[i])
    with out.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{_line(items[i][0], float(scores[i]))}\n" for i in order)
    return Ranked(len(items), tuple(rejects))


def _line(pair: PhrasePair, score: float) -> str:
    return f"{pair.line} {BARS} score={score:.4f}" if BARS in pair.line else f"{pair.left}\t{pair.right}\t{score:.4f}"
