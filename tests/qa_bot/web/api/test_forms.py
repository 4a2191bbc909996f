"""Forms in both spellings: by hand, written by aiohttp, and broken ones."""

from __future__ import annotations

import contextlib
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.web.api.forms import MOST_FIELDS, fields

URLENCODED = "application/x-www-form-urlencoded"
PARTS = "multipart/form-data; boundary=x"
NAMES = st.text(st.characters(exclude_characters='"\r\n', exclude_categories=["Cs"]), max_size=20)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60).filter(lambda text: "--x" not in text)


def part(head: str, content: str = "why") -> bytes:
    return f"--x\r\n{head}\r\n\r\n{content}\r\n--x--\r\n".encode()


@given(st.dictionaries(NAMES, TEXTS, max_size=8))
def test_parts_are_read(sent: dict[str, str]) -> None:
    assert fields(urlencode(sent).encode(), URLENCODED) == sent
    parts = (f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{sent[name]}\r\n' for name in sent)
    assert fields(("".join(parts) + "--x--").encode(), PARTS) == sent


@given(st.binary(), st.sampled_from([URLENCODED, PARTS, "multipart/form-data", f"{URLENCODED}; charset=utf-16"]))
def test_anything_is_read_or_refused(body: bytes, kind: str) -> None:
    for item in (body, b"--x\r\n" + body + b"\r\n--x--"):
        with contextlib.suppress(ValueError, LookupError):
            assert all(isinstance(text, str) for text in fields(item, kind).values())


def test_the_first_of_a_name_counts() -> None:
    assert fields(b"a=1&b=&a=2\r\n", URLENCODED) == {"a": "1", "b": ""}
    first, second = part("Content-Disposition: form-data; name=a", "1"), part("content-disposition: form-data; name=a")
    assert fields(first.removesuffix(b"--x--\r\n") + second, PARTS) == {"a": "1"}


def test_a_character_set_is_followed() -> None:
    assert fields("a=\xe9".encode("latin-1"), f"{URLENCODED}; charset=ISO-8859-1") == {"a": "é"}
    assert fields(b"a=%E9", f"{URLENCODED}; charset=latin-1") == {"a": "é"}
    assert fields(b"a=%E9", URLENCODED) == {"a": "\ufffd"}
    head = "Content-Disposition: form-data; name=a\r\nContent-Type: text/plain; charset=US-ASCII"
    assert fields(part(f"{head}\r\nContent-Transfer-Encoding: 8bit"), PARTS) == {"a": "why"}


@pytest.mark.parametrize("charset", ["nonsense", "punycode", "utf-7", "rot13"])
def test_other_character_sets_are_refused(charset: str) -> None:
    with pytest.raises(LookupError, match=charset):
        fields(b"a=b", f"{URLENCODED}; charset={charset}")


def test_a_name_is_the_text_in_quotes() -> None:
    assert fields(part('Content-Disposition: form-data; x=y; name="a; name=b"'), PARTS) == {"a; name=b": "why"}


def test_text_around_the_parts_is_ignored() -> None:
    assert fields(b"preamble\r\n" + part("content-disposition:form-data;name=a") + b"after", PARTS) == {"a": "why"}


@pytest.mark.parametrize(
    "head",
    [
        "",
        "X: y",
        "Content-Disposition: form-data",
        'Content-Disposition: form-data; filename="a.txt"',
        'Content-Disposition: form-data; name="a"; filename="a.txt"',
        "Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64",
        "Content-Disposition: form-data; name=a\r\nContent-Type: text/plain; charset=nonsense",
        "Content-Disposition: form-data; name=a\r\nX: " + "y" * 2100,
    ],
)
def test_a_part_without_a_name_or_plain_text_is_refused(head: str) -> None:
    with pytest.raises((ValueError, LookupError)):
        fields(part(head), PARTS)


@pytest.mark.parametrize("body", [b"", b"--x", b"--x\r\n", b"--y\r\n--y--", part("X: y")[:-6]])
def test_parts_that_do_not_end_are_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match="do not end"):
        fields(body, PARTS)


def test_so_many_fields_are_refused() -> None:
    assert fields(b"&".join(b"a=%d" % n for n in range(MOST_FIELDS)), URLENCODED) == {"a": "0"}
    with pytest.raises(ValueError, match="fields"):
        fields(b"a=1&" * MOST_FIELDS, URLENCODED)
    with pytest.raises(ValueError, match="fields"):
        fields(b"--x\r\n" * (MOST_FIELDS + 3), PARTS)
