"""Results of `eval workplace` as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from qa_core.measures.significance import LEAST_P
from qa_lab.evaluate.workplace.evaluation import WorkplaceResult
from qa_lab.evaluate.workplace.grading import GRADES
from qa_lab.evaluate.workplace.losses import STAGES
from qa_lab.evaluate.workplace.worst import worst

GAP = "  "
SHOWN = 160


def text(results: Sequence[WorkplaceResult], *, with_replies: bool = False, worst_count: int = 0) -> str:
    """Tables of grades and scores by type of question, of losses if they were measured, and answers that lost points.

    One result has a column for each grade, several a column each with the score. `worst_count` is the number of worst
    answers that are shown with their reasons, if losses were measured.
    """
    rows = list(_one(results[0]) if len(results) == 1 else _several(results))
    parts = [caption(results), aligned(rows)]
    if any(result.losses for result in results):
        parts.append(aligned(list(_losses(results))))
    if with_replies:
        parts += ["\n".join(_lost_points(result)) for result in results]
    if worst_count:
        parts += ["\n".join(_worst(result, worst_count)) for result in results]
    return "\n\n".join(parts)


def as_json(results: Sequence[WorkplaceResult], *, with_replies: bool = False, worst_count: int = 0) -> dict[str, Any]:
    """One object for one result; for several, the first one's object with all of them under `models`.

    `with_replies` adds every reply with its grade, `worst_count` the worst answers with their reasons.
    """
    objects = [result.as_dict(with_replies=with_replies) for result in results]
    for object_, result in zip(objects, results, strict=True):
        if worst_count:
            lost = worst(result, worst_count)
            object_["worst"] = [{"_id": of.question.id, "grade": of.grade, "reason": why} for of, why in lost]
    return objects[0] if len(objects) == 1 else {**objects[0], "models": objects}


def caption(results: Sequence[WorkplaceResult]) -> str:
    first = results[0]
    times = "; ".join(
        f"{of.name}: p50 {of.milliseconds(50):.0f} ms, p99 {of.milliseconds(99):.0f} ms" for of in results
    )
    return f"workplace on {first.data}: {len(first.replies)} questions; {times}"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns, the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        GAP.join(cell.ljust(width) if not at else cell.rjust(width) for at, (cell, width) in enumerate(cells)).rstrip()
        for cells in (list(zip(row, widths, strict=True)) for row in rows)
    )


def _one(result: WorkplaceResult) -> Iterator[list[str]]:
    yield ["type", *GRADES, "score"]
    for name in [*result.types, ""]:
        part = result.of_type(name) if name else result
        score = _with_error(part) if not name else f"{part.score.mean:.3f}"
        yield [name or "all", *(str(part.grades[grade]) for grade in GRADES), score]


def _several(results: Sequence[WorkplaceResult]) -> Iterator[list[str]]:
    first = results[0]
    yield ["type", "questions", *(result.name for result in results)]
    for name in first.types:
        parts = [result.of_type(name) for result in results]
        yield [name, str(len(parts[0].replies)), *(f"{part.score.mean:.3f}" for part in parts)]
    for grade in GRADES:
        yield [f"grade {grade}", "", *(str(result.grades[grade]) for result in results)]
    yield ["all", str(len(first.replies)), *map(_with_error, results)]
    yield ["− first", "", *map(_difference, results)]


def _with_error(result: WorkplaceResult) -> str:
    return f"{result.score.mean:.3f} ± {result.score.standard_error:.3f}"


def _difference(result: WorkplaceResult) -> str:
    versus = result.versus
    if versus is None:
        return ""
    p = f"p {versus.p:.3f}" if versus.p >= LEAST_P else f"p < {LEAST_P}"
    return f"{versus.difference:+.3f} [{versus.low:+.3f}, {versus.high:+.3f}], {p}"


def _losses(results: Sequence[WorkplaceResult]) -> Iterator[list[str]]:
    measured = [(result.name, result.losses) for result in results if result.losses]
    yield ["gold texts of answerable questions", *(f"{name} ({of.answerable})" for name, of in measured)]
    for stage in STAGES:
        yield [stage, *(str(len(of.reached[stage])) for _, of in measured)]
    yield ["precision of the answers", *(f"{of.precision:.3f} of {of.answers}" for _, of in measured)]


def _worst(result: WorkplaceResult, count: int) -> Iterator[str]:
    yield f"{result.name}: the worst answers"
    for of, why in worst(result, count):
        shown = " ".join((of.reply.text or of.reply.reason).split())[:SHOWN]
        yield f"{of.grade}  {of.question.id}  {of.question.turn.question}\n      {why}; answer {shown!r}"


def _lost_points(result: WorkplaceResult) -> Iterator[str]:
    yield f"{result.name}: answers without the best grade"
    for of in result.replies:
        if of.grade not in "3A":
            shown = " ".join((of.reply.text or of.reply.reason).split())[:SHOWN]
            gold = [list(group) for group in of.question.gold]
            yield f"{of.grade}  {of.question.id}  {of.question.turn.question}\n      gold {gold}, answer {shown!r}"
