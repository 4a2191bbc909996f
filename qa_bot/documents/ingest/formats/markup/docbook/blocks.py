"""The blocks of DocBook as HTML: sections, lists, steps, notes, listings, figures, questions, pages of manuals."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Callable
from xml.etree.ElementTree import Element

from qa_bot.documents.ingest.formats.list_labels import numeral
from qa_bot.documents.ingest.formats.markup.docbook.elements import (
    References,
    attribute,
    child,
    children,
    is_info,
    local,
    title_of,
    verbatim,
    words,
)
from qa_bot.documents.ingest.formats.markup.docbook.inline import Inline, alternative
from qa_bot.documents.ingest.formats.markup.docbook.synopses import synopsis
from qa_bot.documents.ingest.formats.markup.docbook.tables import rows, segments

DEEPEST_HEADING = 6
NAMES = {"bibliography": "Bibliography", "glossary": "Glossary", "preface": "Preface", "refsynopsisdiv": "Synopsis"}
"""Titles of sections that may do without one."""
FORMS = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}
SECTIONS = (
    "acknowledgements appendix article bibliodiv bibliography book chapter colophon dedication glossary glossdiv part "
    "preface qandadiv refentry reference refsect1 refsect2 refsect3 refsection refsynopsisdiv sect1 sect2 "
    "sect3 sect4 sect5 section set simplesect topic"
)
GROUPS = (
    "abstract answer epigraph example formalgroup highlights informalexample legalnotice listitem msgset "
    "partintro programlistingco screenco sidebar step task taskprerequisites taskrelated tasksummary"
)
LISTINGS = "literallayout programlisting screen"
SYNOPSES = (
    "classsynopsis cmdsynopsis constructorsynopsis enumsynopsis fieldsynopsis funcsynopsis methodsynopsis synopsis"
)
WORD = re.compile(r"[\w+#-]{1,30}")
SENTENCE_END = (".", "!", "?", ":", "…")


class Blocks:
    """Walks a tree and writes HTML; `level` is that of the heading of the next section."""

    def __init__(self, root: Element) -> None:
        self._inline = Inline(References(root), self._block)
        self._level = 1
        self._numbers: dict[str, int] = {}

    def html(self, root: Element) -> str:
        """What is in the root."""
        return self._parts(root)

    def title(self, element: Element) -> str:
        """The title of an element as HTML; "" if it has none."""
        title = title_of(element)
        return self._inline.running(title) if title is not None else ""

    def _block(self, element: Element) -> str | None:
        """A block as HTML; None for inline markup."""
        handler = HANDLERS.get(local(element))
        if handler is not None:
            return handler(self, element)
        return self._info(element) if is_info(element) else None

    def _parts(self, element: Element, *left_out: str) -> str:
        """The blocks in an element, without its title.

        Text between them is kept if it is more than a word: a single one is the name of an entity with whole sections.
        """
        names = {"title", *left_out}
        parts = [_loose(element.text)]
        for part in element:
            parts += "" if local(part) in names else self._inline.element(part), _loose(part.tail)
        return "".join(parts)

    # --- sections -----------------------------------------------------------------------------------------------------

    def _section(self, element: Element) -> str:
        title = self.title(element) or NAMES.get(local(element), "")
        heading = (
            f"<h{min(self._level, DEEPEST_HEADING)}>{title}</h{min(self._level, DEEPEST_HEADING)}>" if title else ""
        )
        self._level += bool(title)
        text = self._parts(element)
        self._level -= bool(title)
        return f"{heading}{text}"

    def _info(self, element: Element) -> str:
        """Of what a document says of itself, its second title and its abstract are read as text."""
        return "".join(self._inline.element(part) for part in children(element, "subtitle", "abstract"))

    def _bridge(self, element: Element) -> str:
        level = min(self._level, DEEPEST_HEADING)
        return f"<h{level}>{self._inline.running(element)}</h{level}>"

    def _names(self, element: Element) -> str:
        """The names and the purpose of a page of a manual."""
        names = ", ".join(self._inline.running(name) for name in children(element, "refname"))
        purpose = child(element, "refpurpose")
        return f"<p><b>{names}</b>{f' – {self._inline.running(purpose)}' if purpose is not None else ''}</p>"

    def _group(self, element: Element) -> str:
        """Blocks below a title in bold."""
        return _headed(self._bold(self.title(element)), self._parts(element))

    def _bold(self, title: str) -> str:
        return f"<p><b>{title}</b></p>" if title else ""

    # --- paragraphs ---------------------------------------------------------------------------------------------------

    def _paragraph(self, element: Element) -> str:
        return f"<div>{self._inline.content(element)}</div>"

    def _titled_paragraph(self, element: Element) -> str:
        title = self.title(element)
        end = "" if title.endswith(SENTENCE_END) else "."
        texts = "".join(self._inline.running(part) for part in element if local(part) != "title")
        return f"<p><b>{title}{end}</b> {texts}</p>"

    def _lines(self, element: Element) -> str:
        lines = self._inline.content(element).strip().split("\n")
        return f"<p>{'<br>'.join(map(str.strip, lines))}</p>"

    def _listing(self, element: Element) -> str:
        text = textwrap.dedent("\n".join(map(str.rstrip, verbatim(element).split("\n")))).strip("\n")
        language = WORD.fullmatch(attribute(element, "language").lower())
        name = f' class="language-{language[0]}"' if language else ""
        return f"<pre{name}>{html.escape(text, quote=False)}</pre>"

    def _synopsis(self, element: Element) -> str:
        text = verbatim(element).strip("\n") if local(element) == "synopsis" else synopsis(element)
        return f"<pre>{html.escape(text, quote=False)}</pre>"

    def _quotation(self, element: Element) -> str:
        source = child(element, "attribution")
        end = f"<p>— {self._inline.running(source)}</p>" if source is not None else ""
        return f"<blockquote>{self._bold(self.title(element))}{self._parts(element, 'attribution')}{end}</blockquote>"

    def _note(self, element: Element) -> str:
        """A note with its kind, or its own title, as a label."""
        name = local(element)
        title = self.title(element) or name.capitalize()
        return f'<div class="{name}"><p class="title">{title}</p>{self._parts(element)}</div>'

    # --- lists --------------------------------------------------------------------------------------------------------

    def _items(self, element: Element) -> str:
        return self._list(element, "ul", "listitem")

    def _ordered(self, element: Element) -> str:
        """A numbered list; letters and Roman numbers are part of the text, since lists have numbers or no signs."""
        form = FORMS.get(attribute(element, "numeration"), "")
        start = attribute(element, "startingnumber")
        number = int(start) if start.isascii() and start.isdigit() and len(start) < 6 else 1
        if attribute(element, "continuation") == "continues":
            number = self._numbers.get("list", 0) + 1
        items = list(children(element, "listitem"))
        self._numbers["list"] = number + len(items) - 1
        if not form:
            return self._list(element, f'ol start="{number}"', "listitem")
        texts = (
            f"<li>{_led(f'{numeral(position, form)}. ', self._item(item))}</li>"
            for position, item in enumerate(items, number)
        )
        return _headed(self._above(element, "listitem"), f"<ul>{''.join(texts)}</ul>")

    def _steps(self, element: Element) -> str:
        return self._list(element, "ol", "step")

    def _alternatives(self, element: Element) -> str:
        return self._list(element, "ul", "step")

    def _callouts(self, element: Element) -> str:
        return self._list(element, "ol", "callout")

    def _list(self, element: Element, tag: str, *names: str) -> str:
        items = (f"<li>{self._item(item)}</li>" for item in children(element, *names))
        return _headed(self._above(element, *names), f"<{tag}>{''.join(items)}</{tag[:2]}>")

    def _item(self, item: Element) -> str:
        title = self.title(item)
        return f"{self._bold(title)}{self._parts(item)}" if title else self._inline.content(item)

    def _above(self, element: Element, *names: str) -> str:
        """The title of a list, and the blocks between it and the items."""
        return f"{self._bold(self.title(element))}{self._parts(element, *names)}"

    def _definitions(self, element: Element) -> str:
        entries = "".join(map(self._definition, children(element, "varlistentry", "glossentry")))
        return _headed(self._above(element, "varlistentry", "glossentry"), f"<dl>{entries}</dl>")

    def _definition(self, element: Element) -> str:
        terms = [self._inline.running(term) for term in children(element, "term", "glossterm", "acronym", "abbrev")]
        texts = [self._inline.content(part) for part in children(element, "listitem", "glossdef")]
        for other in children(element, "glosssee", "glossseealso"):
            name = self._inline.running(other) or self._inline.reference(attribute(other, "otherterm"))
            texts.append(f"See {'also ' if local(other) == 'glossseealso' else ''}{name}.")
        return "".join([*(f"<dt>{term}</dt>" for term in terms), *(f"<dd>{text}</dd>" for text in texts)])

    def _entry(self, element: Element) -> str:
        return f"<dl>{self._definition(element)}</dl>"

    def _questions(self, element: Element) -> str:
        """A section of questions, which may be inside another one: its headings do not head what follows it."""
        return f"<details>{self._section(element)}</details>"

    def _question(self, element: Element) -> str:
        """A question as a heading, and its answers below it."""
        question = child(element, "question")
        if question is None:
            return self._parts(element)
        first = next((part for part in question if local(part) in {"para", "simpara"}), None)
        level = min(self._level, DEEPEST_HEADING)
        text = self._inline.running(question if first is None else first)
        rest = [] if first is None else [part for part in question if part is not first and local(part) != "label"]
        more = "".join(map(self._inline.element, rest))
        return f"<h{level}>{text}</h{level}>{more}{self._parts(element, 'question')}"

    # --- tables and figures -------------------------------------------------------------------------------------------

    def _table(self, element: Element) -> str:
        title = self.title(element)
        caption = child(element, "caption") if not title else None
        above = title or (self._inline.running(caption) if caption is not None else "")
        return f"{f'<p>{above}</p>' if above else ''}{rows(element, self._inline.content)}"

    def _segments(self, element: Element) -> str:
        return f"{self._bold(self.title(element))}{segments(element, self._inline.content)}"

    def _figure(self, element: Element) -> str:
        title = self.title(element)
        caption = f"<figcaption>{title}</figcaption>" if title else ""
        return f"<figure>{caption}{self._parts(element)}</figure>"

    def _media(self, element: Element) -> str:
        """The caption of a picture, and its description for those who do not see it."""
        text, caption = alternative(element), child(element, "caption")
        image = f'<img alt="{html.escape(text)}">' if text else ""
        texts = (part for part in children(element, "textobject") if child(part, "phrase") is None)
        below = f"<p>{self._inline.running(caption)}</p>" if caption is not None else ""
        return f"<div>{image}{''.join(map(self._parts, texts))}{below}</div>"

    def _equation(self, element: Element) -> str:
        return f"{self._bold(self.title(element))}<p>{self._inline.formula(element)}</p>"

    def _source(self, element: Element) -> str:
        """An entry of a bibliography, its parts divided by commas."""
        parts = [words(part) for part in element] if local(element) == "biblioentry" else []
        text = html.escape(", ".join(filter(None, parts)), quote=False) or self._inline.running(element)
        return f"<p>{text}</p>"


def _headed(above: str, blocks: str) -> str:
    """Blocks with what stands above them; a title in bold there heads nothing outside."""
    return f"<details>{above}{blocks}</details>" if above else f"<div>{blocks}</div>"


def _led(sign: str, item: str) -> str:
    """An item with a sign before the text of its first block."""
    block = "<div>" if item.lstrip().startswith("<div>") else ""
    return f"{block}{sign}{item.lstrip().removeprefix(block)}"


def _loose(text: str | None) -> str:
    is_sentence = text is not None and any(len(line.split()) > 1 for line in text.split("\n"))
    return f"<p>{html.escape(text or '', quote=False)}</p>" if is_sentence else ""


HANDLERS: dict[str, Callable[[Blocks, Element], str]] = {
    **dict.fromkeys(SECTIONS.split(), Blocks._section),
    **dict.fromkeys(GROUPS.split(), Blocks._group),
    **dict.fromkeys(LISTINGS.split(), Blocks._listing),
    **dict.fromkeys(SYNOPSES.split(), Blocks._synopsis),
    **dict.fromkeys(("para", "simpara", "subtitle"), Blocks._paragraph),
    **dict.fromkeys(("caution", "danger", "important", "note", "tip", "warning"), Blocks._note),
    **dict.fromkeys(("figure", "informalfigure", "screenshot"), Blocks._figure),
    **dict.fromkeys(("mediaobject", "mediaobjectco", "graphic"), Blocks._media),
    **dict.fromkeys(("equation", "informalequation"), Blocks._equation),
    **dict.fromkeys(("table", "informaltable"), Blocks._table),
    **dict.fromkeys(("biblioentry", "bibliomixed"), Blocks._source),
    **dict.fromkeys(("variablelist", "glosslist"), Blocks._definitions),
    **dict.fromkeys(("procedure", "substeps"), Blocks._steps),
    "address": Blocks._lines,
    "blockquote": Blocks._quotation,
    "bridgehead": Blocks._bridge,
    "calloutlist": Blocks._callouts,
    "formalpara": Blocks._titled_paragraph,
    "glossentry": Blocks._entry,
    "itemizedlist": Blocks._items,
    "orderedlist": Blocks._ordered,
    "qandaentry": Blocks._question,
    "qandaset": Blocks._questions,
    "refnamediv": Blocks._names,
    "segmentedlist": Blocks._segments,
    "stepalternatives": Blocks._alternatives,
}
"""Name → method of `Blocks`; what is not here is inline markup."""
