"""Changes of documents by requests: one after another, in a thread apart from the answering ones."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from aiohttp import web

from qa_bot.home.folder import DiskFullError, WriterBusyError
from qa_bot.home.generations import CorruptGenerationError
from qa_bot.web.errors import ServiceError

WAITING = 8
"""Changes that may wait; an answer of the owner takes some tenths of a second, an upload longer the larger it is."""
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})

Result = TypeVar("Result")


class Writer:
    """Makes one change at a time."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="owner")
        self.waiting = 0
        """Changes that are not made yet, including the one in work."""

    async def run(self, change: Callable[[], Result], *, after: Callable[[], object] = lambda: None) -> Result:
        """The result of a change.

        Args:
            after: called when the change is done, or is never begun, also if the caller is cancelled meanwhile.

        Raises:
            ServiceError: 409 if too many changes wait, another process writes, or the index cannot be changed.
            DiskFullError: there is no room for the change.
        """
        if self.waiting >= WAITING:
            after()
            raise ServiceError(409, f"{self.waiting} changes wait to be made; try again.")
        self.waiting += 1
        try:
            future: Future[Result] = self._thread.submit(copy_context().run, _made, change)
            future.add_done_callback(lambda _: after())
            return await asyncio.wrap_future(future)
        finally:
            self.waiting -= 1

    def close(self) -> None:
        """Finish the change in work; waiting ones are not started."""
        self._thread.shutdown(cancel_futures=True)


def _made(change: Callable[[], Result]) -> Result:
    from qa_bot.documents.index_update import ChangeError  # late: the start does not wait for SQLAlchemy

    try:
        return change()
    except (WriterBusyError, ChangeError, CorruptGenerationError) as error:
        raise ServiceError(409, str(error)) from None
    except OSError as error:
        if error.errno in FULL:
            raise DiskFullError("Expected room on the disk for new documents, but it is full; make room.") from None
        raise


WRITER = web.AppKey("writer", Writer)


def prepare(app: web.Application) -> None:
    """Add the writer to an application and close it at the end."""
    app[WRITER] = Writer()

    async def close(app: web.Application) -> None:
        await asyncio.to_thread(app[WRITER].close)

    app.on_cleanup.append(close)
