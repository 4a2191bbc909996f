"""What a person does on the chat page."""

from __future__ import annotations

from playwright.sync_api import Page

CATS = "Why do cats sleep all day?"


NONSENSE = "Who is the king of Narnia quantum?"


EVIL = "<img src=x onerror=alert(1)>"


def put(page: Page, question: str) -> None:
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")


def answered(page: Page, number: int = 1) -> str:
    """The text of the answer at this place once it is complete, without the numbers of its sources."""
    turn = page.locator(".turn").nth(number - 1)
    turn.locator(".line").wait_for()
    words = "all => all.map(e => [...e.querySelectorAll('span:not(:has(span))')].map(e => e.textContent).join(''))"
    return "\n\n".join(turn.locator(".answer .text > *").evaluate_all(words))
