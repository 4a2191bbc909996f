"""The contract of all readers of training data: one result, with the rejects and notices of its files.

reading = Reading(paths)
for record in reading.readable(read_records(paths, {"jsonl": _jsonl})):
    ...
return reading.result(tuple(examples), len(examples), "dialogues", units=("dialogue", "dialogues"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from qa_bot.documents.ingest.files.byte_budget import ByteBudget
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.reading import read
from qa_bot.documents.ingest.records import Item, Limits, Notice, Record, Reject
from qa_lab.errors import TrainingDataError

Examples = TypeVar("Examples")
Readable = TypeVar("Readable")
Units = tuple[str, str]
"""What an example is called: one, and several."""
FileReader = Callable[[SourceFile], Iterator[Item]]


@dataclass(frozen=True, slots=True)
class TrainingData(Generic[Examples]):
    """Examples in the order of the data, and what could not be read."""

    examples: Examples
    count: int  # of examples, as reports state it
    units: Units = ("example", "examples")
    rejects: tuple[Reject, ...] = ()
    notices: tuple[Notice, ...] = ()
    repeated: int = 0  # examples that occurred before
    left_out: Mapping[str, int] = field(default_factory=dict)  # examples by the reason why they are not used
    others: Mapping[Units, int] = field(default_factory=dict)  # examples of another kind, which `count` leaves out


@dataclass(frozen=True, slots=True)
class Judged(Record):
    """A row of answer selection: `id` is the question's, and `right` says whether the text answers it."""

    right: bool = True


class Reading:
    """Collects rejects and notices while the examples of some paths are read."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths, self.rejects, self.notices = paths, list[Reject](), list[Notice]()

    def readable(self, items: Iterable[Readable | Reject | Notice]) -> Iterator[Readable]:
        """The items that are neither rejects nor notices."""
        for item in items:
            if isinstance(item, Reject):
                self.rejects.append(item)
            elif isinstance(item, Notice):
                self.notices.append(item)
            else:
                yield item

    def result(
        self,
        examples: Examples,
        count: int,
        what: str,
        *,
        units: Units,
        repeated: int = 0,
        left_out: Mapping[str, int] | None = None,
        others: Mapping[Units, int] | None = None,
        advice: str = "is there any file?",
    ) -> TrainingData[Examples]:
        """The examples with the rejects and notices so far.

        Raises:
            TrainingDataError: `count` is 0; the message names `what` was expected, and the first reject or the advice.
        """
        if not count:
            paths = ", ".join(map(str, self.paths))
            reason = f": {self.rejects[0].where}: {self.rejects[0].reason}" if self.rejects else f"; {advice}"
            raise TrainingDataError(f"Expected {what} in {paths}, but got none{reason}")
        return TrainingData(
            examples,
            count,
            units,
            rejects=tuple(self.rejects),
            notices=tuple(self.notices),
            repeated=repeated,
            left_out=left_out or {},
            others=others or {},
        )


def read_records(paths: Sequence[Path], formats: Mapping[str, FileReader]) -> Iterator[Item]:
    """Records as `qa-bot add` reads them, except for the formats that are given."""
    budget = ByteBudget(Limits())
    for path in paths:
        yield from read(path, budget=budget, readers=dict(formats))


def by_line(parse: Callable[[bytes, str, SourceFile], Iterable[Item]], *, skip: int = 0) -> FileReader:
    """A reader that parses each line that is not blank, after the first `skip`; a ValueError rejects its line."""

    def read_lines(leaf: SourceFile) -> Iterator[Item]:
        for number, line in leaf.lines():
            where = f"{leaf.where}:{number}"
            if line is None:
                yield Reject(where, over_record_limit(leaf.limits))
            elif number > skip and line.strip():
                try:
                    yield from parse(line, where, leaf)
                except (ValueError, RecursionError) as error:
                    message = str(error)
                    known = message.startswith("Expected ")
                    yield Reject(where, message if known else f"Expected JSON, but got: {message}.")

    return read_lines


def string_list(fields: Mapping[str, Any], name: str, *, single: bool = False) -> tuple[str, ...]:
    """The strings of a list in a JSON object, without white space around them; `single` allows one string alone.

    Raises:
        ValueError: the field is no list of strings.
    """
    value = fields.get(name, [])
    texts = [value] if single and isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"Expected a list of strings in the field {name}, but got {value!r}; correct the line.")
    return tuple(text.strip() for text in texts)
