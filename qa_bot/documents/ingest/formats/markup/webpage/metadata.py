"""What a page says of itself: title, date, language, rules for robots, its canonical address, its links."""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qa_bot.documents.ingest.dates import is_date, iso_date
from qa_bot.documents.ingest.formats.stated_date import stated_date

DATE_NAMES = (
    "article:modified_time",
    "og:updated_time",
    "last-modified",
    "dcterms.modified",
    "dc.date.modified",
    "datemodified",
    "revised",
    "article:published_time",
    "dcterms.date",
    "dc.date",
    "datepublished",
    "date",
)
"""Names of meta elements, the last change before the publication."""
JSON_DATES = tuple(re.compile(rf'"{name}"\s*:\s*"([^"]{{4,40}})"') for name in ("dateModified", "datePublished"))
CHANGED = re.compile(r"updat|edited|modifi|revis|review|chang|ändert|aktualisi|bearbeit|mise? à jour", re.IGNORECASE)
PUBLISHED = re.compile(r"publish|posted|(?:post|entry|article|page)-?(?:meta|date)|byline|dateline", re.IGNORECASE)
"""What is in the classes around a time, or in the words before it, if it is that of the last change or publication."""
TIMES = "time[datetime], span[title]"
LABEL_LENGTH, LABEL_LEVELS = 60, 2
"""Characters before a time, and elements around it, that may say what it dates."""
MOST_TIMES = 100
FOOTERS = "footer, [role=contentinfo], #footer, body > .footer, #footer-text"
"""Elements that are no text of the page, but may date it: "This page was last edited on 4 May 2025"."""
SITE_NAME = re.compile(r"\s*[|·•»–—]\s*|\s+[-:]\s+")
PAGE_TITLES = frozenset(["title", "page-title", "entry-title", "post-title", "article-title"])
"""Classes of headings."""
LANGUAGE = re.compile(r"([A-Za-z]{2,3})(?:[-_].*)?")
MAX_LINKS = 10_000
HOME_LINKS = 'a[href="/"], a[href="./"], a[href="index.html"], a[href="/index.html"], a[rel~="home"]'
MOST_HOME_LINKS = 10


@dataclass(frozen=True, slots=True)
class Robots:
    """Rules of `<meta name="robots">`."""

    noindex: bool = False
    nofollow: bool = False


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """`title` is "" if there is none; `date` is ISO 8601, `language` ISO 639; `archived` if the page is marked so."""

    title: str = ""
    date: str = ""
    language: str = ""
    canonical: str = ""
    base: str = ""
    robots: Robots = Robots()
    links: tuple[str, ...] = ()


def page_metadata(tree: LexborHTMLParser, *, with_links: bool = False) -> PageMetadata:
    """Read from the whole page, before its furniture is removed."""
    names = _named_contents(tree)
    canonical, base = tree.css_first("link[rel=canonical]"), tree.css_first("base[href]")
    return PageMetadata(
        title=_title(tree, names),
        date=_date(tree, names),
        language=declared_language(tree.root.attributes.get("lang") if tree.root is not None else ""),
        canonical=((canonical and canonical.attributes.get("href")) or "").strip(),
        base=((base and base.attributes.get("href")) or "").strip(),
        robots=_robots(names),
        links=tuple(_links(tree)) if with_links else (),
    )


def declared_language(value: object) -> str:
    """`de` of `de-AT`; "" if it names no language."""
    match = LANGUAGE.fullmatch(value.strip()) if isinstance(value, str) else None
    return match[1].lower() if match else ""


def _named_contents(tree: LexborHTMLParser) -> dict[str, str]:
    contents: dict[str, str] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        name = attributes.get("name") or attributes.get("property") or attributes.get("http-equiv")
        name = name or attributes.get("itemprop") or ""
        contents.setdefault(name.lower(), (attributes.get("content") or "").strip())
    return contents


def _title(tree: LexborHTMLParser, names: dict[str, str]) -> str:
    """The title without the name of the site: a heading that is a part of it, the last if there are several.

    If the title is only the site's name, it is the first heading. If it is in no heading, it is the only one of
    several that is marked as the page's title. If the only one is the site's name at its end, it is the part before
    if a heading of level 2 begins with it.
    """
    element = tree.css_first("head > title") or tree.css_first("title")
    title = " ".join(element.text().split()) if element is not None else ""
    nodes = tree.css("main h1") or tree.css("h1")
    headings = [" ".join(node.text().split()).rstrip("¶# ") for node in nodes]
    is_path = names.get("generator", "").startswith("DokuWiki")  # "it:vpn [Team wiki]"
    if not title or (is_path and any(headings)):
        return next(filter(None, headings), "") or " ".join(names.get("og:title", "").split())
    if title in _site_names(tree, names):
        return next((heading for heading in headings if heading), title)
    parts = [part for part in SITE_NAME.split(title) if part]
    named = [heading for heading in headings if heading and heading in parts]
    marked = [heading for heading, node in zip(headings, nodes, strict=True) if heading and _is_page_title(node)]
    if not named and len(headings) > 1 and len(marked) == 1:
        return marked[0]
    if len(parts) > 1 and headings == parts[-1:] and _heads(tree, parts[0]):
        return parts[0]
    return named[-1] if len(parts) > 1 and named else title


