"""The page's connection in a real browser: reloads, lost connections, tokens, errors of the service."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import Page, Route, WebSocketRoute, expect

from tests.qa_bot.web.page.chat_page import CATS, EVIL, answered, put

PATIENCE = 20_000
"""Milliseconds to wait for the service."""


def scripted(*replies: dict[str, Any], heard: list[dict[str, Any]] | None = None) -> Callable[[Page], None]:
    """A service that answers every question with these frames; frames of the page are added to `heard`."""

    def route(page: Page) -> None:
        page.route_web_socket("**/ws", connect)

    def connect(socket: WebSocketRoute) -> None:
        def take(message: str | bytes) -> None:
            frame = json.loads(message)
            if heard is not None:
                heard.append(frame)
            if frame["type"] == "hello":
                socket.send(json.dumps({"type": "ready", "id": None, "conversation": "c", "seq": 0, "personas": []}))
            for seq, reply in enumerate(replies if frame["type"] == "ask" else (), start=1):
                socket.send(json.dumps({"id": frame["id"], "conversation": "c", "seq": seq, **reply}))

        socket.on_message(take)

    return route


def test_reload_restores_the_conversation_and_the_running_question(serve, slow_bot, visit):
    page = visit(serve(slow_bot).url)
    put(page, CATS)
    first = answered(page)
    slow_bot.pauses["rank"] = wait = Event()
    put(page, "Do fish sleep?")
    expect(page.locator(".stage").last).to_have_text("Weighing what was found…")
    page.reload()
    expect(page.locator(".question")).to_have_text([CATS, "Do fish sleep?"])
    expect(page.locator(".stage").last).to_have_text("Weighing what was found…")
    wait.set()
    assert answered(page, 2)
    assert answered(page, 1) == first
    assert slow_bot.begun == 2
    page.reload()
    assert answered(page, 2)
    expect(page.locator(".turn")).to_have_count(2)


def test_lost_connection_is_resumed_with_its_answer(serve, slow_bot, visit):
    lines: list[WebSocketRoute] = []

    def connect(socket: WebSocketRoute) -> None:
        lines.append(socket)
        socket.connect_to_server()

    slow_bot.pauses["rank"] = wait = Event()
    page = visit(serve(slow_bot).url, route=lambda page: page.route_web_socket("**/ws", connect))
    put(page, CATS)
    expect(page.locator(".stage")).to_have_text("Weighing what was found…")
    lines[-1].close(code=4000)
    expect(page.locator("#state")).to_have_text("Connection lost. Reconnecting…")
    expect(page.locator("#state")).to_have_text("")
    wait.set()
    assert answered(page)
    assert len(lines) == 2
    expect(page.locator(".turn")).to_have_count(1)
    assert slow_bot.begun == 1


def test_page_reconnects_to_a_restarted_service(home, visit):
    server = _Server(home, 0)
    try:
        port = int(server.url.rpartition(":")[2])
        page = visit(server.url)
        put(page, CATS)
        answered(page)
        server.kill()
        expect(page.locator("#state")).to_have_text("Connection lost. Reconnecting…")
        put(page, "Do fish sleep?")
        server = _Server(home, port)
        assert answered(page, 2)
        expect(page.locator("#state")).to_have_text("")
        page.reload()
        assert answered(page, 2)
        expect(page.locator(".question")).to_have_text([CATS, "Do fish sleep?"])
    finally:
        server.kill()


class _Server:
    """`qa-bot serve` in a separate process; it logs to a file, since an unread pipe fills up."""

    def __init__(self, home: Path, port: int) -> None:
        log = home.with_name(f"{port}.log")
        command = [sys.executable, "-m", "qa_bot", "--home", str(home), "serve", "--port", str(port)]
        with log.open("w") as out:
            self._running = subprocess.Popen(command, stderr=out)
        end = time.monotonic() + 3 * PATIENCE / 1000
        while not (matches := re.search(r"listens on (http://\S+)/", log.read_text())):
            assert self._running.poll() is None, log.read_text()
            assert time.monotonic() < end, "the service did not start"
            time.sleep(0.02)
        self.url = matches[1]

    def kill(self) -> None:
        self._running.kill()
        self._running.wait()


def test_token_dialog_stays_open_until_the_token_is_right(serve, visit):
    page = visit(serve(token="secret").url)
    dialog = page.get_by_role("dialog", name="This service wants a token")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Token").fill("guess")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("was not accepted")
    dialog.get_by_label("Token").fill("secret")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    put(page, CATS)
    answered(page)
    page.reload()
    answered(page)
    expect(dialog).to_be_hidden()


def test_a_newer_token_is_tried_before_the_dialog_opens_again(serve, visit):
    """The reply to the wrong token is delayed until the right one is entered."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.headers.get("authorization") == "Bearer guess":
            held.append(route)
        else:
            route.continue_()

    page = visit(serve(token="secret").url, route=lambda page: page.route("**/api/**", hold))
    dialog = page.get_by_role("dialog", name="This service wants a token")
    for token in ("guess", "secret"):
        dialog.get_by_label("Token").fill(token)
        page.keyboard.press("Enter")
        expect(dialog).to_contain_text("was not accepted") if token == "guess" else expect(dialog).to_be_hidden()
    assert held
    with page.expect_response("**/api/**"):
        for route in held:
            route.fulfill(status=401, json={"error": {"message": "A token is asked for."}})
    put(page, CATS)
    answered(page)
    expect(dialog).to_be_hidden()


