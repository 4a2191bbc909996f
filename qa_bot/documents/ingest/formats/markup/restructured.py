"""reStructuredText, one document a file. The only file that imports docutils.

No file is read or included, and nothing raw is passed on. Directives and roles that docutils does not know (those of
Sphinx) keep their text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from docutils import nodes
from docutils.core import publish_doctree, publish_from_doctree
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en as english
from docutils.statemachine import StringList

from qa_bot.documents.ingest.dates import iso_date
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.document_title import first_title
from qa_bot.documents.ingest.formats.markup.dialects.containers import LAYOUTS
from qa_bot.documents.ingest.formats.markup.dialects.roles import is_literal, readable, role_name, text_of_role
from qa_bot.documents.ingest.formats.markup.html import fragment, one_document, without_title
from qa_bot.documents.ingest.formats.markup.sphinx_conditions import for_web_pages
from qa_bot.documents.ingest.formats.markup.text import text_blocks
from qa_bot.documents.ingest.records import Item, Notice, Reject

SETTINGS = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "warning_stream": False,
    "traceback": True,  # errors are raised; otherwise they end the process
    "syntax_highlight": "none",
    "math_output": "LaTeX",
    "embed_stylesheet": False,
    "stylesheet_path": None,
    "output_encoding": "unicode",
    "input_encoding": "unicode",
    "line_length_limit": 100_000,
    "xml_declaration": False,
}
ERROR = 3  # level of messages
BROKEN = "A table or directive could not be read; its lines are kept unchanged."
EMPTY = "Expected text, but got none; fill the file or leave it out."
LARGEST = 2 * 1024**2  # characters; parsing takes seconds for each million
USED_DIRECTIVE = re.compile(r"^[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([\w:+.-]{1,60}?)::(?:\s|$)", re.MULTILINE)
USED_ROLE = re.compile(r":([A-Za-z][\w:+.-]{0,60}):`|`:([A-Za-z][\w+.-]{0,60}):")
UNRESOLVED = re.compile(r"\|([^|\n]+)\|_{0,2}|`([^`<]+?)(?:\s*<[^<>`]*>)?`__?|(\w[\w.-]*)__?")
"""A substitution or a target that the document does not define: Sphinx defines them for all pages of a manual."""
SUBSTITUTION = re.compile(r"\|([^|\s]+)\|")
ACCELERATOR = re.compile(r"&(?=\w)")
"""Before the letter that a key chooses in a menu."""
SAYING = re.compile(r"\w")
MAX_NAMES = 500
HIGHLIGHTED = {"code", "code-block", "sourcecode"}
"""Directives of code that docutils knows, but not with the options of Sphinx."""
CODE = HIGHLIGHTED | {
    "prompt",
    "ipython",
    "testcode",
    "doctest",
    "testoutput",
    "productionlist",
    "parsed-literal",
    "code-tab",
    "substitution-code-block",
}
SILENT = {
    "toctree",
    "index",
    "highlight",
    "currentmodule",
    "module",
    "include",
    "literalinclude",
    "tabularcolumns",
}
CHANGES = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
BARE = "qa_bot_bare"
"""Attribute of a version without explanation, and of a reference whose text is only the name of its target."""
LABEL, PAGE = "qa_bot_label", "qa_bot_page"
"""Attributes of a reference without text: a label of this or another document, or the path of another document."""
TITLED = (nodes.document, nodes.section, nodes.figure, nodes.table)
"""What a label above it names by its title."""
EXCLAIMED = (nodes.attention, nodes.caution, nodes.danger)
STATED_OPTIONS = ("type", "required", "default")
"""Options of a described setting that a reader sees, as those of Sphinx's `confval`; others are for the layout."""


class Parsed(NamedTuple):
    """Title, date and Markdown of a document, and its blocks that stay unchanged because they have errors."""

    title: str = ""
    date: str = ""
    text: str = ""
    broken: tuple[str, ...] = ()


