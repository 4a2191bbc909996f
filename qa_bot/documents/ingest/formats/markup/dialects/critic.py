"""CriticMarkup: proposed changes as accepted, and comments in parentheses."""

from __future__ import annotations

import re

SIGNS = ("{++", "{--", "{~~", "{==", "{>>")
_TEXT = r"((?:(?!\n\s*\n)[^{}]){0,2000}?)"
MARK = re.compile(rf"(?<!\{{)\{{(?:\+\+{_TEXT}\+\+|--{_TEXT}--|~~{_TEXT}~>{_TEXT}~~|=={_TEXT}==|>>{_TEXT}<<)\}}(?!\}})")


def accepted(text: str) -> str:
    """The text with what is added, and without what is deleted."""
    return MARK.sub(_accepted, text) if any(sign in text for sign in SIGNS) else text


def _accepted(match: re.Match[str]) -> str:
    added, _, _, replacement, marked, comment = match.groups()
    if comment is not None:
        return f" (Comment: {comment.strip()})" if comment.strip() else ""
    return next((text for text in (added, replacement, marked) if text is not None), "")
