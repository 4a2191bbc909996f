"""Text that repeats over a source stays searched in one of its documents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from qa_bot.bot import Bot
from qa_bot.documents.reject_log import AddReport
from qa_bot.home.folder import Home
from tests.qa_bot.documents.sources.folders import Add, write

FOOTER = "Report a broken lamp to the caretaker at extension 4417."
TOPICS = ["bees", "boats", "bread", "chairs", "clocks", "gates", "goats", "hats", "jars", "kites", "lamps", "maps"]


def page(topic: str, footer: str = FOOTER) -> str:
    return f"# {topic.title()}\n\nThe {topic} are in the hall of {topic} since May.\n\n{footer}\n"


def documents(home: Home) -> list[str]:
    """The documents that are found by the words of the footer."""
    with Bot.open(home.path, flags={"starter.mode": "off"}, record=False) as bot:
        return [one.passage.source.document for one in bot.search("caretaker extension 4417", engine="keyword")]


def rename(folder: Path, first: Path) -> None:
    first.rename(folder / "zz.md")


def change(_folder: Path, first: Path) -> None:
    first.write_text(page("bees", "Ask in the office on the second floor."))


def edit(_folder: Path, first: Path) -> None:
    first.write_text(page("bees").replace("May", "June"))


def remove(_folder: Path, first: Path) -> None:
    first.unlink()


@pytest.mark.parametrize("act", [rename, change, remove, edit])
def test_another_document_keeps_a_block_whose_first_document_is_gone_or_lost_it(
    empty_home: Home, added: Add, synced: Add, tmp_path: Path, act: Callable[[Path, Path], None]
) -> None:
    folder = write(tmp_path / "pages", {f"{topic}.md": page(topic) for topic in TOPICS})
    added(folder)
    assert documents(empty_home) == ["bees.md"]
    act(folder, folder / "bees.md")
    synced()
    report: AddReport = synced()
    assert len(documents(empty_home)) == 1
    assert (documents(empty_home) == ["bees.md"]) is (act is edit)
    assert report.updated == (act is not edit)
    assert synced().updated == 0, "nothing is read again"
