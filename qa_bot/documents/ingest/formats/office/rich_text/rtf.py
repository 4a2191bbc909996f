"""Reads RTF files: headings by style or bold type, lists, tables, links, notes; deleted and hidden text is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from qa_bot.documents.ingest.files.byte_budget import LimitError
from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.formats.office.package import LARGEST_PART
from qa_bot.documents.ingest.formats.office.properties import Properties, check_size, document_record
from qa_bot.documents.ingest.formats.office.rich_text.blocks import RtfBlocks
from qa_bot.documents.ingest.formats.office.rich_text.tokens import CHARSETS, Token, codec_of, tokens
from qa_bot.documents.ingest.formats.office.symbol_fonts import is_symbol_font, symbols
from qa_bot.documents.ingest.formats.run_marks import marked
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item, Reject

SKIPPED = {
    *("colortbl", "pict", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf"),
    *("listtable", "listoverridetable", "rsidtbl", "generator", "themedata", "colorschememapping", "latentstyles"),
    *("datastore", "xmlnstbl", "objdata", "nonshppict", "annotation", "atnid", "atnauthor", "atnref", "atndate"),
    *("bkmkstart", "bkmkend", "sp", "falt", "panose", "private", "xe", "tc", "nonesttables", "pnseclvl"),
}
"""Groups without text of the document."""
SINKS = {"fonttbl", "stylesheet", "info", "fldinst", "title", "keywords", "listtext", "pntext", "footnote", "revtim"}
KEPT_STARRED = SINKS | {"shpinst", "shptxt", "nesttableprops", "fldrslt"}
SIGNS = {"~": "\u00a0", "_": "\u2011", "-": ""}
CHARACTERS = {
    "tab": "\t",
    "line": "\n",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "bullet": "•",
    "endash": "–",
    "emdash": "—",
    "emspace": " ",
    "enspace": " ",
}
MOST_GROUPS = 10_000  # nested ones
PROGRESS = 100_000


@dataclass
class _Field:
    instruction: list[str] = field(default_factory=list)
    start: int = -1


@dataclass
class _Group:
    """What a group inherits and changes."""

    sink: str = ""  # the destination that text goes to, "" for the document
    is_skipped: bool = False
    is_hidden: bool = False
    is_bold: bool = False
    is_raised: bool = False
    is_struck: bool = False
    unicode_length: int = 1
    font: int = -1
    is_starred: bool = False
    field: _Field | None = None
    owns_field: bool = False


class _BadRtfError(Exception):
    """The file cannot be read; the message says why."""


def read(file: SourceFile) -> Iterator[Item]:
    """One record with the path as its id: its title from the metadata or the style Title."""
    with file.file() as stream:
        data = stream.read(LARGEST_PART * file.limits.record_bytes + 1)
    if len(data) > LARGEST_PART * file.limits.record_bytes:
        raise LimitError(over_record_limit(file.limits))
    writer = MarkdownWriter()
    reader = _Reader(writer)
    try:
        for number, token in enumerate(tokens(data.decode("latin-1"))):
            reader.add(token)
            if number % PROGRESS == 0:
                file.progress()
                check_size(file, writer)
    except _BadRtfError as error:
        yield Reject(file.where, str(error))
        return
    reader.blocks.end()
    properties = Properties.of(
        title="".join(reader.properties["title"]),
        date=reader.date,
        keywords="".join(reader.properties["keywords"]),
    )
    yield document_record(file, writer, properties, reader.blocks.title)


class _Reader:
    def __init__(self, writer: MarkdownWriter) -> None:
        self.blocks = RtfBlocks(writer)
        self.properties: dict[str, list[str]] = {"title": [], "keywords": []}
        self.date = ""
        self._group = _Group()
        self._stack: list[_Group] = []
        self._codec = "cp1252"
        self._fonts: dict[int, str] = {}  # number → codec
        self._font_names: dict[int, str] = {}
        self._defined = 0  # the font or style that is being defined
        self._default_font = 0
        self._skip_bytes = 0  # the replacement of a Unicode character for older programs
        self._surrogate = 0
        self._time: dict[str, int] = {}
        self._words: dict[str, Callable[[int | None], None]] = {
            "u": self._unicode,
            "uc": lambda number: self._set(unicode_length=max(0, number or 0)),
            "f": self._font,
            "deff": lambda number: setattr(self, "_default_font", number or 0),
            "fcharset": self._charset,
            "ansicpg": lambda number: setattr(self, "_codec", codec_of(number or 1252)),
            "mac": lambda _: setattr(self, "_codec", "mac_roman"),
            "deleted": lambda number: self._set(is_hidden=number != 0),
            "v": lambda number: self._set(is_hidden=number != 0),
            "b": lambda number: self._set(is_bold=number != 0),
            "plain": lambda _: self._set(is_bold=False, is_raised=False, is_struck=False, font=-1),
            "super": lambda _: self._set(is_raised=True),
            "up": lambda number: self._set(is_raised=number != 0),
            **dict.fromkeys(("nosupersub", "sub", "dn"), lambda _: self._set(is_raised=False)),
            **dict.fromkeys(("strike", "striked"), lambda number: self._set(is_struck=number != 0)),
            "field": self._begin_field,
            "fldrslt": self._field_result,
            "*": lambda _: self._set(is_starred=True),
        }

    def add(self, token: Token) -> None:
        """The next token of the file."""
        if token.brace:
            self._brace(token.brace)
        elif token.data:
            self._bytes(token.data)
        else:
            self._word(token.word, token.number)

    def _set(self, **changes: object) -> None:
        for name, value in changes.items():
            setattr(self._group, name, value)

    def _brace(self, brace: str) -> None:
        self._skip_bytes = 0
        if brace == "{":
            if len(self._stack) >= MOST_GROUPS:
                raise _BadRtfError("Expected an RTF file, but got one nested too deeply; save it anew.")
            self._stack.append(self._group)
            self._group = replace(self._group, is_starred=False, owns_field=False)
            if self._group.sink == "stylesheet":
                self._defined = 0  # the style without a number
        elif self._stack:
            ended, self._group = self._group, self._stack.pop()
            self._end_group(ended)

    def _end_group(self, ended: _Group) -> None:
        if ended.owns_field and ended.field is not None and ended.field.start >= 0:
            self.blocks.end_link(ended.field.start, "".join(ended.field.instruction))
        if ended.sink != self._group.sink:
            if ended.sink == "footnote":
                self.blocks.end_note()
            elif ended.sink == "revtim":
                parts = [self._time.get(name, 1) for name in ("yr", "mo", "dy", "hr", "min")]
                self.date = "{:04}-{:02}-{:02}T{:02}:{:02}".format(*parts)

    def _word(self, word: str, number: int | None) -> None:
        group = self._group
        if group.is_starred and word not in KEPT_STARRED and word != "*":
            group.is_skipped = True
        group.is_starred = group.is_starred and word == "*"
        if word in SKIPPED:
            group.is_skipped = True
        if group.is_skipped:
            return
        if word in {"fonttbl", "stylesheet", "info", "title", "keywords", "listtext", "pntext", "fldinst", "revtim"}:
            group.sink = word
        elif word == "footnote":
            group.sink = word
            self._set(is_raised=False, is_struck=False)
            self.blocks.begin_note()
        elif handler := self._words.get(word):
            handler(number)
        elif word in CHARACTERS or word in SIGNS:
            self._text(CHARACTERS.get(word, SIGNS.get(word, "")))
        elif word in {"\\", "{", "}"}:
            self._text(word)
        else:
            self._other(word, number)

    def _other(self, word: str, number: int | None) -> None:
        sink = self._group.sink
        if sink == "stylesheet" and word == "s":
            self._defined = number or 0
        elif sink == "stylesheet" and word == "outlinelevel":
            self.blocks.define_level(self._defined, (number or 0) + 1)
        elif sink == "revtim" and number is not None:
            self._time[word] = number
        elif sink in {"", "footnote"} and not self._group.is_hidden:
            self.blocks.word(word, number)

    def _bytes(self, data: bytes) -> None:
        skipped, self._skip_bytes = min(self._skip_bytes, len(data)), max(0, self._skip_bytes - len(data))
        if not self._group.is_skipped and len(data) > skipped:
            codec = "latin-1" if is_symbol_font(self._font_name) else self._fonts.get(self._font_number, self._codec)
            self._text(data[skipped:].decode(codec, "replace"))

    @property
    def _font_number(self) -> int:
        return self._group.font if self._group.font >= 0 else self._default_font

    @property
    def _font_name(self) -> str:
        return self._font_names.get(self._font_number, "")

    def _text(self, text: str) -> None:
        group = self._group
        if group.is_skipped or group.is_hidden:
            return
        if group.sink == "fldinst" and group.field is not None:
            group.field.instruction.append(text)
        elif group.sink in self.properties:
            self.properties[group.sink].append(text)
        elif group.sink == "fonttbl":
            self._font_names[self._defined] = self._font_names.get(self._defined, "") + text
        elif group.sink == "stylesheet":
            self.blocks.define_style(self._defined, text)
        elif group.sink in {"listtext", "pntext"}:
            self.blocks.sign(symbols(text, self._font_name))
        elif group.sink in {"", "footnote"}:
            text = marked(symbols(text, self._font_name), is_raised=group.is_raised, is_struck=group.is_struck)
            self.blocks.text(text, is_bold=group.is_bold)

    def _unicode(self, number: int | None) -> None:
        code = (number or 0) % 0x10000
        self._skip_bytes = self._group.unicode_length
        if 0xD800 <= code < 0xDC00:
            self._surrogate = code
        elif 0xDC00 <= code < 0xE000:
            if self._surrogate:
                self._text(chr(0x10000 + ((self._surrogate - 0xD800) << 10) + code - 0xDC00))
            self._surrogate = 0
        else:
            self._text(chr(code))

    def _font(self, number: int | None) -> None:
        if self._group.sink == "fonttbl":
            self._defined = number or 0
        else:
            self._group.font = number or 0

    def _charset(self, number: int | None) -> None:
        if self._group.sink == "fonttbl" and number in CHARSETS and number != 0:
            self._fonts[self._defined] = CHARSETS[number]

    def _begin_field(self, _: int | None) -> None:
        self._set(field=_Field(), owns_field=True)

    def _field_result(self, _: int | None) -> None:
        self._group.sink = "footnote" if any(group.sink == "footnote" for group in self._stack) else ""
        if self._group.field is not None:
            self._group.field.start = self.blocks.position
