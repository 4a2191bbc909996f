"""Recodes bytes of any declared encoding to valid UTF-8, and counts the replaced characters."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from qa_bot.documents.ingest.files.byte_budget import CountingStream
from qa_bot.documents.ingest.files.charset import shown, unmarked_utf_16
from qa_bot.documents.ingest.records import Notice

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: its mark begins with UTF-16's
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
XML_ENCODING = re.compile(rb"^\s*<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:-]+)[\"']")
HTML_ENCODING = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
CHUNK = 64 * 1024


def has_mark(head: bytes) -> bool:
    """Whether the bytes begin with a Unicode byte order mark, or are UTF-16 without one."""
    return any(head.startswith(mark) for mark, _ in BYTE_ORDER_MARKS) or unmarked_utf_16(head) is not None


def encoding_of(head: bytes) -> str:
    """The encoding by byte order mark, zero bytes of UTF-16, XML declaration or HTML meta element; else UTF-8."""
    for mark, name in BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return name
    if unmarked := unmarked_utf_16(head):
        return unmarked
    is_markup = head.lstrip().startswith(b"<")
    declared = XML_ENCODING.search(head) or (HTML_ENCODING.search(head) if is_markup else None)
    name = declared[1].decode("ascii", "replace") if declared else "utf-8"
    return name if _is_text_codec(name) else "utf-8"


def _is_text_codec(name: str) -> bool:
    try:
        # a declaration in ASCII rules out two-byte encodings; `rot13` and `hex` are not text encodings
        return codecs.lookup(name)._is_text_encoding and "a".encode(name) == b"a"
    except (LookupError, UnicodeError):
        return False


class Repairs:
    """Counts the characters of one file that were replaced by U+FFFD, and the first line with one."""

    def __init__(self) -> None:
        self.invalid = 0
        self.unstorable = 0
        self.line = 0
        self.guessed = ""

    def notices(self, where: str) -> Iterator[Notice]:
        if self.guessed:
            yield Notice(
                where,
                f"Read as {shown(self.guessed)}, because it is no UTF-8; if letters are wrong, convert the file "
                "(iconv -t UTF-8).",
            )
        if self.invalid:
            yield Notice(
                f"{where}:{self.line}",
                f"{self.invalid} invalid UTF-8 bytes replaced, first on this line; convert the file (iconv -t UTF-8).",
            )
        if self.unstorable:
            yield Notice(where, f"{self.unstorable} NUL characters or lone surrogates replaced.")

    def clean(self, text: str) -> str:
        """Replace NUL and lone surrogates, which databases and UTF-8 files cannot store."""
        if "\0" in text:
            self.unstorable += text.count("\0")
            text = text.replace("\0", "\ufffd")
        if text.isascii():
            return text
        surrogates = sum(1 for _ in SURROGATE.finditer(text))
        self.unstorable += surrogates
        return SURROGATE.sub("\ufffd", text) if surrogates else text


SURROGATE = re.compile("[\ud800-\udfff]")


class Recoded(io.RawIOBase):
    """A stream in `encoding`, recoded to valid UTF-8 without byte order mark."""

    def __init__(self, source: CountingStream, encoding: str, repairs: Repairs) -> None:
        self.source = source
        self.repairs = repairs
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._counts_bytes = codecs.lookup(encoding).name.startswith("utf-8")
        self._lines = 1
        self._ready = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        while not self._ready and not self._ended:
            self._ready = self._convert(self.source.read(CHUNK) or b"")
        view = memoryview(buffer).cast("B")
        data = self._ready[: len(view)]
        self._ready = self._ready[len(view) :]
        view[: len(data)] = data
        return len(data)

    def _convert(self, chunk: bytes) -> bytes:
        self._ended = not chunk
        before = self._decoder.getstate()[0]
        text = self._decoder.decode(chunk, final=self._ended)
        if "\ufffd" in text:
            self._count(before + chunk, text)
        self._lines += text.count("\n")
        return self.repairs.clean(text).encode()

    def _count(self, data: bytes, text: str) -> None:
        after = self._decoder.getstate()[0]
        good = len(data.decode("utf-8", "ignore").encode())
        invalid = len(data) - len(after) - good if self._counts_bytes else text.count("\ufffd")
        if invalid and not self.repairs.invalid:
            self.repairs.line = self._lines + text.count("\n", 0, text.index("\ufffd"))
        self.repairs.invalid += invalid
