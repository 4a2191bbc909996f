"""A file of phrase pairs scored by a model and written again, the best pairs first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from qa_bot.documents.ingest.records import Reject
from qa_lab.train.data.phrase_pairs import BARS, PhrasePair, read_phrase_pairs
from qa_lab.train.phrases.phrase_preparation import phrased
from retrievers.training.phrases.phrase_model import PhraseModel


@dataclass(frozen=True, slots=True)
class Ranked:
    """How many pairs were written, and what could not be."""

    pairs: int
    rejects: tuple[Reject, ...]


def rank_phrases(data: Path, model: Path, out: Path, *, limit: int | None = None) -> Ranked:
    """Write the pairs of a file, by falling cosine, equal ones as they stood.

    PPDB's lines keep all they hold and get ` ||| score=0.8312` at the end; other pairs are written with tabs between
    the phrases and the score. A pair without a known word on a side has the score 0.

    Raises:
        TrainingDataError: there is no pair, or a file is damaged.
        ValueError: the model is of another kind, or `out` is the file itself.
    """
    if out.resolve() == data.resolve():
        raise ValueError(f"Expected another file than {data} to write to, but got the same; name a new one.")
    read = read_phrase_pairs([data], limit=limit)
    kept, rejects = [], list(read.rejects)
    for pair in read.examples:
        try:
            kept.append((pair, phrased(pair)))
        except ValueError as error:
            rejects.append(Reject(str(data), f"{error} The line is {pair.line[:80]!r}."))
    scores = PhraseModel.load(model).scores([(item.left, item.right) for _, item in kept])
    order = sorted(range(len(kept)), key=lambda place: -scores[place])
    with out.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{_line(kept[place][0], float(scores[place]))}\n" for place in order)
    return Ranked(len(kept), tuple(rejects))


def _line(pair: PhrasePair, score: float) -> str:
    return f"{pair.line} {BARS} score={score:.4f}" if BARS in pair.line else f"{pair.left}\t{pair.right}\t{score:.4f}"
