"""Reads mails in the internet's format, one file (EML) or many (MBOX)."""

from __future__ import annotations

import email
import io
import mimetypes
import re
from collections.abc import Iterator
from email.message import EmailMessage, Message
from email.utils import parsedate_to_datetime

from qa_bot.documents.ingest.files.byte_budget import LimitError
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.formats.mail.calendars.events import content
from qa_bot.documents.ingest.formats.mail.header_parsing import TOLERANT
from qa_bot.documents.ingest.formats.mail.mail import Attachment, Mail, file_name, mail_items
from qa_bot.documents.ingest.formats.markup.html import page_record
from qa_bot.documents.ingest.records import Item, Part, Reject

MAIL_SIZE = 4  # times the record limit: attachments are counted one by one
FROM_LINE = re.compile(rb"From (?:- |\S++ .{0,100}?\d\d:\d\d.{0,100}?\d{4})")
CHUNK = 64 * 1024
UNREAD_TYPES = {
    "application/pgp-signature",
    "application/pkcs7-signature",
    "application/x-pkcs7-signature",
    "application/pgp-keys",
    "text/vcard",
    "text/x-vcard",
    "text/x-amp-html",
    "message/delivery-status",
    "message/disposition-notification",
}
SAVED_PAGE = re.compile(r"[\"<]{0,2}Saved by ", re.IGNORECASE)
"""The sender that browsers write into web archives (MHTML)."""
ENCRYPTED_TYPES = {"application/pkcs7-mime", "application/x-pkcs7-mime", "application/pgp-encrypted"}


def read(file: SourceFile) -> Iterator[Item | Part]:
    """One record with the path as its id, and the attachments; of a web archive (MHTML) the page alone."""
    most = MAIL_SIZE * file.limits.record_bytes
    data = io.BufferedReader(file.raw, CHUNK).read(most + 1)
    if len(data) > most:
        raise LimitError(over_record_limit(file.limits))
    message = email.message_from_bytes(data, policy=TOLERANT)
    if SAVED_PAGE.match(_header(message, "From")):
        pages = (part for part in _leaves(message) if part.get_content_type() == "text/html")
        page = next(pages, message)
        address = _header(message, "Snapshot-Content-Location") or _header(page, "Content-Location")
        yield page_record(file, _text(page), url=address if address.startswith("http") else "")
        return
    yield from mail_items(_mail(message), file, file.name, f"{file.where}:1")


def read_mbox(file: SourceFile) -> Iterator[Item | Part]:
    """A record for each mail: its id is the path, `#`, and the mail's own id, or its number if it has none."""
    seen: set[str] = set()
    for number, (line, data) in enumerate(_messages(file), 1):
        where = f"{file.where}:{line}"
        if data is None:
            yield Reject(where, over_record_limit(file.limits))
            continue
        message = email.message_from_bytes(data, policy=TOLERANT)
        name = _header(message, "Message-ID").strip("<> ") or str(number)
        name = name if name not in seen else f"{name}-{number}"
        seen.add(name)
        yield from mail_items(_mail(message), file, file.repairs.clean(f"{file.name}#{name}"), where)


def mail_of(data: bytes) -> Mail:
    """The mail of a file's bytes."""
    return _mail(email.message_from_bytes(data, policy=TOLERANT))


def _messages(file: SourceFile) -> Iterator[tuple[int, bytes | None]]:
    """First line, counted from 1, and bytes of each mail, or None if it is too long."""
    most = MAIL_SIZE * file.limits.record_bytes
    stream = io.BufferedReader(file.raw, CHUNK)
    mail = bytearray()
    first, number, is_long, after_empty = 1, 0, False, True
    while line := stream.readline(most + 1):
        number += 1
        if after_empty and FROM_LINE.match(line):
            if mail or is_long:
                yield first, None if is_long else bytes(mail)
            mail, first, is_long = bytearray(), number, False
        elif not is_long:
            mail += line[1:] if re.match(rb">+From ", line) else line
            if len(mail) > most:
                mail, is_long = bytearray(), True
        after_empty = not line.strip()
    if mail or is_long:
        yield first, None if is_long else bytes(mail)


