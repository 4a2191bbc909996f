"""The routes of blind comparison: what a judge gets tells nothing of the sides, which stay on this side of the wire."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from aiohttp import web

from qa_bot.home.folder import Home
from qa_bot.learning.comparing.blind import next_pair
from qa_bot.learning.comparing.comparison import Comparison, compare, judgements_of, keep, load, names
from qa_bot.learning.comparing.judgements import Judged, append, judge_pair, read_judgements
from qa_bot.learning.comparing.sides import ComparisonError, parse_answers
from qa_bot.web.api.compare_models import ComparisonRequest, GradesRequest, JudgementRequest, NextQuery, TableQuery
from qa_bot.web.api.json_bodies import read, read_query, reply, shown
from qa_bot.web.app_keys import SERVICE
from qa_bot.web.errors import ServiceError

log = logging.getLogger(__name__)

MOST = 20
"""Lines that could not be used of which a client is told."""

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
    """The comparisons that were prepared, by name."""
    home = request.app[SERVICE].bot.home
    return reply({"comparisons": await asyncio.to_thread(lambda: list(_listed(home)))})


async def make_comparison(request: web.Request) -> web.Response:
    """Two texts of answers become pairs to judge; 409 where they make none, or not those that have this name."""
    given = await read(request, ComparisonRequest)
    home = request.app[SERVICE].bot.home

    def work() -> dict[str, Any]:
        a, b = (parse_answers(each.answers, each.name) for each in (given.a, given.b))
        made = compare(a, b, name=given.name, seed=0)
        keep(home, made)
        counts = {"questions": len(made.judged), "identical": made.identical}
        told = {"only_a": made.only_a, "only_b": made.only_b, "wrong": [*a.wrong, *b.wrong][:MOST]}
        return {"name": made.name, **counts, **told}

    try:
        return reply(await asyncio.to_thread(work))
    except ComparisonError as error:
        raise ServiceError(409, str(error)) from None


async def show_next(request: web.Request) -> web.Response:
    """The next pair for a judge, in an order of chance."""
    query = read_query(request, NextQuery)

    def work(home: Home, comparison: Comparison) -> dict[str, Any]:
        done = _judged(home, comparison).done(query.judge)
        pair = next_pair(comparison, query.judge, done, start=query.start)
        return {**_progress(comparison, query.judge, len(done)), "pair": None if pair is None else asdict(pair)}

    return reply(await _of_comparison(request, work))


async def judge(request: web.Request) -> web.Response:
    """Keep a judgement; a later one of the same judge for the same question takes its place."""
    given = await read(request, JudgementRequest)

    def work(home: Home, comparison: Comparison) -> dict[str, Any]:
        pair = comparison.judged.get(given.qid)
        if pair is None:
            raise ServiceError(404, f"Expected the id of a question to judge, but got {shown(given.qid)}.")
        grades = given.grades or GradesRequest()
        said = judge_pair(
            comparison,
            pair,
            given.judge,
            given.choice,
            grades=(grades.first, grades.second),
            seconds=given.seconds or 0.0,
        )
        append(judgements_of(home, comparison.name), said)
        done = _judged(home, comparison).done(given.judge)
        return {**_progress(comparison, given.judge, len(done)), "qid": given.qid}

    return reply(await _of_comparison(request, work))


async def show_table(request: web.Request) -> web.Response:
    """Shares and significance, by grade; which side is which only for those who ask."""
    reveal = read_query(request, TableQuery).reveal

    def work(home: Home, comparison: Comparison) -> dict[str, Any]:
        from qa_bot.learning.comparing.tables import table_of  # late: a service that answers needs no statistics

        return table_of(comparison, _judged(home, comparison)).as_dict(reveal=reveal)

    return reply(await _of_comparison(request, work))


async def _of_comparison(request: web.Request, work: Work) -> dict[str, Any]:
    """What `work` makes of the comparison that the path names, in a thread; 404 where there is none."""
    home, name = request.app[SERVICE].bot.home, request.match_info["name"]
    try:
        return await asyncio.to_thread(lambda: work(home, load(home, name)))
    except ComparisonError as error:
        raise ServiceError(404, str(error)) from None


def _listed(home: Home) -> Iterator[dict[str, Any]]:
    for name in names(home):
        try:
            comparison = load(home, name)
        except ComparisonError as error:
            log.warning("A comparison is left out: %s", error)
            continue
        counts = {"questions": len(comparison.judged), "identical": comparison.identical}
        yield {"name": name, **counts, "judges": dict(_judged(home, comparison).judges)}


def _judged(home: Home, comparison: Comparison) -> Judged:
    return read_judgements(comparison, [judgements_of(home, comparison.name)])


def _progress(comparison: Comparison, judge: str, done: int) -> dict[str, Any]:
    return {"comparison": comparison.name, "judge": judge, "done": done, "questions": len(comparison.judged)}
