"""Documents that Word saved as web pages: their title is only a class, and their contents are paragraphs."""

from __future__ import annotations

import re

_TITLE = re.compile(r"<p class=[\"']?MsoTitle\b[^<>]*>((?:(?!</?p\b).)*+)</p>", re.DOTALL)
_CONTENTS = re.compile(r"<p class=[\"']?MsoToc(?:\d|Heading)\b[^<>]*>(?:(?!</?p\b).)*+</p>", re.DOTALL)


def with_titles(page: str) -> str:
    """The page with a heading for its title, and without its table of contents; other pages unchanged."""
    if "MsoTitle" not in page and "MsoToc" not in page:
        return page
    return _CONTENTS.sub("", _TITLE.sub(r"<h1>\1</h1>", page))
