"""Reads what judges saved: JSON or CSV, which anyone may have changed. Nothing of it is trusted or run."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qa_lab.evaluate.datasets import DatasetError
from qa_lab.studies.people.forms import FORMAT, Item, StudyKey

LARGEST = 16 * 2**20
"""Bytes of a file of answers, at most."""
_JUDGE = 60
_FIELDS = ("study", "form", "judge", "item", "quality", "style", "topic")
_BOXES = {"": None, "null": None, "true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Rating:
    """What a judge says about a reply."""

    judge: str
    form: str
    item: Item
    quality: int | None  # 1 to 5; None without a rating
    style: bool | None  # None without an answer
    topic: bool | None


@dataclass(frozen=True, slots=True)
class _Line:
    """A rating as a file has it, unchecked."""

    where: str
    study: Any
    form: Any
    judge: Any
    number: Any
    quality: Any
    style: Any
    topic: Any


def read_answers(paths: Sequence[Path], key: StudyKey, *, partial: bool = False) -> list[Rating]:
    """The ratings of files of a study.

    Args:
        partial: accept forms that lack answers.

    Raises:
        DatasetError: a file that is too large, no answers, of another study, or incomplete; a form that a judge gave
            twice; a reply or a rating that the form does not have.
        FileNotFoundError: a file does not exist.
    """
    ratings: list[Rating] = []
    origin: dict[tuple[str, str], Path] = {}
    for path in paths:
        of_file = [_rating(line, key) for line in _lines(path)]
        if not of_file:
            raise DatasetError(f"{path}: Expected answers, but got none; save the form again.")
        form, judge = of_file[0].form, of_file[0].judge
        if len({(rating.form, rating.judge) for rating in of_file}) > 1:
            raise DatasetError(f"{path}: Expected the answers of one judge to one form; save one file for each.")
        if before := origin.get((form, judge)):
            raise DatasetError(f"{path}: Expected each form once a judge, but {judge} gave {form} in {before}, too.")
        origin[form, judge] = path
        _check_complete(path, of_file, key, partial=partial)
        ratings += of_file
    if not ratings:
        raise DatasetError("Expected files of answers, but got none; name those that judges saved.")
    return ratings


def _check_complete(path: Path, ratings: Sequence[Rating], key: StudyKey, *, partial: bool) -> None:
    form = ratings[0].form
    items = [rating.item for rating in ratings]
    if len(set(items)) < len(items):
        raise DatasetError(f"{path}: Expected each reply once, but got one twice; save the form again.")
    complete = sum(1 + item.style + item.topic for item in key.forms[form].values())
    answers = sum(part is not None for rating in ratings for part in (rating.quality, rating.style, rating.topic))
    if answers < complete and not partial:
        raise DatasetError(
            f"{path}: Expected {complete} answers, but got {answers}; ask {ratings[0].judge} to complete the form, or "
            "accept it with --partial."
        )


def _lines(path: Path) -> Iterator[_Line]:
    if (size := path.stat().st_size) > LARGEST:
        raise DatasetError(f"{path}: Expected up to {LARGEST:,} bytes, but got {size:,}; it is no file of answers.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path}: Expected UTF-8, but got {error.reason}; save the form again.") from None
    return _json_lines(text, path) if text.lstrip()[:1] in ("{", "[") else _csv_lines(text, path)


def _json_lines(text: str, path: Path) -> Iterator[_Line]:
    try:
        saved = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path}: Expected JSON, but got {error}; save the form again.") from None
    answers = saved.get("answers") if isinstance(saved, dict) else None
    if not isinstance(answers, list) or saved.get("format") != FORMAT:
        raise DatasetError(f"{path}: Expected the answers of a form of format {FORMAT}; save the form again.")
    for number, answer in enumerate(answers, 1):
        where = f"{path}: answer {number}"
        if not isinstance(answer, dict):
            raise DatasetError(f"{where}: Expected an object, but got {answer!r:.60}; save the form again.")
        study, form, judge = (saved.get(name) for name in _FIELDS[:3])
        item, quality, style, topic = (answer.get(name) for name in _FIELDS[3:])
        yield _Line(where, study, form, judge, item, quality, style, topic)


def _csv_lines(text: str, path: Path) -> Iterator[_Line]:
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise DatasetError(f"{path}:{reader.line_num}: Expected CSV, but got {error}; save the form again.") from None
    if not rows or tuple(rows[0][1]) != _FIELDS:
        got = ",".join(rows[0][1]) if rows else ""
        raise DatasetError(f"{path}:1: Expected the columns {','.join(_FIELDS)}, but got {got!r:.60}; save it again.")
    for number, row in rows[1:]:
        where = f"{path}:{number}"
        if len(row) != len(_FIELDS):
            raise DatasetError(f"{where}: Expected {len(_FIELDS)} fields, but got {len(row)}; correct the line.")
        quality = int(row[4]) if row[4].isascii() and row[4].isdigit() and len(row[4]) == 1 else row[4] or None
        style, topic = (_BOXES.get(field.lower(), field) for field in row[5:])
        yield _Line(where, row[0], row[1], row[2], row[3], quality, style, topic)


def _rating(line: _Line, key: StudyKey) -> Rating:
    if line.study != key.study:
        raise DatasetError(
            f"{line.where}: Expected answers to the study {key.study}, but got {line.study!r:.60}; name the folder of "
            "its forms."
        )
    if not isinstance(line.form, str) or line.form not in key.forms:
        raise DatasetError(f"{line.where}: Expected a form of the study, but got {line.form!r:.60}; save it again.")
    if not isinstance(line.judge, str) or not 0 < len(line.judge.strip()) <= _JUDGE or not line.judge.isprintable():
        raise DatasetError(
            f"{line.where}: Expected a judge's name of up to {_JUDGE} characters, but got {line.judge!r:.60}; enter it."
        )
    item = key.forms[line.form].get(line.number) if isinstance(line.number, str) else None
    if item is None:
        raise DatasetError(f"{line.where}: Expected a reply of form {line.form}, but got {line.number!r:.60}.")
    quality = line.quality
    if quality is not None and (type(quality) is not int or not 1 <= quality <= 5):
        raise DatasetError(f"{line.where}: Expected a quality from 1 to 5, but got {quality!r:.60}; correct it.")
    for name, box, is_asked in (("style", line.style, item.style), ("topic", line.topic, item.topic)):
        if box is not None and type(box) is not bool:
            raise DatasetError(f"{line.where}: Expected true or false for {name}, but got {box!r:.60}; correct it.")
        if box is not None and not is_asked:
            raise DatasetError(f"{line.where}: Expected no answer about {name}, but got {box!r}; save the form again.")
    return Rating(line.judge.strip(), line.form, item, quality, line.style, line.topic)