class _AnyOptions(dict[str, Any]):
    """Accepts options of any name."""

    def __missing__(self, name: str) -> Any:
        return directives.unchanged


class KeptDirective(Directive):  # type: ignore[misc]  # docutils has no types
    """A directive of unknown meaning: its argument and its content are text.

    An argument with content below it, such as `.. option:: --quiet`, is a term with its description.
    """

    optional_arguments = 1000
    final_argument_whitespace = True
    option_spec = _AnyOptions(name=directives.unchanged)
    has_content = True

    def run(self) -> list[nodes.Node]:
        """The nodes in its place."""
        argument = " ".join(self.arguments)
        if self.name in SILENT:
            return []
        if self.name.rpartition(":")[2] in CODE:
            return self._code("\n".join(self.content))
        lines = self.content
        if self.name == "glossary":
            lines = StringList(list(_with_joined_terms(lines)), self.state.document.current_source)
        if self.name in LAYOUTS:
            argument = ""
        content = nodes.container()
        self.state.nested_parse(lines, self.content_offset, content)
        if self.name in CHANGES:
            version, _, explanation = argument.partition(" ")
            argument = f"{CHANGES[self.name]} {version}: {explanation}".removesuffix(": ")
        shown, messages = self.state.inline_text(argument, self.lineno)
        if self.name in CHANGES:
            return [_change(shown, content), *messages]
        content.children[:0] = self._stated_options()
        if not argument:
            return [content]
        if "(" in argument or ":" in self.name:  # a signature
            shown = [nodes.literal(argument, argument)]
        if not content.children:
            return [nodes.paragraph("", "", *shown), *messages]
        term = nodes.term("", "", *shown)
        item = nodes.definition_list_item("", term, nodes.definition("", *content.children))
        return [nodes.definition_list("", item), *messages]

    def _code(self, code: str) -> list[nodes.Node]:
        if self.name.startswith("substitution-"):
            code = SUBSTITUTION.sub(self._value, code)
        block = nodes.literal_block(code, code, classes=["code", *self.arguments[:1]])
        return [*self._paragraph(self.options.get("caption")), block]

    def _value(self, match: re.Match[str]) -> str:
        """The text of a substitution that is defined above; others stay."""
        definition = self.state.document.substitution_defs.get(match[1])
        return match[0] if definition is None else str(definition.astext())

    def _stated_options(self) -> list[nodes.Node]:
        """A line with the type and the default of a described setting."""
        stated = [(name, self.options[name]) for name in STATED_OPTIONS if self.options.get(name)]
        line = " ".join(f"{name.capitalize()}: {value}." for name, value in stated)
        return self._paragraph(line)

    def _paragraph(self, text: str | None) -> list[nodes.Node]:
        return [nodes.paragraph("", "", *self.state.inline_text(text, self.lineno)[0])] if text else []


def _with_joined_terms(lines: Sequence[str]) -> Iterator[str]:
    """The lines of a glossary; terms below each other, which have one definition, are one term."""
    terms: list[str] = []
    for line in lines:
        is_term = bool(line.strip()) and not line[0].isspace() and not line.startswith("..")
        if is_term:
            terms.append(line.strip())
            continue
        if terms:
            yield ", ".join(terms)
            terms.clear()
        yield line
    yield from terms


def _change(shown: Sequence[nodes.Node], content: nodes.Element) -> nodes.Node:
    """A version and its explanation in one paragraph: “Deprecated since version 2: use the other one.”"""
    first = content.children[0] if content.children else None
    if isinstance(first, nodes.paragraph):
        first.children[:0] = [*shown, nodes.Text(": ")]
    else:
        content.insert(0, nodes.paragraph("", "", *shown))
        content[BARE] = True
    return content


