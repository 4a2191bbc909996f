"""Names that clients give: of files, which never become paths on the disk, and of collections."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from qa_core.text.safe_text import has_control_characters, valid

NAME = 255
"""Longest name of a file, in bytes of UTF-8."""
COLLECTION = 200
"""Longest name of a collection, in characters."""
CONTROLS = r"\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"
"""Characters that no name may have, for a class of a pattern: control characters, line ends, signs of direction."""
COLLECTION_PATTERN = rf"^[^\s{CONTROLS}]([^{CONTROLS}]*[^\s{CONTROLS}])?$"
"""Of names of collections."""
SUFFIX = ".md"
_KEPT = 200
"""Bytes of a title that a name of a file keeps."""


def file_name(sent: str) -> str:
    """The last part of a path as a browser of any system sends it, without control characters.

    Raises ValueError if nothing is left of it, or too much.
    """
    name = _printable(re.split(r"[/\\]", valid(sent))[-1]).strip()
    if name.strip(".") == "":
        raise ValueError(f"Expected a file with a name, but got {sent[:60]!r}; name it.")
    if (size := len(name.encode())) > NAME:
        raise ValueError(f"Expected a file name of at most {NAME} bytes, but got {size:,}; rename the file.")
    return name


def file_of_title(title: str) -> str:
    """The name of a Markdown file for a title: the same for the same title, and another for any other.

    >>> file_of_title("Opening hours")
    'Opening hours.md'
    """
    words = " ".join(valid(title).split())
    name = _printable(re.sub(r"[/\\:#!]", "-", words)).encode()[:_KEPT].decode(errors="ignore").strip()
    if name != words or not name.strip("."):
        name = f"{name}-{hashlib.blake2b(words.encode(), digest_size=6).hexdigest()}"
    return f"{name}{SUFFIX}"


def expect_collection(name: str) -> str:
    """The name of a collection; raises ValueError for one that none can have."""
    if len(name) > COLLECTION or not re.fullmatch(COLLECTION_PATTERN, name):
        raise ValueError(
            f"Expected a collection of at most {COLLECTION} characters, without line ends or blanks around it, but got "
            f"{name[:60]!r}; choose another name."
        )
    return name


def _printable(name: str) -> str:
    signs = (sign for sign in unicodedata.normalize("NFC", name) if not has_control_characters(sign))
    return "".join(signs)
