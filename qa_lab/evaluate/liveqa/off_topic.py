"""Questions that a medical collection does not answer, from people's streams of questions (TREC LiveQA).

Tables of tabs under a header that names `qid`, `title`, `body` and a category (`category` or `leaf_category`, and
maybe `top_category`). Questions of a medical category are left out.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from qa_core.types import Question
from qa_lab.evaluate.datasets import DatasetError

FOLDER = "liveqa"
"""Looked for beside the judged data."""
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
"""Categories of health, and those of hair and skin, where illness is asked about, too."""


def draw_off_topic(path: Path, count: int, *, seed: int = 0) -> list[Question]:
    """So many questions of a file or of a folder's files, drawn without replacement; the same seed draws the same.

    Raises:
        DatasetError: nothing there, no such columns, too few questions.
    """
    found = {question.id: question for file in _files(path) for question in _questions(file)}
    if len(found) < count:
        raise DatasetError(f"Expected {count} questions off the topic in {path}, but got {len(found)}; add more.")
    known = sorted(found)
    return [found[known[place]] for place in np.random.default_rng(seed).permutation(len(known))[:count]]


def beside(data: Path) -> Path:
    """The folder of questions that lies beside judged data."""
    return data.resolve().parent / FOLDER


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    files = sorted(each for each in path.glob("*") if each.name.endswith(SUFFIXES)) if path.is_dir() else []
    if not files:
        raise DatasetError(
            f"Expected tables of questions ({' or '.join(SUFFIXES)}) in {path}, but got none; name them by --off-topic."
        )
    return files


def _questions(path: Path) -> Iterator[Question]:
    """The questions of a file that are not medical; lines that are cut short are passed over."""
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
    told = path.read_bytes()
    return (gzip.decompress(told) if path.name.endswith(".gz") else told).decode("utf-8", "replace")
