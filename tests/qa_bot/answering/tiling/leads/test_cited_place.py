"""The page and the row of a sheet that an answer cites."""

from pathlib import Path

import numpy as np
import pytest

from qa_bot.answering.tiling.leads.cited_place import cited_place, name_of_second, with_page
from qa_bot.bot import Bot
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Record
from qa_bot.documents.sync import add, add_records
from qa_core.types import Clue, Details, Passage, Place, Source, Span

TABLE = "Prices:\n\n| Item | Price |\n| --- | --- |\n| Lamp | 4 |\n| Chair | 9 |\n| Desk | 30 |"


def passage(row: int | None) -> Passage:
    return Passage("p", TABLE, Clue(), Source("d"), Place(row=row))


def units() -> list[Span]:
    words = ("Prices:", "| Lamp | 4 |", "| Chair | 9 |", "| Desk | 30 |")
    return [(TABLE.index(word), TABLE.index(word) + len(word)) for word in words]


@pytest.mark.parametrize(("best", "row"), [(0, 12), (1, 12), (2, 13), (3, 14)])
def test_the_row_is_that_of_the_best_unit(best: int, row: int) -> None:
    lead = units()[best][0], units()[max(1, best)][1]
    assert cited_place(passage(12), units(), np.eye(4, dtype=np.float32)[best], lead).row == row


def test_a_line_beside_a_table_has_no_row() -> None:
    assert cited_place(passage(12), units(), np.eye(4, dtype=np.float32)[0], units()[0]).row is None


def test_a_passage_without_rows_or_units_stays() -> None:
    assert cited_place(passage(None), units(), np.ones(4, np.float32), units()[0]) == Place()
    assert cited_place(passage(5), [], np.zeros(0, np.float32), None) == Place(row=5)


def test_rows_below_an_empty_one_keep_their_numbers(tmp_path: Path) -> None:
    phones = tmp_path / "phones.csv"
    phones.write_text("Name,Phone\nAnna Meier,1111\nBert Kunz,2222\n,\nCarla Wolf,3333\nDora Fuchs,4444\n")
    with Bot.open(tmp_path / "home", flags={"starter.mode": "off"}, record=False) as bot:
        add(bot.home, bot.config, bot.encoder, [phones])
        names = ("Anna Meier", "Bert Kunz", "Carla Wolf", "Dora Fuchs")
        rows = [bot.search(f"What is the phone of {name}?")[0].passage.place.row for name in names]
    assert rows == [2, 3, 5, 6]


def test_the_page_follows_a_lead_that_moves_in_either_direction() -> None:
    place = Place(page=1, later=((40, 2), (80, 3)))
    for start, page in ((90, 3), (10, 1), (40, 2)):
        place = with_page(place, start)
        assert place.page == page
    assert with_page(Place(page=4), 90) == Place(page=4)
    assert with_page(Place(row=2, later=((40, 9),)), 90) == Place(row=2, later=((40, 9),))


PAGES = (
    "The canteen serves soup at noon on every weekday of the year.",
    "The gym opens at six in the morning and needs a badge of the firm.",
    "The bicycle cellar is locked with the code 4711 during the night.",
)


def test_an_answer_cites_the_page_that_it_begins_on(tmp_path: Path) -> None:
    writer = MarkdownWriter()
    for number, text in enumerate(PAGES, 1):
        writer.page(number)
        writer.paragraph(text)
    record = Record("rules", "Rules", writer.text, markdown=True, positions=tuple(writer.positions))
    with Bot.open(tmp_path / "home", flags={"starter.mode": "off"}, record=False) as bot:
        add_records(bot.home, bot.config, bot.encoder, [record], collection="rules")
        questions = ("When is soup served?", "When does the gym open?", "What is the code of the bicycle cellar?")
        sources = [bot.ask(question).sources[0] for question in questions]
    assert [source.page for source in sources] == [1, 2, 3]
    assert len({source.id for source in sources}) == 1, "one passage"


def test_an_answer_of_an_faq_sheet_cites_its_row_also_after_the_row_has_moved(tmp_path: Path) -> None:
    sheet = tmp_path / "faq.csv"
    for above, row in (("", 2), ("x,How wide is the gate?,Twelve metres.\n", 3)):
        sheet.write_text(f"id,question,answer\n{above}y,How deep is the dock?,Nine metres.\n")
        with Bot.open(tmp_path / "home", flags={"starter.mode": "off"}, record=False) as bot:
            add(bot.home, bot.config, bot.encoder, [sheet])
            assert bot.ask("How deep is the dock?").sources[0].row == row


def test_a_second_passage_names_its_heading_and_its_page() -> None:
    def costs(page: int | None, heading: str = "Costs", document: str = "plan.pptx", language: str = "en") -> Passage:
        source = Source(document, "Plan", details=Details(language=language))
        return Passage(f"{document}#{page}", "", Clue(), source, Place(heading=(heading,), page=page))

    assert name_of_second(costs(4), costs(1)) == "Costs, slide 4"
    assert name_of_second(costs(4), costs(4)) == ""
    assert name_of_second(costs(4, "Staff"), costs(4)) == "Staff"
    assert name_of_second(costs(None, "Staff"), costs(None)) == "Staff"
    assert name_of_second(costs(9, language="de", document="a.pdf"), costs(1, document="a.pdf", language="de")) == (
        "Costs, Seite 9"
    )
    assert name_of_second(costs(4), costs(1, document="other.pdf")) == "Costs"
