"""Words, metadata, outline and pictures of a PDF file. The only file that imports pypdfium2."""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, Any

import pypdfium2
from pypdfium2 import raw

from qa_bot.documents.ingest.formats.pages.form_fields import Corners, ordered, with_ticks, with_values
from qa_bot.documents.ingest.formats.pages.lines import BREAK_HYPHENS, Rule, Upright, Word
from qa_bot.documents.ingest.formats.run_marks import marked

FORCED_BOLD = 0x40000  # a flag of PDF's font descriptors
FIXED_PITCH = 0x1
BOLD = re.compile(r"bold|black|heavy|semibold|demi", re.IGNORECASE)
MONO = re.compile(r"courier|mono|consol|menlo|typewriter|code", re.IGNORECASE)
WORD = re.compile(rf"[^\s{BREAK_HYPHENS}]+[{BREAK_HYPHENS}]?")
DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+-]\d\d)'?(\d\d)|(Z))?")
DIGITS = "0123456789"
DIGIT = re.compile(f"[{DIGITS}]")
RAISED_SIGNS = f"{DIGITS},;-+−–)"
SMALLER = 0.85  # of a letter's height
RAISED_BY = 0.15  # of a letter's height
HIGH = 0.3  # of a letter's height; what is raised so far need not be much smaller
NEAR = 0.6  # heights between a letter and what is raised after it
FEW_WORDS = 12
SCAN_SHARE = 0.25  # of the page that pictures take
SHORTEST_RULE = 15.0  # points
SHORTEST_UPRIGHT = 8.0
THICKEST_RULE = 2.5
MOST_ANNOTATIONS = 1000
MOST_PATHS = 5000  # of a page: drawings have more, tables fewer
PASSWORD_ERROR = raw.FPDF_ERR_PASSWORD


DamageError = pypdfium2.PdfiumError
"""An error of the library for damaged files and pages."""


class PasswordError(Exception):
    """The file cannot be opened without a password."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its number from 1, its size in points, its words in the file's order, its drawn lines.

    `is_scan` says that it shows pictures and hardly any text; `notes` are remarks that a click shows.
    """

    number: int
    width: float
    height: float
    words: list[Word]
    rules: list[Rule]
    uprights: list[Upright]
    is_scan: bool
    notes: list[str]


