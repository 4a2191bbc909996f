"""Forms for the LiveQA port of a service, valid and broken, and the check of its replies; see `liveqa_replay.py`."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus, urlencode

import defusedxml.ElementTree

CONTENT, REST, SUMMARY = 1000, 2048, 140
IN_TIME = 60.0
"""Time limit of the track in seconds."""
ILLEGAL = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
STATUSES = frozenset({400, 413, 415, 422, 503})
"""Statuses of replies to invalid forms."""
QID = 80
"""Characters of an id that are never cut."""

Fields = Mapping[str, str]


@dataclass(frozen=True)
class Sent:
    """One request; `fields` are None if no parsing of it is the correct one."""

    method: str
    query: str = ""
    body: bytes = b""
    kind: str = ""
    fields: Fields | None = None


@dataclass(frozen=True)
class Reply:
    """A reply and the seconds until it was complete."""

    status: int
    kind: str
    body: bytes
    seconds: float
    retry_after: str | None = None

    @property
    def answered(self) -> bool:
        return self.status == 200 and b'answered="yes"' in self.body


def faults(reply: Reply, fields: Fields | None) -> list[str]:
    """Faults of a reply to a form; empty for a correct reply."""
    if reply.status != 200:
        return list(_error_faults(reply))
    try:
        text = reply.body.decode()
        root = defusedxml.ElementTree.fromstring(text)
    except ValueError as error:  # not XML's ParseError, which is a SyntaxError
        return [f"cannot be read: {error}"]
    except SyntaxError as error:
        return [f"is not well-formed: {error}"]
    return [*_shape_faults(root), *_limit_faults(root, text), *_echo_faults(root, fields), *_kind_faults(reply)]


def _error_faults(reply: Reply) -> Iterator[str]:
    try:
        error = json.loads(reply.body)["error"]
        assert {"code", "message", "request_id"} == error.keys()
    except (ValueError, KeyError, TypeError, AssertionError):
        yield f"is not a JSON error: {reply.status} {reply.body[:80]!r}"
    if reply.status not in STATUSES:
        yield f"has status {reply.status}"
    if reply.status == 503 and not reply.retry_after:
        yield "has no Retry-After"


def _kind_faults(reply: Reply) -> Iterator[str]:
    if reply.kind.replace(" ", "").lower() != "text/xml;charset=utf-8":
        yield f"is sent as {reply.kind}"
    if reply.seconds > IN_TIME:
        yield f"took {reply.seconds:.1f} s"


def _shape_faults(root: Any) -> Iterator[str]:
    answer = root[0]
    first = ["content", "resources"] if answer.get("answered") == "yes" else ["discard-reason"]
    expected = ["xml", "answer", *first, "title-foci", "body-foci", "summary"]
    if [root.tag, answer.tag, *(element.tag for element in answer)] != expected:
        yield "has unexpected elements"
    if {*answer.attrib} != {"answered", "pid", "qid", "time"} or answer.get("answered") not in ("yes", "no"):
        yield f"has the attributes {answer.attrib}"
    if not answer.get("pid") or not re.fullmatch(r"\d+", answer.get("time", "")):
        yield "has no pid, or a time that is not a number of milliseconds"
    if not answer[0].text:
        yield "has neither an answer nor a reason"


def _limit_faults(root: Any, text: str) -> Iterator[str]:
    answer = root[0]
    content = answer.findtext("content", "")
    if len(content) > CONTENT:
        yield f"has an answer of {len(content)} characters"
    if (rest := len(re.sub("(?s)<content>.*</content>", "<content></content>", text))) > REST:
        yield f"has {rest} characters beside the answer"
    summary = answer.findtext("summary", "")
    if len(summary) > SUMMARY or len(summary.splitlines()) > 1:
        yield f"has the summary {summary!r}"


def _echo_faults(root: Any, fields: Fields | None) -> Iterator[str]:
    """The reply must repeat the id, and foci must be spans of the texts that were sent."""
    if fields is None:
        return
    answer, qid = root[0], ILLEGAL.sub("", fields.get("qid", ""))
    if answer.get("qid") != qid and (len(qid) <= QID or not qid.startswith(answer.get("qid", ""))):
        yield f"has the qid {answer.get('qid')!r} in place of {qid!r}"
    for name in ("title", "body"):
        spans = [span.split("-") for span in answer.findtext(f"{name}-foci", "").split(",") if span]
        if not all(0 <= int(start) < int(end) <= len(fields.get(name, "")) for start, end in spans):
            yield f"has foci outside the {name}: {spans}"


ALPHABETS = (
    "abcdefghij  ?.,",
    "&<>\"'%=;+#\\/]]>",
    "".join(map(chr, range(32))) + "\x7f\x85\ufffe\uffff",
    "äßçñ中文かな한국 مرحبا שלום \u202e\u200f",
    "😀👩‍👩‍👧🏳️‍🌈\U0010ffff",
)
PHRASES = ("Why do cats sleep all day?", "<![CDATA[x]]>", "<!ENTITY x SYSTEM 'file:///etc/passwd'>", "%00", "\r\n\r\n")
NAMES = ("qid", "title", "body", "category")


def odd_requests(seed: int) -> Iterator[Sent]:
    """An endless stream of forms of all kinds with unusual texts, and of broken forms."""
    rng = random.Random(seed)
    makers: Sequence[Callable[[random.Random], Sent]] = (_encoded, _encoded, _queried, _in_parts, _mutated, _garbage)
    while True:
        yield rng.choice(makers)(rng)


def odd_text(rng: random.Random, most: int = 200) -> str:
    """A random text in one or all of the alphabets, sometimes very long."""
    if rng.random() < 0.3:
        return rng.choice(PHRASES)
    length = rng.choice((0, 1, *(rng.randrange(most) for _ in range(8)), 20 * most))
    letters = rng.choice((*ALPHABETS, "".join(ALPHABETS)))
    return "".join(rng.choices(letters, k=length))


def _fields(rng: random.Random, most: int = 200) -> dict[str, str]:
    return {name: odd_text(rng, most) for name in NAMES if rng.random() < 0.8}


def _encoded(rng: random.Random) -> Sent:
    fields = _fields(rng, rng.choice((50, 50, 200, 200, 1000)))
    return Sent("POST", body=urlencode(fields).encode(), kind="application/x-www-form-urlencoded", fields=fields)


def _queried(rng: random.Random) -> Sent:
    fields = {name: value[:300] for name, value in _fields(rng, 50).items()}
    return Sent("GET", query=urlencode(fields), fields=fields)


def _in_parts(rng: random.Random) -> Sent:
    fields = {name: value.replace("\r\n--", "") for name, value in _fields(rng).items()}
    parts = (
        f'--XyZ\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
    )
    kind = "multipart/form-data; boundary=XyZ"
    return Sent("POST", body=("".join(parts) + "--XyZ--\r\n").encode(), kind=kind, fields=fields)


def _mutated(rng: random.Random) -> Sent:
    """A valid form with some bytes changed, removed, doubled or inserted, or with a wrong content type."""
    good = rng.choice((_encoded, _in_parts))(rng)
    body = bytearray(good.body)
    for _ in range(rng.randrange(1, 8)):
        at = rng.randrange(len(body) + 1)
        junk = rng.choice((rng.randbytes(3), b"--XyZ\r\n", b"%", b"%zz", b"&&&=", b"\xff\xfe", b"\r\n", body[at:], b""))
        body[at : at + rng.randrange(4)] = junk
    kinds = (
        good.kind,
        good.kind,
        "multipart/form-data",
        "multipart/form-data; boundary=" + "b" * 90,
        f"{good.kind}; charset=utf-7",
        f"{good.kind}; charset=nonsense",
        "application/json",
        "text/plain",
    )
    return Sent("POST", body=bytes(body), kind=rng.choice(kinds))


def _garbage(rng: random.Random) -> Sent:
    """Random bytes, a file, very many fields, nested parts, or a body that is too long."""
    form, parts = "application/x-www-form-urlencoded", "multipart/form-data; boundary=XyZ"
    head = b'--XyZ\r\nContent-Disposition: form-data; name="title"'
    end = b"\r\n--XyZ--\r\n"
    choices = (
        (rng.randbytes(rng.randrange(500)), form),
        (rng.randbytes(rng.randrange(500)), parts),
        (head + b'; filename="x.txt"\r\nContent-Type: text/plain\r\n\r\nWhy?' + end, parts),
        (head + b"\r\nContent-Transfer-Encoding: base64\r\n\r\n%%%" + end, parts),
        (head + b"\r\nContent-Encoding: gzip\r\n\r\nnot gzip" + end, parts),
        (head + b"\r\nContent-Type: multipart/mixed; boundary=A\r\n\r\n--A\r\n\r\nx\r\n--A--" + end, parts),
        (head + b"\r\nContent-Type: text/plain; charset=nonsense\r\n\r\nWhy?" + end, parts),
        (head + b"\r\nContent-Type: image/png\r\n\r\nWhy?" + end, parts),
        (head + b"\r\n" + b"x: y\r\n" * rng.randrange(300) + b"\r\nWhy?" + end, parts),
        (b"title=why&" * rng.randrange(200), form),
        (b"title=" + quote_plus("why ä? " * rng.randrange(1, 20_000)).encode(), form),
        (b"title=" + b"x" * (2**20 + rng.randrange(2**10)) if rng.random() < 0.05 else b"", form),
    )
    body, kind = rng.choice(choices)
    return Sent("POST", body=body, kind=kind)
