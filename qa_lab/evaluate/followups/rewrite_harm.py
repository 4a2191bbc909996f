"""`eval rewrite` on standalone questions: the share that is changed although nothing is missing (harm).

The history of each question holds three others with their answers, drawn with a seed: three of any topic, and, if a
file has several questions (MedQuAD has a file per disease), three of the same file.
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
"""Characters of an answer in the history."""
FIELDS = ("question", "title", "body", "summary")
"""Fields of a line that hold questions."""


class StandaloneQuestion(NamedTuple):
    """A question, the start of its answer (may be empty), and its file."""

    question: str
    answer: str
    file: str

    @property
    def exchange(self) -> Exchange:
        return Exchange(self.question, self.answer, self.question if self.answer else "")


def holds_questions(data: Path) -> bool:
    """Whether a path holds no conversations, but queries in BEIR's layout or input of `qa-bot add`."""
    if data.is_dir():
        return not any(data.glob("*.json"))
    return data.exists() and data.suffix != ".json" and not _has_turns(data)


def evaluate_rewrite_harm(
    data: Path, *, limit: int | None = None, seed: int = SEED, progress: Progress = silent
) -> list[Row]:
    """A row for questions after three others, and one for questions after three of the same file.

    Args:
        data: JSON lines with `question`, or with `title`, `body` and `summary` as in `dev.queries.jsonl`; or other
            input of `qa-bot add` whose titles are questions.
        limit: number of questions to draw; 2,000 by default.

    Raises:
        DialogueError: for too few questions.
    """
    pool = list(questions(data))
    if len(pool) <= BEFORE:
        raise DialogueError(f"Expected more than {BEFORE} questions in {data}, but got {len(pool)}.")
    rng = np.random.default_rng(seed)
    drawn = [pool[i] for i in sorted(rng.permutation(len(pool))[: limit or QUESTIONS])]
    histories = [_history(question, pool, rng) for question in drawn]
    rows = [_row(data, f"after {BEFORE} others", histories, drawn, progress)]
    files: dict[str, list[StandaloneQuestion]] = {}
    for question in pool:
        files.setdefault(question.file, []).append(question)
    beside = [question for question in drawn if len({other.question for other in files[question.file]}) > BEFORE]
    if len(files) > 1 and beside:
        histories = [_history(question, files[question.file], rng) for question in beside]
        rows.append(_row(data, f"after {BEFORE} of its file", histories, beside, progress))
    return rows


def questions(data: Path) -> Iterator[StandaloneQuestion]:
    """Questions of a file, in order; queries in BEIR's layout give body and summary as well.

    Raises:
        DialogueError: for a line that is not a JSON object.
    """
    if data.suffix == ".jsonl":
        yield from _lines(data)
        return
    for item in read(data):
        if isinstance(item, Record) and item.title.strip():
            yield StandaloneQuestion(
                item.title.strip(), item.text[:ANSWER], item.where.rpartition(":")[0] or item.where
            )


def _lines(path: Path) -> Iterator[StandaloneQuestion]:
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            fields = orjson.loads(line)
            answer = str(fields.get("answer") or "")[:ANSWER]
            texts = [str(fields.get(name) or "").strip() for name in FIELDS]
        except (ValueError, AttributeError) as error:
            raise DialogueError(f"Expected a JSON object, but got {error} ({path}, line {number}).") from error
        yield from (StandaloneQuestion(question, answer, path.name) for question in texts if question)


def _history(
    question: StandaloneQuestion, others: Sequence[StandaloneQuestion], rng: np.random.Generator
) -> list[Exchange]:
    """Three random exchanges with other questions."""
    used = {question.question}
    history: list[Exchange] = []
    for i in rng.integers(len(others), size=100 * BEFORE).tolist():
        if others[i].question not in used and len(history) < BEFORE:
            used.add(others[i].question)
            history.append(others[i].exchange)
    return history


def _row(
    data: Path,
    engine: str,
    histories: Sequence[list[Exchange]],
    drawn: Sequence[StandaloneQuestion],
    progress: Progress,
) -> Row:
    rewriter = Rewriter()
    changed: dict[str, float] = {}
    milliseconds: list[float] = []
    for number, (question, history) in enumerate(zip(drawn, histories, strict=True)):
        start = time.perf_counter()
        rewritten = rewriter.rewrite(question.question, history)
        milliseconds.append(1000 * (time.perf_counter() - start))
        changed[str(number)] = float(rewritten.changed)
        progress(f"rewrote questions {engine}", number + 1)
    median, p95 = (Score(float(np.percentile(milliseconds, share)), float("nan"), {}) for share in (50, 95))
    scores = {"harm": Score.of(changed), "ms": median, "ms_p95": p95}
    return Row(TASK, data.name, "", engine, "", len(drawn), scores)


def _has_turns(path: Path) -> bool:
    if path.suffix != ".jsonl":
        return False
    with path.open("rb") as file:
        return b'"turns"' in file.readline(1 << 20)
