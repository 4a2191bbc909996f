"""Personas on the page, in a real browser: voice and hint, the map, other ways to say it, debates."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from qa_bot import Bot

CATS = "Why do cats sleep all day?"
NONSENSE = "Who is the king of Narnia quantum?"
EVIL = "<img src=x onerror=alert(1)>"


def put(page: Page, question: str, *, voice: str = "", hint: str = "") -> None:
    if voice:
        page.locator("#persona").select_option(voice)
    if hint:
        page.get_by_label("Hint", exact=True).fill(hint)
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")


def answered(page: Page, number: int = 1) -> str:
    """The sourced text of an answer once it is complete."""
    turn = page.locator(".turn").nth(number - 1)
    turn.locator(".line").wait_for()
    words = "all => all.map(e => [...e.querySelectorAll('span:not(:has(span))')].map(e => e.textContent).join(''))"
    return "\n\n".join(turn.locator(".answer .text > *").evaluate_all(words))


def recorded(bot: Bot) -> list[Any]:
    return [turn.answer for item in bot.store.conversations() for turn in bot.store.turns(item.id)]


def heard(sent: list[dict[str, Any]]) -> Any:
    """Keeps the frames that the page sends."""
    return lambda page: page.on(
        "websocket", lambda socket: socket.on("framesent", lambda data: sent.append(json.loads(data)))
    )


def test_voice_and_hint_are_sent_and_the_sentence_is_shown_apart(serve, voiced_bot, visit):
    sent: list[dict[str, Any]] = []
    page = visit(serve(voiced_bot).url, route=heard(sent))
    hint = page.get_by_label("Hint", exact=True)
    expect(page.locator("#persona").locator("option")).to_have_text(["Plain", "cook", "sailor"])
    expect(hint).to_be_hidden()
    put(page, CATS, voice="sailor", hint="boat")
    text = answered(page)
    expect(hint).to_have_value("")  # it was for one question
    (answer,) = recorded(voiced_bot)
    first = answer["styled"]["lines"][0]
    assert answer["answer"] == f"{first['text']}\n\n{text}"
    voiced = page.locator(".turn .voice > div .voiced")
    expect(voiced.locator(".speaker")).to_have_text(first["persona"])
    expect(voiced.locator(".said")).to_have_text(first["text"])
    expect(voiced.locator(".kind")).to_have_text(first["kind"])
    expect(page.locator(".chip")).to_have_count(1)
    page.locator(".chip").click()
    expect(page.locator("#sheet mark")).to_have_text(text)
    questions = [(item.get("persona"), item.get("hint")) for item in sent if item["type"] == "ask"]
    assert questions == [("sailor", "boat")]
    put(page, CATS, voice="")
    page.locator("#persona").select_option("")
    expect(hint).to_be_hidden()
    answered(page, 2)
    page.reload()
    assert answered(page) == text
    expect(voiced.first.locator(".said")).to_have_text(first["text"])


def test_quotations_and_generated_sentences_are_marked(serve, voiced_bot, visit):
    page = visit(serve(voiced_bot).url)
    put(page, CATS, voice="cook")
    answered(page)
    page.get_by_text("Other ways to say it").click()
    (answer,) = recorded(voiced_bot)
    kinds = {item["text"]: item["kind"] for item in answer["styled"]["lines"]}
    assert set(kinds.values()) == {"generated", "quotation"}
    for text, kind in kinds.items():
        figure = page.locator(".voiced").filter(has=page.get_by_text(text, exact=True))
        expect(figure.locator(".kind")).to_have_text(kind)
        expect(figure.locator("q.said")).to_have_count(int(kind == "quotation"))


def test_another_sentence_is_chosen_edited_and_sent(serve, voiced_bot, visit):
    service = serve(voiced_bot)
    page, other = visit(service.url), None
    put(page, CATS, voice="cook")
    text = answered(page)
    page.get_by_role("button", name="Good answer").click()
    other = visit(page.url)
    answered(other)
    (before,) = recorded(voiced_bot)
    voiced = page.locator(".turn .voice > div .said")
    second = before["styled"]["lines"][1]["text"]
    page.get_by_text("Other ways to say it").click()
    page.get_by_role("button", name=f"Use: {second}").click()
    for item in (voiced, other.locator(".turn .voice > div .said")):
        expect(item).to_have_text(second)
    page.get_by_text("Other ways to say it").click()
    page.get_by_role("button", name=f"Edit: {before['styled']['lines'][0]['text']}").click()
    box = page.get_by_label("Your sentence")
    expect(box).to_be_focused()
    expect(box).to_have_value(before["styled"]["lines"][0]["text"])
    box.fill(f"Well {EVIL}")
    page.locator(".edit").get_by_role("button", name="Send").click()
    for item in (page, other):
        expect(item.locator(".turn .voice > div .said")).to_have_text(f"Well {EVIL}")
        expect(item.locator(".turn .voice > div .kind")).to_have_text("edited by hand")
        assert answered(item) == text
    expect(page.get_by_role("button", name="Good answer")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("Other ways to say it")).to_be_focused()
    (after,) = recorded(voiced_bot)
    assert after["answer"] == f"Well {EVIL}\n\n{text}"
    page.locator(".chip").click()
    expect(page.locator("#sheet mark")).to_have_text(text)
    page.reload()
    expect(voiced).to_have_text(f"Well {EVIL}")
    assert answered(page) == text


def test_the_reason_of_a_rejected_choice_is_shown(serve, voiced_bot, visit):
    def refuse(route: Route) -> None:
        route.fulfill(status=422, json={"error": {"message": f"No {EVIL}"}})

    page = visit(serve(voiced_bot).url, route=lambda page: page.route("**/api/choose", refuse))
    put(page, CATS, voice="cook")
    answered(page)
    page.get_by_text("Other ways to say it").click()
    page.get_by_role("button", name="Edit the sentence above").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_label("Your sentence")).to_have_count(0)
    page.get_by_role("button", name=re.compile("^Use: ")).first.click()
    expect(page.locator(".ways").get_by_role("alert")).to_have_text(f"No {EVIL}")


def test_an_abstention_has_a_remark(serve, voiced_bot, visit):
    page = visit(serve(voiced_bot).url)
    put(page, NONSENSE, voice="cook")
    expect(page.get_by_role("heading", name="No good answer in your documents")).to_be_visible()
    (answer,) = recorded(voiced_bot)
    voiced = page.locator(".turn .voice > div .said")
    expect(voiced).to_have_text(answer["styled"]["lines"][0]["text"])
    page.get_by_text("Other ways to say it").click()
    page.get_by_role("button", name=re.compile("^Use: ")).first.click()
    expect(voiced).to_have_text(answer["styled"]["lines"][1]["text"])
    expect(page.locator(".abstained p")).to_have_text(answer["reason"])


def test_a_cell_of_the_map_becomes_the_hint(serve, voiced_bot, visit):
    sent: list[dict[str, Any]] = []
    page = visit(serve(voiced_bot).url, route=heard(sent))
    chart = voiced_bot.voices.chart("boat")
    page.locator("#persona").select_option("cook")
    page.get_by_label("Hint", exact=True).fill("boat")
    opener = page.get_by_role("button", name="Choose a hint on the map")
    opener.click()
    dialog = page.get_by_role("dialog", name="Choose a hint on the map")
    cells = dialog.get_by_role("gridcell")
    expect(cells).to_have_count(12)
    expect(dialog.get_by_role("row")).to_have_count(3)
    shares = cells.evaluate_all("all => all.map(item => Number(item.style.getPropertyValue('--share')))")
    most = max(chart.posterior)
    assert shares == pytest.approx([share / most for share in chart.posterior], abs=1e-4)
    best = shares.index(1)
    expect(cells.nth(best)).to_have_attribute("tabindex", "0")
    for cell in range(12):
        cells.nth(cell).hover()
        expect(dialog.locator("#grid-near")).to_have_text(" ".join(chart.window_words(cell)))
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(opener).to_be_focused()

    opener.click()
    cells.nth(best).focus()
    for key in ("ArrowUp", "ArrowLeft"):  # behind an edge lies the other one
        page.keyboard.press(key)
    row, column = (best // 4 - 1) % 3, (best % 4 - 1) % 4
    expect(cells.nth(4 * row + column)).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    words = " ".join(chart.window_words(4 * row + column))
    expect(page.get_by_label("Hint", exact=True)).to_have_value(words)
    put(page, CATS)
    answered(page)
    opener.click()
    cells.nth(5).click()
    expect(page.get_by_label("Hint", exact=True)).to_have_value(" ".join(chart.window_words(5)))
    expect(page.get_by_label("Your question")).to_be_focused()
    put(page, CATS)
    answered(page)
    page.get_by_label("Hint", exact=True).fill("soup")
    put(page, CATS)
    answered(page)
    questions = [(item["hint"], item.get("cell")) for item in sent if item["type"] == "ask"]
    assert questions == [(words, 4 * row + column), (" ".join(chart.window_words(5)), 5), ("soup", None)]


def test_the_map_is_searched_and_names_unknown_words(serve, voiced_bot, visit):
    page = visit(serve(voiced_bot).url)
    page.locator("#persona").select_option("cook")
    page.get_by_role("button", name="Choose a hint on the map").click()
    expect(page.get_by_role("gridcell")).to_have_count(12)
    for word, expected in (("zxqv", voiced_bot.voices.chart("zxqv").notice), ("soup", re.compile("Choose a place"))):
        page.get_by_label("Where on the map is").fill(word)
        page.keyboard.press("Enter")
        expect(page.locator("#grid-note")).to_have_text(expected)


def test_the_reason_for_a_missing_map_is_shown(serve, voiced_bot, visit):
    def refuse(route: Route) -> None:
        route.fulfill(status=404, json={"error": {"message": f"No grid {EVIL}"}})

    page = visit(serve(voiced_bot).url, route=lambda page: page.route("**/api/grid*", refuse))
    page.locator("#persona").select_option("cook")
    page.get_by_role("button", name="Choose a hint on the map").click()
    expect(page.locator("#grid-note")).to_have_text(f"No grid {EVIL}")


def test_two_voices_debate_until_they_are_stopped(serve, voiced_bot, visit):
    bodies: list[dict[str, Any]] = []

    def listen(page: Page) -> None:
        page.clock.install()  # pauses between sentences pass only when the test says
        page.on("request", lambda item: bodies.append(item.post_data_json) if "speak" in item.url else None)

    page = visit(serve(voiced_bot).url, route=listen)
    page.get_by_role("button", name="Debate").click()
    expect(page.get_by_label("Your question")).to_be_hidden()
    page.get_by_label("Second speaker").select_option("cook")
    page.get_by_label("Topic", exact=True).fill("Where do cats sleep?")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#debate-state")).to_have_text("Choose two different speakers.")
    page.get_by_label("Second speaker").select_option("sailor")
    page.get_by_role("button", name="Begin").click()
    sentences = page.locator("#debate-said .said")
    for count in (1, 2, 3):
        expect(sentences).to_have_count(count)
        page.clock.run_for(800) if count < 3 else page.get_by_role("button", name="Stop").click()
    page.clock.run_for(5_000)
    expect(sentences).to_have_count(3)
    expect(page.locator("#debate-state")).to_have_text("Stopped.")
    expect(page.locator("#debate-said .speaker")).to_have_text(["cook", "sailor", "cook"])
    page.get_by_role("button", name="Go on").click()
    expect(sentences).to_have_count(4)
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Go on")).to_be_visible()

    texts = ["Where do cats sleep?", *sentences.all_text_contents()]
    assert len(set(texts)) == 5  # no sentence is repeated
    assert [item["turns"] for item in bodies] == [texts[max(0, i - 1) : i + 1] for i in range(4)]
    assert [item["persona"] for item in bodies] == ["cook", "sailor", "cook", "sailor"]
    assert {item["hint"] for item in bodies} == {"Where do cats sleep?"}
    kinds = page.locator("#debate-said .voiced").evaluate_all("all => all.map(item => item.dataset.kind)")
    assert page.locator("#debate-said q").count() == kinds.count("quotation")
    assert recorded(voiced_bot) == []
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_label("Your question")).to_be_visible()
    expect(page.locator("#debate")).to_be_hidden()


def test_the_reason_of_a_failed_debate_is_shown(serve, voiced_bot, visit):
    def refuse(route: Route) -> None:
        route.fulfill(status=503, json={"error": {"message": f"Busy {EVIL}"}})

    page = visit(serve(voiced_bot).url, route=lambda page: page.route("**/api/speak", refuse))
    page.get_by_role("button", name="Debate").click()
    page.get_by_label("Topic", exact=True).fill("Cats")
    page.keyboard.press("Enter")
    expect(page.locator("#debate-state")).to_have_text(f"Busy {EVIL}")
    expect(page.get_by_role("button", name="Go on")).to_be_visible()


def test_no_debate_without_two_voices(service, visit):
    page = visit(service.url)
    put(page, CATS)
    answered(page)
    expect(page.get_by_role("button", name="Debate")).to_be_hidden()
    expect(page.locator(".voice")).to_be_hidden()


def test_voices_fit_a_phone(serve, voiced_bot, visit):
    page = visit(serve(voiced_bot).url, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)

    def fits() -> bool:
        return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth && innerWidth === 360"))

    put(page, CATS, voice="cook", hint="boat")
    answered(page)
    page.get_by_text("Other ways to say it").click()
    page.get_by_role("button", name="Edit the sentence above").click()
    assert fits()
    page.get_by_role("button", name="Choose a hint on the map").click()
    page.get_by_role("gridcell").first.wait_for()
    assert fits()
    page.get_by_role("gridcell").last.scroll_into_view_if_needed()
    page.get_by_role("gridcell").last.tap()
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.get_by_role("button", name="Show conversations").click()
    page.get_by_role("button", name="Debate").click()
    expect(page.get_by_label("Topic", exact=True)).to_be_focused()
    assert fits()


def test_every_control_has_a_name(serve, voiced_bot, visit):
    page = visit(serve(voiced_bot).url)
    put(page, CATS, voice="cook")
    answered(page)
    page.get_by_text("Other ways to say it").click()
    page.get_by_role("button", name="Edit the sentence above").click()
    trees = [page.locator("body").aria_snapshot()]
    page.get_by_role("button", name="Choose a hint on the map").click()
    page.get_by_role("gridcell").first.wait_for()
    trees.append(page.locator("#grid").aria_snapshot())
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Debate").click()
    trees.append(page.locator("body").aria_snapshot())
    roles = r"- (button|link|textbox|combobox|navigation|complementary|region|grid|gridcell|dialog)\b(.*)"
    for tree, least in zip(trees, (20, 15, 10), strict=True):
        controls = re.findall(roles, tree)
        assert len(controls) >= least
        assert [role for role, rest in controls if not rest.startswith(' "')] == []
