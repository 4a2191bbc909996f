# ruff: noqa: E501  (an example of a format is one line)
"""Mutations of examples: a number names the same input for ever."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable, Sequence

LONGEST = 60_000
"""Bytes of an input."""
TOKENS = (
    b"<", b">", b"</", b"<div>", b"<table><tr><td>", b"<![CDATA[", b"<!--", b"-->", b"&", b"&#x110000;", b"&amp;", b"<!DOCTYPE x [<!ENTITY a 'b'>]>",
    b"[", b"]", b"[[", b"{", b"}", b"{{", b"{%", b"{|", b"|", b"|-", b"||", b"\\", b"\\begin{x}", b"$$", b"$", b"`", b"```\n", b"~~~", b"***", b"_", b"#",
    b"\n#", b"\n> ", b"\n- ", b"\n  1. ", b"\n\n", b"\n====\n", b"\n----\n", b"\t", b" ", b"\r\n", b"\x00", b"\x1b[2J", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\xff\xfe",
    b"\xed\xa0\x80", b"\xe2\x80\xae", b"'", b'"', b",", b";", b":", b"::", b"=", b"-", b"--", b"---\n", b"..", b"../../", b"%", b"%00", b"-1", b"0", b"1e308", b"NaN",
    b"99999999999999999999", b"true", b"null", b'{"a":', b'":', b"javascript:", b"http://", b"http://[", b"@", b".. code::", b".. include:: /etc/passwd", b"(", b")", b"?",
    b"  ", b"<a", b"<!DOCTYPE", b"=b", b"b=", b"!!! a", b"/-a", b"- a", b"1-", b"11:11 ", b"<v", b"e\xcc\x81", b"\xf0\x9f\x90\xb1", b"\xe7\x8c\xab", b"a",
)  # fmt: skip


def mutated(seeds: Sequence[bytes], number: int) -> bytes:
    """The input with a number: one of the seeds, changed in one to eight places."""
    rng = random.Random(number)
    seed = rng.choice(seeds)
    if seed[:4] == b"PK\x03\x04" and rng.random() < 0.8:
        return _with_member(seed, rng)
    return _changed(seed, rng, seeds)


def _changed(data: bytes, rng: random.Random, others: Sequence[bytes] = ()) -> bytes:
    for _ in range(rng.choice((1, 1, 2, 3, 5, 8))):
        change: Callable[[bytes, random.Random], bytes] = rng.choice(
            (_replaced, _replaced, _removed, _doubled, _inserted, _inserted, _inserted, _truncated, _repeated)
        )
        data = change(data, rng)
        if others and rng.random() < 0.05:
            other = rng.choice(others)
            data = data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]
    return data[:LONGEST]


def _with_member(archive: bytes, rng: random.Random) -> bytes:
    """An archive with one changed member."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        names = source.namelist()
        changed = rng.choice(names)
        for name in names:
            data = source.read(name)
            target.writestr(name, _changed(data, rng) if name == changed else data)
    return out.getvalue()


def _span(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 1, 2, 4, 16, 200)))


def _replaced(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + rng.randbytes(end - start) + data[end:]


def _removed(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _doubled(data: bytes, rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:end] + data[start:]


def _inserted(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(TOKENS) + data[at:]


def _truncated(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)] if rng.random() < 0.3 else data


def _repeated(data: bytes, rng: random.Random) -> bytes:
    """A token or a stretch, thousands of times: what is quadratic becomes slow.

    A token may stand before it, and a sign behind it that no rule expects: most patterns are slow only if they fail.
    """
    if rng.random() < 0.5:
        return data
    start, end = _span(data, rng)
    unit = rng.choice((rng.choice(TOKENS), rng.choice(TOKENS) + rng.choice(TOKENS), data[start:end] or b"x"))
    at = rng.randrange(len(data) + 1)
    opening, ending = rng.choice((b"", rng.choice(TOKENS))), rng.choice((b"", b"\x01", b"!\n", b"x\n"))
    run = unit * min(rng.choice((50, 1_000, 20_000)), LONGEST // len(unit))
    return data[:at] + opening + run + ending + data[at:]
