"""Blind comparison on the owner's page, in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from qa_bot.home.folder import Home
from qa_bot.learning.comparing.blind import order_of
from qa_bot.learning.comparing.comparison import Comparison, Pair, judgements_of, save

EVIL = "<img src=x onerror=alert(1)>"
PAIRS = tuple(Pair(f"q{n}", f"Question {n}?", EVIL if n == 1 else "", f"good {n}", f"bad {n}") for n in range(3))
MADE = Comparison("models", "secret-one", "secret-two", 0, (*PAIRS, Pair("q3", "Silent?", "", f"good {EVIL}", "")))


@pytest.fixture
def judgements(home: Path) -> Callable[[], list[dict[str, Any]]]:
    """Reads the judgements of a comparison that is saved in the home."""
    save(Home(home), MADE)
    file = judgements_of(Home(home), "models")
    return lambda: [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def begin(page: Page, judge: str = "ann") -> Any:
    """The section, with its first pair."""
    section = page.locator("#compare")
    section.get_by_label("Comparison").select_option("models")
    section.get_by_label("Your name").fill(judge)
    section.get_by_role("button", name="Judge").click()
    section.locator("article").first.wait_for()
    return section


def first(qid: str, judge: str = "ann") -> str:
    return order_of(0, judge, qid)[0]


def test_pairs_are_judged_by_buttons_and_keys(serve, judgements, visit):
    page = visit(f"{serve().url}/owner")
    section = begin(page)
    texts = section.locator("article .text")
    expect(section.get_by_role("status").filter(has_text="1 of 4")).to_be_visible()
    expect(section.get_by_role("heading", name="Question 0?")).to_be_focused()
    expect(texts.first).to_have_text("good 0" if first("q0") == "A" else "bad 0")
    expect(texts.last).to_have_text("bad 0" if first("q0") == "A" else "good 0")
    section.get_by_label("How good is it?").first.focus()
    page.keyboard.press("2")  # in the list of grades a key judges nothing
    section.get_by_label("How good is it?").first.select_option("excellent")
    section.get_by_role("button", name="Answer 1 is better").click()
    expect(section.get_by_role("heading", name="Question 1?")).to_be_focused()
    expect(section.get_by_text(EVIL)).to_be_visible()
    page.keyboard.press("0")
    expect(section.get_by_role("heading", name="Question 2?")).to_be_focused()
    page.keyboard.press("2")
    expect(section.get_by_role("heading", name="Silent?")).to_be_focused()
    expect(section.locator("article").filter(has_text="No answer.")).to_have_count(1)
    expect(section.locator("article").filter(has_text=EVIL)).to_have_count(1)
    page.keyboard.press("1")
    expect(section.get_by_text("4 of 4 judged. Thank you.")).to_be_visible()
    other = {"A": "B", "B": "A"}
    choices = [(item["qid"], item["choice"]) for item in judgements()]
    assert choices == [("q0", first("q0")), ("q1", "tie"), ("q2", other[first("q2")]), ("q3", first("q3"))]
    assert judgements()[0]["grade"] == {first("q0"): 3}
    assert all(0 < item["seconds"] < 60 for item in judgements())


def test_the_result_names_the_sides_after_a_click(serve, judgements, visit):
    service = serve()
    for n in range(3):
        place = "first" if first(f"q{n}") == "A" else "second"
        service.post("/api/comparisons/models/judgements", json={"judge": "ann", "qid": f"q{n}", "choice": place})
    page = visit(f"{service.url}/owner")
    section = begin(page)
    expect(section.get_by_role("status").filter(has_text="4 of 4")).to_be_visible()
    page.keyboard.press("0")
    conclusion = "A was preferred more often than B: 3 questions to 0, p = .250, which may be chance."
    expect(section.get_by_role("heading", name=conclusion)).to_be_focused()
    cells = section.locator("tbody tr").last.locator("th, td")
    expect(cells).to_have_text(
        ["all", "4", "4", "75 %", "25 %", "0 %", re.compile(r"\+75 % \(.* to \+100 %\)"), ".250"]
    )
    expect(page.locator("body")).not_to_contain_text("secret")
    section.get_by_role("button", name="Show what A and B are").click()
    expect(section.get_by_text("A is secret-one, B is secret-two.")).to_be_visible()
    expect(section.get_by_role("heading", name="secret-one was preferred more often than secret-two")).to_be_visible()


def test_skipped_pairs_come_last_and_a_reload_continues(serve, judgements, visit):
    page = visit(f"{serve().url}/owner")
    section = begin(page)
    page.keyboard.press("s")
    expect(section.get_by_role("heading", name="Question 1?")).to_be_focused()
    page.keyboard.press("0")
    expect(section.get_by_role("heading", name="Question 2?")).to_be_focused()
    page.reload()
    section = page.locator("#compare")
    expect(section.get_by_label("Your name")).to_have_value("ann")
    section.get_by_role("button", name="Judge").click()
    for name in ("Question 0?", "Question 2?", "Silent?"):
        expect(section.get_by_role("heading", name=name)).to_be_focused()
        page.keyboard.press("s" if name == "Question 0?" else "0")
    expect(section.get_by_role("heading", name="Question 0?")).to_be_focused()
    page.keyboard.press("0")
    expect(section.get_by_text("4 of 4 judged.")).to_be_visible()
    assert [item["qid"] for item in judgements()] == ["q1", "q2", "q3", "q0"]


def test_a_key_pressed_twice_judges_once(serve, judgements, visit):
    held = []
    page = visit(
        f"{serve().url}/owner",
        route=lambda page: page.route("**/judgements", lambda route: held.append(route)),
    )
    section = begin(page)
    with page.expect_request("**/judgements"):
        for key in "112":
            page.keyboard.press(key)
    page.wait_for_timeout(100)
    assert len(held) == 1
    held[0].continue_()
    expect(section.get_by_role("heading", name="Question 1?")).to_be_focused()
    assert [item["qid"] for item in judgements()] == ["q0"]


def test_an_error_is_shown_and_the_pair_stays(serve, judgements, visit):
    answers: list[Callable[[Route], None]] = [lambda route: route.fulfill(status=503, body="{}"), Route.continue_]
    page = visit(
        f"{serve().url}/owner",
        route=lambda page: page.route("**/judgements", lambda route: answers.pop(0)(route)),
    )
    section = begin(page)
    page.keyboard.press("1")
    expect(section.get_by_text("The service answered 503.")).to_be_visible()
    page.keyboard.press("1")
    expect(section.get_by_role("heading", name="Question 1?")).to_be_focused()
    assert len(judgements()) == 1


def test_keys_elsewhere_on_the_page_judge_nothing(serve, judgements, visit):
    page = visit(f"{serve().url}/owner")
    begin(page)
    page.get_by_label("Your name").focus()
    page.keyboard.press("1")
    page.get_by_role("link", name="Back to the chat").focus()
    page.keyboard.press("1")
    page.wait_for_timeout(100)
    assert judgements() == []


def test_nothing_to_compare(serve, visit):
    page = visit(f"{serve().url}/owner")
    expect(page.locator("#compare")).to_contain_text("or run: qa-bot compare A B --prepare")
    expect(page.get_by_role("button", name="Judge")).to_be_hidden()


def test_two_files_become_a_comparison(serve, visit):
    page = visit(f"{serve().url}/owner")
    section = page.locator("#compare")
    section.get_by_text("Compare two files of answers").click()
    section.get_by_label("Name", exact=True).fill("mine")
    lines = [json.dumps({"question": f"Q{n}?", "answer": "Yes."}) for n in range(3)]
    for label, text in (("Answers of A", "\n".join(lines)), ("Answers of B", lines[0].replace("Yes", "No") + "\n{")):
        file = {"name": f"{label[-1]}.jsonl", "mimeType": "text/plain", "buffer": text.encode()}
        section.get_by_label(label).set_input_files(file)  # type: ignore[arg-type]  # a dict by its shape
    section.get_by_role("button", name="Prepare").click()
    expect(section.get_by_text("mine: 1 to judge. B.jsonl:2: Expected a JSON object")).to_be_visible()
    section.get_by_label("Your name").fill("ann")
    section.get_by_role("button", name="Judge").click()
    expect(section.get_by_role("heading", name="Q0?")).to_be_focused()
    expect(section.locator("article").filter(has_text="No.")).to_have_count(1)


@pytest.mark.parametrize(("width", "beside"), [(1280, True), (360, False)])
def test_answers_are_side_by_side_on_a_wide_screen(serve, judgements, visit, width, beside):
    page = visit(f"{serve().url}/owner", viewport={"width": width, "height": 740})
    section = begin(page)
    boxes = [section.locator("article").nth(n).bounding_box() for n in range(2)]
    assert (boxes[0]["y"] == boxes[1]["y"]) == beside
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    section.get_by_role("button", name="Show the table").click()
    section.locator("table").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_judging_begins_when_the_comparisons_are_listed(serve, judgements, visit):
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page = visit(f"{serve().url}/owner", route=lambda page: page.route("**/api/comparisons", hold))
    section = page.locator("#compare")
    expect(section.get_by_role("heading", name="Blind comparison")).to_be_visible()
    expect(section.get_by_role("button", name="Judge")).to_be_hidden()
    while not held:
        page.wait_for_timeout(10)
    held[0].continue_()
    expect(section.get_by_role("button", name="Judge")).to_be_visible()
