"""A mail as its document and attachments, whatever file it comes from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.mail.courtesies import without_courtesies
from qa_bot.documents.ingest.formats.mail.forwarded import Message, forwards, messages_of
from qa_bot.documents.ingest.formats.mail.quoted_replies import without_quotes
from qa_bot.documents.ingest.formats.mail.signatures import DECLARED
from qa_bot.documents.ingest.formats.markup.html import fragment
from qa_bot.documents.ingest.formats.markup.webpage.tabs import HIDDEN
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item, Part, Record, Reject

MOST_ATTACHMENTS = 200
WRAPPED = range(55, 81)  # characters of a line that was wrapped by the program that sent it
FULLER = 2  # times the words of the plain text
STRUCTURED_HTML = re.compile(r"<(?:li|th)\b", re.IGNORECASE)
UNREAD = f"{DECLARED}, {HIDDEN}"
"""Signatures, and what a program does not show: the line that lists of mails show, copies for phones."""
FORWARDED = re.compile(r"\s*(?:fwd?|wg|tr|i|rv|vs)\s*:", re.IGNORECASE)
LIST_ITEM = re.compile(r"(?:[-*•]|(\d{1,3})[.)])\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file in a mail, or why it cannot be read."""

    name: str
    data: bytes = b""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Mail:
    """What a mail says; `date` is in ISO 8601."""

    subject: str
    sender: str = ""
    recipients: str = ""
    copies: str = ""
    date: str = ""
    plain: str = ""
    html: str = ""
    attachments: list[Attachment] = field(default_factory=list)


def mail_items(mail: Mail, file: SourceFile, identifier: str, where: str) -> Iterator[Item | Part]:
    """The record of a mail, and its attachments as parts, named `IDENTIFIER!ATTACHMENT`."""
    clean = file.repairs.clean
    title = " ".join(mail.subject.split())
    text = clean(_text(mail, title))
    if text:
        yield Record(identifier, clean(title), text, where=where, markdown=True, date=mail.date)
    elif not any(attachment.data or attachment.problem for attachment in mail.attachments):
        yield Reject(where, "Expected a mail with text, but got none; leave it out.")
    names: Counter[str] = Counter()
    for number, attachment in enumerate(mail.attachments):
        name = _file_name(attachment.name)
        names[name] += 1
        name = name if names[name] == 1 else f"{names[name]}-{name}"
        if number == MOST_ATTACHMENTS:
            yield Reject(where, f"Expected at most {MOST_ATTACHMENTS} attachments, but got more; save them as files.")
            return
        inside = clean(f"{where}!{name}")
        if attachment.problem:
            yield Reject(inside, attachment.problem)
        elif len(attachment.data) > file.limits.record_bytes:
            yield Reject(
                inside, f"Expected at most {file.limits.record_bytes:,} bytes in an attachment; save it alone."
            )
        elif attachment.data:
            yield Part(clean(f"{identifier}!{name}"), inside, attachment.data, mail.date)


def _text(mail: Mail, subject: str) -> str:
    """Recipients, date, greeting and closing, then the mail's own text below its sender; "" if there is no text.

    So no passage mixes text and head. The sender is a heading, since questions name senders ("what did Marcus write
    about …?"); as a line of the head, "secretary@…" alone answered who the secretary is.
    """
    body, forwarded = _bodies(mail)
    if not (body or forwarded):
        return ""
    greeting, text, closing = without_courtesies(body, mail.sender)
    sender = " ".join(mail.sender.split())
    fields = (("To", mail.recipients), ("Cc", mail.copies), ("Date", mail.date))
    writer = MarkdownWriter()
    writer.paragraph("\n".join(f"{name}: {' '.join(value.split())}" for name, value in fields if value))
    for courtesy in filter(None, (greeting, closing)):
        writer.raw(courtesy)
    if sender:
        writer.heading(2, f"From: {sender}")
    elif writer.text:
        writer.heading(1, subject)
    writer.raw(text)
    for message in forwarded:
        writer.heading(3, f"From: {message.sender}")
        writer.raw(message.text)
    return writer.text


def _bodies(mail: Mail) -> tuple[str, list[Message]]:
    """The mail's own text as Markdown, and those that it forwards, without their heads."""
    plain = mail.plain.strip()
    markdown = fragment(mail.html, without=UNREAD).text or fragment(mail.html).text if mail.html else ""
    is_html = bool(markdown) and (STRUCTURED_HTML.search(mail.html) is not None or _says_more(markdown, plain))
    versions = [(markdown, True)] if is_html else []
    for text, is_markdown in [*versions, (plain, False)] if plain else versions:
        keeps_quotes = FORWARDED.match(mail.subject) or forwards(text)
        first, *forwarded = [
            message._replace(text=message.text if is_markdown else _plain_markdown(message.text))
            for message in messages_of(text if keeps_quotes else without_quotes(text))
        ]
        forwarded = [message for message in forwarded if message.text]
        if first.text or forwarded:
            return first.text, forwarded
    return "", []


def _says_more(markdown: str, plain: str) -> bool:
    """Whether the plain text only points to the other version ("please use a program that shows HTML")."""
    return len(markdown.split()) > FULLER * len(plain.split())


def _plain_markdown(text: str) -> str:
    """A plain text as Markdown, its lists recognised and its wrapped lines joined."""
    writer = MarkdownWriter()
    for paragraph in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n")):
        if all(line.startswith(">") for line in paragraph.strip().split("\n")):
            writer.quote("\n".join(line[1:].strip() for line in paragraph.strip().split("\n")))
            continue
        lines = _unwrapped(paragraph)
        for index, line in enumerate(lines):
            if match := LIST_ITEM.match(line):
                writer.item(line[match.end() :], number=int(match[1]) if match[1] else None)
            elif not index or LIST_ITEM.match(lines[index - 1]):
                rest = lines[index + 1 :]
                end = next((number for number, other in enumerate(rest) if LIST_ITEM.match(other)), len(rest))
                writer.paragraph("\n".join([line, *rest[:end]]))
    return writer.text


def _unwrapped(paragraph: str) -> list[str]:
    """Lines of a paragraph: long ones are joined with the next, items with lines that are indented below them."""
    lines: list[str] = []
    is_wrapped = False
    indent: int | None = None  # of the sign of the item that is open
    for whole in filter(str.strip, paragraph.expandtabs(4).splitlines()):
        line = whole.strip()
        column = len(whole) - len(whole.lstrip())
        is_item = LIST_ITEM.match(line) is not None
        if lines and not is_item and (is_wrapped or (indent is not None and column > indent)):
            lines[-1] += f" {line}"
        else:
            lines.append(line)
            indent = column if is_item else None
        is_wrapped = len(line) in WRAPPED
    return lines


def file_name(subject: str, otherwise: str) -> str:
    """A name for a mail inside another one."""
    return " ".join(re.sub(r"[^\w .-]+", " ", subject).split())[:80] or otherwise


def _file_name(name: str) -> str:
    """A name without folders and control characters."""
    return re.sub(r"[\x00-\x1f\x7f]", "", name.replace("\\", "/").rpartition("/")[2]).strip() or "attachment"
