"""Conversations as Markdown: markup in questions and answers is escaped, and readers see the original text."""

from __future__ import annotations

import html
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from qa_bot.home.store import Store
from qa_bot.transfer.transcripts import file_name, markdown, whole

SOURCE = {
    "id": "p1",
    "document": "cats",
    "collection": "pets",
    "title": "Why cats sleep",
    "url": "https://example.org/cats?a=1&lt;=2 3",
    "score": 1.0,
    "text": "Cats sleep.",
    "span": [0, 4],
    "source_span": [0, 4],
}
CREATED = 1_700_000_000.0  # 14 November 2023


def conversation(*turns: dict[str, object], title: str = "Cats") -> dict[str, object]:
    """A conversation as `whole` returns it; missing fields of turns are filled."""
    usual = {"question": "Why?", "rewritten": "", "feedback": None, "asked": CREATED}
    filled = [{**usual, **turn, "answer": {"answer": "", "sources": [], **turn.get("answer", {})}} for turn in turns]
    return {"id": "c", "title": title, "persona": "", "created": CREATED, "updated": CREATED, "turns": filled}


def visible_text(text: str) -> str:
    """Text that a reader of rendered Markdown sees, with single spaces; raises if HTML was not escaped."""
    rendered = MarkdownIt("commonmark").render(text)
    assert not re.search(r"<(?!/?(h1|h2|p|em|ol|ul|li|a|br)\b)", rendered), rendered
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", rendered)).split())


def test_a_conversation_in_full() -> None:
    unused = {**SOURCE, "title": "Dogs", "span": None}
    answer = {"answer": "Cats nap.\nOften.\n\nThey <hunt>.", "sources": [SOURCE, {**SOURCE, "url": ""}, unused]}
    first = {"question": "Why do cats sleep?", "answer": answer, "feedback": {"vote": "up", "comment": "nice"}}
    second = {
        "question": "And dogs?",
        "rewritten": "Why do dogs sleep?",
        "answer": {"reason": "Nothing fits."},
        "feedback": {"vote": "down", "comment": ""},
    }
    assert markdown(conversation(first, second)) == (
        "# Cats\n\n2 questions, 2023-11-14\n\n"
        "## Why do cats sleep?\n\nCats nap.\\\nOften.\n\nThey \\<hunt\\>.\n\n"
        "1. [Why cats sleep](<https://example.org/cats?a=1&amp;lt;=2%203>), pets/cats\n2. Why cats sleep, pets/cats\n\n"
        "*voted up: nice*\n\n"
        "## And dogs?\n\n*understood as: Why do dogs sleep?*\n\nNothing fits.\n\n*voted down*\n"
    )


def test_choices_are_listed() -> None:
    choices = [{"text": "the cat", "question": "q"}, {"text": "a", "question": ""}]
    clarification = {"reason": "Which one?", "choices": choices}
    text = markdown(conversation({"answer": clarification}))
    assert "1 question, 2023-11-14" in text
    assert "Which one?\n\n- the cat\n- a\n" in text


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "HTTP\t://x", "file:///etc/passwd", ""])
def test_only_web_addresses_become_links(url: str) -> None:
    text = markdown(conversation({"answer": {"sources": [{**SOURCE, "url": url}]}}))
    assert "<a" not in MarkdownIt("commonmark").render(text)


def test_addresses_are_escaped() -> None:
    rendered = MarkdownIt("commonmark").render(markdown(conversation({"answer": {"sources": [SOURCE]}})))
    assert 'href="https://example.org/cats?a=1&amp;lt;=2%203"' in rendered


MARKUP = ["<script>alert(1)</script>", "# no heading", "1. x", "2) x", "- x", "+ x", "===", "---", "***", "```", "~~~x"]
MARKUP += [
    "> q",
    "[a](b)",
    "![a](b)",
    "&lt;",
    "a\\",
    "|a|b|",
    "    code",
    "<!-- x",
    "$x$",
    "[a]: b",
    "\\<b>",
    "_a_",
    "`a`",
]


@given(st.sampled_from(MARKUP) | st.text(max_size=40), st.sampled_from(MARKUP) | st.text(max_size=40))
def test_any_question_and_reason_is_shown_unchanged(question: str, reason: str) -> None:
    text = markdown(conversation({"question": question, "answer": {"reason": reason}}, title=question))
    for written in (reason or "No answer.", question or "(no question)"):
        assert re.sub(r"[\x00-\x08\x0e-\x1b\x7f-\x9f]", "\ufffd", " ".join(written.split())) in visible_text(text)


@given(st.lists(st.sampled_from(MARKUP) | st.text(max_size=30), max_size=6).map("\n".join))
def test_any_answer_has_no_headings_html_or_other_links(answer: str) -> None:
    text = markdown(conversation({"question": "Why?", "answer": {"answer": answer}}))
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert [token.content for before, token in pairwise(tokens) if before.type == "heading_open"] == ["Cats", "Why?"]
    parts = [part for token in tokens for part in token.children or ()]
    assert not {token.type for token in (*tokens, *parts)} & {"html_block", "html_inline", "image"}
    assert all(str(part.attrs["href"]).startswith("http") for part in parts if part.type == "link_open")


@given(st.text(max_size=200))
def test_titles_become_safe_file_names(title: str) -> None:
    name = file_name(title)
    assert 0 < len(name) <= 80
    assert not re.search(r'[/\\:*?"<>|\x00-\x1f]', name)
    assert not name.startswith(".")


def test_whole_conversation_from_the_store(store: Store) -> None:
    turn = store.save_turn(question="Why?", answer={"answer": "So."}, rewritten="Why so?", conversation="c", asked=1.0)
    store.save_feedback(turn, "down")
    store.save_feedback(turn, "up", "well")
    payload = whole(store, "c")
    assert (payload["title"], [turn["rewritten"] for turn in payload["turns"]]) == ("Why?", ["Why so?"])
    assert payload["turns"][0]["feedback"] == {"vote": "up", "comment": "well"}
    assert "*voted up: well*" in markdown(payload)