def _kept_role(name: str, rawtext: str, text: str, *_: object, **__: object) -> tuple[list[nodes.Node], list[Any]]:
    """The text of a role of unknown meaning, without its target."""
    shown, has_target = text_of_role(text.replace("\x00", "\\"))
    if is_literal(name):
        return [nodes.literal(rawtext, shown)], []
    if role_name(name) in {"guilabel", "menuselection"}:
        shown = ACCELERATOR.sub("", shown)
    inline = nodes.inline(rawtext, shown)
    attribute = {"ref": LABEL, "numref": LABEL, "doc": PAGE}.get(role_name(name))
    if attribute and not has_target:
        inline[BARE] = True
        inline[attribute] = shown
    return [inline], []


def read(file: SourceFile) -> Iterator[Item]:
    """One record; its title is that of the document, else the file's stem."""
    source = file.text()
    if not source.strip():
        yield Reject(f"{file.where}:1", EMPTY)
        return
    parsed = Parsed()
    try:
        if len(source) <= LARGEST:
            parsed = restructured(source)
    except (Exception, RecursionError) as error:  # docutils raises nearly everything on hostile input
        yield Notice(
            f"{file.where}:1", f"Its markup could not be read ({type(error).__name__}); it is read as plain text."
        )
    for block in parsed.broken:
        line = source[: max(0, source.find(block.partition("\n")[0]))].count("\n") + 1
        yield Notice(f"{file.where}:{line}", BROKEN)
    yield one_document(file, parsed.title, parsed.text or text_blocks(source), reject=EMPTY, date=parsed.date)


def restructured(source: str) -> Parsed:
    """A document as Markdown; the lines of a table or a directive that is not well formed are a block of code."""
    source = for_web_pages(source)
    _register(source)
    document = publish_doctree(source, settings_overrides=SETTINGS)
    broken = _keep_broken_blocks(document)
    for unwanted in [*document.findall(nodes.system_message), *document.findall(_is_contents)]:
        unwanted.parent.remove(unwanted)
    for problem in [*document.findall(nodes.problematic)]:
        if name := UNRESOLVED.fullmatch(problem.astext()):
            problem.parent.replace(problem, nodes.Text(name[1] or name[2] or name[3]))
    _make_section_of_subtitle(document)
    _name_targets(document)
    _show_classifiers(document)
    _label_plainly(document)
    _leave_out_bare_paragraphs(document)
    _move_bare_versions(document)
    for literal in document.findall(nodes.literal):
        literal["classes"].append("code")  # the writer makes it <code>
    dates = [iso_date(node.astext()) for node in document.findall(nodes.date)]
    page = publish_from_doctree(document, writer="html5", settings_overrides=SETTINGS)
    writer = fragment(str(page))
    title = first_title(writer)
    return Parsed(title, next(filter(None, dates), ""), without_title(writer.text, title), broken)


def _keep_broken_blocks(document: nodes.document) -> tuple[str, ...]:
    """Put the lines of blocks with errors in the place of their messages; a directive without content has no text."""
    broken: list[str] = []
    for message in [*document.findall(nodes.system_message)]:
        block = message.next_node(nodes.literal_block)
        if block is None or message["level"] < ERROR:
            continue
        text = block.astext().strip()
        if SAYING.search(text) and (not text.startswith("..") or "\n\n" in text):
            broken.append(text)
            message.parent.replace(message, nodes.literal_block(text, text))
    return tuple(broken)


def _make_section_of_subtitle(document: nodes.document) -> None:
    """Undo that docutils takes the heading of a document's only section for its subtitle."""
    place = document.first_child_matching_class(nodes.subtitle)
    if place is not None:
        subtitle, *content = document.children[place:]
        title = nodes.title("", "", *subtitle.children)
        document[place:] = [nodes.section("", title, *content, names=subtitle["names"])]


def _show_classifiers(document: nodes.document) -> None:
    """Put the classifiers of a term behind it in brackets: "size : integer" → "size (integer)"."""
    for item in document.findall(nodes.definition_list_item):
        classifiers = [child for child in item.children if isinstance(child, nodes.classifier)]
        if classifiers:
            text = ", ".join(classifier.astext() for classifier in classifiers)
            item[0].append(nodes.Text(f" ({text})"))
            item.children = [child for child in item.children if child not in classifiers]


