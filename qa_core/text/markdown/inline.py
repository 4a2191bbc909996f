"""Marked-up words of a paragraph, a heading or a cell: emphasis, code, links, escapes. Time is linear in the text."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Style = Literal["strong", "em", "del", "code"]

DEEPEST = 16
"""Signs that may be open at a time; further ones are text."""
_SIGNS = re.compile(r"[`\\\[\]<*_~&]|https?:")
_ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_TICKS = re.compile("`+")
_RUN = re.compile(r"(?:\*+|_+|~+)")
_TARGET = re.compile(
    r"\(<?(?P<target>[^()\s<>]{0,1000}(?:\([^()\s]{0,100}\)[^()\s<>]{0,100})?)>?"
    r"(?:[ \t]+(?:\"[^\"]{0,300}\"|'[^']{0,300}'))?\)|\[[^\[\]]{0,100}\]"
)
_ADDRESS = re.compile(r"<((?:https?:|mailto:)[^<>\s]{1,1000}|[^<>\s@]{1,64}@[^<>\s@]{1,255})>")
_BARE = re.compile(r"https?://[^\s<>\"'`|\[\]]{1,1000}")
_ENTITY = re.compile(r"&(?:(?:amp|lt|gt|quot|apos|nbsp)|#\d{1,7}|#[xX][\da-fA-F]{1,6});")
_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
_STYLES: dict[str, Style] = {"*": "em", "_": "em", "**": "strong", "__": "strong", "***": "strong", "___": "strong"}
_STYLES["~~"] = "del"
_SCHEMES = ("http://", "https://", "mailto:")


@dataclass(frozen=True, slots=True)
class Words:
    """`text[start:end]`, shown unchanged, or as `shown`; `target` is the address of the link around it."""

    start: int
    end: int
    styles: frozenset[Style] = frozenset()
    target: str = ""
    shown: str | None = None


@dataclass(slots=True)
class _Token:
    """A stretch, or from where on a style or link holds (`opens`), or where the last one ends (`closes`)."""

    start: int = 0
    end: int = 0
    shown: str | None = None
    opens: Style | Literal["link"] | None = None
    target: str = ""
    closes: bool = False


@dataclass(slots=True)
class _Scan:
    text: str
    at: int
    end: int
    passed: int
    start: int
    tokens: list[_Token] = field(default_factory=list)
    open: list[tuple[str, _Token]] = field(default_factory=list)  # signs that may begin something
    unclosed: set[int] = field(default_factory=set)  # sizes of backtick runs without an end

    def keep(self, end: int) -> None:
        """What was passed over, up to `end`, is text."""
        if self.passed < end:
            self.tokens.append(_Token(self.passed, end))

    def go(self, end: int) -> None:
        self.at = self.passed = end

    def before(self, at: int) -> str:
        return self.text[at - 1] if at > self.start else " "

    def after(self, at: int) -> str:
        return self.text[at] if at < self.end else " "

    def begin(self, key: str, start: int, end: int) -> None:
        """A sign that may begin something; it stays text unless its end is reached."""
        if len(self.open) == DEEPEST:
            self.at = end
            return
        self.keep(start)
        token = _Token(start, end)
        self.open.append((key, token))
        self.tokens.append(token)
        self.go(end)

    def begun(self, key: str) -> _Token | None:
        """The last sign of this kind; signs after it stay text."""
        place = next((i for i in range(len(self.open) - 1, -1, -1) if self.open[i][0] == key), None)
        if place is None:
            return None
        token = self.open[place][1]
        del self.open[place:]
        return token


def inline(text: str, start: int, end: int) -> list[Words]:
    """The visible words of `text[start:end]`, in order."""
    scan = _Scan(text, start, end, start, start)
    while sign := _SIGNS.search(text, scan.at, end):
        scan.at = sign.start()
        _READERS.get(sign[0], _read_address)(scan)
    scan.keep(end)
    return _words(scan.tokens)


def _read_escape(scan: _Scan) -> None:
    if not _ESCAPE.match(scan.text, scan.at) or scan.at + 1 >= scan.end:
        scan.at += 1
        return
    scan.keep(scan.at)
    scan.passed = scan.at + 1
    scan.at += 2


def _read_code(scan: _Scan) -> None:
    """Code between two equal runs of backticks."""
    ticks = _TICKS.match(scan.text, scan.at, scan.end)
    assert ticks is not None
    start, size = ticks.end(), len(ticks[0])
    runs = _TICKS.finditer(scan.text, start, scan.end) if size not in scan.unclosed else ()
    close = next((run.start() for run in runs if len(run[0]) == size), None)
    if close is None:
        scan.unclosed.add(size)
        scan.at = start
        return
    is_padded = close - start > 2 and scan.text[start] == scan.text[close - 1] == " "
    scan.keep(scan.at)
    scan.tokens += [_Token(opens="code"), _Token(start + is_padded, close - is_padded), _Token(closes=True)]
    scan.go(close + size)


def _read_opening(scan: _Scan) -> None:
    is_image = scan.at > scan.passed and scan.before(scan.at) == "!"
    scan.begin("[", scan.at - is_image, scan.at + 1)


def _read_closing(scan: _Scan) -> None:
    closing = scan.at
    scan.at += 1
    token = scan.begun("[")
    match = token and _TARGET.match(scan.text, scan.at, scan.end)
    if not token or not match:
        return
    scan.keep(closing)
    target, is_image = match["target"] or "", token.end - token.start == 2
    token.opens, token.target = "link", "" if is_image else _allowed(target)
    scan.tokens.append(_Token(closes=True))
    scan.go(match.end())


def _read_emphasis(scan: _Scan) -> None:
    run = _RUN.match(scan.text, scan.at, scan.end)
    assert run is not None
    before, after = scan.before(run.start()), scan.after(run.end())
    in_word = before.isalnum() and after.isalnum()
    style = _STYLES.get(run[0])
    token = None
    if style and not before.isspace() and (run[0] == "**" or not in_word):
        token = scan.begun(run[0])
    if token is not None:
        scan.keep(run.start())
        token.opens = style
        scan.tokens.append(_Token(closes=True))
        scan.go(run.end())
    elif style and not before.isalnum() and not after.isspace():
        scan.begin(run[0], run.start(), run.end())
    else:
        scan.at = run.end()


def _read_angle(scan: _Scan) -> None:
    if line := _BREAK.match(scan.text, scan.at, scan.end):
        _replace(scan, line.end(), "\n")
    elif match := _ADDRESS.match(scan.text, scan.at, scan.end):
        address = match[1] if ":" in match[1] else f"mailto:{match[1]}"
        _link(scan, match.start(1), match.end(1), match.end(), address)
    else:
        scan.at += 1


def _read_entity(scan: _Scan) -> None:
    if match := _ENTITY.match(scan.text, scan.at, scan.end):
        _replace(scan, match.end(), html.unescape(match[0]))
    else:
        scan.at += 1


def _read_address(scan: _Scan) -> None:
    match = _BARE.match(scan.text, scan.at, scan.end)
    is_inside = scan.before(scan.at).isalnum() or any(key == "[" for key, _ in scan.open)
    address = "" if match is None or is_inside else _trimmed(match[0])
    if address:
        _link(scan, scan.at, scan.at + len(address), scan.at + len(address), address)
    else:
        scan.at += len("http:")


def _trimmed(address: str) -> str:
    """Without the signs that belong to its sentence."""
    end = len(address)
    while end and (address[end - 1] in ".,;:!?*_~" or (address[end - 1] == ")" and "(" not in address)):
        end -= 1
    return address[:end] if end > len("https://") else ""


def _replace(scan: _Scan, end: int, shown: str) -> None:
    scan.keep(scan.at)
    scan.tokens.append(_Token(scan.at, end, shown))
    scan.go(end)


def _link(scan: _Scan, start: int, stop: int, end: int, address: str) -> None:
    scan.keep(scan.at)
    scan.tokens += [_Token(opens="link", target=_allowed(address)), _Token(start, stop), _Token(closes=True)]
    scan.go(end)


def _allowed(target: str) -> str:
    return target if target.lower().startswith(_SCHEMES) else ""


def _words(tokens: list[_Token]) -> list[Words]:
    words: list[Words] = []
    above: list[_Token] = []
    for token in tokens:
        if token.opens:
            above.append(token)
        elif token.closes:
            above.pop()
        elif token.start < token.end:
            styles = frozenset(outer.opens for outer in above if outer.opens and outer.opens != "link")
            target = next((outer.target for outer in reversed(above) if outer.target), "")
            words.append(Words(token.start, token.end, styles, target, token.shown))
    return words


_READERS: dict[str, Callable[[_Scan], None]] = {
    "\\": _read_escape,
    "`": _read_code,
    "[": _read_opening,
    "]": _read_closing,
    "*": _read_emphasis,
    "_": _read_emphasis,
    "~": _read_emphasis,
    "<": _read_angle,
    "&": _read_entity,
}
