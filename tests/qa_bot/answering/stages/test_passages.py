"""The row of a sheet that an answer cites, steps for a question how to do something, sections by their number."""

from pathlib import Path

import numpy as np
import pytest

from qa_bot.answering.stages.passages import at_best_row
from qa_bot.bot import Bot
from qa_bot.documents.sync import add
from qa_core.types import Clue, Passage, Place, Source, Span

TABLE = "Prices:\n\n| Item | Price |\n| --- | --- |\n| Lamp | 4 |\n| Chair | 9 |\n| Desk | 30 |"


def passage(row: int | None) -> Passage:
    return Passage("p", TABLE, Clue(), Source("d"), Place(row=row))


def units() -> list[Span]:
    words = ("Prices:", "| Lamp | 4 |", "| Chair | 9 |", "| Desk | 30 |")
    return [(TABLE.index(word), TABLE.index(word) + len(word)) for word in words]


@pytest.mark.parametrize(("best", "row"), [(0, 12), (1, 12), (2, 13), (3, 14)])
def test_the_row_is_that_of_the_best_unit(best: int, row: int) -> None:
    assert at_best_row(passage(12), units(), np.eye(4, dtype=np.float32)[best]).place.row == row


def test_a_passage_without_rows_or_units_stays() -> None:
    assert at_best_row(passage(None), units(), np.ones(4, np.float32)) == passage(None)
    assert at_best_row(passage(5), [], np.zeros(0, np.float32)) == passage(5)


def test_steps_answer_how_to_do_something(tmp_path: Path) -> None:
    page = tmp_path / "filter.md"
    page.write_text(
        "# Filter\n\n## About it\n\nThe filter of the pump keeps the pump quiet.\n\n"
        "## Work\n\n1. Stop the pump.\n2. Take the filter out.\n3. Clean the filter with water.\n"
    )
    with Bot.open(tmp_path / "home", flags={"starter.mode": "off"}, record=False) as bot:
        add(bot.home, bot.config, bot.encoder, [page], collection="manual")
        how = bot.search("How do I clean the filter of the pump?")[0]
        what = bot.search("What keeps the pump quiet?")[0]
    assert how.passage.place.kind == "steps"
    assert what.passage.place.kind == "prose"


def test_the_section_that_a_question_names_goes_first(tmp_path: Path) -> None:
    page = tmp_path / "rules.md"
    page.write_text(
        "# Rules\n\n## § 4 Fees\n\nThe yearly fee is 48 pounds.\n\n"
        "## § 5 Quiet hours\n\nNo noise from one to three.\n\n"
        "## § 7 Rules of the fees\n\nFees are paid in January, and the rules say how.\n"
    )
    with Bot.open(tmp_path / "home", flags={"starter.mode": "off"}, record=False) as bot:
        add(bot.home, bot.config, bot.encoder, [page])
        first = bot.search("What do the rules say about fees in § 5?")[0]
    assert first.passage.place.heading[-1] == "§ 5 Quiet hours"


def test_release_notes_come_after_the_manual_unless_a_question_names_their_version(tmp_path: Path) -> None:
    (tmp_path / "changes.md").write_text(
        "# Changes\n\n## 1.2 (May 2020)\n\nThe pump starts after ten seconds.\n\n"
        "## 1.1 (July 2019)\n\nThe pump starts after a minute. New lights.\n"
    )
    (tmp_path / "pump.md").write_text("# Pump\n\n## Start\n\nThe pump starts after five seconds, as set in the menu.\n")
    with Bot.open(tmp_path / "home", flags={"starter.mode": "off"}, record=False) as bot:
        add(bot.home, bot.config, bot.encoder, [tmp_path / "changes.md", tmp_path / "pump.md"])
        now = bot.search("When does the pump start?")[0]
        then = bot.search("What is new in version 1.1?")[0]
    assert now.passage.place.heading == ("Start",)
    assert then.passage.place.heading[-1] == "1.1 (July 2019)"
