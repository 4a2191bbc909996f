"""The page: what is sent, and what a person sees and does in a real browser."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import Page, Route, WebSocketRoute, expect

from qa_bot.answering.models.personas import PersonaLines, PersonaStore
from qa_bot.bot import Bot
from qa_bot.documents.sync import add
from qa_bot.web.pages import PAGES, load_pages

CATS = "Why do cats sleep all day?"
NONSENSE = "Who is the king of Narnia quantum?"
EVIL = "<img src=x onerror=alert(1)>"
PATIENCE = 20_000
"""Milliseconds after which something that should be seen has failed to come."""

LENGTHS = """
window.lengths = [];
new MutationObserver(() => {
  const text = document.querySelector(".answer .text");
  if (text) lengths.push(text.textContent.length);
}).observe(document.getElementById("turns"), { childList: true, subtree: true, characterData: true });
"""


# --- what is sent ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES)
def test_page_is_sent_with_a_policy_and_another_nonce_each_time(service, path):
    replies = [service.get(path) for _ in range(2)]
    nonces = [re.search(r"script-src 'nonce-([^']+)'", r.headers["Content-Security-Policy"])[1] for r in replies]
    assert nonces[0] != nonces[1]
    for reply, nonce in zip(replies, nonces, strict=True):
        assert reply.status == 200
        assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
        assert reply.headers["Cache-Control"] == "no-store"
        assert reply.headers["Content-Security-Policy"] == (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; "
            "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
            "require-trusted-types-for 'script'; trusted-types 'none'"
        )
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["Referrer-Policy"] == "no-referrer"
        assert reply.headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert "microphone=()" in reply.headers["Permissions-Policy"]
        loaded = re.findall(r"<(?:script|link)[^>]*(?:src|href)=\"assets/[^>]*>", reply.text)
        assert len(loaded) >= 3
        assert all(f'nonce="{nonce}"' in item for item in loaded)
        assert "{{" not in reply.text


def loaded(name: str) -> set[str]:
    """The files that a page loads at once."""
    return set(re.findall(r"\"{{assets}}/([^\"]+)\"", load_pages().assets[name].body.decode()))


@pytest.mark.parametrize("name", PAGES.values())
def test_page_preloads_what_its_scripts_import(name):
    scripts = [load_pages().assets[item].body.decode() for item in loaded(name) if item.endswith(".js")]
    imported = {
        item for text in scripts for item in re.findall(r"^import .*? from \"\./([^\"]+)\";$", text, re.M | re.S)
    }
    assert imported <= loaded(name)


def test_every_file_that_the_pages_load_is_there_and_may_be_kept(service):
    assert set.union(*map(loaded, PAGES.values())) == set(load_pages().assets) - {*PAGES.values()}
    names = {name for path in PAGES for name in re.findall(r"\"(assets/[^\"]+)\"", service.get(path).text)}
    for name in names:
        reply = service.get(f"/{name}")
        assert reply.status == 200
        assert reply.headers["Content-Type"] in ("text/javascript; charset=utf-8", "text/css; charset=utf-8")
        assert "immutable" in reply.headers["Cache-Control"]
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        known = service.get(f"/{name}", headers={"If-None-Match": reply.headers["ETag"]})
        assert (known.status, known.body) == (304, b"")


def test_files_are_packed_for_those_who_can_unpack(service):
    path = f"/assets/{load_pages().version}/app.js"
    plain = service.get(path, headers={"Accept-Encoding": "identity"})
    packed = service.get(path, headers={"Accept-Encoding": "gzip, br"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert int(packed.headers["Content-Length"]) < int(plain.headers["Content-Length"]) / 2
    assert gzip.decompress(load_pages().assets["app.js"].packed) == plain.body


@pytest.mark.parametrize(
    "path", ["0123456789abcdef/app.js", "{}/index.html", "{}/owner.html", "{}/none.js", "{}/..%2f..%2fcli.py"]
)
def test_other_files_are_not_sent(service, path):
    reply = service.get(f"/assets/{path.format(load_pages().version)}")
    assert reply.status == 404
    assert reply.json["error"]["code"] == "not_found"


def test_page_makes_no_markup_of_text_and_loads_nothing_from_elsewhere():
    files = {item.name: item.read_text() for item in (resources.files("qa_bot.web") / "page").iterdir()}
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|\.setHTML"
    for name, text in files.items():
        assert not re.search(forbidden, text), name
        addresses = set(re.findall(r"(?:https?:)?//[\w.]+\.\w+[^\s\"')]*", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}, name
    assert not any(re.search(r"\son\w+=|\sstyle=|<style|javascript:", files[item]) for item in PAGES.values())


@pytest.mark.parametrize(("name", "most", "packed"), [("index.html", 100_000, 36_000), ("owner.html", 54_000, 20_000)])
def test_page_is_light(name, most, packed):
    sent = [load_pages().assets[item] for item in {name, *loaded(name)}]
    assert sum(len(item.body) for item in sent) < most
    assert sum(len(item.packed) for item in sent) < packed


@pytest.mark.parametrize("side", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("ink", "ground"),
    [
        ("ink", "ground"),
        ("ink", "side"),
        ("ink", "mark"),
        ("soft", "ground"),
        ("soft", "side"),
        ("soft", "raised"),
        ("soft", "tint"),
        ("accent", "ground"),
        ("accent", "side"),
        ("accent", "tint"),
        ("on-accent", "accent"),
        ("danger", "tint"),
    ],
)
def test_colours_can_be_told_apart(side, ink, ground):
    """WCAG 2.2, success criterion 1.4.3: a contrast of 4.5 : 1 for text."""
    style = load_pages().assets["style.css"].body.decode()
    colours = {name: pair.split(", ") for name, pair in re.findall(r"--([\w-]+): light-dark\((#[^)]+)\)", style)}
    lighter, darker = sorted((_luminance(colours[item][side]) for item in (ink, ground)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


# --- in a browser ---------------------------------------------------------------------------------------------------


def put(page: Page, question: str) -> None:
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")


def answered(page: Page, number: int = 1) -> str:
    """The text of the answer that stands at this place, when it is whole; without the numbers of its sources."""
    turn = page.locator(".turn").nth(number - 1)
    turn.locator(".line").wait_for()
    return "".join(turn.locator(".answer .text > span").all_text_contents())


def turns_of(bot: Bot) -> Sequence[Any]:
    return [turn for item in bot.store.conversations() for turn in bot.store.turns(item.id)]


def scripted(*replies: dict[str, Any], heard: list[dict[str, Any]] | None = None) -> Callable[[Page], None]:
    """A service that answers every question with these frames, and keeps what it heard."""

    def route(page: Page) -> None:
        page.route_web_socket("**/ws", connect)

    def connect(socket: WebSocketRoute) -> None:
        def take(message: str | bytes) -> None:
            said = json.loads(message)
            if heard is not None:
                heard.append(said)
            if said["type"] == "hello":
                socket.send(json.dumps({"type": "ready", "id": None, "conversation": "c", "seq": 0, "personas": []}))
            for seq, reply in enumerate(replies if said["type"] == "ask" else (), start=1):
                socket.send(json.dumps({"id": said["id"], "conversation": "c", "seq": seq, **reply}))

        socket.on_message(take)

    return route


def test_question_is_answered_with_sources(service, visit):
    page = visit(service.url)
    expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    put(page, CATS)
    answer = answered(page)
    (turn,) = turns_of(service.bot)
    assert answer == turn.answer["answer"]
    expect(page.locator(".chip")).to_have_count(1)
    expect(page.locator(".sources .card")).to_contain_text("Why do cats sleep all day?")
    expect(page.locator(".confidence")).to_contain_text(f"{round(100 * turn.answer['confidence'])} %")
    expect(page.get_by_text("What would you like to know?")).to_be_hidden()
    expect(page).to_have_title(f"{CATS} · qa-bot")
    assert page.url.endswith(f"#{turn.conversation}")


def test_examples_are_titles_of_documents_and_ask_when_chosen(service, visit):
    page = visit(service.url)
    page.locator(".example").first.wait_for()
    expect(page.locator(".example")).to_have_count(4)
    chosen = page.locator(".example").nth(2).inner_text()
    page.locator(".example").nth(2).click()
    assert answered(page)
    expect(page.locator(".question")).to_have_text(chosen)


def test_answer_streams_in(serve, slow_bot, visit):
    slow_bot.pauses["rank"] = wait = Event()
    page = visit(serve(slow_bot).url)
    page.evaluate(LENGTHS)
    put(page, CATS)
    expect(page.locator(".stage")).to_have_text("Weighing what was found…")
    expect(page.locator(".skeleton")).to_be_visible()
    assert page.locator(".answer").get_attribute("aria-busy") == "true"
    wait.set()
    answered(page)
    lengths = page.evaluate("lengths")
    assert lengths == sorted(lengths)
    assert len(set(lengths)) >= 3
    expect(page.locator(".stage")).to_be_hidden()
    assert page.locator(".answer").get_attribute("aria-busy") is None


LONG = "🦊🦊 Vulpine origami begins with a square. " + " ".join(f"Fold number {n} comes next." for n in range(1, 25))


def test_citation_opens_the_passage_at_its_stretch(home, write_lines, serve, visit):
    rows = {"_id": "fox", "title": "How do I fold a paper fox?", "text": LONG, "url": "https://example.org/fox?a=1"}
    with Bot.open(home, flags={"answer.limit": 200}) as bot:
        add(bot.home, bot.config, bot.encoder, [write_lines("fox.jsonl", rows)], collection="origami")
        page = visit(serve(bot).url)
        put(page, "How do I fold a paper fox?")
        answer = answered(page)
        (turn,) = turns_of(bot)
    source = turn.answer["sources"][0]
    (start, end), (begin, stop) = source["source_span"], source["span"]
    assert "🦊" in source["text"][start:end]
    assert end < len(source["text"])  # only a part is marked
    page.locator(".chip").first.click()
    sheet = page.get_by_role("complementary")
    assert sheet.locator("mark").inner_text() == source["text"][start:end]
    assert sheet.locator("blockquote").inner_text() == source["text"]
    assert answer[begin:stop] == source["text"][start:end]
    expect(sheet.get_by_role("heading")).to_have_text("How do I fold a paper fox?")
    expect(sheet.locator(".where")).to_have_text("origami / fox")
    link = sheet.get_by_role("link")
    assert link.get_attribute("href") == "https://example.org/fox?a=1"
    assert link.get_attribute("rel") == "noopener noreferrer"
    sheet.get_by_label("Next document").click()
    expect(sheet.locator("mark")).to_have_count(0)
    sheet.get_by_label("Close the passage").click()
    expect(sheet).to_be_hidden()


def test_why_shows_queries_candidates_and_timings(service, visit):
    page = visit(service.url)
    put(page, CATS)
    answered(page)
    button = page.get_by_role("button", name="Why this answer")
    assert button.get_attribute("aria-expanded") == "false"
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    panel = page.locator(".why")
    (turn,) = turns_of(service.bot)
    trace = turn.answer["trace"]
    assert panel.locator(".queries:not(.readings) li").count() == len(trace["queries"])
    assert panel.locator(".readings li").count() == min(len(trace["facts"]["readings"]), 8) > 0
    expect(panel.locator("tbody tr").first).to_contain_text(CATS)
    expect(panel.locator("tbody tr").first).to_contain_text(f"{turn.answer['trace']['candidates'][0]['score']:.2f}")
    shares = panel.locator("tbody td:nth-child(2) .meter").evaluate_all(
        "all => all.map(each => Number(getComputedStyle(each).getPropertyValue('--share')))"
    )
    assert shares[0] == 1
    assert shares == sorted(shares, reverse=True)
    for stage in ("dense", "keyword", "rank"):
        expect(panel.get_by_role("listitem").filter(has_text=re.compile(f"^{stage}"))).to_be_visible()
    button.click()
    expect(panel).to_be_hidden()


def test_abstention_says_why_and_names_the_closest_documents(service, visit):
    page = visit(service.url)
    put(page, NONSENSE)
    expect(page.get_by_role("heading", name="No good answer in your documents")).to_be_visible()
    (turn,) = turns_of(service.bot)
    expect(page.locator(".abstained p")).to_have_text(turn.answer["reason"])
    expect(page.locator(".sources .card")).to_have_count(3)
    page.locator(".sources .card").first.click()
    assert page.locator("#sheet blockquote").inner_text() == turn.answer["sources"][0]["text"]
    expect(page.locator("#sheet .label")).to_have_text("Considered, not used in the answer")


@pytest.mark.parametrize("way", ["button", "escape"])
def test_stop_ends_the_work(serve, slow_bot, visit, way):
    slow_bot.pauses["rank"] = Event()
    service = serve(slow_bot)
    page = visit(service.url)
    put(page, CATS)
    expect(page.locator(".stage")).to_have_text("Weighing what was found…")
    if way == "button":
        page.get_by_role("button", name="Stop").click()
    else:
        page.keyboard.press("Escape")
    expect(page.locator(".again")).to_contain_text("Stopped.")
    service.until(lambda: slow_bot.cancelled == 1, "the cancellation")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    slow_bot.pauses.clear()
    page.get_by_role("button", name="Ask again").click()
    assert answered(page)
    expect(page.locator(".turn")).to_have_count(1)


def test_vote_and_comment_arrive_and_are_shown_after_a_reload(service, visit):
    page = visit(service.url)
    put(page, CATS)
    answered(page)
    down = page.get_by_role("button", name="Bad answer")
    down.click()
    expect(down).to_have_attribute("aria-pressed", "true")
    page.get_by_label("What is wrong or missing?").fill(EVIL)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Thank you.")).to_be_visible()
    (turn,) = turns_of(service.bot)
    votes = service.bot.store.feedback(turn.id)
    assert [(given.vote, given.comment) for given in votes] == [("down", ""), ("down", EVIL)]
    page.reload()
    expect(page.get_by_role("button", name="Bad answer")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Good answer")).to_have_attribute("aria-pressed", "false")


def test_copy_takes_the_sources_along(service, visit):
    page = visit(service.url, permissions=["clipboard-read", "clipboard-write"])
    put(page, CATS)
    answer = answered(page)
    page.get_by_role("button", name="Copy with sources").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == f"{answer}\n\n[1] {CATS}"


def test_reload_brings_the_conversation_back_and_the_answer_in_work(serve, slow_bot, visit):
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


def test_lost_connection_comes_back_to_its_answer(serve, slow_bot, visit):
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


def test_page_outlives_its_server(home, visit):
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
    """`qa-bot serve` in a process of its own; what it logs goes to a file, since a pipe that nobody reads fills up."""

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


def test_conversations_are_listed_opened_renamed_and_deleted(service, visit):
    page = visit(service.url)
    put(page, CATS)
    answered(page)
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".turn")).to_have_count(0)
    put(page, "Do fish sleep?")
    answered(page)
    names = page.locator("#conversations .open .name")
    expect(names).to_have_text(["Do fish sleep?", CATS])
    expect(page.locator("#conversations [aria-current] .name")).to_have_text("Do fish sleep?")
    names.last.click()
    expect(page.locator(".question")).to_have_text([CATS])
    page.go_back()
    expect(page.locator(".question")).to_have_text(["Do fish sleep?"])

    page.get_by_role("button", name=f"Rename “{CATS}”").click()
    page.get_by_label("New name").fill(EVIL)
    page.keyboard.press("Enter")
    expect(names).to_have_text(["Do fish sleep?", EVIL])
    page.get_by_role("button", name="Delete “Do fish sleep?”").click()
    expect(page.get_by_role("button", name="Keep")).to_be_focused()
    page.get_by_role("button", name="Delete “Do fish sleep?” for good").click()
    expect(names).to_have_text([EVIL])
    expect(page.locator(".turn")).to_have_count(0)
    assert [item.title for item in service.bot.store.conversations()] == [EVIL]


@pytest.mark.parametrize("token", ["", "secret-token-of-the-service"])
def test_a_conversation_is_downloaded_as_markdown(serve, visit, token):
    service = serve(token=token)
    page = visit(service.url)
    if token:
        page.get_by_role("textbox", name="Token").fill(token)
        page.keyboard.press("Enter")
    put(page, f"{CATS} <b>/..\\")
    answered(page)
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Download “").click()
    download = downloading.value
    assert re.fullmatch(r"Why do cats sleep all day[^/\\]*\.md", download.suggested_filename)
    text = Path(download.path()).read_text(encoding="utf-8")
    assert text.startswith("# Why do cats sleep all day? \\<b\\>/..\\\\\n\n1 question, ")
    assert "Cats are built for short bursts" in text
    assert "starter/animals-cats-sleep" in text


def test_persona_is_chosen_and_sent(service, visit, monkeypatch):
    monkeypatch.setattr(Bot, "personas", property(lambda _: ("Ada", "<b>Jack</b>")))
    monkeypatch.setattr(PersonaStore, "parts", lambda *_: ())
    monkeypatch.setattr(PersonaStore, "say", lambda *_, **options: PersonaLines(()))
    sent: list[dict[str, Any]] = []
    page = visit(
        service.url, route=lambda page: page.on("websocket", lambda socket: socket.on("framesent", _into(sent)))
    )
    picker = page.get_by_label("Voice")
    expect(picker.locator("option")).to_have_text(["Plain", "Ada", "<b>Jack</b>"])
    put(page, CATS)
    answered(page)
    picker.select_option("<b>Jack</b>")
    put(page, "Do fish sleep?")
    answered(page, 2)
    assert [frame.get("persona") for frame in sent if frame["type"] == "ask"] == [None, "<b>Jack</b>"]


def _into(sent: list[dict[str, Any]]) -> Callable[[Any], None]:
    return lambda payload: sent.append(json.loads(payload))


def test_persona_picker_hides_where_there_are_none(service, visit):
    page = visit(service.url)
    put(page, CATS)
    answered(page)
    expect(page.get_by_label("Voice")).to_be_hidden()


def test_script_stays_text(home, write_lines, serve, visit, monkeypatch):
    monkeypatch.setattr(Bot, "personas", property(lambda _: (EVIL,)))
    text = f"A gryphon {EVIL} is drawn <script>alert(2)</script> wings first, then the tail."
    row = {"_id": EVIL, "title": f"How is a gryphon drawn? {EVIL}", "text": text, "url": "javascript:alert(3)"}
    with Bot.open(home) as bot:
        add(bot.home, bot.config, bot.encoder, [write_lines("evil.jsonl", row)], collection="<i>evil</i>")
        page = visit(serve(bot).url)
        put(page, f"How is a gryphon drawn? {EVIL}")
        assert answered(page) == text
        expect(page.locator(".question")).to_have_text(f"How is a gryphon drawn? {EVIL}")
        expect(page.locator(".card .where")).to_have_text("<i>evil</i>")
        page.locator(".chip").first.click()
        expect(page.locator("#sheet mark")).to_have_text(text)
        expect(page.locator("#sheet a")).to_have_count(0)
        page.get_by_role("button", name="Why this answer").click()
        expect(page.locator(".why tbody th").first).to_have_text(f"How is a gryphon drawn? {EVIL}")
        page.reload()
        assert answered(page) == text
        assert page.locator("body img, body b, body i:not(.skeleton i), #turns script").count() == 0


def test_token_is_asked_for_until_it_is_right(serve, visit):
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


def test_token_given_meanwhile_is_tried_before_the_person_is_asked_again(serve, visit):
    """The answer to the wrong token is held back until the right one is given."""
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


def test_socket_that_wants_another_token_has_it_asked_for(serve, visit):
    """The API is never called here: the socket alone finds out."""
    service = serve(token="secret")
    page = visit(service.url, route=lambda page: page.route("**/api/**", lambda route: route.fulfill(json={})))
    expect(page.get_by_role("dialog")).to_be_visible()
    page.get_by_label("Token", exact=True).fill("secret")
    page.keyboard.press("Enter")
    put(page, CATS)
    assert answered(page)


def test_busy_service_is_asked_again_when_it_said(service, visit):
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


def test_keyboard_is_enough(service, visit):
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
    page.keyboard.press("Enter")  # the next document; there is none before the first
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


def test_focus_can_be_seen(service, visit):
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


def test_colours_follow_the_system_until_somebody_chooses(service, visit):
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


def test_nothing_moves_for_those_who_want_that(service, visit):
    page = visit(service.url, reduced_motion="reduce")
    durations = page.evaluate("[...document.querySelectorAll('*')].map(e => getComputedStyle(e).transitionDuration)")
    assert set(durations) == {"0s"}
