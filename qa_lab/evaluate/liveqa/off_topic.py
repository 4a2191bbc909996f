"""Reads questions that a medical collection does not answer, from streams of user questions (TREC LiveQA).

Tab-separated tables with the columns `qid`, `title`, `body` and a category (`category` or `leaf_category`, and
optionally `top_category`). Questions in a medical category are left out.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from qa_core.types import Question
from qa_lab.evaluate.datasets import DatasetError

FOLDER = "liveqa"
"""Default folder, beside the judged data."""
SUFFIXES = (".tsv", ".tsv.gz")
CATEGORIES = ("category", "leaf_category", "top_category")
MEDICAL = frozenset(
    {
        "allergies",
        "alternative medicine",
        "cancer",
        "dental",
        "diabetes",
        "diet & fitness",
        "first aid",
        "hair",
        "health",
        "health & safety",
        "heart diseases",
        "infectious diseases",
        "injuries",
        "men's health",
        "mental health",
        "optical",
        "other - diseases",
        "other - general health care",
        "other - health",
        "other - skin & body",
        "pain & pain management",
        "pregnancy & parenting",
        "respiratory diseases",
        "skin conditions",
        "stds",
        "women's health",
    }
)
"""Categories of health, and of hair and skin, which have questions on illness too."""


def draw_off_topic(path: Path, count: int, *, seed: int = 0) -> list[Question]:
    """`count` questions from a file or a folder of files, drawn without replacement; reproducible by seed.

    Raises:
        DatasetError: for missing files or columns, or too few questions.
    """
    pool = {question.id: question for file in _files(path) for question in _questions(file)}
    if len(pool) < count:
        raise DatasetError(f"Expected {count} off-topic questions in {path}, but got {len(pool)}; add more.")
    ids = sorted(pool)
    return [pool[ids[i]] for i in np.random.default_rng(seed).permutation(len(ids))[:count]]


def judged_part(limit: int | None) -> int | None:
    """The number of judged questions among `limit` questions, of which as many are off-topic."""
    return limit and -(-limit // 2)


def beside(data: Path) -> Path:
    """The default folder of off-topic questions for judged data."""
    return data.resolve().parent / FOLDER


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    files = sorted(file for file in path.glob("*") if file.name.endswith(SUFFIXES)) if path.is_dir() else []
    if not files:
        raise DatasetError(
            f"Expected tables of questions ({' or '.join(SUFFIXES)}) in {path}, but got none; name them by --off-topic."
        )
    return files


def _questions(path: Path) -> Iterator[Question]:
    """The questions of a file that are not medical; truncated lines are skipped."""
    lines = _text(path).split("\n")
    names = lines[0].removeprefix("\ufeff").rstrip("\r").split("\t")
    if not {"qid", "title"} <= {*names} or not {*names} & {*CATEGORIES}:
        raise DatasetError(f"{path}:1: Expected the columns qid, title and category, but got {', '.join(names)[:80]}.")
    for line in lines[1:]:
        cells = line.rstrip("\r").split("\t")
        row = dict(zip(names, cells, strict=False))
        if len(cells) == len(names) and row["title"].strip() and not _medical(row):
            category = row.get("category", row.get("leaf_category", ""))
            yield Question(row["title"].strip(), row.get("body", "").strip(), row["qid"], category)


def _medical(row: Mapping[str, str]) -> bool:
    return any(row.get(name, "").strip().lower() in MEDICAL for name in CATEGORIES)


def _text(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.name.endswith(".gz") else data).decode("utf-8", "replace")
