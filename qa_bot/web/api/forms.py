"""Parses forms of browsers and LiveQA clients from a body of limited length.

Multipart is parsed here because aiohttp's reader raises a dozen kinds of errors for broken forms and warns of each odd
header, which leaks memory, and the mail parser takes half a minute for one line of a megabyte.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl

MOST_FIELDS = 64
CHARSETS = frozenset({"utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin-1", "windows-1252"})
"""Accepted character sets; Python has others that take quadratic time."""
MOST_HEAD = 2048
"""Limit of a part's headers in bytes."""

_NAME = re.compile(rb'content-disposition:\s*form-data\s*;(?:[^\r\n]*?;)??\s*name=(?:"([^"\r\n]*)"|([^\s";]+))', re.I)
_FILE = re.compile(rb"content-disposition:[^\r\n]*;\s*filename\*?=", re.I)
_KIND = re.compile(rb"content-type:[^\r\n]*", re.I)
_CHARSET = re.compile(r';\s*charset="?([\w.:-]+)', re.I | re.A)
_BOUNDARY = re.compile(r';\s*boundary=(?:"([^"]+)"|([^\s";]+))', re.I)
_ENCODING = re.compile(rb"content-transfer-encoding:\s*+(?!7bit|8bit|binary)", re.I)


def urlencoded(body: bytes, content_type: str) -> Mapping[str, str]:
    """The fields of `name=value&…`, the first of each name.

    Raises:
        ValueError, LookupError: too many fields, undecodable bytes, an unknown character set.
    """
    charset = _charset(content_type)
    text = body.rstrip().decode(charset)
    return _first(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, encoding=charset))


def multipart(body: bytes, content_type: str) -> Mapping[str, str]:
    """The fields of a form in parts (RFC 7578), the first of each name.

    Raises:
        ValueError, LookupError: as `urlencoded` does; and for parts that do not end, have no name or hold a file.
    """
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        raise ValueError("parts without a boundary")
    _, *parts = b"\r\n".join((b"", body)).split(b"\r\n--" + (boundary[1] or boundary[2]).encode())
    if len(parts) > MOST_FIELDS + 1:
        raise ValueError(f"more than {MOST_FIELDS} fields")
    if not parts or not parts[-1].startswith(b"--"):
        raise ValueError("parts that do not end")
    return _first(list(map(_field, parts[:-1])))


FORMS: Mapping[str, Callable[[bytes, str], Mapping[str, str]]] = {
    "application/x-www-form-urlencoded": urlencoded,
    "multipart/form-data": multipart,
}
"""Content type → parser."""


def fields(body: bytes, content_type: str) -> Mapping[str, str]:
    """The fields of a form whose Content-Type is one of `FORMS`; raises as its reader does."""
    return FORMS[content_type.partition(";")[0].strip().lower()](body, content_type)


def _field(part: bytes) -> tuple[str, str]:
    """Name and text of one part."""
    head, separator, content = part.partition(b"\r\n\r\n")
    name = _NAME.search(head, 0, MOST_HEAD)
    if not separator or name is None or len(head) > MOST_HEAD:
        raise ValueError("a part without a name")
    if _FILE.search(head) or _ENCODING.search(head):
        raise ValueError("a file, or an encoded part, in place of plain text")
    kind = _KIND.search(head)
    return (name[1] or name[2] or b"").decode(), content.decode(_charset(kind[0].decode() if kind else ""))


def _charset(content_type: str) -> str:
    match = _CHARSET.search(content_type)
    charset = match[1].lower() if match else "utf-8"
    if charset not in CHARSETS:
        raise LookupError(f"the character set {charset[:40]}")
    return charset


def _first(pairs: list[tuple[str, str]]) -> Mapping[str, str]:
    return dict(reversed(pairs))
