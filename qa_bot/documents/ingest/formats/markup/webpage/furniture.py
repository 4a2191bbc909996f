"""Removes from a page what is not its text: menus, footers, banners, forms; bounds hostile nesting."""

from __future__ import annotations

import re
from itertools import count

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qa_bot.documents.ingest.formats.markup.webpage.mathml import write_formulas
from qa_bot.documents.ingest.formats.markup.webpage.programs.site_boxes import SITE_BOXES
from qa_bot.documents.ingest.formats.markup.webpage.tabs import (
    CONTENTS,
    HEADINGS,
    HIDDEN,
    ids_shown,
    is_panel,
    label_tabs,
    mark_questions,
)

DEEPEST = 400  # levels of open elements; tags beyond it are removed, because parsing takes quadratic time
UNREAD = ["script", "style", "noscript", "template", "svg", "iframe", "object", "head", "math", "canvas"]
FURNITURE = (
    "nav, footer, select, dialog, [role=navigation], [role=banner], [role=contentinfo], [role=complementary], "
    "[role=search], [role=dialog], [role=alertdialog], body > header, [aria-label*=breadcrumb i], "
    "[class*=breadcrumb i], [id*=breadcrumb i], .navheader, .navfooter, .docnav, table[summary^=Navigation i], "
    "div.header:has(a[accesskey]), #footer-text, body > .footer, body > #footer, "
    "#siteNotice, #siteSub, .navbox, .printfooter, #catlinks, .mw-jump-link, #mw-navigation, "  # MediaWiki
    ".mw-editsection, .mw-portlet, "
    "#repository-container-header, table[aria-labelledby=folders-and-files], "  # GitHub
    ".gem-c-feedback, .gem-c-print-link, "  # gov.uk
    ".theme-doc-version-badge, .theme-doc-toc-mobile, .menu-title, "  # Docusaurus, mdBook
    "#phpbb :is(.postprofile, .post-buttons, .signature, .back2top, .action-bar, .stat-block, .sr-only), "
    ".crawler .topic-category, .crawler .more-topics__list, .crawler .post-likes, "  # Discourse
    ".crawler [itemprop=position], .crawler-linkback-list, "
    ".article-author:has(.meta-group), .article-votes, .article-vote, .article-more-questions, "  # Zendesk, Freshdesk
    ".article-return-to-top, #vote-feedback-form, #vote-feedback-form-link, .print--remove, "
    ".dokuwiki :is(.pageId, .docInfo), .page-header-icon, .property-icon, figure.callout > div > .icon, "  # Notion
    ".intercom-reaction-picker, .avatar:has(.avatar__info), "  # Intercom
    f"{SITE_BOXES}"
)
HELPFUL = re.compile(
    r"(?:(?:was|is) (?:this|it)(?: (?:page|article|answer|information|document|guide))? (?:helpful|useful)(?: to you)?"
    r"|did (?:you find (?:this|it)(?: (?:page|article))? (?:helpful|useful)"
    r"|this (?:page |article )?(?:answer your question|help(?: you)?))"
    r"|war (?:diese[rs]?|die) (?:(?:seite|artikel|beitrag|antwort|information) )?(?:für sie )?(?:hilfreich|nützlich)"
    r"|cet article (?:vous a-t-il été|était-il) utile)\s*\?\s*(?:(?:yes|no|ja|nein|oui|non|👍|👎|[/|])\s*)*",
    re.IGNORECASE,
)
"""What a page of help wants to know of those who read it."""
LONGEST_HELPFUL = 80  # characters
NO_DOCUMENTS = '.genindex-jumpbox, .modindex-jumpbox, script[src*="_static/searchtools.js"]'
"""Only in the index and the page for searching that Sphinx makes."""
READMES = "article.markdown-body"
"""The text of a repository on GitHub, whatever its share of the page."""
BANNER = re.compile(
    r"(?:^|[\s_-])(?:cookies?|cookie\w+|consent|gdpr|onetrust|cmp|share|sharing|social|addtoany|sharethis|newsletter|"
    r"subscribe|skip(?:-?to\w*|-?link\w*|-?nav\w*)?|related-?(?:posts|articles|links|content|stories)|pagination|pager|toc|nav|navbar|navigation(?!-not)|"
    r"table-of-contents|advert\w*|ads?|popup|modal|sidebar|print-only|site-?(?:footer|header|nav)|comments?)(?=$|[\s_-])",
    re.IGNORECASE,
)
SKIP_LINK = re.compile(
    r"(?:skip|jump) (?:to|navigation)|(?:zum|zur) (?:inhalt|navigation|hauptinhalt)|aller au contenu", re.IGNORECASE
)
EDIT_LINK = re.compile(
    r"suggest (?:changes|edits)|(?:edit|improve|view) (?:this page|page source|on git(?:hub|lab))|(?:show|page) source",
    re.IGNORECASE,
)
"""The whole text of links to where a page is written."""
PARTS = f".titlepage, {CONTENTS}"
"""Sidebars of DocBook and contents of tabs are part of the text, though they may have the names of banners."""
BANNER_SHARE = 0.3  # an element with a larger share of the page's text is no banner or form
ACCORDION_BUTTONS = "[aria-expanded]:not([aria-haspopup]), [aria-controls]:not([aria-haspopup])"
BUTTONS_WITH_TEXT = f"{HEADINGS}, summary, dt"
PRICE_LIST = "price-list"
"""In the class of a list whose items link to their goods."""
LINK_LIST = 0.6  # a list with a larger share of its text in links is a menu
NOTE_LINKS = 0.3  # an aside inside the main text with a smaller share of its text in links is a note
MAIN_SHARE = 0.3  # <main> or <article> replaces the page if it holds this share of its text