def _label_plainly(document: nodes.document) -> None:
    """Give warnings a title without the signs that docutils writes: "!DANGER!"."""
    for node in [node for node in document.findall(nodes.Admonition) if isinstance(node, EXCLAIMED)]:
        title = nodes.title("", node.tagname.capitalize())
        node.replace_self(nodes.admonition("", title, *node.children))


def _name_targets(document: nodes.document) -> None:
    """Show the title that has the label of a reference without text; else the readable part of its label or path."""
    titles: dict[str, str] = {}
    for node in document.findall(lambda node: isinstance(node, TITLED)):
        titled = next((child for child in node.children if isinstance(child, (nodes.title, nodes.caption))), None)
        titles |= dict.fromkeys(node["names"], titled.astext() if titled is not None else "")
    for reference in [*document.findall(nodes.inline)]:
        if label := reference.get(LABEL):
            title = titles.get(nodes.fully_normalize_name(label))
            reference[:] = [nodes.Text(title or readable(label.rpartition(":")[2] or label))]
        elif path := reference.get(PAGE):
            reference[:] = [nodes.Text(readable(path))]


def _leave_out_bare_paragraphs(document: nodes.document) -> None:
    """Leave out paragraphs of mere names: of targets, as below `.. seealso::`, and of screenshots.

    docutils takes the name of a substitution for the alternative text of its picture. In a sentence the name stays:
    there the picture is an icon, as in "click |save|". In a cell of a table it stays too, and so do mere signs: "✓".
    """
    screenshots = {
        (image.get("uri"), image.get("alt"))
        for definition in document.findall(nodes.substitution_definition)
        for image in definition.findall(nodes.image)
        if image.get("alt") in definition["names"]
    }

    def is_name(node: nodes.Node) -> bool:
        if isinstance(node, nodes.image):
            return (node.get("uri"), node.get("alt")) in screenshots
        return bool(node.get(BARE)) if isinstance(node, nodes.inline) else not SAYING.search(node.astext())

    for paragraph in [*document.findall(nodes.paragraph)]:
        is_cell = isinstance(paragraph.parent, nodes.entry)
        if paragraph.children and not is_cell and all(map(is_name, paragraph.children)):
            _remove(paragraph)


def _remove(node: nodes.Node) -> None:
    """Remove a node, and what holds nothing else: containers, items and lists."""
    parent = node.parent
    parent.remove(node)
    if not parent.children and isinstance(parent, (nodes.container, nodes.list_item, nodes.bullet_list)):
        _remove(parent)


def _move_bare_versions(document: nodes.document) -> None:
    """A version without explanation directly below a heading follows the first paragraph, which says what was added."""
    for change in [node for node in document.findall(nodes.container) if node.get(BARE)]:
        place = change.parent.index(change)
        before, after = change.parent.children[:place][-1:], change.parent.children[place + 1 : place + 2]
        if before and isinstance(before[0], nodes.title) and after and isinstance(after[0], nodes.paragraph):
            change.parent.children[place : place + 2] = [after[0], change]


def _is_contents(node: nodes.Node) -> bool:
    return isinstance(node, nodes.topic) and "contents" in node["classes"]


def _register(source: str) -> None:
    """Accept the directives and roles of the document that docutils lacks."""
    names = dict.fromkeys(match[1].lower() for match in USED_DIRECTIVE.finditer(source))
    for name in list(names)[:MAX_NAMES]:
        if name in HIGHLIGHTED or (name not in english.directives and name not in directives._directives):
            directives.register_directive(name, KeptDirective)
    used = dict.fromkeys((match[1] or match[2]).lower() for match in USED_ROLE.finditer(source))
    for name in list(used)[:MAX_NAMES]:
        if name not in english.roles and name not in roles._roles:
            roles.register_local_role(name, _kept_role)
