"""`eval rewrite` on questions that stand alone: how many are changed, though nothing was left out (harm)?

Each question is asked after three others with their answers, drawn with a seed: after three of any kind, which is a
shift of topic, and, where several stand in one file (MedQuAD has a file for each disease), after three of that file.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import orjson

from qa_bot.conversation.followups.mentions import Exchange
from qa_bot.conversation.followups.rewriter import Rewriter
from qa_bot.documents.ingest.reading import read
from qa_bot.documents.ingest.records import Record
from qa_core.measures.metrics import Score
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.followups.dialogues import DialogueError
from qa_lab.evaluate.report import Row

TASK = "rewrite"
BEFORE = 3
QUESTIONS = 2000
SEED = 7
ANSWER = 1000
"""Characters of an answer that are kept."""
ASKED = ("question", "title", "body", "summary")
"""Fields of a line that hold questions."""


class Standing(NamedTuple):
    """A question, the beginning of what answers it (may be empty), and the file that it stands in."""

    question: str
    answer: str
    file: str

    @property
    def exchange(self) -> Exchange:
        return Exchange(self.question, self.answer, self.question if self.answer else "")


def holds_questions(data: Path) -> bool:
    """Whether a path is no conversation: queries in BEIR's layout, or what `qa-bot add` reads."""
    if data.is_dir():
        return not any(data.glob("*.json"))
    return data.exists() and data.suffix != ".json" and not _has_turns(data)


def evaluate_standing_alone(
    data: Path, *, limit: int | None = None, seed: int = SEED, progress: Progress = silent
) -> list[Row]:
    """A row for questions after three of any kind, and one after three of their own file where files hold several.

    Args:
        data: JSON lines with `question`, or with `title`, `body` and `summary` as of `dev.queries.jsonl`; or anything
            else that `qa-bot add` reads, where titles are questions.
        limit: how many are drawn; 2,000 by default.

    Raises:
        DialogueError: there are too few.
    """
    found = list(questions(data))
    if len(found) <= BEFORE:
        raise DialogueError(f"Expected more than {BEFORE} questions in {data}, but got {len(found)}.")
    rng = np.random.default_rng(seed)
    drawn = [found[at] for at in sorted(rng.permutation(len(found))[: limit or QUESTIONS])]
    rows = [_row(data, f"after {BEFORE} others", [_after(each, found, rng) for each in drawn], drawn, progress)]
    files: dict[str, list[Standing]] = {}
    for each in found:
        files.setdefault(each.file, []).append(each)
    beside = [each for each in drawn if len({other.question for other in files[each.file]}) > BEFORE]
    if len(files) > 1 and beside:
        before = [_after(each, files[each.file], rng) for each in beside]
        rows.append(_row(data, f"after {BEFORE} of its file", before, beside, progress))
    return rows


def questions(data: Path) -> Iterator[Standing]:
    """Questions of a file, in order; queries in BEIR's layout give body and summary as well.

    Raises:
        DialogueError: a line of JSON that is none.
    """
    if data.suffix == ".jsonl":
        yield from _lines(data)
        return
    for item in read(data):
        if isinstance(item, Record) and item.title.strip():
            yield Standing(item.title.strip(), item.text[:ANSWER], item.where.rpartition(":")[0] or item.where)


def _lines(path: Path) -> Iterator[Standing]:
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            told = orjson.loads(line)
            answer = str(told.get("answer") or "")[:ANSWER]
            asked = [str(told.get(name) or "").strip() for name in ASKED]
        except (ValueError, AttributeError) as error:
            raise DialogueError(f"Expected an object of JSON, but got {error} ({path}, line {number}).") from error
        yield from (Standing(question, answer, path.name) for question in asked if question)


def _after(question: Standing, others: Sequence[Standing], rng: np.random.Generator) -> list[Exchange]:
    """Three of the others that ask something else."""
    kept = dict.fromkeys([question.question])
    before: list[Exchange] = []
    for at in rng.integers(len(others), size=100 * BEFORE).tolist():
        if others[at].question not in kept and len(before) < BEFORE:
            kept[others[at].question] = None
            before.append(others[at].exchange)
    return before


def _row(
    data: Path, engine: str, before: Sequence[list[Exchange]], drawn: Sequence[Standing], progress: Progress
) -> Row:
    rewriter = Rewriter()
    changed: dict[str, float] = {}
    took: list[float] = []
    for place, (each, history) in enumerate(zip(drawn, before, strict=True)):
        start = time.perf_counter()
        said = rewriter.rewrite(each.question, history)
        took.append(1000 * (time.perf_counter() - start))
        changed[str(place)] = float(said.changed)
        progress(f"asked {engine}", place + 1)
    median, most = (Score(float(np.percentile(took, share)), float("nan"), {}) for share in (50, 95))
    scores = {"harm": Score.of(changed), "ms": median, "ms_p95": most}
    return Row(TASK, data.name, "", engine, "", len(drawn), scores)


def _has_turns(path: Path) -> bool:
    if path.suffix != ".jsonl":
        return False
    with path.open("rb") as file:
        return b'"turns"' in file.readline(1 << 20)
