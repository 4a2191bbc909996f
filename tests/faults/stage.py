"""The process of a sweep: encoders that are opened once, and the workplace."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from qa_bot.documents import improving
from qa_bot.home import encoders
from qa_bot.home.starter import ENCODER
from tests.faults.homes import Workplace
from tests.faults.operations import OPERATIONS, Operation, command, prepare_homes
from tests.qa_bot.conftest import CountingEncoder


def operations(names: Iterable[str] = ()) -> Iterator[Operation]:
    chosen = set(names)
    return (operation for operation in OPERATIONS if not chosen or operation.name in chosen)


def adding(folder: Path) -> Operation:
    """`add` of a folder of one's own."""
    return Operation("add", command("add", str(folder.resolve()), "--collection", "own"))


def workplace_in(folder: Path) -> Workplace:
    """The homes and files of all operations; a quick encoder replaces the shipped transformer."""
    encoder = CountingEncoder()
    improving.open_transformer = encoders.open_transformer = lambda **_: encoder  # type: ignore[assignment]
    encoders._shared_transformer = lambda *_: encoder  # type: ignore[assignment]
    encoders.SHIPPED[encoders.TRANSFORMER] = ENCODER
    folder.mkdir(parents=True)
    workplace = Workplace(folder, encoders.resolve(encoders.STARTER, models=folder))
    workplace.files["starter-copy"] = Path(shutil.copytree(ENCODER, folder / "starter-copy"))
    prepare_homes(workplace)
    return workplace
