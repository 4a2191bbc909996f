"""Collects the inline text of one block: links, emphasis, code, line breaks."""

from __future__ import annotations

import re
from enum import Enum
from urllib.parse import urlsplit

# Placeholders while white space is folded: Unicode noncharacters, which never occur in text.
_BREAK, _GAP, _LINK, _URL, _LINK_END = "\ufdd2", "\ufdd3", "\ufdd4", "\ufdd5", "\ufdd6"
_MARKS = re.compile("[\ufdd0-\ufdef]")
_BREAKS = re.compile(rf" ?{_BREAK} ?")
_LINKED = re.compile(rf"{_LINK}([^{_LINK}{_URL}{_LINK_END}]*){_URL}(\d+){_LINK_END}")
_GLUED = re.compile(rf"(?<=\w){_GAP}(?=[\w{_GAP}])")
_SPACED = re.compile(rf" {_GAP}(?= )")
_URL_END = re.compile(rf"{_URL}\d*{_LINK_END}?")
_BACKTICKS = re.compile(r"`+")
INVISIBLE = " \n\u200b\u2060\ufeff"
"""Editors write these before and after the words of a paragraph, and one alone into an empty one."""
LONGEST_URL = 500  # characters; longer ones are data rather than addresses
SCHEMES = {"http", "https", "mailto"}
_MAIL_ADDRESS = re.compile(r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,63}")
"""An address that people give as the target of a link, without "mailto:"."""


class Emphasis(Enum):
    """A kind of emphasis: its two placeholders and its sign in Markdown."""

    STRONG = ("\ufdd7", "\ufdd8", "**")
    ITALIC = ("\ufdd9", "\ufdda", "*")
    DELETED = ("\ufddb", "\ufddc", "~~")


class Inline:
    """Pieces of text in order; `take` gives them as Markdown and begins the next block."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._urls: list[str] = []

    def text(self, text: str) -> None:
        self._parts.append(text)

    def gap_if_glued(self) -> None:
        """A space, if there are letters or digits on both sides."""
        self._parts.append(_GAP)

    def note_mark(self, mark: str) -> None:
        """The mark of a footnote, apart from the word before it; at the begin, the label of the text after it."""
        self._parts.append(f" {mark}" if any(map(str.strip, self._parts)) else f"{mark} ")

    def line_break(self) -> None:
        self._parts.append(_BREAK)

    def begin(self, emphasis: Emphasis) -> None:
        self._parts.append(emphasis.value[0])

    def end(self, emphasis: Emphasis) -> None:
        self._parts.append(emphasis.value[1])

    def begin_link(self) -> None:
        self._parts.append(_LINK)

    def end_link(self, url: str) -> None:
        self._parts.append(f"{_URL}{len(self._urls)}{_LINK_END}")
        self._urls.append(url)

    def code(self, text: str) -> None:
        """Code between backticks, more of them if it has some inside."""
        folded = " ".join(text.split())
        if folded:
            fence = max([*_BACKTICKS.findall(folded), ""], key=len) + "`"
            gap = " " if "`" in folded else ""
            self._parts.append(f"{fence}{gap}{folded}{gap}{fence}")

    def last_word(self) -> str:
        """The characters since the last white space."""
        tail = _MARKS.sub("", "".join(self._parts[-3:]))
        return "" if not tail or tail[-1].isspace() else tail.split()[-1]

    def take(self) -> str:
        """Markdown, one line for each line of the block."""
        if not self._parts:
            return ""
        text = self._folded()
        if _MARKS.search(text):
            text = _URL_END.sub("", _LINKED.sub(self._link, text))
            for emphasis in Emphasis:
                text = _emphasised(text, *emphasis.value)
            text = re.sub(" {2,}", " ", _MARKS.sub("", text.replace(_BREAK, "\n")))
        self._clear()
        return text.strip(INVISIBLE)

    def take_plain(self) -> str:
        """The text alone on one line, for headings."""
        text = _URL_END.sub("", self._folded())
        self._clear()
        return " ".join(_MARKS.sub("", text.replace(_BREAK, " ").replace("`", "")).split()).strip(INVISIBLE)

    def _folded(self) -> str:
        text = " ".join("".join(self._parts).split())
        text = _GLUED.sub(" ", _SPACED.sub("", text)).replace(_GAP, "") if _GAP in text else text
        return _BREAKS.sub(_BREAK, text) if _BREAK in text else text

    def _clear(self) -> None:
        self._parts.clear()
        self._urls.clear()

    def _link(self, match: re.Match[str]) -> str:
        number = int(match[2])
        return markdown_link(match[1], self._urls[number] if number < len(self._urls) else "")


def markdown_link(text: str, url: str) -> str:
    """`[text](url)` for web and mail addresses; the text alone for others, and if it is the address itself."""
    label = text.strip()
    url = "".join(url.split())
    url = f"mailto:{url}" if _MAIL_ADDRESS.fullmatch(url) else url
    address = url.removeprefix("mailto:").partition("?")[0] if url.startswith("mailto:") else url
    if not label or label in {url, address} or len(url) > LONGEST_URL or not _is_public(url):
        return text
    address = url.replace("(", "%28").replace(")", "%29")
    before = text[: len(text) - len(text.lstrip())]
    after = text[len(text.rstrip()) :]
    return f"{before}[{label}]({address}){after}"


def _is_public(url: str) -> bool:
    try:
        return urlsplit(url).scheme.lower() in SCHEMES
    except ValueError:  # a broken IPv6 address
        return False


def _emphasised(text: str, begin: str, end: str, sign: str) -> str:
    """The signs in place of balanced placeholders, if Markdown would read them as emphasis."""
    if begin not in text:
        return text
    text = re.sub(rf"{end}(\s*){begin}", r"\1", text)  # neighbours join

    def signed(match: re.Match[str]) -> str:
        inner = match[1]
        core = inner.strip(INVISIBLE + _BREAK)
        if not core or sign[0] in core:
            return inner
        start = inner.index(core)
        left = inner[:start][-1:] or match.string[: match.start()][-1:]
        right = inner[start + len(core) :][:1] or match.string[match.end() :][:1]
        glued = (left.isalnum() and not core[0].isalnum()) or (right.isalnum() and not core[-1].isalnum())
        return inner if glued else f"{inner[:start]}{sign}{core}{sign}{inner[start + len(core) :]}"

    return re.sub(rf"{begin}([^{begin}{end}]*){end}", signed, text)
