"""The chat page in a real browser: questions, answers, sources, votes, conversations."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import expect

from qa_bot.answering.models.personas import PersonaLines, PersonaStore
from qa_bot.bot import Bot
from qa_bot.documents.sync import add
from tests.qa_bot.web.page.chat_page import CATS, EVIL, NONSENSE, answered, put

LENGTHS = """
window.lengths = [];
new MutationObserver(() => {
  const text = document.querySelector(".answer .text");
  if (text) lengths.push(text.textContent.length);
}).observe(document.getElementById("turns"), { childList: true, subtree: true, characterData: true });
"""


def turns_of(bot: Bot) -> Sequence[Any]:
    return [turn for item in bot.store.conversations() for turn in bot.store.turns(item.id)]


def test_question_is_answered_with_sources(service, visit):
    page = visit(service.url)
    expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    put(page, CATS)
    answer = answered(page)
    (turn,) = turns_of(service.bot)
    assert answer == turn.answer["answer"]
    expect(page.locator(".chip")).to_have_count(1)
    expect(page.locator(".sources .card")).to_contain_text("Why do cats sleep all day?")
    expect(page.locator(".confidence")).to_contain_text(f"{int(100 * turn.answer['confidence'] + 0.5)} %")
    expect(page.get_by_text("What would you like to know?")).to_be_hidden()
    expect(page).to_have_title(f"{CATS} · qa-bot")
    assert page.url.endswith(f"#{turn.conversation}")


def test_a_chosen_example_is_asked(service, visit):
    page = visit(service.url)
    page.locator(".example").first.wait_for()
    expect(page.locator(".example")).to_have_count(4)
    chosen = page.locator(".example").nth(2).inner_text()
    page.locator(".example").nth(2).click()
    assert answered(page)
    expect(page.locator(".question")).to_have_text(chosen)


def test_answer_is_streamed(serve, slow_bot, visit):
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


def test_citation_opens_the_passage_at_the_quoted_part(home, write_lines, serve, visit):
    bird = {"_id": "bird", "title": "Paper birds", "text": "Cranes are folded of thin paper."}
    fox = {"_id": "fox", "title": "How do I fold a paper fox?", "text": LONG, "url": "https://example.org/fox?a=1"}
    with Bot.open(home, flags={"answer.limit": 200}) as bot:
        add(bot.home, bot.config, bot.encoder, [write_lines("fox.jsonl", fox, bird)], collection="origami")
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
    assert link.get_attribute("href") == (
        "https://example.org/fox?a=1#:~:text=%F0%9F%A6%8A%F0%9F%A6%8A%20Vulpine%20origami%20begins%20with%20a%20square.%20Fold"
    )
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
        "all => all.map(item => Number(getComputedStyle(item).getPropertyValue('--share')))"
    )
    assert shares[0] == 1
    assert shares == sorted(shares, reverse=True)
    for stage in ("dense", "keyword", "rank"):
        expect(panel.get_by_role("listitem").filter(has_text=re.compile(f"^{stage}"))).to_be_visible()
    button.click()
    expect(panel).to_be_hidden()


def test_abstention_shows_the_reason_and_the_closest_documents(service, visit):
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
def test_stop_cancels_the_question(serve, slow_bot, visit, way):
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


def test_vote_and_comment_are_saved_and_shown_after_a_reload(service, visit):
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
    assert [(vote.vote, vote.comment) for vote in votes] == [("down", ""), ("down", EVIL)]
    page.reload()
    expect(page.get_by_role("button", name="Bad answer")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Good answer")).to_have_attribute("aria-pressed", "false")


def test_copy_includes_the_sources(service, visit):
    page = visit(service.url, permissions=["clipboard-read", "clipboard-write"])
    put(page, CATS)
    answer = answered(page)
    page.get_by_role("button", name="Copy with sources").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == f"{answer}\n\n[1] {CATS}"


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


@pytest.mark.parametrize("fragment", ["%", "a b", "a%20b", "%C3%A9", "x" * 65])
def test_a_fragment_that_is_no_id_opens_a_new_conversation(service, visit, fragment):
    page = visit(f"{service.url}#{fragment}")
    put(page, CATS)
    answered(page)
    (turn,) = turns_of(service.bot)
    assert page.url.endswith(f"#{turn.conversation}")


def test_a_renamed_conversation_renames_the_open_page(service, visit):
    page = visit(service.url)
    put(page, CATS)
    answered(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(CATS)
    page.get_by_role("button", name=f"Rename “{CATS}”").click()
    page.get_by_label("New name").fill("Sleep")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sleep")
    expect(page).to_have_title("Sleep · qa-bot")


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


def test_persona_picker_is_hidden_without_personas(service, visit):
    page = visit(service.url)
    put(page, CATS)
    answered(page)
    expect(page.get_by_label("Voice")).to_be_hidden()


def test_markup_in_questions_and_documents_stays_text(home, write_lines, serve, visit, monkeypatch):
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
