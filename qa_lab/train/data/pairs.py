"""Question-answer pairs from whatever `qa-bot add` reads, and from the formats made for training.

JSONL with `question` and `answer` or `answers` (each of them a pair) and optionally `negatives`; answer selection TSV
(`qid question answer label`, or WikiQA's own columns), whose positives are taken; MedQuAD; any document with a title.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qa_bot.documents.ingest.files.byte_budget import ByteBudget
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.formats import jsonl, tsv
from qa_bot.documents.ingest.reading import read
from qa_bot.documents.ingest.records import Item, Limits, Notice, Record, Reject
from qa_lab.train.errors import TrainingDataError
from retrievers.training.examples import Pair

_COLUMNS = {"questionid": "qid", "sentence": "answer"}
_ANSWER_SELECTION = {"question", "answer", "label"}
_LABELS = {"0", "1"}


@dataclass(frozen=True, slots=True)
class _Negatives(Record):
    """A record of a pair with answers known to be wrong."""

    negatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged(Record):
    """A row of answer selection: `id` is the question's, and `right` says whether the text answers it."""

    right: bool = True


@dataclass(frozen=True, slots=True)
class Pairs:
    """Distinct pairs in the order of the data."""

    pairs: tuple[Pair, ...]
    rejects: tuple[Reject, ...] = ()
    notices: tuple[Notice, ...] = ()
    repeated: int = 0  # pairs that stood there before


def read_pairs(paths: Sequence[Path], *, limit: int | None = None) -> Pairs:
    """The pairs of files and folders, the first `limit` of them.

    Raises:
        TrainingDataError: there is no pair at all.
        FileNotFoundError: nothing is at a path.
    """
    found: dict[tuple[str, str], Pair] = {}
    rejects: list[Reject] = []
    notices: list[Notice] = []
    records = 0
    for item in items(paths):
        match item:
            case Reject():
                rejects.append(item)
            case Notice():
                notices.append(item)
            case Judged(right=False):
                continue
            case Record() if pair := pair_of(item):
                records += 1
                found.setdefault((pair.question.casefold(), pair.answer.casefold()), pair)
            case Record():
                rejects.append(incomplete(item))
        if len(found) == limit:
            break
    if not found:
        raise TrainingDataError(_nothing(paths, rejects))
    return Pairs(tuple(found.values()), tuple(rejects), tuple(notices), records - len(found))


def split(pairs: Iterable[Pair], share: float) -> tuple[list[Pair], list[Pair]]:
    """Training pairs and held-out ones: a hash of the question decides, alike on every machine and for every order.

    About `share` of the questions are held out; case and white space make no difference.
    """
    parts: tuple[list[Pair], list[Pair]] = ([], [])
    for pair in pairs:
        digest = hashlib.blake2b(" ".join(pair.question.casefold().split()).encode(), digest_size=8).digest()
        parts[int.from_bytes(digest, "big") < share * 2**64].append(pair)
    return parts


def items(paths: Sequence[Path]) -> Iterator[Item]:
    """Records as `qa-bot add` reads them, but for the formats made for training, whose wrong answers are `Judged`."""
    budget = ByteBudget(Limits())
    for path in paths:
        yield from read(path, budget=budget, readers={"jsonl": _jsonl, "tsv": _tsv})


def pair_of(record: Record) -> Pair | None:
    """Title and body as the question, the text as its answer; None where one of them is missing."""
    question = " ".join(f"{record.title} {record.body}".split())
    answer = record.text.strip()
    if not question or not answer or answer == record.title:
        return None
    return Pair(question, answer, record.negatives if isinstance(record, _Negatives) else ())


def incomplete(record: Record) -> Reject:
    """Why a record without a pair is left out."""
    missing = "question (a title)" if not record.title.strip() else "answer"
    return Reject(record.where, f"Expected a question and its answer, but got no {missing}.")


def _nothing(paths: Sequence[Path], rejects: Sequence[Reject]) -> str:
    named = ", ".join(map(str, paths))
    first = f": {rejects[0].where}: {rejects[0].reason}" if rejects else "; is there any file?"
    return f"Expected question-answer pairs in {named}, but got none{first}"


# --- formats --------------------------------------------------------------------------------------------------------


def _jsonl(leaf: SourceFile) -> Iterator[Item]:
    for number, line in leaf.lines():
        where = f"{leaf.where}:{number}"
        if line is None:
            yield Reject(where, over_record_limit(leaf.limits))
        elif line.strip():
            yield from _line(line, where, f"{leaf.name}#{number}", leaf)


def _line(line: bytes, where: str, default_id: str, leaf: SourceFile) -> Iterator[Item]:
    record = jsonl.parsed(line, where=where, default_id=default_id, leaf=leaf)
    if isinstance(record, Reject):
        yield record
        return
    fields = json.loads(line)
    if fields.get("question") is None:
        yield record
        return
    try:
        negatives = _texts(fields, "negatives")
        answers = _texts(fields, "answers") if "answer" not in fields else (record.text,)
    except ValueError as error:
        yield Reject(where, str(error))
        return
    for answer in answers:
        yield _Negatives(record.id, record.title, answer, record.body, where=where, negatives=negatives)


def _texts(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The texts of a list, each once, empty ones left out."""
    value = fields.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError(f"Expected a list of strings in the field {name}, but got {value!r}; correct the line.")
    return tuple(dict.fromkeys(text for each in value if (text := each.strip())))


def _tsv(leaf: SourceFile) -> Iterator[Item]:
    cells = leaf.head.split(b"\n", 1)[0].decode("utf-8", "replace").strip("\ufeff\r").split("\t")
    names = [_COLUMNS.get(name, name) for name in (cell.strip().lower() for cell in cells)]
    if _ANSWER_SELECTION.issubset(names):
        yield from _answer_selection(leaf, names, skip=1)
    elif len(cells) == 4 and cells[-1].strip() in _LABELS:
        yield from _answer_selection(leaf, ["qid", "question", "answer", "label"], skip=0)
    else:
        yield from tsv.records(leaf)


def _answer_selection(leaf: SourceFile, names: Sequence[str], *, skip: int) -> Iterator[Item]:
    for number, line in leaf.lines():
        where = f"{leaf.where}:{number}"
        if line is None:
            yield Reject(where, over_record_limit(leaf.limits))
        elif number > skip and line.strip():
            yield _judged(line.decode().split("\t"), names, where)


def _judged(cells: list[str], names: Sequence[str], where: str) -> Judged | Reject:
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
