"""The archive of `qa-bot export` and `qa-bot import`: a zip file with everything in a home that cannot be derived.

    documents/1.jsonl    a collection, a document a line, which `qa-bot add` reads, too
    sources.jsonl        what was added, and with which options
    files.jsonl          the files of sources when they were last read
    aliases.jsonl        former ids of documents
    conversations.jsonl  titles and times
    turns.jsonl          questions and answers with their votes
    settled.jsonl        questions that the owner has dismissed or answered
    facts.nt             the knowledge graph as N-Triples
    mentions/1.tsv       a table of names that was added to it
    qa-bot.toml          the configuration without secrets
    manifest.json        the list of parts, with counts and checksums; written last

No part is ever unpacked to a path from the archive.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, Field, ValidationError

from qa_bot.documents.ingest.files.byte_budget import ByteBudget, CountingStream, LayerBudget
from qa_bot.documents.ingest.files.containers import DAMAGE, UNOPENED
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.records import Limits

FORMAT, VERSION = "qa-bot export", 2
MANIFEST = "manifest.json"
CONVERSATIONS, TURNS, SETTLED, FACTS = "conversations.jsonl", "turns.jsonl", "settled.jsonl", "facts.nt"
SOURCES, FILES, ALIASES = "sources.jsonl", "files.jsonl", "aliases.jsonl"
SETTINGS = "qa-bot.toml"
LONGEST_MANIFEST = 16 * 1024**2
"""Bytes: enough for 60,000 collections."""
CHUNK = 1024 * 1024

Kind = Literal[
    "documents",
    "sources",
    "files",
    "aliases",
    "conversations",
    "turns",
    "settled",
    "facts",
    "mentions",
    "settings",
]
_PATH = (
    r"^(documents/[1-9][0-9]{0,6}\.jsonl|mentions/[1-9][0-9]{0,6}\.tsv(\.gz|\.bz2)?"
    r"|sources\.jsonl|files\.jsonl|aliases\.jsonl|conversations\.jsonl|turns\.jsonl|settled\.jsonl|facts\.nt|qa-bot\.toml)$"
)


class ArchiveError(ValueError):
    """A file that cannot be imported."""


class Part(BaseModel):
    """A member of the archive; `records` counts the lines that are not empty."""

    path: Annotated[str, Field(pattern=_PATH)]
    kind: Kind
    records: Annotated[int, Field(ge=0)]
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    collection: str = ""


class Cutting(BaseModel):
    """Settings of cutting texts into passages; a home with the same settings keeps the passages."""

    version: int
    characters: int
    overlap: int


class Manifest(BaseModel):
    """`trained` names the home's models and personas, which are not exported; `labels` the predicates of names."""

    format: Literal["qa-bot export"]
    version: int
    made: float
    by: str
    cutting: Cutting
    encoder: str
    trained: dict[str, list[str]]
    labels: list[str]
    parts: list[Part]


@dataclass(frozen=True, slots=True)
class Archive:
    """An open, verified archive; members are streamed, within limits."""

    path: Path
    manifest: Manifest
    limits: Limits
    _zip: zipfile.ZipFile
    _whole: LayerBudget

    def parts(self, kind: Kind) -> list[Part]:
        return [part for part in self.manifest.parts if part.kind == kind]

    @contextmanager
    def leaf(self, part: Part) -> Iterator[SourceFile]:
        """A part as lines or bytes; raises ArchiveError if it is damaged."""
        where = f"{self.path}!{part.path}"
        try:
            with _member(self._zip, part.path, self._whole) as raw:
                yield SourceFile(part.path, where, raw, self.limits)
        except DAMAGE as error:
            raise ArchiveError(f"Expected a whole file in {where}, but got {error}; copy the archive again.") from error


