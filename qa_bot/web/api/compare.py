"""The routes of blind comparison; a judge's client never receives the names of the sides."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Any

from aiohttp import web

from qa_bot.home.folder import Home
from qa_bot.learning.comparing.blind import next_pair
from qa_bot.learning.comparing.comparison import Comparison, compare, judgements_of, load, names, save
from qa_bot.learning.comparing.judgements import Judgements, append, judge_pair, read_judgements
from qa_bot.learning.comparing.sides import ComparisonError, parse_answers
from qa_bot.web.api.compare_models import ComparisonRequest, GradesRequest, JudgementRequest, NextQuery, TableQuery
from qa_bot.web.api.json_bodies import read, read_query, reply, shown
from qa_bot.web.app_keys import SERVICE
from qa_bot.web.errors import ServiceError

log = logging.getLogger(__name__)

MOST = 20
"""Unusable lines that a reply lists."""

Work = Callable[[Home, Comparison], dict[str, Any]]


def routes() -> list[web.RouteDef]:
    one = "/api/comparisons/{name}"
    return [
        web.get("/api/comparisons", list_comparisons),
        web.post("/api/comparisons", make_comparison),
        web.get(one, show_table),
        web.get(f"{one}/next", show_next),
        web.post(f"{one}/judgements", judge),
    ]


async def list_comparisons(request: web.Request) -> web.Response:
    """All comparisons of the home, by name."""
    home = request.app[SERVICE].bot.home
    return reply({"comparisons": await asyncio.to_thread(lambda: list(_summaries(home)))})


async def make_comparison(request: web.Request) -> web.Response:
    """Make a comparison of two texts of answers; 409 if they share no question, or another one has this name."""
    body = await read(request, ComparisonRequest)
    home = request.app[SERVICE].bot.home

    def work() -> dict[str, Any]:
        a, b = (parse_answers(side.answers, side.name) for side in (body.a, body.b))
        comparison = compare(a, b, name=body.name, seed=0)
        save(home, comparison)
        counts = {"questions": len(comparison.judged), "identical": comparison.identical}
        left_out = {"only_a": comparison.only_a, "only_b": comparison.only_b, "wrong": [*a.wrong, *b.wrong][:MOST]}
        return {"name": comparison.name, **counts, **left_out}

    try:
        return reply(await asyncio.to_thread(work))
    except ComparisonError as error:
        raise ServiceError(409, str(error)) from None


async def show_next(request: web.Request) -> web.Response:
    """The next pair for a judge, in random order."""
    query = read_query(request, NextQuery)

    def work(home: Home, comparison: Comparison) -> dict[str, Any]:
        done = _judgements(home, comparison).done(query.judge)
        pair = next_pair(comparison, query.judge, done, start=query.start)
        return {**_progress(comparison, query.judge, len(done)), "pair": None if pair is None else pair.as_dict()}

    return reply(await _of_comparison(request, work))


async def judge(request: web.Request) -> web.Response:
    """Save a judgement; it replaces an earlier one of the same judge for the same question."""
    body = await read(request, JudgementRequest)

    def work(home: Home, comparison: Comparison) -> dict[str, Any]:
        pair = comparison.judged.get(body.qid)
        if pair is None:
            raise ServiceError(404, f"Expected the id of a question to judge, but got {shown(body.qid)}.")
        grades = body.grades or GradesRequest()
        judgement = judge_pair(
            comparison,
            pair,
            body.judge,
            body.choice,
            grades=(grades.first, grades.second),
            seconds=body.seconds or 0.0,
        )
        append(judgements_of(home, comparison.name), judgement)
        done = _judgements(home, comparison).done(body.judge)
        return {**_progress(comparison, body.judge, len(done)), "qid": body.qid}

    return reply(await _of_comparison(request, work))


async def show_table(request: web.Request) -> web.Response:
    """Shares and significance by grade; the names of the sides only if the query says `reveal`."""
    reveal = read_query(request, TableQuery).reveal

    def work(home: Home, comparison: Comparison) -> dict[str, Any]:
        from qa_bot.learning.comparing.tables import table_of  # late: answering needs no statistics

        return table_of(comparison, _judgements(home, comparison)).as_dict(reveal=reveal)

    return reply(await _of_comparison(request, work))


async def _of_comparison(request: web.Request, work: Work) -> dict[str, Any]:
    """Run `work` in a thread on the comparison that the path names; 404 if it does not exist."""
    home, name = request.app[SERVICE].bot.home, request.match_info["name"]

    def load_and_work() -> dict[str, Any]:
        home.expect_present()
        return work(home, load(home, name))

    try:
        return await asyncio.to_thread(load_and_work)
    except ComparisonError as error:
        raise ServiceError(404, str(error)) from None


def _summaries(home: Home) -> Iterator[dict[str, Any]]:
    home.expect_present()
    for name in names(home):
        try:
            comparison = load(home, name)
        except ComparisonError as error:
            log.warning("A comparison is left out: %s", error)
            continue
        counts = {"questions": len(comparison.judged), "identical": comparison.identical}
        yield {"name": name, **counts, "judges": dict(_judgements(home, comparison).judges)}


def _judgements(home: Home, comparison: Comparison) -> Judgements:
    return read_judgements(comparison, [judgements_of(home, comparison.name)])


def _progress(comparison: Comparison, judge: str, done: int) -> dict[str, Any]:
    return {"comparison": comparison.name, "judge": judge, "done": done, "questions": len(comparison.judged)}
