"""Exports of WordPress (WXR, an RSS file): a document for each post and page, with its date and its tags."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from qa_bot.documents.ingest.dates import iso_date
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.files.xml import Handler, XmlError, stream
from qa_bot.documents.ingest.formats.markup.html import fragment
from qa_bot.documents.ingest.records import Item, Record, Reject

FIELDS = frozenset({"title", "link", "encoded", "post_date", "post_modified", "post_id", "status", "post_type"})
IGNORED_TYPES = re.compile(r"attachment|nav_menu_item|revision|custom_css|customize_changeset|oembed_cache|wp_\w+")
"""Types of items without a text for readers."""
PUBLISHED = frozenset({"", "publish", "private", "inherit"})
CODE = re.compile(r"\[(code|sourcecode)\b[^\]\n]*\](.*?)\[/\1\]", re.DOTALL)
_VALUE = r"""(?>"[^"\n]{0,2000}"|'[^'\n]{0,2000}'|[^\s\]]{1,200})"""
SHORTCODE = re.compile(rf"\[/?([a-z][\w-]{{0,60}})(?>\s{{1,20}}[\w-]{{1,60}}={_VALUE}){{0,60}}+\s{{0,20}}/?\](?!\()")
"""`[gallery ids="1,2"]` or `[/caption]`; of `[caption …]text[/caption]` the text stays."""
KNOWN_SHORTCODES = re.compile(
    r"\[/?(?:caption|gallery|embed|audio|video|playlist|contact-form|toc|more|row|column|tabs?)\b"
)
CLOSED = re.compile(r"\[/([a-z][\w-]*)\s*\]")
TITLE = re.compile(r"\stitle=(?:\"([^\"\n]*)\"|'([^'\n]*)')")
LAYOUT = re.compile(
    r"(?:vc|et_pb|fusion|av)_\w+|(?:\w+[_-])?(?:row|column|section|tab|toggle|accordion|panel|faq|spoiler)s?(?:[_-]\w+)?"
)
"""Names of shortcodes of page builders that are blocks."""
BLOCK = re.compile(r"<(?:p|h[1-6]|ul|ol|table|pre|blockquote|div|figure|dl|section|!--\s*wp:)", re.IGNORECASE)
PARAGRAPH_GAP = re.compile(r"\n\s*\n")


class _Posts(Handler[Record | Reject]):
    """Collects the fields of each `<item>`."""

    def __init__(self, file: SourceFile) -> None:
        super().__init__()
        self._file = file
        self._first_line = 1
        self._fields: dict[str, str] = {}
        self._tags: list[str] = []
        self._is_item = False
        self._field = ""
        self._pieces: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:  # noqa: ARG002  # of the protocol
        namespace, _, name = tag.rpartition("}")
        if name == "item":
            self._fields, self._tags, self._is_item, self._first_line = {}, [], True, self.line()
        elif self._is_item and (name == "category" or name in FIELDS) and "/excerpt/" not in namespace:
            self._field, self._pieces = name, []

    def data(self, text: str) -> None:
        if self._field:
            self._pieces.append(text)

    def end(self, tag: str) -> None:
        name = tag.rpartition("}")[2]
        if name == self._field:
            text, self._field = "".join(self._pieces).strip(), ""
            if name == "category":
                self._tags.append(text)
            else:
                self._fields.setdefault(name, text)
        elif name == "item":
            self._is_item = False
            if (record := self._record()) is not None:
                self.results.append(record)

    def _record(self) -> Record | None:
        fields, clean = self._fields, self._file.repairs.clean
        status = fields.get("status", "")
        if IGNORED_TYPES.fullmatch(fields.get("post_type", "")) or status in {"trash", "auto-draft"}:
            return None
        text = clean(fragment(as_html(fields.get("encoded", ""))).text)
        if not text:
            return None
        title = clean(" ".join(re.sub(r"<[^<>]*>", "", html.unescape(fields.get("title", ""))).split()))
        link = fields.get("link", "")
        return Record(
            clean(f"{self._file.name}#{fields.get('post_id') or title}"),
            title or self._file.stem,
            text,
            url=link if link.startswith("http") else "",
            where=f"{self._file.where}:{self._first_line}",
            markdown=True,
            date=iso_date(_changed(fields)),
            draft=status not in PUBLISHED,
            tags=tuple(dict.fromkeys(clean(tag) for tag in self._tags if tag)),
        )


def read(file: SourceFile) -> Iterator[Item]:
    """A record for each post and page, in the order of the file; those before an XML error are kept."""
    try:
        yield from stream(file, _Posts(file))
    except XmlError as error:
        yield Reject(f"{file.where}:{error.line}", f"{error} The posts before this line are kept.")


def as_html(content: str) -> str:
    """A post's content as HTML without shortcodes, with the `<p>` and `<br>` that WordPress adds when it shows it."""
    content = content.replace("\r\n", "\n").replace("\r", "\n")
    content = CODE.sub(lambda match: f"<pre><code>{match[2].strip(chr(10))}</code></pre>", content)
    closed = {match[1] for match in CLOSED.finditer(content)}
    content = SHORTCODE.sub(
        lambda match: _shown(match) if match[1] in closed or _is_shortcode(match[0]) else match[0], content
    )
    if "<!-- wp:" in content:
        return content
    parts = [part.strip() for part in PARAGRAPH_GAP.split(content) if part.strip()]
    return "\n".join(part if BLOCK.match(part) else f"<p>{part.replace(chr(10), '<br>')}</p>" for part in parts)


def _is_shortcode(text: str) -> bool:
    """Whether text in brackets that nothing closes is a shortcode: it has attributes or a known name."""
    return "=" in text or KNOWN_SHORTCODES.match(text) is not None


def _shown(shortcode: re.Match[str]) -> str:
    """What is shown in place of a shortcode: the title of a block, such as a toggle, as a bold label."""
    if not LAYOUT.fullmatch(shortcode[1]):
        return ""
    title = TITLE.search(shortcode[0])
    label = (title[1] or title[2] or "").strip() if title else ""
    return f"\n\n<p><b>{label}</b></p>\n\n" if label else "\n\n"


def _changed(fields: dict[str, str]) -> str:
    """When the post was changed, or written."""
    dates = (fields.get("post_modified", ""), fields.get("post_date", ""))
    return next((date for date in dates if date and not date.startswith("0000")), "")