@contextmanager
def opened(path: Path, *, limits: Limits | None = None) -> Iterator[Archive]:
    """Open an archive whose parts are complete and unchanged.

    Raises:
        FileNotFoundError: nothing is at `path`.
        ArchiveError: it is another kind of file, of a newer version, incomplete, or altered.
        LimitError: its unpacked size exceeds the limits.
    """
    limits = limits or Limits()
    if not path.is_file():
        raise FileNotFoundError(f"Expected an archive of `qa-bot export`, but there is no file at {path}.")
    try:
        zipped = zipfile.ZipFile(path)
    except UNOPENED as error:
        raise ArchiveError(
            f"Expected an archive of `qa-bot export`, but got {path}, which is no whole zip file ({error}); copy it "
            "again, or add documents with `qa-bot add`."
        ) from None
    with zipped:
        size = path.stat().st_size
        manifest = _manifest(zipped, path, LayerBudget(ByteBudget(limits), packed=size))
        _check_parts(zipped, path, manifest)
        _verify(zipped, path, manifest, LayerBudget(ByteBudget(limits), packed=size))
        yield Archive(path, manifest, limits, zipped, LayerBudget(ByteBudget(limits), packed=size))


@contextmanager
def _member(zipped: zipfile.ZipFile, name: str, whole: LayerBudget) -> Iterator[CountingStream]:
    """A member as a stream that counts its unpacked bytes."""
    info = zipped.getinfo(name)
    packed = min(info.compress_size, whole.packed or 0)
    try:
        member = zipped.open(info)
    except UNOPENED as error:
        raise ArchiveError(f"Expected a readable {name}, but got: {error}; export anew.") from None
    with member:
        yield CountingStream(member, LayerBudget(whole.total, packed=packed, archive=whole))


def _manifest(zipped: zipfile.ZipFile, path: Path, whole: LayerBudget) -> Manifest:
    if MANIFEST not in zipped.namelist():
        raise ArchiveError(
            f"Expected an archive of `qa-bot export`, but {path} has no {MANIFEST}; add documents with `qa-bot add`."
        )
    try:
        with _member(zipped, MANIFEST, whole) as raw:
            payload = orjson.loads(_read(raw, LONGEST_MANIFEST))
        _check_version(payload, path)
        return Manifest.model_validate(payload)
    except (*DAMAGE, orjson.JSONDecodeError, ValidationError) as error:
        raise ArchiveError(
            f"Expected a manifest of `qa-bot export` in {path}, but got: {_first(error)}; export anew."
        ) from None


def _read(raw: CountingStream, limit: int) -> bytes:
    data = b""
    while len(data) <= limit and (chunk := raw.read(CHUNK)):
        data += chunk
    if len(data) > limit:
        raise ArchiveError(f"Expected at most {limit:,} bytes in {MANIFEST}, but got more; export anew.")
    return data


def _check_version(payload: Any, path: Path) -> None:
    version = payload.get("version") if isinstance(payload, dict) and payload.get("format") == FORMAT else None
    if isinstance(version, int) and version > VERSION:
        raise ArchiveError(
            f"Expected an export of version {VERSION}, but {path} is of version {version}, by qa-bot "
            f"{payload.get('by')}; install that version."
        )


def _check_parts(zipped: zipfile.ZipFile, path: Path, manifest: Manifest) -> None:
    """Raise ArchiveError unless the members are exactly those of the manifest, each once."""
    present, listed = sorted(zipped.namelist()), sorted([MANIFEST, *(part.path for part in manifest.parts)])
    if present != listed:
        odd = sorted({*present} ^ {*listed}) or [
            name for name in present if present.count(name) + listed.count(name) > 2
        ]
        raise ArchiveError(
            f"Expected the {len(listed)} parts that the manifest lists in {path}, but {odd[0][:80]!r} is missing, "
            "unknown or repeated; export anew."
        )


def _verify(zipped: zipfile.ZipFile, path: Path, manifest: Manifest, whole: LayerBudget) -> None:
    for part in manifest.parts:
        digest, size = hashlib.sha256(), 0
        try:
            with _member(zipped, part.path, whole) as raw:
                while size <= part.bytes and (chunk := raw.read(CHUNK)):
                    digest.update(chunk)
                    size += len(chunk)
        except DAMAGE as error:
            raise _damaged(path, part, str(error)) from None
        if size != part.bytes or digest.hexdigest() != part.sha256:
            raise _damaged(path, part, "another checksum")


def _damaged(path: Path, part: Part, got: str) -> ArchiveError:
    return ArchiveError(
        f"Expected an undamaged {part.path} in {path}, but got {got}; copy the archive again. Nothing was changed."
    )


def _first(error: Exception) -> str:
    """The first error, in one line."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)
