"""The commit point of a home: documents, index, graph and sources become visible by one durable act.

The act is the database's transaction, which also writes a random token:

1. The new generations are written, fsynced and renamed beside the current ones.
2. `CURRENT` of each announces its new generation and the token (fsync, rename, fsync of the folder).
3. One database transaction makes the documents current, records what they were made from, and writes the token.
4. `CURRENT` of each names the new generation alone.

Before 3 is durable, everything is old; after it, everything is new. A reader that finds an announcement asks the
database for the token; otherwise it needs no database. The next writer finishes or undoes what a dead one left
(`finish_announced`). A change of the graph alone, or of the index alone, needs step 1 and 4 only.
"""

from __future__ import annotations

import logging
import shutil
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from qa_bot.home.generations.generations import Generations
from qa_bot.home.generations.manifest import Generation

if TYPE_CHECKING:
    from qa_bot.home.store.commits import CommitStore

log = logging.getLogger(__name__)


class Switch(NamedTuple):
    """A prepared generation that is to become the current one of its root."""

    root: Generations
    generation: Generation


def commit(commits: CommitStore, switches: Sequence[Switch], record: Callable[[], None]) -> None:
    """Run `record` in one transaction, and make the prepared generations current with it.

    On an error all is as before, and the prepared generations are removed. If the database can no longer be asked
    whether it has committed, they stay: the next writer asks.
    """
    token, is_complete = uuid.uuid4().hex, False
    try:
        for root, generation in switches:
            root.announce(generation.number, token)
        with commits.transaction():
            record()
            if switches:
                commits.mark(token)
            is_complete = True
    except BaseException:
        if not (switches and is_complete and _was_committed(commits, token)):
            _withdraw(switches)
            raise
    _finish(switches)


def discard(switches: Iterable[Switch]) -> None:
    """Remove prepared generations, which frees space at once if the disk is full."""
    for _, generation in switches:
        shutil.rmtree(generation.path, ignore_errors=True)


def finish_announced(commits: CommitStore, roots: Iterable[Generations]) -> None:
    """Finish or undo what a dead writer announced, and remove what it left; only for the single writer of a home.

    Raises:
        StoreError: the database cannot be asked; nothing is changed.
    """
    for root in roots:
        if pointer := root.announced():
            is_committed = commits.settle(pointer.token)
            root.switch(pointer.following if is_committed else pointer.number)
        root.sweep()


def _was_committed(commits: CommitStore, token: str) -> bool:
    """Whether a transaction that ended with an error is in the database nevertheless.

    Raises:
        StoreError: the database cannot be asked now.
    """
    from qa_bot.home.store import StoreError  # late: an answer does not import SQLAlchemy

    try:
        return commits.settle(token)
    except StoreError as error:
        raise StoreError(
            f"{error} Whether the change was saved is unknown; `qa-bot status` and the next change find out."
        ) from error


def _withdraw(switches: Sequence[Switch]) -> None:
    """Point back to the generations before; without that, the announcement without a token means the same."""
    for root, _ in switches:
        try:
            if pointer := root.announced():
                root.switch(pointer.number)
        except OSError as error:
            log.warning("%s could not be reset, which the next change does: %s", root.root / "CURRENT", error)
    discard(switches)


def _finish(switches: Sequence[Switch]) -> None:
    """The change is visible already: an error only means that readers ask the database until the next change."""
    for root, generation in switches:
        try:
            root.switch(generation.number)
        except OSError as error:
            log.warning("The change is saved; the next one rewrites %s: %s", root.root / "CURRENT", error)
