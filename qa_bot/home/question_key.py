"""What is a question, and the key of one: equal for spellings that differ in case, blanks and end punctuation."""

from __future__ import annotations

import re
from hashlib import blake2b

_ENDS = ".?!…。．？！؟ "
_UNSTORABLE = re.compile("[\x00\ud800-\udfff\ufffd]")  # equal keys before and after a database has replaced these


_READABLE = re.compile(r"\w")


def is_readable(question: str) -> bool:
    """Whether a text has letters or digits, without which there is nothing to answer."""
    return _READABLE.search(question) is not None


def question_key(question: str) -> str:
    """32 hex digits. A question of end punctuation alone keeps it."""
    blank = " ".join(_UNSTORABLE.sub(" ", question.casefold()).split())
    return blake2b((blank.rstrip(_ENDS) or blank).encode(), digest_size=16).hexdigest()
