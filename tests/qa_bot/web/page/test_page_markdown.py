"""Answers in Markdown on the chat page: what they become, where their marks are, and what hostile text does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from qa_bot.web.pages import load_pages
from qa_core.text.markdown.blocks import Block, Code, ListBlock, Paragraph, Quotation, Table
from qa_core.text.markdown.blocks import blocks as read_blocks

CATS = "Why do cats sleep all day?"
RENDER = """async ([address, texts]) => {
  const { markdown } = await import(address);
  return texts.map(text => {
    const root = document.createElement("div");
    root.append(...markdown(text));
    return root.innerHTML;
  });
}"""
TABLE = '<div class="wide-table" tabindex="0" role="region" aria-label="Table"><table>{}</table></div>'
LINK = '<a href="{0}" target="_blank" rel="noopener noreferrer">{1}</a>'
RENDERED = [
    ("One **two** *three* `four`", "<p>One <strong>two</strong> <em>three</em> <code>four</code></p>"),
    ("_a_ __b__ ***c*** ~~d~~", "<p><em>a</em> <strong>b</strong> <strong>c</strong> <del>d</del></p>"),
    ("2*3*4 snake_case_name a * b", "<p>2*3*4 snake_case_name a * b</p>"),
    ("**open [closed `x", "<p>**open [closed `x</p>"),
    ("``a ` b``", "<p><code>a ` b</code></p>"),
    (r"\*a\* \| &amp; &#65; <b>x</b> a<br>b", "<p>*a* | &amp; A &lt;b&gt;x&lt;/b&gt; a\nb</p>"),
    ("Short\nlines stay.\n\nNext", "<p>Short\nlines stay.</p><p>Next</p>"),
    (f"{'word ' * 13}end\nof a line", f"<p>{'word ' * 13}end of a line</p>"),
    ("# Title #\n\nSub\n---\n\n* * *", '<p class="heading">Title</p><p class="heading">Sub</p><hr>'),
    ("- a\n  - b\n- c\n  more", "<ul><li><p>a</p><ul><li><p>b</p></li></ul></li><li><p>c\nmore</p></li></ul>"),
    ("3. a\n4. b", '<ol><li value="3"><p>a</p></li><li value="4"><p>b</p></li></ol>'),
    ("1. a\n1. b", '<ol><li value="1"><p>a</p></li><li value="2"><p>b</p></li></ol>'),
    ("1. a\n\n1. b", '<ol><li value="1"><p>a</p></li></ol><ol><li value="1"><p>b</p></li></ol>'),
    ("2024. A year is no step.", "<p>2024. A year is no step.</p>"),
    ("1. a\n\n   ```\n   x\n   ```", '<ol><li value="1"><p>a</p><pre tabindex="0"><code>x</code></pre></li></ol>'),
    ("```sh\na *b*\n\n<c>\n```\nd", '<pre tabindex="0"><code>a *b*\n\n&lt;c&gt;</code></pre><p>d</p>'),
    ("> a\n> b\n\nc", "<blockquote><p>a\nb</p></blockquote><p>c</p>"),
    (
        "| A | B |\n| --- | ---: |\n| x \\| y | **1** |",
        TABLE.format(
            '<thead><tr><th scope="col">A</th><th class="right" scope="col">B</th></tr></thead>'
            '<tbody><tr><td>x | y</td><td class="right"><strong>1</strong></td></tr></tbody>'
        ),
    ),
    ("| | |\n| --- | --- |\n| a | b |", TABLE.format("<tbody><tr><td>a</td><td>b</td></tr></tbody>")),
    ("| a | b |", TABLE.format("<tbody><tr><td>a</td><td>b</td></tr></tbody>")),
    ("|x| is 3 | or 4", "<p>|x| is 3 | or 4</p>"),
    ("[a](https://a.org/b_(c))", f"<p>{LINK.format('https://a.org/b_(c)', 'a')}</p>"),
    ("(see https://a.org/x).", f"<p>(see {LINK.format('https://a.org/x', 'https://a.org/x')}).</p>"),
    ("<mail@a.org> [b][1]", f"<p>{LINK.format('mailto:mail@a.org', 'mail@a.org')} <span>b</span></p>"),
    ("[a](javascript:alert(1)) [b](data:text/html,x)", "<p><span>a</span> <span>b</span></p>"),
    ("[a](file:///etc/passwd) ![b](https://a.org/b.png)", "<p><span>a</span> <span>b</span></p>"),
    ("<img src=x onerror=alert(1)>", "<p>&lt;img src=x onerror=alert(1)&gt;</p>"),
    ('[a](https://a.org/"onclick="alert(1))', f"<p>{LINK.format('https://a.org/%22onclick=%22alert(1)', 'a')}</p>"),
    ("", ""),
    (" \n\n\t", ""),
]
HOSTILE = ["[", "*a ", "`", "``` ", "> ", "- ", "|", "[a](", "<a@", "**a*", "\\", "    ", "|-", "1. ", "-\n", "a\n|b\n"]
ANSWER = (
    "Ask in time 🐈.\n\n| Room | Seats |\n| --- | --- |\n| Noether | 20 |\n| Tern | 4 |\n\n"
    "1. Run `make`.\n2. Wait.\n\n```\nmake all\n```"
)


def render(page: Page, texts: list[str]) -> list[str]:
    rendered: list[str] = page.evaluate(RENDER, [_address(), texts])
    return rendered


def _address() -> str:
    return f"/assets/{load_pages().version}/markdown.js"


def scripted(*replies: dict[str, Any]) -> Callable[[Page], None]:
    """A service that answers every question with these frames."""

    def connect(socket: WebSocketRoute) -> None:
        def reply(message: str | bytes) -> None:
            frame = json.loads(message)
            if frame["type"] == "hello":
                socket.send(json.dumps({"type": "ready", "id": None, "conversation": "c", "seq": 0, "personas": []}))
            for seq, content in enumerate(replies if frame["type"] == "ask" else (), start=1):
                socket.send(json.dumps({"id": frame["id"], "conversation": "c", "seq": seq, **content}))

        socket.on_message(reply)

    return lambda page: page.route_web_socket("**/ws", connect)


def source(**fields: Any) -> dict[str, Any]:
    defaults = {"id": "a#0", "document": "a", "collection": "firm", "title": "Rooms", "url": "", "score": 1.0}
    return {**defaults, "text": ANSWER, "span": [0, len(ANSWER)], "source_span": [0, len(ANSWER)], **fields}


def final(text: str = ANSWER, **fields: Any) -> dict[str, Any]:
    answer = {"type": "final", "turn": "t", "question": CATS, "answered": True, "kind": "passage", "answer": text}
    defaults = {"confidence": 0.9, "reason": "", "sources": [], "timings": {"total": 0.01}, "skipped": [], "lead": None}
    return {**answer, **defaults, **fields}


def ask(page: Page) -> None:
    page.get_by_label("Your question").fill(CATS)
    page.keyboard.press("Enter")
    page.locator(".turn .line").wait_for()


def lead_of(stretch: str) -> list[int]:
    return [ANSWER.index(stretch), ANSWER.index(stretch) + len(stretch)]


def test_markdown_becomes_elements(service, visit):
    page = visit(service.url, bypass_csp=True)
    rendered = render(page, [text for text, _ in RENDERED])
    assert rendered == [expected for _, expected in RENDERED]


def test_the_page_shows_the_words_of_the_terminal(service, visit):
    """`markdown.js` and `qa_core.text.markdown` read the same words in the same order."""
    page = visit(service.url, bypass_csp=True)
    texts = [text for text, _ in RENDERED]
    shown: list[str] = page.evaluate(RENDER.replace("root.innerHTML", "root.textContent"), [_address(), texts])
    assert [_words(text) for text in texts] == [re.sub(r"\s", "", words) for words in shown]


def _words(text: str) -> str:
    """The visible words without white space."""

    def parts(blocks: list[Block]) -> Iterator[str]:
        for block in blocks:
            match block:
                case Paragraph(words):
                    yield from (text[w.start : w.end] if w.shown is None else w.shown for w in words)
                case Code(lines):
                    yield from (text[start:end] for start, end in lines)
                case Table(header, rows):
                    cells = [cell for row in [header or [], *rows] for cell in row]
                    yield from (text[w.start : w.end] if w.shown is None else w.shown for cell in cells for w in cell)
                case ListBlock(items):
                    yield from (part for item in items for part in parts(item))
                case Quotation(quoted):
                    yield from parts(quoted)

    return re.sub(r"\s", "", "".join(parts(read_blocks(text))))


def test_hostile_text_is_rendered_in_linear_time(service, visit):
    page = visit(service.url, bypass_csp=True)
    page.set_default_timeout(60_000)
    rendered = render(page, [(sign * 20_000)[:20_000] for sign in HOSTILE])  # seconds if anything were quadratic
    assert len(rendered) == len(HOSTILE)
    (deep,) = render(page, ["> " * 500 + "x"])
    assert deep.count("<blockquote>") < 10


def test_an_answer_has_its_structure_lead_and_sources(service, visit):
    lead = lead_of("| Noether | 20 |")
    page = visit(service.url, route=scripted(final(lead=lead, sources=[source()])))
    ask(page)
    answer = page.locator(".answer")
    expect(answer.locator("thead th")).to_have_text(["Room", "Seats"])
    expect(answer.locator("tr:has(.lead) td")).to_have_text(["Noether", "20"])
    expect(answer.locator(".lead")).to_have_text(["Noether", "20"])
    expect(answer.locator(".text > .led")).to_have_count(1)
    expect(answer.locator("ol li")).to_have_text(["Run make.", "Wait."])
    expect(answer.locator("pre")).to_have_text("make all")
    expect(answer.locator("pre + .behind .chip")).to_have_text("1")  # behind the code, not in it
    answer.locator(".chip").hover()
    expect(answer.locator("p .lit").first).to_have_text("Ask in time 🐈.")
    assert answer.locator(".lit").count() > 5


def test_a_lead_counts_code_points(service, visit):
    page = visit(service.url, route=scripted(final("🐈🐈 first. Then **this one**. Last.", lead=[10, 28])))
    ask(page)
    assert "".join(page.locator(".answer .lead").all_text_contents()) == "Then this one."
    expect(page.locator(".answer strong .lead")).to_have_text("this one")


def test_a_lead_that_is_the_whole_answer_is_not_marked(service, visit):
    page = visit(service.url, route=scripted(final("Paris.", lead=[0, 6])))
    ask(page)
    expect(page.locator(".answer .lead")).to_have_count(0)


def test_passages_are_rendered_apart(service, visit):
    text = "1. One\n\n```\ncut off\n\n1. Next"
    sources = [source(span=[0, 20], source_span=[0, 20]), source(id="b#0", document="b", span=[21, 28])]
    page = visit(service.url, route=scripted(final(text, sources=sources)))
    ask(page)
    expect(page.locator(".answer .text > *")).to_have_count(4)
    expect(page.locator(".answer pre")).to_have_text("cut off")
    expect(page.locator(".answer .chip")).to_have_text(["1", "2"])


def test_an_answer_grows_without_jumping_back(service, visit):
    pieces = [ANSWER[start : start + 9] for start in range(0, len(ANSWER), 9)]
    deltas = [{"type": "delta", "text": piece} for piece in pieces]
    page = visit(
        service.url, route=scripted({"type": "sources", "sources": [source()]}, *deltas, final(sources=[source()]))
    )
    page.evaluate("""() => {
      window.seen = [];
      new MutationObserver(() => {
        const text = document.querySelector(".answer .text");
        if (text) seen.push([text.textContent.length, /[|`]/.test(text.textContent)]);
      }).observe(document.getElementById("turns"), { childList: true, subtree: true });
    }""")
    ask(page)
    seen = page.evaluate("seen")
    assert [length for length, _ in seen] == sorted(length for length, _ in seen)
    assert not any(has_signs for _, has_signs in seen)


def test_an_unsure_answer_is_marked(service, visit):
    page = visit(service.url, route=scripted(final("Paris, perhaps.", unsure=True, confidence=0.3)))
    ask(page)
    expect(page.get_by_role("note")).to_have_text("I am not sure, this comes nearest:")
    expect(page.locator(".answer")).to_contain_text("Paris, perhaps.")


@pytest.mark.parametrize("unsure", [True, False])
def test_a_remark_on_an_answer_is_shown(service, visit, unsure):
    page = visit(service.url, route=scripted(final("Paris.", unsure=unsure, reason="Ich bin nicht sicher:")))
    ask(page)
    expect(page.get_by_role("note")).to_have_text("Ich bin nicht sicher:")
    expect(page.locator(".unsure")).to_have_count(1 if unsure else 0)


def test_an_answer_without_a_remark_has_none(service, visit):
    page = visit(service.url, route=scripted(final("Paris.")))
    ask(page)
    expect(page.get_by_role("note")).to_have_count(0)


@pytest.mark.parametrize(
    ("fields", "place", "href"),
    [
        ({"url": "https://a.org/x.pdf", "page": 3}, "page 3", "https://a.org/x.pdf#page=3"),
        ({"url": "https://a.org/x#part"}, "", "https://a.org/x#part:~:text=Ask%20in%20time%20%F0%9F%90%88."),
        ({"path": "/docs/plan.pptx", "page": 4, "row": 2}, "slide 4, row 2", None),
        ({"url": "javascript:alert(1)", "date": "2024-03-05T10:00:00Z"}, "2024-03-05", None),
    ],
)
def test_a_source_opens_at_its_place(service, visit, fields, place, href):
    cited = source(heading=["Cellar", "Shelf 2"], archived=True, **fields)
    page = visit(service.url, route=scripted(final(sources=[cited])))
    ask(page)
    card = page.locator(".sources .card")
    expect(card.locator(".name")).to_have_text("Rooms › Cellar › Shelf 2")
    expect(card.locator(".where")).to_contain_text(place)
    expect(card.locator(".badge")).to_have_text("archived")
    card.click()
    sheet = page.locator("#sheet")
    expect(sheet.locator(".badge")).to_have_text("archived")
    expect(sheet.locator("blockquote td").first).to_have_text("Noether")
    expect(sheet.locator("a")).to_have_count(1 if href else 0)
    if href:
        assert sheet.locator("a").get_attribute("href") == href
        assert sheet.locator("a").get_attribute("rel") == "noopener noreferrer"
    expect(sheet.locator(".copyable code")).to_have_text([fields["path"]] if "path" in fields else [])


def test_a_wide_table_scrolls_on_a_phone(service, visit):
    header = "| " + " | ".join(f"A long header {n}" for n in range(8)) + " |"
    table = f"{header}\n|{' --- |' * 8}\n| {' | '.join('cell' for _ in range(8))} |"
    wide = f"{table}\n\n```\n{'x' * 300}\n```"
    page = visit(
        service.url, route=scripted(final(wide)), viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    )
    ask(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth && innerWidth === 360")
    for part in (".answer .wide-table", ".answer pre"):
        width, content = page.locator(part).evaluate("e => [e.clientWidth, e.scrollWidth]")
        assert width < 360 < content
