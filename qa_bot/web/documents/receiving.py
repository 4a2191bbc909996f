"""Receives the files of an upload: each goes from the connection to a temporary file, never whole into memory."""

from __future__ import annotations

import asyncio
import errno
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from aiohttp import BodyPartReader, web
from aiohttp.http_exceptions import HttpProcessingError

from qa_bot.home.folder import DiskFullError
from qa_bot.home.sections import ServeSection
from qa_bot.web.access.arrival import too_large
from qa_bot.web.api.json_bodies import SECONDS, shown
from qa_bot.web.documents.names import COLLECTION, expect_collection, file_name
from qa_bot.web.errors import ServiceError

UPLOADS = "/api/documents"
"""The route that takes files, and bodies of `[serve] upload_limit`."""
AT_ONCE = 4
"""Uploads that are received at once; each may take the disk space of the largest."""
WHOLE = 900.0
"""Seconds for a whole upload; each chunk has `SECONDS`."""
FILES = 100
"""Most files of an upload."""
CHUNK = 256 * 1024
"""Bytes of a file in memory."""
PREFIX = "qa-bot-upload-"
"""Of temporary files."""
RETRY = 5.0
"""Seconds after which another upload may be received."""


def longest_upload(settings: ServeSection) -> int:
    """The limit of an upload in bytes."""
    return settings.upload_limit * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file under its cleaned name, and its temporary file."""

    name: str
    path: Path


@dataclass(slots=True)
class Received:
    """A whole upload; its temporary files exist until `close`."""

    files: list[SentFile] = field(default_factory=list)
    collection: str | None = None
    _held: ExitStack = field(default_factory=ExitStack)

    def new_file(self) -> BinaryIO:
        """An open temporary file that only the user of the service may read."""
        return cast("BinaryIO", self._held.enter_context(tempfile.NamedTemporaryFile(prefix=PREFIX)))

    def close(self) -> None:
        """Remove the temporary files."""
        self._held.close()


class Receiver:
    """Receives a few uploads at once."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self.receiving = 0

    async def receive(self, request: web.Request) -> Received:
        """The files of a form; the caller closes them.

        Raises:
            ServiceError: 503 if too many uploads are received, 413 for a too long one, 400 for one that stops or is
                malformed, 422 for fields or names that are not expected.
            DiskFullError: there is no room for the temporary files.
        """
        received = Received()
        with self._place(), _readable(), _removed_on_error(received):
            async with asyncio.timeout(WHOLE), _ended(request):
                await self._read(request, received)
            if not received.files:
                raise ServiceError(422, "Expected a field `file` with a file, but got none.")
        return received

    @contextmanager
    def _place(self) -> Iterator[None]:
        if self.receiving >= AT_ONCE:
            raise ServiceError(503, f"{self.receiving} uploads are being received; try again.", retry_after=RETRY)
        self.receiving += 1
        try:
            yield
        finally:
            self.receiving -= 1

    async def _read(self, request: web.Request, received: Received) -> None:
        parts = await request.multipart()
        while True:
            async with asyncio.timeout(SECONDS):
                part = await parts.next()
            if part is None:
                return
            if not isinstance(part, BodyPartReader) or part.name not in ("file", "collection"):
                name = getattr(part, "name", None)
                raise ServiceError(422, f"Expected the fields file and collection, but got {shown(name or 'others')}.")
            if part.name == "collection":
                received.collection = await self._collection(request, part)
            else:
                await self._file(request, part, received)

    async def _file(self, request: web.Request, part: BodyPartReader, received: Received) -> None:
        try:
            name = file_name(part.filename or "")
        except ValueError as error:
            raise ServiceError(422, str(error)) from None
        if any(name == other.name for other in received.files):
            raise ServiceError(422, f"Expected files whose names differ, but got {name!r} twice; rename one of them.")
        if len(received.files) >= FILES:
            raise ServiceError(422, f"Expected at most {FILES} files, but got more; send them in several uploads.")
        file = received.new_file()
        async for chunk in self._chunks(request, part):
            await asyncio.to_thread(file.write, chunk)
        await asyncio.to_thread(file.flush)
        received.files.append(SentFile(name, Path(file.name)))

    async def _collection(self, request: web.Request, part: BodyPartReader) -> str | None:
        value = b""
        async for chunk in self._chunks(request, part):
            value += chunk
            if len(value) > 4 * COLLECTION:
                break
        try:
            return expect_collection(value.decode()) if value else None
        except UnicodeDecodeError:
            raise ServiceError(422, "Expected a collection in UTF-8, but got other bytes.") from None
        except ValueError as error:
            raise ServiceError(422, str(error)) from None

    async def _chunks(self, request: web.Request, part: BodyPartReader) -> AsyncIterator[bytes]:
        while True:
            async with asyncio.timeout(SECONDS):
                chunk = await part.read_chunk(CHUNK)
            if request.content.total_bytes > self._longest:
                raise too_large(self._longest)
            if not chunk:
                return
            yield chunk


@contextmanager
def _readable() -> Iterator[None]:
    """Turn errors about a malformed or interrupted upload into ServiceError."""
    try:
        yield
    except TimeoutError:
        raise ServiceError(400, "Expected the whole upload in time, but got only a part; send it again.") from None
    except (ValueError, RuntimeError, HttpProcessingError, web.RequestPayloadError):
        raise ServiceError(
            400, "Expected a form (multipart/form-data) as its headers say, but it is malformed; send it again."
        ) from None
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise DiskFullError("Expected room on the disk for the upload, but it is full; make room.") from None
        raise


@contextmanager
def _removed_on_error(received: Received) -> Iterator[None]:
    try:
        yield
    except BaseException:
        received.close()
        raise


@asynccontextmanager
async def _ended(request: web.Request) -> AsyncIterator[None]:
    try:
        yield
    finally:
        if request.content.exception():
            request.content.feed_eof()  # else aiohttp reads on for the next request, and logs the error as unhandled
