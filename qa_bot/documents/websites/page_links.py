"""What a page's tags say to a crawler: links, its canonical address, whether it may be indexed and followed.

The tags are scanned without building a tree, so that the time grows with the page's size only, however it is nested.
"""

from __future__ import annotations

import html as entities
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from qa_bot.documents.websites.urls import URL, UrlError, parse_url

LONGEST_TAG = 8192
FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml"})
MOST_LINKS = 2000
"""Of a page."""
# possessive quantifiers: a tag that does not end costs one look at its characters
_TAG = re.compile(r"""<([a-zA-Z][^\s/>]*+)((?:[^>"']|"[^"]*+"|'[^']*+')*+)>""")
_ATTRIBUTE = re.compile(r"""([^\s=/>"']++)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+))?""")
_SKIPPED = frozenset({"script", "style", "textarea", "title", "template", "iframe", "xmp", "svg"})
_READ = frozenset({"a", "area", "base", "link", "meta"})


@dataclass(slots=True)
class PageTags:
    """Links are normalised, without repetitions, in the order of the page."""

    links: list[URL] = field(default_factory=list)
    feeds: list[URL] = field(default_factory=list)
    canonical: URL | None = None
    index: bool = True
    follow: bool = True


def page_tags(html: str, url: URL, *, robots_header: str = "") -> PageTags:
    """Read the tags of a page; `robots_header` is the value of X-Robots-Tag."""
    tags = PageTags()
    _obey(tags, _rules_of_header(robots_header))
    base = url
    for name, attributes in _tags(html):
        if name == "base":
            base = _joined(url, attributes.get("href", "")) or base
        elif name == "meta" and attributes.get("name", "").lower() in {"robots", "qa-bot"}:
            _obey(tags, attributes.get("content", ""))
        elif name == "link":
            _add_relation(tags, base, attributes)
        elif name in {"a", "area"}:
            _add_link(tags, base, attributes)
    tags.links = list(dict.fromkeys(tags.links)) if tags.follow else []
    return tags


def _add_link(tags: PageTags, base: URL, attributes: Mapping[str, str]) -> None:
    is_wanted = "nofollow" not in attributes.get("rel", "").lower().split() and len(tags.links) < MOST_LINKS
    if is_wanted and "href" in attributes and (link := _joined(base, attributes["href"])):
        tags.links.append(link)


def _add_relation(tags: PageTags, base: URL, attributes: Mapping[str, str]) -> None:
    relations = attributes.get("rel", "").lower().split()
    target = _joined(base, attributes.get("href", ""))
    if target is not None and "canonical" in relations:
        tags.canonical = tags.canonical or target
    elif target is not None and "alternate" in relations and attributes.get("type", "").lower() in FEED_TYPES:
        tags.feeds.append(target)


def _joined(base: URL, address: str) -> URL | None:
    try:
        return parse_url(address, base) if address.strip() else None
    except UrlError:
        return None


def _obey(tags: PageTags, rules: str) -> None:
    words = {word.strip().lower() for word in rules.split(",")}
    tags.index = tags.index and not words & {"noindex", "none"}
    tags.follow = tags.follow and not words & {"nofollow", "none"}


def _rules_of_header(value: str) -> str:
    """The rules for all robots and for this one: `noindex, otherbot: nofollow` has `noindex`."""
    agent, rules = "", []
    for part in value.lower().split(","):
        name, colon, rule = part.partition(":")
        if colon and name.strip() != "unavailable_after":
            agent, part = name.strip(), rule
        if agent in {"", "qa-bot"}:
            rules.append(part)
    return ",".join(rules)


def _tags(html: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Start tags that matter, with their attributes; comments and scripts are passed over."""
    position = html.find("<")
    while position >= 0:
        if html.startswith("<!--", position):
            end = html.find("-->", position + 4)
            position = html.find("<", end) if end >= 0 else -1
            continue
        match = _TAG.match(html, position, position + LONGEST_TAG)
        if match is None:
            position = html.find("<", _after_broken_tag(html, position))
            continue
        name, end = match[1].lower(), match.end()
        if name in _READ:
            yield name, _attributes(match[2])
        position = _after_element(html, name, end) if name in _SKIPPED else html.find("<", end)


def _after_broken_tag(html: str, position: int) -> int:
    """A sign that begins no tag is text; a tag that does not end soon is passed over."""
    is_tag = html[position + 1 : position + 2].isalpha()
    return position + (LONGEST_TAG if is_tag else 1)


def _after_element(html: str, name: str, position: int) -> int:
    """The next `<` behind the element's end tag; -1 if it has none."""
    end = re.compile(rf"</{name}\b", re.IGNORECASE).search(html, position)
    return html.find("<", end.end()) if end else -1


def _attributes(text: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(text):
        values.setdefault(match[1].lower(), entities.unescape((match[2] or "").strip("\"'")))
    return values