def test_a_rejected_token_of_the_socket_opens_the_dialog(serve, visit):
    """The API always replies: only the socket rejects the token."""
    service = serve(token="secret")
    page = visit(service.url, route=lambda page: page.route("**/api/**", lambda route: route.fulfill(json={})))
    expect(page.get_by_role("dialog")).to_be_visible()
    page.get_by_label("Token", exact=True).fill("secret")
    page.keyboard.press("Enter")
    put(page, CATS)
    assert answered(page)


def test_a_busy_service_is_retried_after_its_retry_time(service, visit):
    busy = {"type": "error", "code": "overloaded", "message": "65 questions wait already.", "retry_after": 2}
    page = visit(service.url, route=scripted(busy))
    put(page, CATS)
    expect(page.get_by_role("alert")).to_contain_text("The service is busy just now.")
    button = page.locator(".again button")
    expect(button).to_be_disabled()
    expect(button).to_have_text("Ask again in 2 s")
    expect(button).to_be_enabled()
    button.click()
    expect(button).to_have_text("Ask again in 2 s")
    expect(page.locator(".turn")).to_have_count(1)


def test_error_is_shown_in_place(service, visit):
    page = visit(service.url, route=scripted({"type": "error", "code": "internal", "message": f"Wrong {EVIL}"}))
    put(page, CATS)
    expect(page.locator(".turn").get_by_role("alert")).to_contain_text(f"Wrong {EVIL}")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)


@pytest.mark.parametrize(
    ("click", "sent"),
    [
        (lambda page: page.get_by_role("button", name="Undo"), {"type": "raw"}),
        (lambda page: page.locator(".choice").last, {"type": "choose", "choice": 1}),
    ],
    ids=["undo", "choose"],
)
def test_choices_and_rewrites_are_shown_and_sent_back(service, visit, click, sent):
    choices = [{"text": text, "question": text} for text in ("Big cats", EVIL)]
    frames = ({"type": "query", "text": f"{EVIL} cats"}, {"type": "clarify", "choices": choices})
    heard: list[dict[str, Any]] = []
    page = visit(service.url, route=scripted(*frames, heard=heard))
    put(page, "And they?")
    expect(page.locator(".understood")).to_contain_text(f"Understood as {EVIL} cats")
    expect(page.locator(".choice")).to_have_text(["Big cats", EVIL])
    click(page).click()
    service.until(lambda: page.wait_for_timeout(10) or len(heard) == 3, "the click")
    assert heard[2] == {"id": heard[1]["id"], **sent}
    expect(page.locator(".choice")).to_have_count(0)
    expect(page.locator(".understood")).to_have_text("")
