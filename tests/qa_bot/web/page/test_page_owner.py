"""The owner's page in a real browser: unanswered questions get an answer there, which the chat then gives."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from qa_bot.bot import Bot
from qa_bot.home.store import Store

CATS = "Why do cats sleep all day?"
NONSENSE = "Who is the king of Narnia quantum?"
OTHER = "zxqv wprt"
ANSWER = "Nobody is:\nNarnia has none."
EVIL = "<img src=x onerror=alert(1)>"


def ask(page: Page, question: str) -> None:
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    expect(page.locator(".turn").last.locator(".question")).to_have_text(question)
    page.locator(".turn").last.locator(".line").wait_for()


def entry(page: Page, question: str):
    return page.get_by_role("listitem", name=question, exact=True)


def answer(page: Page, question: str, text: str) -> None:
    """Fill and send the form of a question."""
    entry(page, question).get_by_role("button", name="Add an answer").click()
    expect(entry(page, question).get_by_label("Answer", exact=True)).to_be_focused()
    page.keyboard.type(text)
    entry(page, question).get_by_role("button", name="Save").click()


def missed(bot: Bot, *questions: str) -> None:
    """Questions without an answer, each in a separate conversation."""
    for question in questions:
        assert not bot.ask(question).answered


def test_an_unanswered_question_is_answered_by_the_owner(service, visit):
    chat = visit(service.url)
    for question in (OTHER, NONSENSE, NONSENSE.lower()):
        ask(chat, question)
        expect(chat.get_by_role("heading", name="No good answer in your documents").last).to_be_visible()
    owner = visit(service.url)
    owner.get_by_role("link", name="Owner").click()
    expect(owner.get_by_text("2 questions want an answer.")).to_be_visible()
    first = owner.locator(".gap").first
    expect(first.get_by_role("heading")).to_have_text(NONSENSE.lower())
    expect(first.locator(".asked")).to_have_text("2 times")
    expect(first.locator(".fine").first).to_contain_text("2 unanswered · last asked")
    expect(first.locator(".nearest")).to_contain_text("Nearest document:")
    answer(owner, NONSENSE.lower(), ANSWER)
    expect(first.get_by_role("heading", name="Live: try it")).to_be_visible()
    expect(first.locator(".said .text")).to_have_text(ANSWER)
    expect(owner.get_by_text("1 question wants an answer.")).to_be_visible()
    owner.get_by_role("link", name="Back to the chat").click()
    ask(owner, NONSENSE)
    expect(owner.locator(".answer .text p")).to_contain_text(ANSWER)
    owner.go_back()
    expect(owner.locator(".gap")).to_have_count(1)
    expect(owner.locator(".gap h2")).to_have_text(OTHER)


def test_a_trial_question_leaves_no_conversation(service, visit):
    missed(service.bot, NONSENSE)
    page = visit(f"{service.url}/owner")
    answer(page, NONSENSE, ANSWER)
    trial = page.get_by_role("region", name="Try it")
    expect(trial.get_by_role("status")).to_have_text("The bot now says:")
    with page.expect_response(lambda reply: reply.request.method == "DELETE") as gone:
        trial.get_by_label("Ask the bot").fill(CATS)
        page.keyboard.press("Enter")
    expect(trial.locator(".said")).to_contain_text("From Why do cats sleep all day?")
    assert gone.value.status == 204
    service.until(lambda: service.bot.store.conversations() == [], "an empty list")


def test_a_downvoted_answer_is_shown_with_its_comments(service, visit):
    chat = visit(service.url)
    ask(chat, CATS)
    chat.get_by_role("button", name="Bad answer").click()
    chat.get_by_label("What is wrong or missing?").fill("Nothing about kittens")
    chat.keyboard.press("Enter")
    expect(chat.get_by_text("Thank you.")).to_be_visible()
    page = visit(f"{service.url}/owner")
    expect(entry(page, CATS).locator(".fine").first).to_contain_text("1 voted down")
    expect(entry(page, CATS).get_by_role("list", name="Comments")).to_have_text("“Nothing about kittens”")
    expect(entry(page, CATS).locator(".nearest")).to_contain_text("starter / animals-cats-sleep")
    entry(page, CATS).get_by_text("What was answered").click()
    expect(entry(page, CATS).locator("details .text")).to_contain_text("short bursts of hunting")


def test_a_dismissed_question_disappears_and_the_focus_moves_on(service, visit):
    missed(service.bot, OTHER, NONSENSE, NONSENSE)
    page = visit(f"{service.url}/owner")
    entry(page, NONSENSE).get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("Dismissed. 1 question wants an answer.")).to_be_visible()
    expect(entry(page, OTHER).get_by_role("button", name="Add an answer")).to_be_focused()
    entry(page, OTHER).get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("Every question got its answer.")).to_be_visible()
    expect(page.get_by_role("heading", name="Wanted answers")).to_be_focused()
    page.reload()
    expect(page.get_by_text("Every question got its answer.")).to_be_visible()
    missed(service.bot, OTHER)
    page.reload()
    expect(entry(page, OTHER)).to_be_visible()


def test_the_owner_may_reword_the_question(service, visit):
    missed(service.bot, "narnia quantum king")
    page = visit(f"{service.url}/owner")
    item = entry(page, "narnia quantum king")
    item.get_by_role("button", name="Add an answer").click()
    item.get_by_label("Question").fill(NONSENSE)
    item.get_by_label("Answer", exact=True).fill(ANSWER)
    item.get_by_label("Link").fill("javascript:alert(1)")
    item.get_by_role("button", name="Save").click()
    assert item.get_by_label("Link").evaluate("field => field.validity.valid") is False
    item.get_by_label("Link").fill("https://example.org/kings")
    item.get_by_role("button", name="Save").click()
    item.get_by_role("region", name="Try it").wait_for()
    assert service.bot.ask(NONSENSE).sources[0].url == "https://example.org/kings"
    assert service.bot.store.gaps()[1] == 0


def test_an_error_is_shown_and_the_text_stays(service, visit):
    missed(service.bot, NONSENSE)
    page = visit(f"{service.url}/owner")
    with service.bot.home.lock("repair"):
        answer(page, NONSENSE, ANSWER)
        expect(entry(page, NONSENSE).get_by_role("alert")).to_contain_text("repair by process")
    expect(entry(page, NONSENSE).get_by_label("Answer", exact=True)).to_have_value(ANSWER)
    expect(entry(page, NONSENSE).get_by_role("button", name="Save")).to_be_focused()
    page.keyboard.press("Enter")
    expect(entry(page, NONSENSE).locator(".said .text")).to_have_text(ANSWER)
    expect(entry(page, NONSENSE).get_by_role("alert")).to_have_text("")


def test_a_failed_list_is_loaded_again(service, visit, monkeypatch):
    missed(service.bot, NONSENSE)
    gaps = Store.gaps
    monkeypatch.setattr(Store, "gaps", lambda *_, **__: 1 / 0)
    page = visit(f"{service.url}/owner")
    expect(page.get_by_role("alert").first).to_contain_text("Something went wrong here")
    monkeypatch.setattr(Store, "gaps", gaps)
    page.get_by_role("button", name="Try again").click()
    expect(entry(page, NONSENSE)).to_be_visible()


def test_show_more_loads_further_questions(service, visit):
    for number in range(60):
        service.bot.store.save_turn(question=f"q{number}?", answer={"answered": False})
    page = visit(f"{service.url}/owner")
    expect(page.locator(".gap")).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".gap")).to_have_count(60)
    expect(page.locator(".gap").nth(50).get_by_role("button", name="Add an answer")).to_be_focused()
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()


def test_hostile_text_stays_text(service, visit):
    source = {"document": EVIL, "collection": EVIL, "title": EVIL, "url": "javascript:alert(2)"}
    turn = service.bot.store.save_turn(
        question=EVIL, answer={"answered": False, "answer": f"{EVIL} answer", "sources": [source]}
    )
    service.bot.store.save_feedback(turn, "down", f"{EVIL}<script>alert(3)</script>")
    page = visit(f"{service.url}/owner")
    item = entry(page, EVIL)
    expect(item.get_by_role("heading")).to_have_text(EVIL)
    expect(item.get_by_role("list", name="Comments")).to_have_text(f"“{EVIL}<script>alert(3)</script>”")
    expect(item.locator(".nearest")).to_have_text(f"Nearest document: {EVIL} {EVIL} / {EVIL}")
    expect(item.locator(".nearest a")).to_have_count(0)
    answer(page, EVIL, f"{EVIL} it is")
    expect(item.locator(".said .text")).to_have_text(f"{EVIL} it is")
    assert page.locator("main img, main script").count() == 0


def test_the_list_is_loaded_after_the_token(serve, visit):
    service = serve(token="secret")
    missed(service.bot, NONSENSE)
    page = visit(f"{service.url}/owner")
    dialog = page.get_by_role("dialog", name="This service wants a token")
    expect(dialog).to_be_visible()
    assert page.locator(".gap").count() == 0
    dialog.get_by_label("Token").fill("secret")
    page.keyboard.press("Enter")
    expect(entry(page, NONSENSE)).to_be_visible()


def test_everything_works_by_keyboard(service, visit):
    missed(service.bot, NONSENSE)
    page = visit(f"{service.url}/owner")
    expect(entry(page, NONSENSE)).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the questions")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Add an answer")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Add an answer")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.type("Nobody.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".said .text")).to_have_text("Nobody.")
    expect(page.locator(".gap h2")).to_be_focused()


def test_a_second_click_saves_nothing(service, visit):
    missed(service.bot, NONSENSE)
    posts: list[str] = []

    def hold(route: Route) -> None:
        posts.append(route.request.url)
        if len(posts) == 1:
            page.evaluate("document.querySelector('.answer-form').requestSubmit()")
        route.continue_()

    page = visit(f"{service.url}/owner", route=lambda page: page.route("**/api/owner/answers", hold))
    answer(page, NONSENSE, ANSWER)
    expect(page.locator(".said .text")).to_have_text(ANSWER)
    assert len(posts) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_every_control_has_a_name(service, visit, scheme):
    missed(service.bot, f"{NONSENSE} {'W' * 300}", OTHER)
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True, "color_scheme": scheme}
    page = visit(f"{service.url}/owner", **phone)
    page.locator(".gap").first.wait_for()

    def fits() -> bool:
        return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth && innerWidth === 360"))

    assert fits()
    answer(page, OTHER, "W" * 300)
    expect(page.locator(".said .text")).to_be_visible()
    page.locator(".gap").filter(has_text="Narnia").get_by_role("button", name="Add an answer").click()
    assert fits()
    tree = page.locator("body").aria_snapshot()
    controls = re.findall(r"- (button|link|textbox|listitem|list|region)\b(.*)", tree)
    assert len(controls) > 10
    assert [role for role, rest in controls if not rest.startswith(' "')] == []
