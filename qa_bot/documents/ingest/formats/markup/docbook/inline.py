"""Inline markup of DocBook as HTML: emphasis, code, links, references, keys and menus."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.formats.markup.docbook.elements import (
    DROPPED,
    References,
    attribute,
    child,
    children,
    local,
    words,
)

DEEPEST = 50  # elements inside elements; what is deeper is plain text
CODE = (
    "classname code command computeroutput constant database envar errorcode errorname exceptionname filename function "
    "initializer interfacename literal markup methodname option package parameter prompt property returnvalue sgmltag "
    "structfield structname symbol systemitem tag token type uri userinput varname"
)
MENUS = "guibutton guiicon guilabel guimenu guimenuitem guisubmenu interface"
STYLES = {
    **dict.fromkeys(CODE.split(), ("<code>", "</code>")),
    **dict.fromkeys(MENUS.split(), ("<b>", "</b>")),
    **dict.fromkeys(("citetitle", "firstterm", "replaceable"), ("<i>", "</i>")),
    "citation": ("[", "]"),
    "optional": ("[", "]"),
    "quote": ("<q>", "</q>"),
    "superscript": ("<sup>", "</sup>"),
}
EMPHASIS = {
    **dict.fromkeys(("bold", "strong"), ("<b>", "</b>")),
    **dict.fromkeys(("strikethrough", "line-through"), ("<del>", "</del>")),
}
"""Roles of emphasis; others are italic."""
PARAGRAPHS = frozenset({"para", "simpara", "formalpara"})


class Inline:
    """Writes elements as HTML; what is no inline markup is given to `block`."""

    def __init__(self, references: References, block: Callable[[Element], str | None]) -> None:
        self._references = references
        self._block = block
        self._depth = 0

    def content(self, element: Element) -> str:
        """What is in an element."""
        parts = [html.escape(element.text or "", quote=False)]
        for part in element:
            parts += self.element(part), html.escape(part.tail or "", quote=False)
        return "".join(parts)

    def element(self, element: Element) -> str:
        """One element; plain text if it is too deep."""
        if local(element) in DROPPED:
            return ""
        if self._depth >= DEEPEST:
            return html.escape(f" {words(element)} ", quote=False)
        self._depth += 1
        block = self._block(element)
        text = self._inline(element) if block is None else block
        self._depth -= 1
        return text

    def running(self, element: Element) -> str:
        """What is in an element, its paragraphs as running text."""
        parts = [html.escape(element.text or "", quote=False)]
        for part in element:
            is_paragraph = local(part) in PARAGRAPHS and self._depth < DEEPEST
            parts += f" {self.content(part)} " if is_paragraph else self.element(part), html.escape(part.tail or "")
        return " ".join("".join(parts).split())

    def reference(self, target: str) -> str:
        """What an element with an id is called."""
        return html.escape(self._references.name(target), quote=False)

    def _inline(self, element: Element) -> str:
        name = local(element)
        if name in STYLES:
            before, after = STYLES[name]
            return f"{before}{self.content(element)}{after}"
        handler = HANDLERS.get(name)
        return handler(self, element) if handler else self.content(element)

    def _emphasis(self, element: Element) -> str:
        before, after = EMPHASIS.get(attribute(element, "role"), ("<i>", "</i>"))
        return f"{before}{self.content(element)}{after}"

    def _footnote(self, element: Element) -> str:
        return f" ({self.running(element)})"

    def _link(self, element: Element) -> str:
        """A link to an address, or to an element of the document, whose name takes the place of a missing text."""
        address, target, end = (attribute(element, *names) for names in (("url", "href"), ("linkend",), ("endterm",)))
        if address.startswith("#"):
            address, target = "", address[1:]
        text = self.content(element)
        if not text.strip():
            shown = address or (self._references.text(end) if end else "") or self._references.name(target)
            text = html.escape(shown, quote=False)
        return f'<a href="{html.escape(address)}">{text}</a>' if address else text

    def _keys(self, element: Element) -> str:
        sign = {"seq": " ", "press": " ", "other": " "}.get(attribute(element, "action"), "+")
        return sign.join(self._parts(element))

    def _key(self, element: Element) -> str:
        return self.content(element).strip() or html.escape(attribute(element, "function").capitalize())

    def _choice(self, element: Element) -> str:
        """The way through menus, as in "File › Open (Ctrl+O)"."""
        steps = " › ".join(html.escape(words(part), quote=False) for part in element if local(part) != "shortcut")
        keys = child(element, "shortcut")
        return f"<b>{steps}</b>{f' ({self.content(keys).strip()})' if keys is not None else ''}"

    def _manual_page(self, element: Element) -> str:
        title, number = (child(element, name) for name in ("refentrytitle", "manvolnum"))
        text = html.escape(words(title) if title is not None else words(element), quote=False)
        return f"<code>{text}{f'({html.escape(words(number))})' if number is not None else ''}</code>"

    def _members(self, element: Element) -> str:
        """The members of a simple list, in a line or one below another."""
        members = [self.content(member) for member in children(element, "member")]
        if attribute(element, "type") == "inline":
            return ", ".join(map(str.strip, members))
        return f"<ul>{''.join(f'<li>{member}</li>' for member in members)}</ul>"

    def _picture(self, element: Element) -> str:
        text = alternative(element)
        return f'<img alt="{html.escape(text)}">' if text else ""

    def formula(self, element: Element) -> str:
        """The text of a formula; MathML is left out."""
        phrase = child(element, "mathphrase")
        return self.content(phrase) if phrase is not None else html.escape(alternative(element), quote=False)

    def _callout_mark(self, element: Element) -> str:
        return html.escape(attribute(element, "label"))

    def _parts(self, element: Element) -> Iterator[str]:
        return filter(None, (self.element(part).strip() for part in element))


def alternative(element: Element) -> str:
    """The words for those who do not see a picture or formula: its `alt`, or the first phrase of a text for it."""
    for holder in (element, *children(element, "info", "mediaobject", "inlinemediaobject")):
        for part in children(holder, "alt"):
            if text := words(part):
                return text
        for part in children(holder, "textobject"):
            phrase = child(part, "phrase")
            if phrase is not None and (text := words(phrase)):
                return text
    return ""


HANDLERS: dict[str, Callable[[Inline, Element], str]] = {
    **dict.fromkeys(("link", "ulink", "xref", "olink", "biblioref", "footnoteref"), Inline._link),
    **dict.fromkeys(("inlinemediaobject", "inlinegraphic"), Inline._picture),
    "citerefentry": Inline._manual_page,
    "co": Inline._callout_mark,
    "coref": Inline._callout_mark,
    "emphasis": Inline._emphasis,
    "footnote": Inline._footnote,
    "inlineequation": Inline.formula,
    "keycap": Inline._key,
    "keycombo": Inline._keys,
    "menuchoice": Inline._choice,
    "simplelist": Inline._members,
}