def _mail(message: Message) -> Mail:
    plain: list[str] = []
    html: list[str] = []
    attachments: list[Attachment] = []
    calendars: list[Message] = []
    for part in _leaves(message):
        kind = part.get_content_type()
        is_attached = part.get_content_disposition() == "attachment" or (
            part.get_filename() is not None and not kind.startswith("text/")
        )
        if kind in ENCRYPTED_TYPES:
            attachments.append(Attachment(_name(part), problem="Expected a readable mail, but got an encrypted one."))
        elif kind in UNREAD_TYPES or (kind.startswith("image/") and part["Content-ID"] and not _is_attachment(part)):
            continue
        elif kind == "text/calendar":
            calendars.append(part)
        elif kind == "text/plain" and not is_attached:
            plain.append(_text(part))
        elif kind == "text/html" and not is_attached:
            html.append(_text(part))
        else:
            attachments.append(Attachment(_name(part), _bytes(part)))
    subject = _header(message, "Subject")
    attachments += _invitations(calendars, attachments, file_name(subject, "invitation"))
    return Mail(
        subject,
        _header(message, "From"),
        _header(message, "To"),
        _header(message, "Cc"),
        _date(message),
        "\n\n".join(plain),
        "\n".join(html),
        attachments,
    )


def _invitations(calendars: list[Message], files: list[Attachment], name: str) -> Iterator[Attachment]:
    """Calendars with entries, each once: programs send them as a version of the text and as a file, which counts."""
    seen: set[frozenset[tuple[str, str]]] = {frozenset()}
    seen |= {content(file.data) for file in files if file.name.lower().endswith(".ics")}
    for part in sorted(calendars, key=_is_attachment, reverse=True):
        data = _bytes(part)
        if (entries := content(data)) not in seen:
            seen.add(entries)
            yield Attachment(_name(part, f"{name}.ics"), data)


def _leaves(message: Message) -> Iterator[Message]:
    """The parts of a mail without those of mails inside it; without recursion, which files can exhaust."""
    stack = [message]
    while stack:
        part = stack.pop()
        payload = part.get_payload()
        if part.get_content_maintype() == "multipart" and isinstance(payload, list):
            stack += [child for child in reversed(payload) if isinstance(child, Message)]
        else:
            yield part


def _is_attachment(part: Message) -> bool:
    return part.get_content_disposition() == "attachment"


def _bytes(part: Message) -> bytes:
    payload = part.get_payload()
    if part.get_content_type() == "message/rfc822" and isinstance(payload, list) and payload:
        inner = payload[0]
        return inner.as_bytes() if isinstance(inner, Message) else b""
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _text(part: Message) -> str:
    data = _bytes(part)
    for charset in (part.get_content_charset(""), "utf-8"):
        try:
            return data.decode(charset or "utf-8")
        except (LookupError, UnicodeError):
            continue
    return data.decode("cp1252", "replace")


def _name(part: Message, otherwise: str = "") -> str:
    try:
        name = part.get_filename()
    except Exception:  # broken parameters of a header
        name = None
    if name:
        return str(name)
    if part.get_content_type() == "message/rfc822":
        payload = part.get_payload()
        subject = _header(payload[0], "Subject") if isinstance(payload, list) and payload else ""
        return f"{file_name(subject, 'message')}.eml"
    return otherwise or f"attachment{mimetypes.guess_extension(part.get_content_type()) or '.bin'}"


def _header(message: object, name: str) -> str:
    try:
        return str(message[name] or "").strip() if isinstance(message, EmailMessage | Message) else ""
    except Exception:  # the library raises nearly everything on a broken header
        return ""


def _date(message: Message) -> str:
    try:
        return parsedate_to_datetime(_header(message, "Date")).date().isoformat()
    except (TypeError, ValueError, IndexError):
        return ""
