"""Containers of Markdown, `:::note` or a directive of MyST in a fence, as elements whose titles become labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from qa_bot.documents.ingest.formats.markup.dialects.fences import closes, opening_fence

NOTE, UNTITLED, NOTE_END = '<aside class="admonition"><div class="title">\n\n{}\n\n</div>\n', "<aside>\n", "</aside>"
"""An element whose title becomes the label of its text; no heading in it heads what follows."""
TITLE_ENDS = ("?", "!", ".", ":")
CONTAINER = re.compile(
    r"\s*:{3,}[ \t]*(?:\{[ \t]*\.?(?P<type>[\w-]*)(?P<attributes>[^{}]*)\}|(?P<name>[\w-]*))(?:\[(?P<title>[^\]]*)\])?"
    r"(?P<rest>.*)"
)
ATTRIBUTE = re.compile(r"\b(?:title|alt-text)=[\"']([^\"']+)[\"']")
BRACES = re.compile(r"\{[^{}]*\}")
HEADED_CALLOUT = re.compile(
    r"^([ \t>]*:{3,}[ \t]*\{[ \t]*\.callout-[^{}\n]*)\}[ \t]*\n\s*#{1,6}[ \t]+([^\"\n]+)$", re.MULTILINE
)
"""In Quarto the first heading in a callout is its title."""
CODE_INDENT = "    "
SELF_CLOSED = ":::"  # at the end of a line that begins and ends a container
LAYOUT_NAMES = (
    "card-carousel carousel center code-group column columns container div figure figure-md grid image incremental "
    "moniker nonincremental notes row slides tab-set tabs panel-tabset v-pre zone"
)
LAYOUTS = frozenset(LAYOUT_NAMES.split())
"""Containers without a title: what follows their names is for the layout."""
TITLES = {
    "deprecated": "Deprecated since version",
    "seealso": "See also",
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
}
DIRECTIVE = re.compile(r"([\s>]*)(`{3,}|~{3,}|:{3,})\{([\w-]+)\}[ \t]*(.*)")
DIRECTIVE_SIGNS = ("```{", "~~~{", ":::{")
OPTION = re.compile(r"[\s>]*:[\w-]+:(?:[ \t].*)?")
NAMES_OF_TEXT = (
    "admonition aside attention card caution danger definition details dropdown epigraph error example exercise "
    "grid-item grid-item-card hint important info margin note pull-quote sidebar solution tab-item table theorem tip "
    "todo topic warning"
)
OF_TEXT = LAYOUTS.union(TITLES, NAMES_OF_TEXT.split())
"""Directives of MyST whose content is text; that of others, such as `code-block`, is code."""


def bold_title(title: str) -> str:
    """A title in bold type, with a colon unless it ends a sentence."""
    return f"**{title}{'' if title.endswith(TITLE_ENDS) else ':'}**"


def note(title: str) -> str:
    """The begin of a note outside of lists."""
    return f"\n{NOTE.format(title) if title else UNTITLED}"


def container_line(line: str) -> str:
    """A line that begins or ends a container, as HTML; in lists the title in bold type."""
    match = CONTAINER.fullmatch(line)
    if match is None:
        return line
    name, rest = match["type"] or match["name"] or "", match["rest"].strip()
    if rest.endswith(SELF_CLOSED):
        attribute = ATTRIBUTE.search(rest)
        return f"\n{attribute[1]}\n" if attribute else ""
    if not rest and not match["title"] and line.expandtabs(4).startswith(CODE_INDENT) and name.lower() not in OF_TEXT:
        return ""  # in a block of code: the name of its language
    is_end = name.endswith("-end") or not (name or rest or match["title"] or match["attributes"])
    title = "" if is_end else _title(name, rest, match)
    if line.startswith(":"):
        return f"\n{NOTE_END}\n" if is_end else note(title)
    indent = line[: len(line) - len(line.lstrip())]
    return f"\n{indent}{bold_title(title)} " if title else ""


def _title(name: str, rest: str, container: re.Match[str]) -> str:
    if attribute := ATTRIBUTE.search(f"{container['attributes'] or ''} {rest}"):
        return attribute[1]
    if container["title"]:
        return container["title"].strip()
    if name in LAYOUTS or '="' in rest:
        return ""
    rest = BRACES.sub("", rest).strip()
    if name in TITLES:
        return f"{TITLES[name]} {rest}".rstrip()
    return rest or name.removeprefix("callout-").capitalize()


def with_containers(source: str) -> str:
    """The source with directives in fences as containers if their content is text, and without their options."""
    if ".callout-" in source:
        source = HEADED_CALLOUT.sub(r'\1 title="\2"}', source)
    if not any(sign in source for sign in DIRECTIVE_SIGNS):
        return source
    return "\n".join(_lines(source.split("\n")))


def _lines(lines: Sequence[str]) -> Iterator[str]:
    fences: list[str] = []  # of the open directives
    code = ""  # the fence of the open code
    is_option = False
    for line in lines:
        is_option = is_option and OPTION.fullmatch(line) is not None
        directive = DIRECTIVE.fullmatch(line) if not code else None
        if is_option:
            continue
        if code:
            code = "" if closes(line, code) else code
            yield line
        elif fences and closes(line, fences[-1]):
            fences.pop()
            yield line.replace(line.strip(" \t>"), ":::")
        elif directive and (directive[2][0] == ":" or directive[3] in OF_TEXT):
            is_option = True
            if directive[2][0] == ":":
                yield line
            else:
                fences.append(directive[2])
                yield f"{directive[1]}:::{{{directive[3]}}} {directive[4]}"
        else:
            code = opening_fence(line)
            yield line