def _heads(tree: LexborHTMLParser, text: str) -> bool:
    """Whether a heading of level 2 begins with a text."""
    words = text.split()
    return any(node.text().split()[: len(words)] == words for node in tree.css("h2"))


def _is_page_title(heading: LexborNode) -> bool:
    """Whether a heading is marked as the title of the page, so that others beside it are those of the site."""
    return not PAGE_TITLES.isdisjoint((heading.attributes.get("class") or "").lower().split())


def _site_names(tree: LexborHTMLParser, names: dict[str, str]) -> set[str]:
    """What the page calls its site, and the texts of links to the first page."""
    links = (" ".join(node.text().split()) for node in tree.css(HOME_LINKS)[:MOST_HOME_LINKS])
    return {*links, *(names.get(name, "") for name in ("og:site_name", "application-name"))}


def _date(tree: LexborHTMLParser, names: dict[str, str]) -> str:
    scripts = " ".join(node.text() for node in tree.css('script[type="application/ld+json"]'))
    values = [names[name] for name in DATE_NAMES[:7] if name in names]
    values += [match[1] for pattern in JSON_DATES if (match := pattern.search(scripts))]
    values += [names[name] for name in DATE_NAMES[7:] if name in names]
    values += [
        node.attributes.get("datetime") or ""
        for selector in (
            "time[itemprop=dateModified]",
            "time.updated",
            "time[itemprop=datePublished]",
            "time[pubdate]",
            ".article-meta time",
        )
        for node in tree.css(selector)[:1]
    ]
    values += _dated_times(tree)
    dates = filter(None, map(iso_date, values))
    return next(dates, "") or stated_date([" ".join(line.split()) for line in _footer_lines(tree)])


def _dated_times(tree: LexborHTMLParser) -> list[str]:
    """The time of the last change, then that of the publication, as times of the page say; none if several differ."""
    changed: set[str] = set()
    published: set[str] = set()
    for node in tree.css(TIMES)[:MOST_TIMES]:
        value = node.attributes.get("datetime") or node.attributes.get("title") or ""
        if node.tag == "span" and not is_date(node.text()):
            continue
        classes, words = _around(node)
        is_stated = bool(stated_date([f"{words} {value[:10]}"]))
        if CHANGED.search(f"{classes} {words}" if is_stated else classes):
            changed.add(value)
        elif is_stated or PUBLISHED.search(classes):
            published.add(value)
    return [value for values in (changed, published) if len(values) == 1 for value in values]


def _around(node: LexborNode) -> tuple[str, str]:
    """The classes of a time and of the elements around it, and the words before it, which are few."""
    classes, words = node.attributes.get("class") or "", ""
    parent = node.parent
    for _ in range(LABEL_LEVELS):
        if parent is None or parent.tag in {"body", "main", "article"}:
            break
        classes += f" {parent.attributes.get('class') or ''}"
        before = " ".join(parent.text().partition(node.text())[0].split())
        words = before if len(before) <= LABEL_LENGTH else words
        parent = parent.parent
    return classes, words


def _footer_lines(tree: LexborHTMLParser) -> list[str]:
    """The lines of all footers."""
    return [line for footer in tree.css(FOOTERS) for line in footer.text(separator="\n").splitlines()]


def _robots(names: dict[str, str]) -> Robots:
    rules = {rule.strip() for rule in f"{names.get('robots', '')},{names.get('qa-bot', '')}".lower().split(",")}
    return Robots(noindex=bool(rules & {"noindex", "none"}), nofollow=bool(rules & {"nofollow", "none"}))


def _links(tree: LexborHTMLParser) -> list[str]:
    """Addresses of links that may be followed, unresolved, each once."""
    links: dict[str, None] = {}
    for node in tree.css("a[href]"):
        if len(links) < MAX_LINKS and "nofollow" not in (node.attributes.get("rel") or "").lower().split():
            links[(node.attributes.get("href") or "").strip()] = None
    return list(links)
