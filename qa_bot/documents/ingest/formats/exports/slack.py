"""Reads exports of Slack: a thread, or a run of messages without one, is a document.

A zip archive is read whole, so that answers of later days join their thread. A file of one day (`CHANNEL/DATE.json`) of
an unpacked export is read alone; names of people come from `users.json` beside its folder.
"""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, cast

import orjson

from qa_bot.documents.ingest.files.byte_budget import CountingStream, LayerBudget
from qa_bot.documents.ingest.files.containers import UNOPENED
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.formats.exports.slack_blocks import message_text
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item, Record, Reject
from qa_core.text.markdown_text import plain_line

PAUSE = 15 * 60  # seconds without a message that end a run
TITLE_CHARACTERS = 80
UNSAID = {f"channel_{event}" for event in ("join", "leave", "topic", "purpose", "name", "archive")} | {"tombstone"}
CODE = re.compile(r"```(.*?)```", re.DOTALL)
LINK = re.compile(r"<([^<>|]+)(?:\|([^<>]*))?>")
Names = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Message:
    stamp: str
    thread: str
    author: str
    text: str

    @property
    def seconds(self) -> float:
        return float(self.stamp)


def read(file: SourceFile) -> Iterator[Item]:
    """The threads of a day of a channel; nothing of a file that lists people or channels."""
    objects = _loaded(file.stream.read(file.limits.record_bytes + 1), file.limits.record_bytes)
    if objects is None:
        yield Reject(file.where, f"Expected a list of messages. {over_record_limit(file.limits)}")
        return
    channel = PurePosixPath(file.name).parent.name
    for record in _records(_messages(objects, _names_beside(file)), channel, f"{file.name}#", file.where):
        yield _clean(record, file)


def read_archive(file: SourceFile) -> Iterator[Item]:
    """The threads of all channels of a zip archive; the id is `CHANNEL/TIME`."""
    with file.file() as stream, zipfile.ZipFile(stream) as archive:
        members = _Members(archive, file)
        names = _names(members.objects("users.json"))
        channels: defaultdict[str, list[_Message]] = defaultdict(list)
        for name in sorted(archive.namelist()):
            path = PurePosixPath(name)
            if path.suffix == ".json" and len(path.parts) == 2:
                channels[path.parts[0]] += _messages(members.objects(name), names)
        yield from members.rejects
    for channel, messages in channels.items():
        for record in _records(messages, channel, f"{channel}/", f"{file.where}!{channel}"):
            yield _clean(record, file)


class _Members:
    """Reads the members of an archive within the limits."""

    def __init__(self, archive: zipfile.ZipFile, file: SourceFile) -> None:
        self._archive = archive
        self._file = file
        packed = sum(info.compress_size for info in archive.infolist())
        self._budget = LayerBudget(file.raw.budget.total, packed=packed)
        self.rejects: list[Reject] = []

    def objects(self, name: str) -> list[Any]:
        """The objects of a member; none, and a reject, if it cannot be read."""
        most = self._file.limits.record_bytes
        where = f"{self._file.where}!{name}"
        try:
            with self._archive.open(name) as member:
                data = io.BufferedReader(CountingStream(member, self._budget)).read(most + 1)
        except (*UNOPENED, KeyError) as error:
            self.rejects.append(Reject(where, f"Expected a readable member, but got {error}; export it again."))
            return []
        objects = _loaded(data, most)
        if objects is None:
            self.rejects.append(Reject(where, "Expected a list of messages, but got something else; export it again."))
        return objects or []


def _loaded(data: bytes, most: int) -> list[Any] | None:
    try:
        objects = orjson.loads(data) if len(data) <= most else None
    except orjson.JSONDecodeError:
        return None
    return objects if isinstance(objects, list) else None


