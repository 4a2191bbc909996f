"""Whether the database that an index was made from is still there; an empty one takes its place after a loss."""

from __future__ import annotations

from qa_bot.home.folder import Home
from qa_bot.home.generations import CorruptGenerationError, Generations
from qa_bot.home.store import StoreError

LOST = (
    "Expected the database of the index in {index}, but got an empty one; bring back a backup with `qa-bot restore "
    "DIR`, put back a copy of it, or move the index away to start again."
)


class LostDatabaseError(StoreError):
    """The database lacks the documents of the index; a copy would lack them too."""


def expect_database(home: Home, stored: int | None) -> None:
    """Raises LostDatabaseError if the index is newer than the generation `stored` in the database, None for none.

    A damaged `CURRENT` names no generation, so nothing is compared.
    """
    try:
        published = Generations(home.index).current_number() or 0
    except CorruptGenerationError:
        return
    if stored is None and published:
        raise LostDatabaseError(LOST.format(index=home.index))
    if stored is not None and published > stored:
        raise LostDatabaseError(
            f"Expected the database of generation {published} of the index in {home.index}, but got that of {stored}; "
            "put back the newer one, or run `qa-bot repair`."
        )
