"""The page for everyone, in a real browser: keyboard, phone, colours, names of controls, motion."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from qa_bot.bot import Bot
from tests.qa_bot.web.page.chat_page import CATS, NONSENSE, answered, put


def test_everything_works_by_keyboard(service, visit):
    page = visit(service.url)
    page.locator(".example").first.wait_for()
    page.locator("body").click(position={"x": 640, "y": 60})
    page.keyboard.press("/")
    expect(page.get_by_label("Your question")).to_be_focused()
    page.keyboard.type("Why do cats")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("sleep all day?")
    page.keyboard.press("Enter")
    answered(page)
    expect(page.locator(".question")).to_have_text(re.compile("Why do cats\\s+sleep all day"))
    page.locator(".chip").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#sheet")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the next document; the first has no previous one
    expect(page.locator("#sheet .count")).to_have_text("2 of 10")
    page.keyboard.press("Escape")
    expect(page.locator("#sheet")).to_be_hidden()
    expect(page.locator(".chip").first).to_be_focused()
    put(page, NONSENSE)
    page.get_by_role("button", name="New conversation").click()
    put(page, "Do fish sleep?")
    answered(page)
    page.locator("#conversations .open").first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#conversations .open").nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".question")).to_have_count(2)


def test_the_skip_link_moves_the_focus_and_keeps_the_conversation(service, visit):
    page = visit(service.url)
    put(page, CATS)
    answered(page)
    address = page.url
    page.get_by_role("link", name="Skip to the question").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your question")).to_be_focused()
    page.keyboard.type("why?")
    page.keyboard.press("Enter")
    expect(page.locator(".question")).to_have_text([CATS, "why?"])
    assert page.url == address


def test_focus_is_visible(service, visit):
    page = visit(service.url)
    page.locator(".example").first.wait_for()
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_everything_fits_a_phone(service, visit):
    page = visit(service.url, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    sidebar = page.get_by_role("navigation")

    def fits() -> bool:
        return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth && innerWidth === 360"))

    expect(sidebar).to_be_hidden()
    assert fits()
    put(page, CATS)
    answered(page)
    assert fits()
    page.locator(".chip").first.click()
    box = page.locator("#sheet").bounding_box()
    assert box["width"] == 360
    assert box["y"] + box["height"] == pytest.approx(740, abs=1)
    assert fits()
    page.mouse.click(180, 20)
    expect(page.locator("#sheet")).to_be_hidden()
    page.get_by_role("button", name="Why this answer").click()
    assert fits()
    page.get_by_role("button", name="Show conversations").click()
    expect(sidebar).to_be_visible()
    page.keyboard.press("Escape")
    expect(sidebar).to_be_hidden()
    put(page, "W" * 500)
    expect(page.locator(".turn").last.locator(".line")).to_be_visible()
    assert fits()


def test_colours_follow_the_system_until_the_user_chooses(service, visit):
    page = visit(service.url, color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(23, 23, 22)"
    page.get_by_role("button", name="Colours: as the system").click()
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    page.reload()
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    page.get_by_role("button", name="Colours: light").click()
    assert page.evaluate(ground) == "rgb(23, 23, 22)"


def test_every_control_has_a_name(service, visit, monkeypatch):
    monkeypatch.setattr(Bot, "personas", property(lambda _: ("Ada",)))
    page = visit(service.url)
    put(page, CATS)
    answered(page)
    page.locator(".chip").first.click()
    page.get_by_role("button", name="Why this answer").click()
    page.get_by_role("button", name="Good answer").click()
    page.get_by_label("What was good about it?").wait_for()
    tree = page.locator("body").aria_snapshot()
    controls = re.findall(r"- (button|link|textbox|combobox|navigation|complementary|region)\b(.*)", tree)
    assert len(controls) > 15
    assert [role for role, rest in controls if not rest.startswith(' "')] == []


def test_reduced_motion_is_respected(service, visit):
    page = visit(service.url, reduced_motion="reduce")
    durations = page.evaluate("[...document.querySelectorAll('*')].map(e => getComputedStyle(e).transitionDuration)")
    assert set(durations) == {"0s"}