MOST_BETWEEN = 50
"""Nodes between a menu and the text below it that are looked at, and before it."""
LOWER_HEADINGS = ("h2", "h3", "h4", "h5", "h6")

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SEPARATORS = re.compile(r"[\W_]+")
_TAG = re.compile(r"<(/?)([a-zA-Z][\w:-]*+)[^<>]*+>")
_XHTML = re.compile(r"^\s*(?:\ufeff)?<\?xml|xmlns=[\"']http://www\.w3\.org/1999/xhtml")
_EMPTY_ELEMENT = re.compile(r"<([a-zA-Z][\w:-]*)(\s[^<>]*?)?/>")
_VOID_TAGS = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "wbr"}
_UNCOUNTED = (
    "area base br col embed hr img input link meta param source track wbr p li dt dd tr td th thead tbody tfoot option "
    "optgroup colgroup rp rt caption"
)
"""Elements without an end tag, or closed by the next one."""
_UNCOUNTED_TAGS = frozenset(_UNCOUNTED.split())
MOST_ATTRIBUTES, MOST_OPTIONS = 1000, 2000
"""Of one element, and of a page. Parsing takes quadratic time: 5 s for 60,000, minutes for a file of 2 MB."""
_ATTRIBUTE = r"""[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"?+|'[^']*+'?+|[^\s>"'][^\s>]*+)?+)?+"""
_OVERLOADED = re.compile(rf"(<[a-zA-Z][^\s/>]*+)(?:(?:[\s/]*+{_ATTRIBUTE}){{{MOST_ATTRIBUTES + 1},}}+)?+")
"""The name of a tag, with its attributes if they are too many. `<a<a<a` is one name, which is read once."""
_OPTION = re.compile(r"(</?)(?:option|optgroup|rp|rt)(?=[\s/>])", re.IGNORECASE)


def bounded(html: str) -> str:
    """The page without what would take quadratic time: attributes, options and levels of elements beyond a number."""
    if len(html) > 2 * MOST_ATTRIBUTES:
        html = _OVERLOADED.sub(r"\1", html)
    if html.count("<") <= DEEPEST:
        return html
    return _flattened(_with_few_options(html))


def _with_few_options(html: str) -> str:
    """The page with other empty elements in place of further options, groups of them, and signs of ruby."""
    numbers = count(1)
    return _OPTION.sub(lambda match: match[0] if next(numbers) <= 2 * MOST_OPTIONS else f"{match[1]}wbr", html)


def _flattened(html: str) -> str:
    """The page without the tags that would nest its elements deeper than `DEEPEST`."""
    depth = 0

    def within_bounds(match: re.Match[str]) -> str:
        nonlocal depth
        if match[2].lower() in _UNCOUNTED_TAGS or match[0].endswith("/>"):
            return match[0]
        if match[1]:
            depth -= depth > 0
            return match[0] if depth < DEEPEST else " "
        depth += 1
        return match[0] if depth <= DEEPEST else " "

    return _TAG.sub(within_bounds, html)


def as_html(text: str) -> str:
    """XHTML with end tags for its empty elements, which HTML would leave open; HTML unchanged."""
    if not _XHTML.search(text[:2000]):
        return text
    return _EMPTY_ELEMENT.sub(
        lambda match: match[0] if match[1] in _VOID_TAGS else f"<{match[1]}{match[2] or ''}></{match[1]}>", text
    )


def main_element(tree: LexborHTMLParser) -> LexborNode | None:
    """The element with the page's text, without furniture; None if the page has no body."""
    body = tree.body
    if body is None or tree.css_first(NO_DOCUMENTS) is not None:
        return None
    write_formulas(body)
    tree.strip_tags(UNREAD)
    label_tabs(body)
    whole = len(body.text())
    for node in body.css(FURNITURE):
        node.decompose()
    notes = {node.mem_id for node in body.css("main aside, article aside") if _is_note(node)}
    for node in body.css("aside"):
        if node.mem_id not in notes:
            node.decompose()
    shown = ids_shown(body)
    mark_questions(body)
    _remove_banners(body, whole)
    _remove_questions(body)
    for node in body.css(HIDDEN):
        if not is_panel(node, shown):
            node.decompose()
    for node in body.css("ul, ol"):
        if _is_menu(node):
            _remove_menu(node)
    return _main(body, whole)


