"""The LiveQA service as a client of the track meets it, over real sockets."""

from __future__ import annotations

import asyncio
import importlib.util
import io
import logging
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlencode

import aiohttp
import defusedxml.ElementTree
import pytest

TITLE = "Why do cats sleep all day?"
FORM = {"qid": "YA:20150901000115AA8qvls", "title": TITLE, "body": "Mine does nothing else.", "category": "Cats"}
FUZZED = 200


def parsed(text: str) -> dict[str, str]:
    """The texts of the elements by name, and the attributes."""
    answer = defusedxml.ElementTree.fromstring(text)[0]
    return {**answer.attrib, **{item.tag: item.text or "" for item in answer}}


def code(reply: Any) -> tuple[int, str]:
    """Status and code of an error in the one shape."""
    assert reply.json["error"].keys() == {"code", "message", "request_id"}
    return reply.status, reply.json["error"]["code"]


@pytest.fixture(scope="module")
def replay() -> Iterator[ModuleType]:
    """The benchmark, whose checks and odd forms are used here too."""
    path = Path(__file__).parents[4] / "benchmarks" / "liveqa_replay.py"
    spec = importlib.util.spec_from_file_location("liveqa_replay", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # it imports the benchmark's forms
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(path.parent))
    del sys.modules[spec.name], sys.modules["liveqa_forms"]


# ---------------------------------------------------------------------------------------------------------- protocol


def test_the_document_with_the_id_of_the_question_is_left_out(service: Any) -> None:
    resources = {
        qid: parsed(service.post("/liveqa", data=FORM | {"qid": qid}).text)["resources"].split(",")
        for qid in (FORM["qid"], "animals-cats-sleep")
    }
    assert resources[FORM["qid"]][0].endswith("animals-cats-sleep")
    assert not any(resource.endswith("animals-cats-sleep") for resource in resources["animals-cats-sleep"])


def test_a_form_is_answered_with_xml(service: Any) -> None:
    reply = service.post("/liveqa", data=FORM)
    assert (reply.status, reply.headers["Content-Type"]) == (200, "text/xml; charset=utf-8")
    result = parsed(reply.text)
    assert (result["answered"], result["qid"], result["summary"]) == ("yes", FORM["qid"], TITLE)
    assert "sleep" in result["content"]
    assert result["resources"]
    assert [TITLE[slice(*map(int, item.split("-")))] for item in result["title-foci"].split(",")] == ["cats"]
    assert 0 <= int(result["time"]) < 30_000


def test_pid_is_the_turn_that_was_recorded(service: Any) -> None:
    pid = parsed(service.post("/liveqa", data=FORM).text)["pid"]
    assert service.bot.store.turn(pid) is not None


def test_an_unanswered_question_has_a_reason(service: Any) -> None:
    result = parsed(service.post("/liveqa", data={**FORM, "title": "xyzzy blorp qwertz?", "body": ""}).text)
    assert (result["answered"], result["qid"]) == ("no", FORM["qid"])
    assert result["discard-reason"]
    assert "content" not in result


@pytest.mark.parametrize("base", ["url", "liveqa_url"])
@pytest.mark.parametrize("way", ["urlencoded", "multipart", "query", "query of a POST"])
def test_a_question_may_come_in_four_ways(serve: Callable[..., Any], base: str, way: str) -> None:
    service = serve(liveqa=True)
    send = {
        "urlencoded": lambda: service.post("/liveqa", base=getattr(service, base), data=FORM),
        "multipart": lambda: service.post("/liveqa", base=getattr(service, base), data=_multipart(FORM)),
        "query": lambda: service.get(f"/liveqa?{urlencode(FORM)}", base=getattr(service, base)),
        "query of a POST": lambda: service.post(f"/liveqa?{urlencode(FORM)}", base=getattr(service, base)),
    }
    result = parsed(send[way]().text)
    assert (result["answered"], result["qid"], result["summary"]) == ("yes", FORM["qid"], TITLE)


def _multipart(form: dict[str, str]) -> aiohttp.MultipartWriter:
    writer = aiohttp.MultipartWriter("form-data")
    for name, value in form.items():
        writer.append(value).set_content_disposition("form-data", name=name)
    return writer