@dataclass(slots=True)
class _Annotations:
    """What lies above a page: boxes in the file's coordinates."""

    ticks: list[tuple[Corners, bool]] = field(default_factory=list)  # boxes and round buttons, and whether they are set
    fields: list[Corners] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Document:
    """An opened PDF file."""

    def __init__(self, pdf: Any) -> None:
        self._pdf = pdf
        self._fonts: dict[tuple[str, int], tuple[bool, bool]] = {}
        metadata = pdf.get_metadata_dict()
        self.title: str = metadata.get("Title", "").strip()
        self.date: str = iso_date(metadata.get("ModDate", "")) or iso_date(metadata.get("CreationDate", ""))

    def __len__(self) -> int:
        return len(self._pdf)

    def outline(self, most: int = 10_000) -> Iterator[tuple[int, str]]:
        """Level from 0, and title, of each entry of the table of contents."""
        for number, entry in enumerate(self._pdf.get_toc(max_depth=6)):
            if number == most:
                return
            yield entry.level, (entry.get_title() if hasattr(entry, "get_title") else entry.title) or ""

    def page(self, number: int) -> Page:
        """Raises an error of the library if the page is damaged."""
        page = self._pdf[number - 1]
        above = _annotations(page)
        if above.ticks or above.fields:
            # their contents become part of the page; it has to be opened again
            raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
            page.close()
            page = self._pdf[number - 1]
        try:
            width, height = page.get_size()
            to_page = _rotation(page)
            values = [ordered(to_page(*box)) for box in above.fields]
            ticks = [(ordered(to_page(*box)), is_set) for box, is_set in above.ticks]
            words = with_ticks(with_values(_with_turned_last(list(self._words(page)), height), values), ticks)
            is_scan = len(words) < FEW_WORDS and any(
                _area(item) > SCAN_SHARE * width * height
                for item in page.get_objects([raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)
            )
            return Page(number, width, height, words, *_drawn(page), is_scan, above.notes)
        finally:
            page.close()

    def picture(self, number: int, dots_per_inch: int) -> tuple[int, int, bytes]:
        """Width, height and grey pixels, row by row, of a page."""
        page = self._pdf[number - 1]
        try:
            bitmap = page.render(scale=dots_per_inch / 72, grayscale=True)
            pixels, stride = bytes(bitmap.buffer), bitmap.stride
            rows = (pixels[row * stride : row * stride + bitmap.width] for row in range(bitmap.height))
            return bitmap.width, bitmap.height, b"".join(rows)
        finally:
            page.close()

    def _words(self, page: Any) -> Iterator[tuple[int, Word]]:
        """Direction, in quarters of a turn, and word."""
        text_page = page.get_textpage()
        try:
            text = _text(text_page)
            to_page = _rotation(page)
            is_upright = page.get_rotation() == 0
            before: Corners | None = None  # the last letter that is not raised
            for match in WORD.finditer(text):
                end = match.end() - (match[0][-1] in BREAK_HYPHENS) - 1
                first, last = _box(text_page, match.start()), _box(text_page, max(match.start(), end))
                if first and last:
                    is_bold, is_mono = self._style(text_page, match.start())
                    angle = raw.FPDFText_GetCharAngle(text_page, match.start())
                    turns = round(angle / (math.pi / 2)) % 4
                    shown = match[0]
                    if is_upright and not turns:
                        shown, before = _with_raised(text_page, match, first, last, before)
                        if shown != match[0]:  # raised digits make no line higher
                            first, last = (_as_high_as(before, box) for box in (first, last))
                    corners = to_page(*first), to_page(*last)
                    word = Word(
                        shown,
                        min(corner[0] for corner in corners),
                        min(corner[1] for corner in corners),
                        max(corner[2] for corner in corners),
                        max(corner[3] for corner in corners),
                        is_bold,
                        is_mono,
                    )
                    yield turns, word
        finally:
            text_page.close()

    def _style(self, text_page: Any, index: int) -> tuple[bool, bool]:
        """Whether a character is bold, and whether all characters of its font have one width."""
        flags = ctypes.c_int()
        name = ctypes.create_string_buffer(128)
        raw.FPDFText_GetFontInfo(text_page, index, name, 128, flags)
        key = name.value.decode("utf-8", "replace"), flags.value
        if key not in self._fonts:
            is_bold = bool(BOLD.search(key[0]) or flags.value & FORCED_BOLD)
            self._fonts[key] = is_bold, bool(MONO.search(key[0]) or flags.value & FIXED_PITCH)
        return self._fonts[key]


@contextmanager
def opened(file: IO[bytes]) -> Iterator[Document]:
    """Raises PasswordError, or an error of the library if the file is damaged."""
    try:
        pdf = pypdfium2.PdfDocument(file)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == PASSWORD_ERROR or "password" in str(error).lower():
            raise PasswordError from error
        raise
    try:
        yield Document(pdf)
    finally:
        pdf.close()


def iso_date(text: str) -> str:
    """A date of PDF (`D:20240312…`) in ISO 8601, or ""."""
    match = DATE.match(text)
    if not match:
        return ""
    year, month, day = match[1], match[2] or "01", match[3] or "01"
    return f"{year}-{month}-{day}" if "1970" < year < "2200" and "01" <= month <= "12" and "01" <= day <= "31" else ""


def _with_turned_last(words: list[tuple[int, Word]], height: float) -> list[Word]:
    """The words in the page's main direction, then the others as a line below the page.

    Args:
        words: each with its direction in quarters of a turn.
        height: of the page in points.
    """
    directions = Counter(direction for direction, _ in words)
    if len(directions) < 2:
        return [word for _, word in words]
    main = directions.most_common(1)[0][0]
    upright = [word for direction, word in words if direction == main]
    turned = [word for direction, word in words if direction != main]
    size = sorted(word.bottom - word.top for word in upright)[len(upright) // 2]
    left = 0.0
    for word in turned:
        right = left + 0.5 * size * len(word.text)
        upright.append(word._replace(left=left, top=height + 5 * size, right=right, bottom=height + 6 * size))
        left = right + 0.3 * size
    return upright


def _annotations(page: Any) -> _Annotations:
    """A form's fields, written remarks, and remarks that a click shows."""
    above = _Annotations()
    for index in range(min(MOST_ANNOTATIONS, raw.FPDFPage_GetAnnotCount(page))):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        kind, box = raw.FPDFAnnot_GetSubtype(annotation), raw.FS_RECTF()
        is_shown = not raw.FPDFAnnot_GetFlags(annotation) & raw.FPDF_ANNOT_FLAG_HIDDEN
        if raw.FPDFAnnot_GetRect(annotation, box) and kind in {raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT}:
            corners = box.left, box.bottom, box.right, box.top
            state = _entry(annotation, b"AS")
            if state and is_shown:
                above.ticks.append((corners, state != "Off"))
            else:
                above.fields.append(corners)
        elif kind == raw.FPDF_ANNOT_TEXT and is_shown and (note := _entry(annotation, b"Contents")):
            above.notes.append(note)
        raw.FPDFPage_CloseAnnot(annotation)
    return above


def _entry(annotation: Any, key: bytes) -> str:
    """A text of an annotation in one line."""
    size = raw.FPDFAnnot_GetStringValue(annotation, key, None, 0)
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    raw.FPDFAnnot_GetStringValue(annotation, key, buffer, size)
    return " ".join(bytes(buffer).decode("utf-16-le", "replace").replace("\0", "").split())


def _area(item: Any) -> float:
    left, bottom, right, top = map(float, item.get_bounds())
    return abs((right - left) * (top - bottom))


def _drawn(page: Any) -> tuple[list[Rule], list[Upright]]:
    """Horizontal and vertical lines, and the edges of boxes."""
    to_page = _rotation(page)
    rules: list[Rule] = []
    uprights: list[Upright] = []
    for item in islice(page.get_objects([raw.FPDF_PAGEOBJ_PATH], max_depth=3), MOST_PATHS):
        left, top, right, bottom = ordered(to_page(*item.get_bounds()))
        if right - left >= SHORTEST_RULE:
            rules += [Rule(left, right, y) for y in _edges(top, bottom)]
        if bottom - top >= SHORTEST_UPRIGHT:
            uprights += [Upright(x, top, bottom) for x in _edges(left, right)]
    return rules, uprights


def _edges(start: float, end: float) -> tuple[float, ...]:
    """Both ends of a box, and one of a line."""
    return (start, end) if end - start > THICKEST_RULE else (start,)


def _text(text_page: Any) -> str:
    """One character for each index of the page's characters."""
    count = text_page.count_chars()
    text: str = text_page.get_text_range() if count > 0 else ""
    if len(text) != count:  # characters outside of the basic plane, or without a code
        codes = (raw.FPDFText_GetUnicode(text_page, index) for index in range(count))
        text = "".join(chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else " " for code in codes)
    return text


def _with_raised(
    text_page: Any, match: re.Match[str], first: Corners, last: Corners, before: Corners | None
) -> tuple[str, Corners]:
    """A word with marks around its raised digits, and the letter that the next word is compared with.

    Args:
        first: the box of its first character.
        last: that of its last one.
        before: the letter of the word before.
    """
    word = match[0]
    if not DIGIT.search(word):
        return word, last
    start, stop = _raised_part(text_page, match, first, before)
    if before and stop - start == len(word):
        letter = _as_high_as(before, last)
    else:
        letter = _as_high_as(first, last) if 0 < start < stop == len(word) else last
    return f"{word[:start]}{marked(word[start:stop], is_raised=True)}{word[stop:]}", letter


def _raised_part(text_page: Any, match: re.Match[str], first: Corners, before: Corners | None) -> tuple[int, int]:
    """Where a word has raised digits: at its beginning, after the letter `before`, or after its own first letter."""
    word, start = match[0], 0
    if before is not None and first[0] - before[2] < NEAR * (before[3] - before[1]) and _is_raised(first, before):
        letter = before
    else:
        letter, start = first, max(map(word.rfind, DIGITS))
        while start > 0 and _is_raised(_box(text_page, match.start() + start - 1), letter):
            start -= 1
    stop = start
    while stop < len(word) and word[stop] in RAISED_SIGNS:
        if not _is_raised(_box(text_page, match.start() + stop), letter):
            break
        stop += 1
    return start, stop


def _is_raised(box: Corners | None, letter: Corners) -> bool:
    """Whether a character is smaller than a letter before it, and stands above its base line."""
    height = letter[3] - letter[1]
    if box is None or not letter[1] + RAISED_BY * height < box[1] < letter[3]:
        return False
    return box[3] - box[1] < (1 if box[1] - letter[1] > HIGH * height else SMALLER) * height


def _as_high_as(letter: Corners, box: Corners) -> Corners:
    return box[0], letter[1], box[2], letter[3]


def _box(text_page: Any, index: int) -> Corners | None:
    rectangle = raw.FS_RECTF()
    if not raw.FPDFText_GetLooseCharBox(text_page, index, rectangle):
        return None
    return rectangle.left, rectangle.bottom, rectangle.right, rectangle.top


def _rotation(page: Any) -> Any:
    """From the file's coordinates to points from the top left corner of the shown page."""
    left, bottom, right, top = page.get_mediabox()
    match page.get_rotation():
        case 90:
            return lambda x0, y0, x1, y1: (y0 - bottom, x0 - left, y1 - bottom, x1 - left)
        case 180:
            return lambda x0, y0, x1, y1: (right - x1, y0 - bottom, right - x0, y1 - bottom)
        case 270:
            return lambda x0, y0, x1, y1: (top - y1, right - x1, top - y0, right - x0)
        case _:
            return lambda x0, y0, x1, y1: (x0 - left, top - y1, x1 - left, top - y0)
