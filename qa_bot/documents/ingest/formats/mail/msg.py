"""Reads Outlook's messages (MSG). The only file that imports olefile.

The format is [MS-OXMSG]: streams are named by the four hexadecimal digits of a property and of its type.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import olefile

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.mail.mail import Attachment, Mail, file_name, mail_items
from qa_bot.documents.ingest.records import Item, Part, Reject

SUBJECT, SENDER, SENDER_ADDRESS, RECIPIENTS, COPIES = "0037", "0C1A", "5D01", "0E04", "0E03"
TEXT, HTML = "1000", "1013"
LONG_NAME, SHORT_NAME, DATA, CONTENT_ID, CLASS = "3707", "3704", "3701", "3712", "001A"
SENT, DELIVERED, CODE_PAGE = 0x0039, 0x0E06, 0x3FFD
UNICODE, ANSI, BINARY, STORAGE = "001F", "001E", "0102", "000D"
PROPERTIES = "__properties_version1.0"
ENTRY = struct.Struct("<HHI8s")
HEADER_BYTES = (32, 24, 24)  # of the property stream of a message, and of messages inside it
DEEPEST = 3
EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
Path = tuple[str, ...]


def read(file: SourceFile) -> Iterator[Item | Part]:
    """One record with the path as its id, one for each message inside it (`PATH!SUBJECT`), and the attachments."""
    with file.file() as stream:
        if not olefile.isOleFile(stream):
            yield Reject(file.where, "Expected an Outlook message, but got something else; save it as EML.")
            return
        stream.seek(0)
        try:
            ole = olefile.OleFileIO(stream)
        except (olefile.olefile.OleFileError, ValueError):  # its words are about sectors and digits
            yield Reject(
                file.where, "Expected a whole Outlook message, but got a damaged one; save it again, or as EML."
            )
            return
        with ole:
            yield from _Reader(ole, file).items((), file.name, f"{file.where}:1")


class _Reader:
    def __init__(self, ole: olefile.OleFileIO, file: SourceFile) -> None:
        self._ole = ole
        self._file = file
        self._storages = [tuple(path) for path in ole.listdir(streams=False, storages=True)]

    def items(self, root: Path, identifier: str, where: str) -> Iterator[Item | Part]:
        """The record of the message below `root`, its attachments, and the messages inside it."""
        if "encrypted" in self._text(root, CLASS).lower() or self._text(root, CLASS).endswith(".SMIME"):
            yield Reject(where, "Expected a readable mail, but got an encrypted one; save it decrypted.")
            return
        attachments: list[Attachment] = []
        inner: list[Path] = []
        for path in self._storages:
            if path[:-1] == root and path[-1].startswith("__attach_version1.0_"):
                message = (*path, f"__substg1.0_{DATA}{STORAGE}")
                if message in self._storages:
                    inner.append(message)
                elif not self._text(path, CONTENT_ID) or not self._name(path).lower().endswith(("png", "jpg", "gif")):
                    attachments.append(Attachment(self._name(path), self._bytes(path, DATA)))
        address = self._text(root, SENDER_ADDRESS)
        sender = self._text(root, SENDER)
        mail = Mail(
            self._text(root, SUBJECT),
            f"{sender} <{address}>" if sender and "@" in address and address != sender else sender or address,
            self._text(root, RECIPIENTS),
            self._text(root, COPIES),
            self._date(root),
            self._text(root, TEXT),
            self._html(root),
            attachments,
        )
        yield from mail_items(mail, self._file, identifier, where)
        for message in inner:
            name = f"!{file_name(self._text(message, SUBJECT), 'message')}"
            if len(message) > 2 * DEEPEST:
                yield Reject(where + name, "Expected mails nested less deeply; save this one as a file.")
            else:
                yield from self.items(message, identifier + name, where + name)

    def _name(self, path: Path) -> str:
        return self._text(path, LONG_NAME) or self._text(path, SHORT_NAME) or "attachment"

    def _html(self, root: Path) -> str:
        data = self._bytes(root, HTML)
        return self._decoded(root, data) if data else self._text(root, HTML)

    def _text(self, root: Path, number: str) -> str:
        if data := self._stream((*root, f"__substg1.0_{number}{UNICODE}")):
            return data.decode("utf-16-le", "replace").strip("\0")
        return self._decoded(root, self._stream((*root, f"__substg1.0_{number}{ANSI}"))).strip("\0")

    def _decoded(self, root: Path, data: bytes) -> str:
        page = struct.unpack("<I", self._property(root, CODE_PAGE)[:4])[0]
        for encoding in ("utf-8", f"cp{page}"):
            try:
                return data.decode(encoding)
            except (LookupError, UnicodeError):
                continue
        return data.decode("cp1252", "replace")

    def _bytes(self, root: Path, number: str) -> bytes:
        return self._stream((*root, f"__substg1.0_{number}{BINARY}"))

    def _date(self, root: Path) -> str:
        for number in (SENT, DELIVERED):
            ticks = struct.unpack("<Q", self._property(root, number))[0]
            if ticks:
                try:
                    return (EPOCH + timedelta(microseconds=ticks // 10)).date().isoformat()
                except OverflowError:
                    continue
        return ""

    def _property(self, root: Path, number: int) -> bytes:
        """The eight bytes of a property of fixed size, zeros if it is absent."""
        data = self._stream((*root, PROPERTIES))
        start = HEADER_BYTES[min(2, len(root))]
        for offset in range(start, len(data) - ENTRY.size + 1, ENTRY.size):
            _, name, _, value = ENTRY.unpack_from(data, offset)
            if name == number:
                return bytes(value)
        return bytes(8)

    def _stream(self, path: Path) -> bytes:
        if not self._ole.exists(list(path)) or self._ole.get_type(list(path)) != olefile.STGTY_STREAM:
            return b""
        with self._ole.openstream(list(path)) as stream:
            data: bytes = stream.read(4 * self._file.limits.record_bytes)
        return data
