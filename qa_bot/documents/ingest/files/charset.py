"""Guesses the encoding of texts that are not UTF-8. The only file that imports charset_normalizer.

A guess is made only from bytes that are no valid UTF-8, among encodings that are common in old documents.
"""

from __future__ import annotations

import re
import unicodedata

MULTI_BYTE = ("cp932", "euc_jp", "gb18030", "big5", "cp949")
OTHER_SCRIPTS = ("cp1251", "koi8_r", "cp1253", "cp1255", "cp1256", "tis_620")
LATIN = ("cp1252", "cp1250", "cp1254")
NAMES = {"cp932": "Shift-JIS", "euc_jp": "EUC-JP", "cp949": "EUC-KR", "koi8_r": "KOI8-R", "tis_620": "TIS-620"}
SYMBOL_IN_WORD = re.compile(r"(?<=[^\W\d_])[^\w\s'’.,:;/@&()+_\-–—\"“”„«»*|<>=#]+(?=[^\W\d_])")
RARE_WESTERN = frozenset("ÿðþÐÞ¹²³ªº")
CZECH = frozenset("šžŠŽ"), frozenset("ìèøùò")
NUL_SHARE = 0.25  # of every second byte of UTF-16 text in Latin letters


def unmarked_utf_16(head: bytes) -> str | None:
    """`utf-16-le` or `utf-16-be` if the bytes are text of it without a byte order mark."""
    if len(head) < 4 or b"\0" not in head:
        return None
    even, odd = head[0 : len(head) // 2 * 2 : 2], head[1::2]
    for name, zeros, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if zeros.count(0) >= NUL_SHARE * len(zeros) and others.count(0) == 0:
            text = head[: len(head) // 2 * 2].decode(name, "replace")
            if not any(
                unicodedata.category(character) in {"Cc", "Cn", "Co"} - _allowed(character) for character in text
            ):
                return name
    return None


def guessed_encoding(sample: bytes) -> str | None:
    """The likely encoding of bytes that are no UTF-8, or None if they are UTF-8, perhaps with errors."""
    text = sample.decode("utf-8", "ignore")
    invalid = len(sample) - len(text.encode())
    if invalid <= 3 and _is_cut_at_the_end(sample):
        return None
    if sum(not character.isascii() for character in text) >= invalid:
        return None  # UTF-8 with some damage
    from charset_normalizer import from_bytes  # late: it loads tables, and most files are UTF-8

    best = from_bytes(sample, cp_isolation=[*LATIN, *OTHER_SCRIPTS, *MULTI_BYTE], enable_fallback=False).best()
    candidates = [best.encoding] if best and best.encoding not in LATIN else []
    candidates += ["cp1252"] if not best or best.encoding != "cp1250" or not _is_czech(sample) else []
    candidates += [best.encoding] if best else []
    return next((name for name in candidates if _is_plausible(sample, name)), None)


def shown(encoding: str) -> str:
    """The encoding's usual name."""
    return NAMES.get(encoding, encoding.upper())


def _allowed(character: str) -> set[str]:
    return {"Cc"} if character in "\t\n\r\f\v" else set()


def _is_cut_at_the_end(sample: bytes) -> bool:
    """Whether the only invalid bytes are the start of a character that the sample cuts."""
    try:
        sample.decode()
    except UnicodeDecodeError as error:
        return error.end == len(sample) and "end of data" in error.reason
    return True


def _is_czech(sample: bytes) -> bool:
    letters = set(sample.decode("cp1252", "ignore"))
    return all(letters & group for group in CZECH)


def _is_plausible(sample: bytes, encoding: str) -> bool:
    if encoding in MULTI_BYTE:
        return True
    text = sample.decode(encoding, "replace")
    if "\ufffd" in text or SYMBOL_IN_WORD.search(text) or (encoding == "cp1252" and RARE_WESTERN & set(text)):
        return False
    return encoding in LATIN or not _mixes_scripts(text)


def _mixes_scripts(text: str) -> bool:
    """Whether ASCII letters and others are in one word."""
    return re.search(r"[a-zA-Z][^\W\d_a-zA-Z]|[^\W\d_a-zA-Z][a-zA-Z]", text) is not None
