"""The form in a browser: rated by keyboard, remembered, saved, and read back."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from qa_lab.studies.people.answers import read_answers
from qa_lab.studies.people.forms import StudyKey
from tests.qa_lab.studies.people.conftest import EVIL

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
FORGET = "() => { answers = {}; document.getElementById('judge').value = ''; }"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("Chromium is missing: run `apt-get install chromium`, or install Google Chrome")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser, folder: Path) -> Iterator[Page]:
    """The first form; no request leaves it and nothing goes wrong in it."""
    context = browser.new_context(accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(20_000)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    page.on("console", lambda line: wrong.append(line.text))
    page.on("request", lambda request: wrong.append(request.url) if not _is_own(request.url, folder) else None)
    page.goto((folder / "form-1-1.html").as_uri())
    yield page
    context.close()
    assert wrong == []


def _is_own(url: str, folder: Path) -> bool:
    return url.startswith((folder.as_uri(), "blob:"))


def save(page: Page, kind: str, path: Path) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Save as {kind}").click()
    download.value.save_as(path)
    return path


def rate(page: Page, digits: str) -> None:
    """Rate the replies of a page by keyboard, and go on to the next page."""
    page.locator("#place").focus()
    for digit in digits:
        page.keyboard.press(digit)
    assert page.evaluate("document.activeElement.id") == "next"
    page.keyboard.press("Enter")


def test_a_form_is_rated_by_keyboard_and_read_back(page: Page, key: StudyKey, tmp_path: Path):
    page.get_by_role("button", name="Save as JSON").click()
    note = page.locator("#note")
    assert note.inner_text() == "Enter your name or a pseudonym first."
    page.keyboard.type("Ann, 1st")  # the field has the focus; digits are no ratings there
    assert note.inner_text() == "14 of 14 answers are missing."
    rate(page, "451")
    assert page.locator("#place").inner_text() == "Page 2 of 6"
    first = page.get_by_label("like Captain").first
    first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("4")  # no rating on this page
    assert first.is_checked()
    incomplete = save(page, "JSON", tmp_path / "part.json")
    text = "9 of 14 answers are missing. The file is saved, but incomplete. Page 3 is the first one with a gap."
    assert note.inner_text() == text
    part = read_answers([incomplete], key, partial=True)
    assert sum(rating.quality is not None for rating in part) == 3
    assert sorted(rating.style for rating in part if rating.style is not None) == [False, True]

    page.evaluate(FORGET)
    assert page.get_by_label("Your name").input_value() == ""
    page.evaluate("() => { remembered(); show(0); }")  # what the form does when it is opened
    assert page.get_by_label("Your name").input_value() == "Ann, 1st"
    assert page.locator("input[type=radio]:checked").count() == 3
    following = page.get_by_role("button", name="Next")
    for _ in range(3):
        following.click()
    rate(page, "325")
    following.click()
    assert note.inner_text() == "Everything is rated. Save the file and return it."
    saved, table = save(page, "JSON", tmp_path / "ann.json"), save(page, "CSV", tmp_path / "ann.csv")
    ratings = read_answers([saved], key)
    assert read_answers([table], key) == ratings
    assert sorted(rating.quality for rating in ratings) == [1, 2, 3, 4, 5, 5]
    assert sum(bool(rating.style) for rating in ratings) == 1
    assert {rating.judge for rating in ratings} == {"Ann, 1st"}
    order = [answer["item"] for answer in json.loads(saved.read_text())["answers"]]
    assert [rating.item for rating in ratings] == [key.forms["1-1"][number] for number in order]


def test_replies_are_text_and_never_markup(page: Page):
    legends = page.locator("legend").all_inner_texts()
    for _ in range(3):
        page.get_by_role("button", name="Next").click()
    legends += page.locator("legend").all_inner_texts()
    assert EVIL in legends
    assert len(legends) == 6
    assert page.locator("img").count() == 0


def test_all_replies_of_a_page_have_the_same_boxes(page: Page):
    for number in range(6):
        boxes = page.locator("fieldset").evaluate_all("sets => sets.map(set => set.querySelectorAll('input').length)")
        assert set(boxes) == {5 if number % 3 == 0 else 1}
        if number < 5:
            page.get_by_role("button", name="Next").click()
