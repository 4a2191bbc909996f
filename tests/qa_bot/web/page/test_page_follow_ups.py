"""Follow-ups and talk on the page, in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

CAPITAL, POPULATION = "What is the capital of Australia?", "What is Australia's population?"


def put(page: Page, question: str) -> Locator:
    """Ask, and wait for the answer; the turn."""
    turns = page.locator(".turn")
    number = turns.count()
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    turn = turns.nth(number)
    turn.locator(".line").wait_for()
    return turn


def test_a_follow_up_is_shown_as_understood_and_undone_with_one_click(service, visit):
    page = visit(service.url)
    put(page, CAPITAL)
    turn = put(page, "and its population?")
    expect(turn.locator(".understood q")).to_have_text(POPULATION)
    expect(turn.locator(".answer .text")).to_contain_text("26,000,000")
    other = visit(page.url)
    expect(other.locator(".turn .understood q")).to_have_text(POPULATION)
    turn.get_by_role("button", name="Undo").click()
    for item in (page, other):
        expect(item.locator(".turn .understood q")).to_have_count(0)
        expect(item.locator(".turn")).to_have_count(2)
        expect(item.locator(".turn").nth(1).locator(".line")).to_be_visible()
        expect(item.locator(".turn").nth(1).locator(".answer")).not_to_contain_text("26,000,000")
    page.reload()
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator(".turn .understood q")).to_have_count(0)
    expect(page.locator(".turn").nth(1).locator(".question")).to_have_text("and its population?")


def test_an_undone_turn_can_be_voted_on_and_followed(service, visit):
    page = visit(service.url)
    put(page, CAPITAL)
    turn = put(page, "and its population?")
    turn.get_by_role("button", name="Undo").click()
    expect(turn.locator(".understood q")).to_have_count(0)
    turn.locator(".line").wait_for()
    turn.get_by_role("button", name="Bad answer").click()
    turn.locator("form.comment input").wait_for()
    (conversation,) = service.bot.store.conversations()
    last = service.bot.store.turns(conversation.id)[-1]
    assert [item.vote for item in service.bot.store.feedback(last.id)] == ["down"]
    assert put(page, "What is the capital of Peru?").locator(".answer").text_content()


def test_choices_are_buttons_and_the_answer_replaces_them(service, visit):
    page = visit(service.url)
    page.get_by_label("Your question").fill("dogs")
    page.keyboard.press("Enter")
    turn, choices = page.locator(".turn"), page.locator(".turn .choices button")
    expect(turn.locator(".choices")).to_contain_text("Which of these do you mean?")
    expect(choices.first).to_have_text(re.compile("dog"))
    expect(turn.locator(".abstained")).to_have_count(0)
    page.reload()
    expected = "Why do dogs eat grass?"
    page.get_by_role("button", name=expected).click()
    expect(turn.locator(".understood q")).to_have_text(expected)
    expect(turn.locator(".answer .text")).to_contain_text("Eating grass is common")
    expect(choices).to_have_count(0)
    expect(turn).to_have_count(1)
    page.reload()
    expect(turn.locator(".answer .text")).to_contain_text("Eating grass is common")
    expect(choices).to_have_count(0)
    expect(turn).to_have_count(1)
    assert put(page, "and why do they wag their tails?").locator(".answer").text_content()


def test_a_refusal_offers_questions_that_are_answered(service, visit):
    page = visit(service.url)
    turn = put(page, "Where do zorgons live on the moon of Quix?")
    expect(turn.locator(".abstained")).to_contain_text("zorgons")
    expect(turn.locator(".choices")).to_contain_text("Your documents answer these:")
    first = turn.locator(".choices button").first
    question = first.text_content()
    first.click()
    expect(turn.locator(".understood q")).to_have_text(question)
    expect(turn.locator(".answer .text")).to_contain_text("Moon")
    expect(turn.locator(".abstained")).to_have_count(0)
    expect(page.locator(".turn")).to_have_count(1)


def test_talk_has_no_confidence_and_lists_its_documents(service, visit):
    page = visit(service.url)
    put(page, CAPITAL)
    turn = put(page, "more sources")
    expect(turn.locator(".answer .text")).to_contain_text("The answer comes from:")
    expect(turn.locator(".meter")).to_have_count(0)
    expect(put(page, "Thank you!").locator(".answer .text")).to_have_text("You're welcome.")
