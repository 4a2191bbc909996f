"""Words of a page that are values of a form's fields, and signs in place of its boxes."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from qa_bot.documents.ingest.formats.pages.lines import Word

TICKS = ("☐", "☒")
Corners = tuple[float, float, float, float]
"""Left, bottom, right and top of a box in the file's coordinates."""


def ordered(box: Corners) -> Corners:
    """Left, top, right and bottom of a box on the page, however the page is turned."""
    return min(box[0], box[2]), min(box[1], box[3]), max(box[0], box[2]), max(box[1], box[3])


def with_values(words: list[Word], boxes: Sequence[Corners]) -> list[Word]:
    """The words with those in fields as text of the usual size: a form enlarges some values."""
    heights = [word.bottom - word.top for word in words if not any(_is_in(word, box) for box in boxes)]
    if not boxes or not heights:
        return words
    usual = median(heights)
    return [
        word._replace(top=word.bottom - min(usual, word.bottom - word.top), is_bold=False)
        if any(_is_in(word, box) for box in boxes)
        else word
        for word in words
    ]


def with_ticks(words: list[Word], ticks: Sequence[tuple[Corners, bool]]) -> list[Word]:
    """The words with a sign in place of each box, beside the nearest word of its row, which is its name."""
    words = [word for word in words if not any(_is_in(word, box) for box, _ in ticks)]
    for box, is_set in ticks:
        middle = (box[1] + box[3]) / 2
        beside = [
            (max(word.left - box[2], box[0] - word.right), place)
            for place, word in enumerate(words)
            if word.text not in TICKS and word.top <= middle <= word.bottom
        ]
        sign = Word(TICKS[is_set], *box)
        if beside:
            _, place = min(beside)
            name, half = words[place], min((box[2] - box[0]) / 2, (words[place].bottom - words[place].top) / 3)
            centre = (box[0] + box[2]) / 2
            sign = sign._replace(left=centre - half, top=name.top, right=centre + half, bottom=name.bottom)
            words.insert(place + (name.right <= box[0]), sign)
        else:
            words.append(sign)
    return words


def _is_in(word: Word, box: Corners) -> bool:
    return box[0] <= (word.left + word.right) / 2 <= box[2] and box[1] <= (word.top + word.bottom) / 2 <= box[3]
