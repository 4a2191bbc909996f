"""Pools of candidates by BM25, labelled by where an answer comes from (Wang 2018, ch. 6.3.4).

All answers are indexed, and each question retrieves some; its own answer is right and the others count as wrong.
Questions whose own answer is in their pool are split 60/20/20 by a hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from qa_core.text.analysis import terms
from qa_lab.data.pairs import read_pairs
from retrievers.engines.index import KeywordQuery
from retrievers.engines.local.keyword import KeywordIndex
from retrievers.engines.local.keyword_writer import Entry, KeywordWriter
from retrievers.training.examples import Pair

PARTS = {"train": 0.6, "dev": 0.8, "test": 1.0}
"""Upper end of each part in the order of hashes."""


def write_pools(data: Path, folder: Path, depth: int, *, limit: int | None = None) -> Mapping[str, float]:
    """Write `train.tsv`, `dev.tsv` and `test.tsv` in the format of answer selection.

    Args:
        depth: passages of a pool.
        limit: largest number of pairs.

    Returns:
        for each question, 1 if its own answer is in its pool, else 0.

    Raises:
        TrainingDataError, FileNotFoundError: the data cannot be read.
    """
    pairs = read_pairs([data], limit=limit).examples
    answers = {pair.answer: number for number, pair in enumerate(pairs)}
    texts = list(answers)
    with KeywordWriter(folder / "keyword") as writer:
        writer.add(Entry(number, number, "", text) for number, text in enumerate(texts))
    index = KeywordIndex(folder / "keyword")
    in_pool: dict[str, float] = {}
    rows: dict[str, list[tuple[str, str, str, int]]] = {part: [] for part in PARTS}
    for number, pair in enumerate(pairs):
        query = KeywordQuery(tuple((term, 1.0) for term in terms(pair.question)))
        pool = [texts[row] for row in index.search(query, depth).passages.tolist()]
        in_pool[str(number)] = float(pair.answer in pool)
        if pair.answer in pool:
            rows[part_of(pair)] += [(str(number), pair.question, text, int(text == pair.answer)) for text in pool]
    for part, lines in rows.items():
        _write(folder / f"{part}.tsv", lines)
    return in_pool


def part_of(pair: Pair) -> str:
    """The part of a pair, by a hash of its question."""
    digest = hashlib.blake2b(pair.question.encode(), digest_size=8).digest()
    share = int.from_bytes(digest, "big") / 2**64
    return next(part for part, end in PARTS.items() if share < end)


def _write(path: Path, lines: Iterable[tuple[str, str, str, int]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("qid\tquestion\tanswer\tlabel\n")
        for number, question, answer, label in lines:
            file.write("\t".join((number, " ".join(question.split()), " ".join(answer.split()), str(label))) + "\n")
