"""Question-answer pairs from whatever `qa-bot add` reads, and from the formats made for training.

JSONL with `question` and `answer` or `answers` (each of them a pair) and optionally `negatives`; answer selection TSV
(`qid question answer label`, or WikiQA's own columns), whose positives are taken; threads of SemEval; MedQuAD; any
document with a title.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.data import jsonl, tsv
from qa_bot.documents.ingest.records import Item, Record, Reject
from qa_lab.data.formats import semeval
from qa_lab.data.reading import Judged, Reading, TrainingData, Units, by_line, read_records, string_list
from qa_lab.data.splitting import normalised, split_by_hash
from retrievers.training.examples import Pair

PAIR: Units = ("question-answer pair", "question-answer pairs")

_COLUMNS = {"questionid": "qid", "sentence": "answer"}
_ANSWER_SELECTION = {"question", "answer", "label"}
_HEAD = ("qid", "question", "answer", "label")
_LABELS = {"0", "1"}


@dataclass(frozen=True, slots=True)
class _Negatives(Record):
    """A record of a pair with answers known to be wrong."""

    negatives: tuple[str, ...] = ()


def read_pairs(paths: Sequence[Path], *, limit: int | None = None) -> TrainingData[tuple[Pair, ...]]:
    """The distinct pairs of files and folders, the first `limit` of them.

    Raises:
        TrainingDataError: there are no pairs.
        FileNotFoundError: a path does not exist.
    """
    reading, pairs, count = Reading(paths), dict[tuple[str, str], Pair](), 0
    for record in reading.readable(items(paths)):
        if isinstance(record, Judged) and not record.right:
            continue
        if pair := pair_of(record):
            count += 1
            pairs.setdefault((pair.question.casefold(), pair.answer.casefold()), pair)
        else:
            reading.rejects.append(incomplete(record))
        if len(pairs) == limit:
            break
    repeated = count - len(pairs)
    return reading.result(tuple(pairs.values()), len(pairs), "question-answer pairs", units=PAIR, repeated=repeated)


def split(pairs: Iterable[Pair], share: float) -> tuple[list[Pair], list[Pair]]:
    """Training pairs and held-out ones, by questions; differences of case and white space do not count."""
    return split_by_hash(pairs, share, lambda pair: normalised(pair.question))


def items(paths: Sequence[Path]) -> Iterator[Item]:
    """Records as `qa-bot add` reads them, but `Judged` ones of answer selection, and pairs with their negatives."""
    threads = dict.fromkeys(semeval.ROOTS, semeval.read)
    return read_records(paths, {"jsonl": by_line(_json_pairs), "tsv": _tsv, **threads})


def pair_of(record: Record) -> Pair | None:
    """Title and body as the question, the text as its answer; None if one of them is missing."""
    question = " ".join(f"{record.title} {record.body}".split())
    answer = record.text.strip()
    if not question or not answer or answer == record.title:
        return None
    return Pair(question, answer, record.negatives if isinstance(record, _Negatives) else ())


def incomplete(record: Record) -> Reject:
    """Why a record is no pair."""
    missing = "question (a title)" if not record.title.strip() else "answer"
    return Reject(record.where, f"Expected a question and its answer, but got no {missing}.")


def _json_pairs(line: bytes, where: str, leaf: SourceFile) -> Iterator[Item]:
    record = jsonl.parse(line, where=where, default_id=f"{leaf.name}#{where.rpartition(':')[2]}", file=leaf)
    if isinstance(record, Reject) or (fields := json.loads(line)).get("question") is None:
        yield record
        return
    negatives = _distinct(string_list(fields, "negatives"))
    answers = _distinct(string_list(fields, "answers")) if "answer" not in fields else (record.text,)
    for answer in answers:
        yield _Negatives(record.id, record.title, answer, record.body, where=where, negatives=negatives)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, texts)))


def _tsv(leaf: SourceFile) -> Iterator[Item]:
    cells = leaf.head.split(b"\n", 1)[0].decode("utf-8", "replace").strip("\ufeff\r").split("\t")
    names = [_COLUMNS.get(name, name) for name in (cell.strip().lower() for cell in cells)]
    if _ANSWER_SELECTION.issubset(names):
        yield from by_line(lambda line, where, _: [_judged(line, names, where)], skip=1)(leaf)
    elif len(cells) == 4 and cells[-1].strip() in _LABELS:
        yield from by_line(lambda line, where, _: [_judged(line, _HEAD, where)])(leaf)
    else:
        yield from tsv.read(leaf)


def _judged(line: bytes, names: Sequence[str], where: str) -> Judged | Reject:
    cells = line.decode().split("\t")
    if len(cells) != len(names):
        return Reject(where, f"Expected {len(names)} columns, but got {len(cells)}; correct the tabs of the line.")
    fields = dict(zip(names, (cell.strip() for cell in cells), strict=True))
    if fields["label"] not in _LABELS:
        return Reject(where, f"Expected the label 0 or 1, but got {fields['label']!r}; correct the line.")
    if not fields["question"] or not fields["answer"]:
        missing = "question" if not fields["question"] else "answer"
        return Reject(where, f"Expected a question and its answer, but got no {missing}; add it or drop the line.")
    number = fields.get("qid", "")
    return Judged(number, fields["question"], fields["answer"], where=where, right=fields["label"] == "1")