def _names_beside(file: SourceFile) -> Names:
    """Names of people from the `users.json` of the unpacked export that the file is in."""
    source = file.raw.source
    if not isinstance(source, io.FileIO):
        return {}
    path = Path(cast("str", source.name)).parent.parent / "users.json"
    try:
        with path.open("rb") as users:
            return _names(_loaded(users.read(file.limits.record_bytes + 1), file.limits.record_bytes) or [])
    except OSError:
        return {}


def _names(users: Iterable[Any]) -> Names:
    names: dict[str, str] = {}
    for user in users:
        if isinstance(user, dict):
            profile: Any = user.get("profile") if isinstance(user.get("profile"), dict) else {}
            candidates = [profile.get(key) for key in ("display_name", "real_name")]
            candidates += [user.get(key) for key in ("real_name", "name")]
            names[str(user.get("id"))] = next(
                (name for name in candidates if isinstance(name, str) and name), "someone"
            )
    return names


def _messages(objects: Iterable[Any], names: Names) -> list[_Message]:
    messages = []
    for item in objects:
        if not isinstance(item, dict) or not _is_time(item.get("ts")) or item.get("subtype") in UNSAID:
            continue
        text = _markdown(message_text(item), names)
        if any(map(str.isalnum, text)):
            thread = item["thread_ts"] if _is_time(item.get("thread_ts")) else ""
            author = names.get(str(item.get("user"))) or str(item.get("username") or "someone")
            messages.append(_Message(item["ts"], thread, author, text))
    return sorted(messages, key=lambda message: message.seconds)


def _is_time(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"\d{9,11}\.\d+", value) is not None


def _markdown(text: str, names: Names) -> str:
    """Slack's signs for people, channels and links as names and Markdown."""

    def replaced(match: re.Match[str]) -> str:
        target, label = match[1], match[2] or ""
        if target.startswith("@"):
            return f"@{label or names.get(target[1:], 'someone')}"
        if target.startswith(("#", "!")):
            return f"{target[0].replace('!', '@')}{label.lstrip('@#') or target[1:].partition('^')[0]}"
        address = target.removeprefix("mailto:")
        return f"[{label}]({target})" if label and label != address else address

    return html.unescape(LINK.sub(replaced, text)).strip()


def _records(messages: list[_Message], channel: str, prefix: str, where: str) -> Iterator[Record]:
    for group in _groups(messages):
        first = group[0]
        writer = MarkdownWriter()
        for message in group:
            for index, part in enumerate(CODE.split(f"{message.author}: {message.text}")):
                (writer.code if index % 2 else writer.paragraph)(part)
        stamp = first.thread or first.stamp
        yield Record(
            f"{prefix}{stamp}",
            _title(first.text) or f"#{channel}",
            writer.text,
            where=f"{where}:{stamp}",
            markdown=True,
            date=datetime.fromtimestamp(group[-1].seconds, UTC).date().isoformat(),
            tags=(channel,) if channel else (),
        )


def _groups(messages: list[_Message]) -> list[list[_Message]]:
    """Threads, and runs of messages without one, by the time of their first message."""
    threads: dict[str, list[_Message]] = {}
    run: list[_Message] = []
    for message in messages:
        if message.thread:
            threads.setdefault(message.thread, []).append(message)
        elif run and message.seconds - run[-1].seconds <= PAUSE:
            run.append(message)
        else:
            run = threads.setdefault(message.stamp, [])
            run.append(message)
    return sorted(threads.values(), key=lambda group: group[0].seconds)


def _title(text: str) -> str:
    line = plain_line(" ".join(text.partition("\n")[0].replace("```", " ").split()))
    if len(line) <= TITLE_CHARACTERS:
        return line
    start = line[:TITLE_CHARACTERS]
    return f"{start.rpartition(' ')[0] or start} …"


def _clean(record: Record, file: SourceFile) -> Record:
    clean = file.repairs.clean
    return Record(
        clean(record.id),
        clean(record.title),
        clean(record.text),
        where=clean(record.where),
        markdown=True,
        date=record.date,
        tags=record.tags,
    )
