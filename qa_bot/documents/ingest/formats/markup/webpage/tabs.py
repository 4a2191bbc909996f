"""Tabs and other panels: labels of tabs are put in front of their contents, and panels are recognised.

A page has the labels of its tabs in one row above them. The items of an accordion are shown by a click on a button.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from selectolax.lexbor import LexborNode

from qa_bot.documents.ingest.formats.markup.webpage.admonitions import begin_with_label

TAB = "[data-bs-toggle=tab], [data-bs-toggle=pill], [data-toggle=tab], [data-toggle=pill]"
ROWS = f".tabbed-labels, [role=tablist], .nav-tabs:has({TAB}), .nav-pills:has({TAB})"
LABELS = f".tabbed-labels > label, [role=tab], {TAB}"
CONTENT_CLASSES = frozenset(["tabbed-block", "tab-pane"])
CONTENTS = f"[role=tabpanel], {', '.join(f'.{name}' for name in sorted(CONTENT_CLASSES))}"
"""Material for MkDocs and Bootstrap have classes, other generators the roles of ARIA."""
SWITCHES = "button, a, summary, [role=button], [role=tab]"
SHOWN_BY = frozenset(["collapse", "tab", "pill"])
"""What Bootstrap shows in the page; it also opens menus and dialogs."""
PANEL = re.compile(r"accordion|collaps|tab-?(?:panel|content|pane)|panel|faq|toggle|details", re.IGNORECASE)
ACCORDION = re.compile(r"accordion|collaps|faq", re.IGNORECASE)
HEADINGS = "h1, h2, h3, h4, h5, h6"
PANEL_TAGS = frozenset(["div", "section", "article"])
HIDDEN = (
    '[hidden]:not([hidden="until-found" i]), [aria-hidden=true], [style*="display:none" i], [style*="display: none" i]'
)
HIDING = ("hidden", "aria-hidden", "style")
"""Attributes."""
TAB_CLASS = re.compile(r"(?:^|[\s_-])tabs?(?=$|[\s_-])", re.IGNORECASE)
LINKS = "a[href^='#']"
MOST_TABS = 30


def label_tabs(root: LexborNode) -> None:
    """Move the labels below the element to their contents; a row without one content for each is left unchanged.

    Of several rows for the same contents, as for small screens, the first has the labels.
    """
    labelled: set[int] = set()
    elements = _elements(root)
    for row in root.css(ROWS):
        labels = list({node.mem_id: node for node in row.css(LABELS)}.values())
        named = [elements[name] for label in labels for name in _targets(label)[:1] if name in elements]
        contents = named if len(named) == len(labels) else list(_contents(row))
        if len(labels) == len(contents):
            for label, content in zip(labels, contents, strict=True):
                if content.mem_id not in labelled:
                    begin_with_label(content, label.text())
                labelled.add(content.mem_id)
            row.decompose()
    _label_linked(root)


def _label_linked(root: LexborNode) -> None:
    """Move labels that are only links to the contents; some of these are hidden, or the row has the class of tabs."""
    elements, labelled, removed = _elements(root), set[int](), set[int]()
    hidden = {node.mem_id for node in root.css(HIDDEN)}
    for row in _rows_of_links(root, elements):
        links = row.css(LINKS)
        contents = {_name(link): elements[_name(link)] for link in links}
        panels = {content.mem_id for content in contents.values()}
        inner = {node.mem_id for node in row.css("[id]")}
        are_tabs = bool(panels & hidden) or TAB_CLASS.search(_names(row)) is not None
        if not are_tabs or len(panels) < len(links) or panels & inner or panels & removed:
            continue
        for link in links:
            content = contents[_name(link)]
            if content.mem_id not in labelled:
                begin_with_label(content, link.text())
            for name in HIDING:
                if name in content.attributes:
                    del content.attrs[name]
        labelled |= panels
        removed |= inner
        row.decompose()


def _elements(root: LexborNode) -> dict[str, LexborNode]:
    return {node.attributes.get("id") or "": node for node in root.css("[id]")}


def _name(link: LexborNode) -> str:
    """The id that a link leads to."""
    return (link.attributes.get("href") or "")[1:]


def _rows_of_links(root: LexborNode, elements: Mapping[str, LexborNode]) -> list[LexborNode]:
    """The outermost elements that have nothing but several links to elements of the page."""
    rows: dict[int, LexborNode] = {}
    are_rows: dict[int, bool] = {}
    for link in root.css(LINKS):
        row, above = None, link.parent
        while above is not None and above.mem_id != root.mem_id:
            if above.mem_id not in are_rows:
                are_rows[above.mem_id] = _is_row(above, elements)
            if not are_rows[above.mem_id]:
                break
            row, above = above, above.parent
        if row is not None and len(row.css(LINKS)) > 1:
            rows[row.mem_id] = row
    return list(rows.values())


def _is_row(node: LexborNode, elements: Mapping[str, LexborNode]) -> bool:
    links = node.css(LINKS)
    return (
        len(links) <= MOST_TABS
        and all(_name(link) in elements for link in links)
        and "".join(node.text().split()) == "".join("".join(link.text() for link in links).split())
    )


def ids_shown(root: LexborNode) -> set[str]:
    """The ids of the elements that a click in the page shows."""
    return {name for switch in root.css(SWITCHES) for name in _targets(switch)}


def _targets(switch: LexborNode) -> list[str]:
    """The ids of what a click on an element shows, if that is not a menu or a dialog."""
    attributes = switch.attributes
    if attributes.get("aria-haspopup") not in {None, "false"}:
        return []
    names = (attributes.get("aria-controls") or "").split()
    toggles = {attributes.get("data-bs-toggle"), attributes.get("data-toggle")}
    if attributes.get("role") == "tab" or toggles & SHOWN_BY:
        addresses = (attributes.get(name) or "" for name in ("data-bs-target", "data-target", "href"))
        names += [address[1:] for address in addresses if address[:1] == "#"]
    return [name for name in names if name]


def mark_questions(root: LexborNode) -> None:
    """Give the buttons above the panels of an accordion the attribute that says so, if they have none."""
    for button in root.css("button"):
        panel = button.next
        while panel is not None and panel.tag in {"-text", "-comment"} and not panel.text().strip():
            panel = panel.next
        is_above = panel is not None and panel.tag in PANEL_TAGS and _heads(button, panel)
        if is_above or "collapse" in {button.attributes.get(name) for name in ("data-bs-toggle", "data-toggle")}:
            button.attrs["aria-expanded"] = "true"


def _heads(button: LexborNode, panel: LexborNode) -> bool:
    """Whether a button says what the element below it answers: it is in an accordion, or the element is hidden."""
    if ACCORDION.search(f"{_names(button)} {_names(button.parent) if button.parent is not None else ''}"):
        return True
    return "hidden" in panel.attributes and PANEL.search(_names(panel)) is not None


def is_panel(node: LexborNode, shown: set[str]) -> bool:
    """Whether a hidden element is shown by a click on its heading, or on the name of its language.

    Args:
        shown: ids of the elements that a click shows.
    """
    attributes = node.attributes
    if attributes.get("id") in shown or "aria-labelledby" in attributes or _is_below_switch(node):
        return True
    return (node.tag in PANEL_TAGS and "lang" in attributes) or PANEL.search(_names(node)) is not None


def _is_below_switch(node: LexborNode) -> bool:
    """Whether a hidden element with text of its page, and no menu, is directly below a button that expands it."""
    switch = node.prev
    while switch is not None and switch.tag in {"-text", "-comment"} and not switch.text().strip():
        switch = switch.prev
    if node.tag not in PANEL_TAGS or switch is None or switch.attributes.get("aria-expanded") != "false":
        return False
    linked = sum(len(link.text()) for link in node.css("a"))
    return switch.tag == "button" and "aria-haspopup" not in switch.attributes and 2 * linked < len(node.text().strip())


def _names(node: LexborNode) -> str:
    return " ".join(node.attributes.get(name) or "" for name in ("class", "id", "role"))


def _contents(row: LexborNode) -> Iterator[LexborNode]:
    """The contents below a row, or those in the element below it."""
    below = row.next
    while below is not None:
        if is_content(below):
            yield below
        elif below.tag != "-text":
            yield from filter(is_content, below.iter())
            return
        below = below.next


def first_panel(parent: LexborNode) -> LexborNode | None:
    """The first of at least two elements of one shape that end the parent, as the items of an accordion or columns do.

    Each has a heading and more text; None if the parent ends with something else, or with one of them only.
    """
    panels: list[LexborNode] = []
    child = parent.last_child
    while child is not None:
        if child.tag != "-comment" and child.text().strip():
            if child.tag not in PANEL_TAGS or (panels and not _are_alike(child, panels[-1])):
                break
            panels.append(child)
        child = child.prev
    return panels[-1] if len(panels) > 1 and all(map(_is_headed, panels)) else None


def _are_alike(node: LexborNode, other: LexborNode) -> bool:
    """Whether two elements have the same tag, and a class in common unless they have none."""
    classes, others = (set((element.attributes.get("class") or "").split()) for element in (node, other))
    return node.tag == other.tag and (not classes.isdisjoint(others) or classes == others)


def _is_headed(panel: LexborNode) -> bool:
    """Whether an element begins with a heading and has text below it."""
    heading = panel.css_first(HEADINGS)
    if heading is None:
        return False
    title, text = "".join(heading.text().split()), "".join(panel.text().split())
    return bool(title) and text.startswith(title) and text != title


def is_content(node: LexborNode) -> bool:
    """Whether an element is what a tab shows."""
    classes = (node.attributes.get("class") or "").split()
    return node.attributes.get("role") == "tabpanel" or not CONTENT_CLASSES.isdisjoint(classes)


def hides_nothing(summary: LexborNode) -> bool:
    """Whether a summary alone is in its `details`, and the next one or nothing follows."""
    details = summary.parent
    if details is None or details.tag != "details" or details.css_first("img, picture, svg, object, iframe, video"):
        return False
    if details.text().strip() != summary.text().strip():
        return False
    following = details.next
    while following is not None and following.tag in {"-text", "-comment"} and not following.text().strip():
        following = following.next
    return following is None or following.tag == "details"