def _remove_banners(body: LexborNode, whole: int) -> None:
    for node in body.css("form"):
        _remove_small(node, whole)
    for node in body.css(
        "div[class], div[id], section[class], section[id], ul[class], ol[class], p[class], span[class]"
    ):
        names = f"{node.attributes.get('class') or ''} {_given_id(node)}"
        if BANNER.search(_CAMEL.sub("-", names)) and node.css_first(PARTS) is None:
            _remove_small(node, whole)
    for node in body.css("a"):
        text, address = node.text().strip(), node.attributes.get("href") or ""
        if EDIT_LINK.fullmatch(text) or (address[:1] == "#" and SKIP_LINK.match(text)):
            node.decompose()
    accordions = {node.mem_id for node in body.css(ACCORDION_BUTTONS)}
    headings = {node.mem_id for title in body.css(BUTTONS_WITH_TEXT) for node in title.css("button")}
    for node in body.css("button"):
        if node.mem_id not in accordions | headings:
            node.decompose()


def _remove_questions(body: LexborNode) -> None:
    """Remove the question whether the page helped, with its answers."""
    texts = (node for node in body.traverse(include_text=True) if node.tag == "-text")
    for text in [node for node in texts if HELPFUL.fullmatch((node.text_content or "").strip())]:
        asking, above = text, text.parent
        while above is not None and above.tag != "body" and len(whole := above.text().strip()) <= LONGEST_HELPFUL:
            if not HELPFUL.fullmatch(whole):
                break
            asking, above = above, above.parent
        asking.decompose()


def _given_id(node: LexborNode) -> str:
    """The id of an element; "" for one made from its heading, as Sphinx calls the section “2. Sharing” `sharing`."""
    name = node.attributes.get("id") or ""
    heading = node.css_first(HEADINGS) if name else None
    if heading is None:
        return name
    made = _SEPARATORS.sub("-", heading.text().casefold()).strip("-")
    return "" if name in {made, made.lstrip("0123456789-")} else name


def _remove_small(node: LexborNode, whole: int) -> None:
    if len(node.text()) <= BANNER_SHARE * whole and node.css_first("main, h1, article") is None:
        node.decompose()


def _is_note(aside: LexborNode) -> bool:
    names = f"{aside.attributes.get('class') or ''} {aside.attributes.get('id') or ''}"
    linked = sum(len(link.text()) for link in aside.css("a"))
    return BANNER.search(names) is None and linked < NOTE_LINKS * len(aside.text().strip())


def _remove_menu(menu: LexborNode) -> None:
    """Remove a menu, and its heading if no text is below both: the title of a page may head a list of its contents."""
    heading = menu.prev
    for _ in range(MOST_BETWEEN):
        if heading is None or heading.text().strip():
            break
        heading = heading.prev
    if heading is not None and heading.tag in LOWER_HEADINGS:
        below = _below(menu)
        if below is None or _first_heading(below) in {"h1", *LOWER_HEADINGS[: LOWER_HEADINGS.index(heading.tag) + 1]}:
            heading.decompose()
    menu.decompose()


def _below(node: LexborNode) -> LexborNode | None:
    """The first element with text below another one, or that itself if this is far; None at the end of the page."""
    place: LexborNode | None = node
    for _ in range(MOST_BETWEEN):
        if place is None:
            return None
        if place.next is None:
            place = place.parent
        else:
            place = place.next
            if place.text().strip():
                return place
    return node


def _first_heading(node: LexborNode) -> str:
    """The tag of the heading that an element is or begins with, or ""."""
    heading = node if node.tag in {"h1", *LOWER_HEADINGS} else node.css_first(HEADINGS)
    is_first = heading is not None and node.text().strip().startswith(heading.text().strip())
    return (heading.tag or "") if heading is not None and is_first else ""


def _main(body: LexborNode, whole: int) -> LexborNode:
    for selector, share in ((READMES, 0.0), ("main, [role=main]", MAIN_SHARE), ("article", MAIN_SHARE)):
        nodes = list({node.mem_id: node for node in body.css(selector)}.values())  # one for both selectors comes twice
        if len(nodes) == 1 and len(nodes[0].text().strip()) >= share * whole:
            return nodes[0]
    return body


def _is_menu(node: LexborNode) -> bool:
    if PRICE_LIST in (node.attributes.get("class") or ""):
        return False
    links = node.css("a")
    addresses = {
        link.attributes.get("href") for link in links
    }  # one address in all items is a link that was not closed
    return len(addresses) >= 3 and sum(len(link.text()) for link in links) > LINK_LIST * len(node.text().strip())
