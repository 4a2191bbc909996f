"""A folder of a firm is added, changed and synchronised; every answer cites the exact place."""

from __future__ import annotations

from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook
from pptx import Presentation

from tests.qa_bot.documents.ingest.formats.pages.conftest import line, pdf

pytestmark = pytest.mark.usefixtures("no_shipped_voices")
QaBot = Callable[..., Any]

FACT_PAGE, PAGES = 212, 300
PARTS = ("valve", "pump", "sensor", "panel", "bearing", "cable", "relay", "gauge", "motor", "filter", "clamp", "gasket")
BUDGET = "What is the budget of the research department?"
WAREHOUSE = "When does the Oslo warehouse open?"
PARKING = "Where do we park while the car park is resurfaced?"
TORQUE = "What is the torque of the anchor bolts?"
LEAVE = "Wann muss der Urlaub beantragt werden?"


def manual() -> bytes:
    def page(number: int) -> list[str]:
        part, other = PARTS[number % 12], PARTS[number // 12 % 12]
        fact = "The torque of the anchor bolts is 340 newton metres." if number == FACT_PAGE else ""
        words = f"Check {number}: the {part} beside the {other} is cleaned by hand. {fact}"
        return [line(72, 80, f"Care of the {part}, part {number}", size=16), line(72, 120, words)]

    return pdf(*map(page, range(1, PAGES + 1)))


def write_budget(path: Path, research: int) -> None:
    workbook = Workbook()
    workbook.active.title = "Notes"
    workbook.active.append(["Nothing decided yet"])
    sheet = workbook.create_sheet("Budget")
    for row in (["Department", "Budget"], ["Logistics", 182_000], ["Research", research], ["Canteen", 73_400]):
        sheet.append(row)
    workbook.save(path)


@pytest.fixture
def firm(tmp_path: Path) -> Path:
    folder = tmp_path / "firm"
    folder.mkdir()
    (folder / "manual.pdf").write_bytes(manual())
    write_budget(folder / "budget.xlsx", 960_500)
    show = Presentation()
    for title, text in (("All hands", "Welcome"), ("Roadmap", "The Oslo warehouse opens in September")):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = title, text
    show.save(str(folder / "show.pptx"))
    mail = EmailMessage()
    mail["From"], mail["Subject"], mail["Date"] = "Greta <g@x.org>", "Car park", "Tue, 04 Mar 2025 09:12:00 +0100"
    mail.set_content("While the car park is resurfaced, park at the Lindenhof garage.\n")
    (folder / "parking.eml").write_bytes(mail.as_bytes())
    (folder / "urlaub.md").write_text(
        "# Regelung\n\n## Urlaubsantrag\n\nDer Urlaubsantrag muss drei Wochen vorher beantragt werden.\n\n"
        "## Resturlaub\n\nResturlaub verfällt am 31. März.\n"
    )
    return folder


def test_each_answer_cites_its_place_before_and_after_a_sync(qa_bot: QaBot, firm: Path) -> None:
    def source(question: str, fact: str) -> dict[str, Any]:
        answer = qa_bot("ask", question, "--json").json
        assert fact in answer["answer"]
        return dict(answer["sources"][0])

    assert qa_bot("add", firm).code == 0
    budget = source(BUDGET, "960500")
    assert (budget["path"], budget["heading"], budget["row"]) == ("budget.xlsx", ["Budget"], 3)
    slide = source(WAREHOUSE, "September")
    assert (slide["path"], slide["page"], slide["heading"]) == ("show.pptx", 2, ["Roadmap"])
    mail = source(PARKING, "Lindenhof")
    assert (mail["path"], mail["title"], mail["date"]) == ("parking.eml", "Car park", "2025-03-04")
    torque = source(TORQUE, "340")
    assert (torque["path"], torque["page"]) == ("manual.pdf", FACT_PAGE)
    leave = source(LEAVE, "drei Wochen")
    assert (leave["path"], leave["heading"], leave["language"]) == ("urlaub.md", ["Urlaubsantrag"], "de")

    write_budget(firm / "budget.xlsx", 999_111)
    (firm / "manual.pdf").rename(firm / "turbines.pdf")
    (firm / "parking.eml").unlink()
    assert qa_bot("sync").code == 0
    assert source(BUDGET, "999111")["row"] == 3
    moved = source(TORQUE, "340")
    assert (moved["path"], moved["page"]) == ("turbines.pdf", FACT_PAGE)
    assert "Lindenhof" not in qa_bot("ask", PARKING, "--json").json["answer"]