def test_clients_of_the_track_use_the_root_of_the_separate_port(serve: Callable[..., Any]) -> None:
    service = serve(liveqa=True)
    assert parsed(service.post("/", base=service.liveqa_url, data=FORM).text)["answered"] == "yes"
    assert parsed(service.get(f"/?{urlencode(FORM)}", base=service.liveqa_url).text)["answered"] == "yes"
    assert code(service.request("PUT", "/", base=service.liveqa_url)) == (405, "method_not_allowed")
    unknown = service.get("/api/conversations", base=service.liveqa_url)
    assert code(unknown) == (404, "not_found")
    assert unknown.json["error"]["message"].endswith("; this port serves LiveQA at / and /liveqa.")


def test_only_the_title_is_needed(service: Any) -> None:
    result = parsed(service.post("/liveqa", data={"title": TITLE}).text)
    assert (result["answered"], result["qid"], result["body-foci"]) == ("yes", "", "")


def test_without_a_title_the_first_sentence_of_the_body_is_the_question(service: Any) -> None:
    result = parsed(service.post("/liveqa", data={"title": " \x00", "body": f"{TITLE} I wonder."}).text)
    assert (result["answered"], result["title-foci"], result["summary"]) == ("yes", "", TITLE)
    assert service.bot.store.turn(result["pid"]).question == TITLE


def test_foci_are_spans_of_the_sent_text(service: Any) -> None:
    title, body = " \x00😀 <Cats> & sleep?\x0b", "\ud7ff\r\nA sleeping cat!"
    result = parsed(service.post("/liveqa", data={"title": title, "body": body}).text)
    assert [title[slice(*map(int, item.split("-")))] for item in result["title-foci"].split(",")] == ["Cats", "sleep"]
    assert [body[slice(*map(int, item.split("-")))] for item in result["body-foci"].split(",")] == ["sleeping cat"]


def test_a_long_japanese_question_fits_the_query(service: Any) -> None:
    reply = service.get("/liveqa?" + urlencode({"title": "猫はなぜ一日中眠るのですか。", "body": "猫は眠る。" * 900}))
    assert reply.status == 200
    assert "answered" in parsed(reply.text)


def test_a_very_long_body_is_read_in_part(service: Any, replay: ModuleType) -> None:
    form = {**FORM, "body": "My cat is asleep again and I cannot wake her. " * 2200}
    assert len(form["body"]) > 100_000
    sent = replay.Sent("POST", body=urlencode(form).encode(), kind="application/x-www-form-urlencoded", fields=form)
    reply = service.run(replay.send(service.client, f"{service.url}/liveqa", sent))
    assert replay.faults(reply, form) == []
    assert parsed(reply.body.decode())["qid"] == FORM["qid"]


def test_answers_shorter_than_the_track_allows_are_configured(home: Path, serve: Callable[..., Any]) -> None:
    (home / "qa-bot.toml").write_text("[answer]\nlimit = 60\n")
    assert 0 < len(parsed(serve().post("/liveqa", data=FORM).text)["content"]) <= 60


# --------------------------------------------------------------------------------------------------------- refusals


def test_a_form_that_asks_nothing_is_refused(service: Any) -> None:
    for form in ({}, {"title": ""}, {"title": " \t", "body": "\n"}, {"qid": "1", "category": "Cats"}):
        assert code(service.post("/liveqa", data=form)) == (422, "invalid")
    assert code(service.get("/liveqa")) == (422, "invalid")


def test_a_body_that_is_no_form_is_rejected(service: Any) -> None:
    assert code(service.post("/liveqa", json=FORM)) == (415, "unsupported_media_type")
    assert code(service.post("/liveqa", data=b"x=1", headers={"Content-Type": "text/plain"}))[0] == 415


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/x-www-form-urlencoded", b"title=\xff\xfe"),
        ("application/x-www-form-urlencoded; charset=nonsense", b"title=why"),
        ("multipart/form-data", b"--x\r\n"),
        ("multipart/form-data; boundary=x", b"no boundary at all"),
        ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="title"\r\n\r\nWhy'),
        ("multipart/form-data; boundary=x", b"--x\r\nbroken\r\n\r\nWhy\r\n--x--\r\n"),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\nWhy?\r\n--x--\r\n"),
    ],
)
def test_a_form_that_cannot_be_read_is_refused(service: Any, kind: str, body: bytes) -> None:
    assert code(service.post("/liveqa", data=body, headers={"Content-Type": kind})) == (400, "bad_request")


