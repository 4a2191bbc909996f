"""The encoding of a page by the rules of HTML: byte order mark, header, meta element, then a guess (WHATWG)."""

from __future__ import annotations

import codecs
import re

from qa_bot.documents.ingest.files.decoding import BYTE_ORDER_MARKS, HTML_ENCODING, XML_ENCODING

SCANNED = 4096
"""Bytes in which a declaration is looked for; HTML wants it in the first 1,024."""
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_AS_BROWSERS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
}
"""Python's name → the superset that browsers read under that name."""
_LABELS = {
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "ks_c_5601-1987": "cp949",
    "x-gbk": "gb18030",
    "x-cp1252": "cp1252",
}


def decode_page(body: bytes, content_type: str) -> str:
    """The text of a page; bytes that the encoding does not have become U+FFFD.

    A page that declares nothing is UTF-8 if it is valid UTF-8, else Windows-1252.
    """
    for mark, name in BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return body.decode(name, "replace")
    if encoding := _from_header(content_type) or _from_declaration(body[:SCANNED]):
        return body.decode(encoding, "replace")
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _from_header(content_type: str) -> str:
    match = _CHARSET.search(content_type)
    return _known(match[1]) if match else ""


def _from_declaration(head: bytes) -> str:
    match = XML_ENCODING.search(head) or HTML_ENCODING.search(head)
    name = _known(match[1].decode("ascii", "replace")) if match else ""
    # the declaration was read as ASCII, so that it cannot be true
    return "utf-8" if name.startswith(("utf-16", "utf-32")) else name


def _known(label: str) -> str:
    """Python's name of an encoding, or empty if it has none for texts."""
    label = label.strip().lower()
    try:
        name = _LABELS.get(label) or codecs.lookup(label).name
        is_text = codecs.lookup(name)._is_text_encoding
    except (LookupError, UnicodeError):
        return ""
    return _AS_BROWSERS.get(name, name) if is_text and name not in {"utf-7", "idna", "punycode"} else ""


def decode_text(body: bytes, content_type: str) -> bytes:
    """A text that is not HTML, in UTF-8 if the header declares its encoding; else unchanged."""
    encoding = _from_header(content_type)
    has_mark = any(body.startswith(mark) for mark, _ in BYTE_ORDER_MARKS)
    return body if has_mark or not encoding else body.decode(encoding, "replace").encode("utf-8-sig")
