"""Documents that Google Docs saved or published as web pages, whose emphasis, title and nested lists are only classes.

Its spans do not contain others, nor its lists. A list of three levels is a row of lists beside each other.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from urllib.parse import unquote

GOOGLE_DOCS = ("ol{margin:0;padding:0}", "lst-kix_")
"""A rule that each of its style sheets has, and the beginning of its names of lists."""
_RULE = re.compile(r"\.(c\d+)\{([^{}]*)\}")
_STYLES = (
    (re.compile(r"(?<![\w-])font-weight:(?:bold|[6-9]00)"), "b"),
    (re.compile(r"(?<![\w-])font-style:italic"), "i"),
    (re.compile(r"(?<![\w-])text-decoration:[^;]*line-through"), "del"),
)
_SPAN = re.compile(r'<span class="([^"]*)"[^<>]*>((?:(?!</?span\b).)*+)</span>', re.DOTALL)
_HEADING = re.compile(r"(<h[1-6]\b[^<>]*>)((?:(?!</?h[1-6]\b).)*+)(</h[1-6]>)", re.DOTALL)
_TITLE = re.compile(r'<p class="(?:[^"<>]*\s)?title(?:\s[^"<>]*)?"[^<>]*>((?:(?!</?p\b).)*+)</p>', re.DOTALL)
_TO_HEADING = r'<a\b[^<>]*href="#h\.\w+"[^<>]*>[^<>]*</a>'
_CONTENTS = re.compile(
    rf"<p\b[^<>]*>(?:<span\b[^<>]*>)?{_TO_HEADING}(?:</span>)?"
    rf"(?:<span\b[^<>]*>(?:[^<>]*|{_TO_HEADING})</span>)*</p>"
)
"""A line of the table of contents: links to a heading, with the page."""
_LINK = re.compile(r'href="https?://www\.google\.com/url\?q=([^"&]+)[^"]*"')
_COMMENT_MARK = re.compile(r'<sup[^<>]*>\s*<a\b[^<>]*href="#cmnt\d+"[^<>]*>[^<>]*</a>\s*</sup>')
_COMMENT = re.compile(r'<a\b[^<>]*href="#cmnt_ref\d+"[^<>]*>[^<>]*</a>')
_FORM = re.compile(r"counter\(lst-ctr-kix_(\w+-\d+),(lower|upper)-(latin|roman)\)")
_LIST = re.compile(r"<(ul|ol)\b[^<>]*\blst-kix_(\w+)-(\d)(?!\d)[^<>]*>((?:(?!</?[uo]l\b).)*+)</\1>", re.DOTALL)
_START = re.compile(r'start="(\d{1,6})"')
_FORMS = {"lower-latin": "a", "upper-latin": "A", "lower-roman": "i", "upper-roman": "I"}


def with_elements(page: str) -> str:
    """The page with elements for its title, emphasis and nested lists; other pages unchanged."""
    if not any(mark in page for mark in GOOGLE_DOCS):
        return page
    page = _LINK.sub(lambda match: f'href="{html.escape(unquote(html.unescape(match[1])))}"', page)
    page = _CONTENTS.sub("", _TITLE.sub(r"<h1>\1</h1>", page))
    page = _COMMENT.sub("Comment: ", _COMMENT_MARK.sub("", page))
    tags = {name: tag for name, rule in _RULE.findall(page) if (tag := _tag(rule))}
    plain = _HEADING.sub(lambda match: match[1] + _SPAN.sub(r"\2", match[2]) + match[3], page)
    return _nested(_SPAN.sub(lambda match: _emphasised(match, tags), plain))


def _tag(rule: str) -> str:
    return next((tag for style, tag in _STYLES if style.search(rule)), "")


def _emphasised(match: re.Match[str], tags: dict[str, str]) -> str:
    """A span in the elements of its classes."""
    text = match[2]
    for tag in dict.fromkeys(tags[name] for name in match[1].split() if name in tags):
        text = f"<{tag}>{text}</{tag}>"
    return text


def _nested(page: str) -> str:
    """The page with each row of lists as one list."""
    forms = {name: _FORMS[f"{case}-{form}"] for name, case, form in _FORM.findall(page)}
    parts: list[str] = []
    run: list[re.Match[str]] = []
    end = 0
    for match in _LIST.finditer(page):
        between = page[end : match.start()]
        if run and (between.strip() or match[2] != run[0][2]):
            parts += _one_list(run, forms)
            run = []
        parts.append(between)
        run.append(match)
        end = match.end()
    return "".join([*parts, *_one_list(run, forms), page[end:]])


def _one_list(run: list[re.Match[str]], forms: dict[str, str]) -> Iterator[str]:
    """The lists of a row, each in the last item of the next higher one before it."""
    opened: list[tuple[int, str]] = []  # level and tag of the lists around
    for match in run:
        tag, name, level, items = match[1], match[2], int(match[3]), match[4].rstrip().removesuffix("</li>")
        while opened and (opened[-1][0] > level or (opened[-1][0] == level and opened[-1][1] != tag)):
            yield f"</li></{opened.pop()[1]}>"
        if opened and opened[-1][0] == level:
            yield f"</li>{items}"
            continue
        form = forms.get(f"{name}-{level}", "") if tag == "ol" else ""
        start = _START.search(match[0].partition(">")[0])
        attributes = f"{f' type={form}' if form else ''}{f' start={start[1]}' if start else ''}"
        opened.append((level, tag))
        yield f"<{tag}{attributes}>{items}"
    for _, tag in reversed(opened):
        yield f"</li></{tag}>"
