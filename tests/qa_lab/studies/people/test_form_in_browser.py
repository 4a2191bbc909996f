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


def test_a_form_is_rated_by_keyboard_and_read_back(page: Page, key: StudyKey, tmp_path: Path):
    page.get_by_role("button", name="Save as JSON").click()
    assert page.locator("#note").inner_text() == "Enter your name or a pseudonym first."
    page.keyboard.type("Ann, 1st")  # the field has the focus; digits are no ratings there
    assert page.locator("#note").inner_text() == "6 of 6 replies are not rated yet."
    page.locator("#place").focus()
    for digit in "451":
        page.keyboard.press(digit)
    assert page.evaluate("document.activeElement.id") == "next"
    page.keyboard.press("Enter")
    assert page.locator("#place").inner_text() == "Conversation 2 of 2"
    page.keyboard.press("3")
    page.keyboard.press("s")  # of the second reply, which has the focus, if it is asked there
    incomplete = save(page, "JSON", tmp_path / "part.json")
    assert "2 of 6 replies are not rated yet. The file is saved, but incomplete." in page.locator("#note").inner_text()
    assert sum(rating.quality is None for rating in read_answers([incomplete], key, partial=True)) == 2

    page.evaluate(FORGET)
    assert page.get_by_label("Your name").input_value() == ""
    page.evaluate("() => { remembered(); show(0); }")  # what the form does when it is opened
    assert page.get_by_label("Your name").input_value() == "Ann, 1st"
    assert page.locator("input[type=radio]:checked").count() == 3
    page.get_by_role("button", name="Next").click()
    page.keyboard.press("2")
    page.keyboard.press("5")
    assert page.locator("#note").inner_text() == "Everything is rated. Save the file and return it."
    saved, table = save(page, "JSON", tmp_path / "ann.json"), save(page, "CSV", tmp_path / "ann.csv")
    ratings = read_answers([saved], key)
    assert read_answers([table], key) == ratings
    assert sorted(rating.quality for rating in ratings) == [1, 2, 3, 4, 5, 5]
    assert {rating.judge for rating in ratings} == {"Ann, 1st"}
    order = [answer["item"] for answer in json.loads(saved.read_text())["answers"]]
    assert [rating.item for rating in ratings] == [key.forms["1-1"][number] for number in order]


def test_replies_are_text_and_never_markup(page: Page):
    legends = []
    for _ in range(2):
        legends += page.locator("legend").all_inner_texts()
        page.get_by_role("button", name="Next").click(force=True, no_wait_after=True) if _ == 0 else None
    assert EVIL in legends
    assert page.locator("img").count() == 0


def test_boxes_are_labelled_and_ticked(page: Page, key: StudyKey, tmp_path: Path):
    page.get_by_label("Your name").fill("Bob")
    like = page.get_by_label("like Captain")
    assert like.count() == 2  # of the voice and of the baseline
    assert page.get_by_label("on the topic").count() == 2
    like.first.press("Space")
    box = page.locator("fieldset").first
    box.get_by_label("4 Good").check()
    ratings = read_answers([save(page, "JSON", tmp_path / "bob.json")], key, partial=True)
    assert sum(rating.style is True for rating in ratings) == 1
