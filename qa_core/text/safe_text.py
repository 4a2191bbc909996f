"""Text of strangers made safe to show: control characters, invalid Unicode."""

from __future__ import annotations

import re

_CONTROL = dict.fromkeys(
    [*range(9), *range(11, 32), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
)
_ANY = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_IN_JSON = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")


def clean(text: str) -> str:
    """Text without characters that control a terminal or reorder what is around them; line ends and tabs stay."""
    return text.translate(_CONTROL)


def escaped(text: str) -> str:
    r"""Text with its control characters, line ends and signs of direction included, as escapes (`a\nb`, `a\u202eb`)."""
    return _ANY.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def escaped_json(data: bytes) -> bytes:
    """The same JSON with escapes for what a terminal would obey; those of ASCII below the blank it has anyway."""
    return _IN_JSON.sub(lambda match: b"\\u%04x" % ord(match[0].decode()), data)


def has_control_characters(text: str) -> bool:
    """Whether a text has control characters, line ends and signs of direction included."""
    return _ANY.search(text) is not None


def valid(text: str) -> str:
    """Text with a question mark for each lone surrogate, such as those of arguments that are no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
