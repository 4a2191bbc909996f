"""Marked-up words: styles, addresses, escapes."""

from __future__ import annotations

import pytest

from qa_core.text.markdown.inline import inline

LINK = "https://a.org/x"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a **b** *c* `d`", [("a ", ""), ("b", "strong"), (" ", ""), ("c", "em"), (" ", ""), ("d", "code")]),
        ("**a *b* c**", [("a ", "strong"), ("b", "em strong"), (" c", "strong")]),
        ("2*3*4 x_y_z a * b", [("2*3*4 x_y_z a * b", "")]),
        ("~~gone~~ ~kept~", [("gone", "del"), (" ~kept~", "")]),
        ("``a ` b`` `` ` ``", [("a ` b", "code"), (" ", ""), ("`", "code")]),
        ("**open", [("**", ""), ("open", "")]),
        (r"\*a\*", [("*a", ""), ("*", "")]),
        ("<b>x</b>", [("<b>x</b>", "")]),
    ],
)
def test_styles(text: str, expected: list[tuple[str, str]]) -> None:
    words = inline(text, 0, len(text))
    assert [(text[part.start : part.end], " ".join(sorted(part.styles))) for part in words] == expected


@pytest.mark.parametrize(
    ("text", "label", "target"),
    [
        (f"[a]({LINK})", "a", LINK),
        (f'[a](<{LINK}> "title")', "a", LINK),
        ("[a](https://a.org/b_(c))", "a", "https://a.org/b_(c)"),
        (f"(see {LINK}).", LINK, LINK),
        (f"<{LINK}>", LINK, LINK),
        ("<me@a.org>", "me@a.org", "mailto:me@a.org"),
        ("[a](javascript:alert(1))", "a", ""),
        ("[a](file:///etc/passwd)", "a", ""),
        (f"![a]({LINK})", "a", ""),
        ("[a][1]", "a", ""),
    ],
)
def test_addresses(text: str, label: str, target: str) -> None:
    (part,) = [part for part in inline(text, 0, len(text)) if text[part.start : part.end] == label]
    assert part.target == target


def test_what_is_shown_in_place_of_its_source() -> None:
    words = inline("a &amp; b<br>c &#x110000;", 0, 25)
    assert [part.shown for part in words] == [None, "&", None, "\n", None, "\ufffd"]