def test_a_file_is_no_title(service: Any) -> None:
    form = aiohttp.FormData()
    form.add_field("title", b"Why?", filename="title.txt", content_type="text/plain")
    assert code(service.post("/liveqa", data=form)) == (400, "bad_request")


def test_a_form_that_is_too_long_is_refused(service: Any) -> None:
    body = io.BytesIO(b"title=why&body=" + b"x" * 2**20)
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert code(service.post("/liveqa", data=body, headers=kind)) == (413, "too_large")


def test_the_token_may_stand_in_the_query(serve: Callable[..., Any]) -> None:
    service = serve(liveqa=True, token="secret")
    for base in (service.url, service.liveqa_url):
        assert code(service.post("/liveqa", base=base, data=FORM)) == (401, "unauthorized")
        assert parsed(service.post("/liveqa?token=secret", base=base, data=FORM).text)["answered"] == "yes"


# ---------------------------------------------------------------------------------------------------- time and crowds


def test_a_question_is_answered_at_its_deadline(serve: Callable[..., Any], slow_bot: Any) -> None:
    service = serve(slow_bot, liveqa_deadline=0.3)
    slow_bot.pauses["retrieve"] = 20.0
    result = parsed(service.post("/liveqa", data=FORM).text)
    assert (result["answered"], result["qid"]) == ("no", FORM["qid"])
    assert int(result["time"]) >= 290, "time is counted from the moment the question came"


def test_overlapping_questions_get_their_own_answers(serve: Callable[..., Any]) -> None:
    service = serve(workers=4)
    forms = [{"qid": str(number), "title": TITLE, "body": "and why? " * number} for number in range(24)]
    with ThreadPoolExecutor(24) as pool:
        replies = list(pool.map(lambda form: parsed(service.post("/liveqa", data=form).text), forms))
    assert [reply["qid"] for reply in replies] == [form["qid"] for form in forms]
    assert len({reply["pid"] for reply in replies}) == 24


def test_a_full_service_says_when_to_retry(serve: Callable[..., Any], slow_bot: Any) -> None:
    service = serve(slow_bot, workers=1, queue=0)
    slow_bot.pauses["retrieve"] = 20.0

    async def two() -> tuple[int, str]:
        first = asyncio.ensure_future(service.client.post("/liveqa", data=FORM))
        while not service.answers.busy:
            await asyncio.sleep(0.01)
        async with service.client.post("/liveqa", data=FORM) as reply:
            matches = reply.status, reply.headers["Retry-After"]
        first.cancel()
        return matches

    status, wait = service.run(two())
    assert status == 503
    assert int(wait) >= 1
    service.until(lambda: slow_bot.cancelled == 1, "the end of a question whose client went")


# ------------------------------------------------------------------------------------------------------------- fuzzing


@pytest.mark.parametrize(("first", "end"), [(0, 40), pytest.param(40, FUZZED, marks=pytest.mark.slow)])
def test_odd_forms_are_answered_or_refused(
    serve: Callable[..., Any], replay: ModuleType, caplog: pytest.LogCaptureFixture, first: int, end: int
) -> None:
    service = serve(liveqa=True)
    wrong = []
    with caplog.at_level(logging.ERROR):
        for sent in islice(replay.odd_requests(11), first, end):
            reply = service.run(replay.send(service.client, f"{service.liveqa_url}/", sent))
            wrong += [(fault, str(sent)[:300]) for fault in replay.faults(reply, sent.fields)]
    assert wrong == []
    assert caplog.records == []


@pytest.mark.slow
def test_the_benchmark_replays_a_stream(home: Path, replay: ModuleType, tmp_path: Path, capsys: Any) -> None:
    rows = "\n".join(f"2015\tYA:{number}\t{TITLE}\tMine does.\tCats" for number in range(6))
    (tmp_path / "stream.tsv").write_text(f"date_received\tqid\ttitle\tbody\tcategory\n{rows}\n")
    arguments = ["x", "--home", str(home), "--data", str(tmp_path / "stream.tsv"), "--every", "0.05", "--at-once", "2"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", arguments)
        assert replay.main() == 0, capsys.readouterr().out
    assert '"well_formed_in_time": 1.0' in capsys.readouterr().out
