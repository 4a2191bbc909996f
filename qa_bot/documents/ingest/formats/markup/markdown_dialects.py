"""Turns what is not CommonMark into it: template tags, MDX, admonitions, footnotes, wiki links, superscripts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Set

from qa_bot.documents.ingest.formats.markup.dialects.code_heads import with_plain_heads
from qa_bot.documents.ingest.formats.markup.dialects.containers import (
    NOTE_END,
    bold_title,
    container_line,
    note,
    with_containers,
)
from qa_bot.documents.ingest.formats.markup.dialects.critic import accepted
from qa_bot.documents.ingest.formats.markup.dialects.docusaurus import with_labels_of_tabs
from qa_bot.documents.ingest.formats.markup.dialects.fences import lines_of
from qa_bot.documents.ingest.formats.markup.dialects.loose_marks import with_marks_mended
from qa_bot.documents.ingest.formats.markup.dialects.mkdocs import (
    with_blocks_as_containers,
    without_icons,
    without_references,
)
from qa_bot.documents.ingest.formats.markup.dialects.myst import with_directives, with_roles
from qa_bot.documents.ingest.formats.markup.dialects.notes.logseq import without_properties
from qa_bot.documents.ingest.formats.markup.dialects.notes.obsidian import without_marks, without_queries
from qa_bot.documents.ingest.formats.markup.dialects.pandoc import without_pandoc
from qa_bot.documents.ingest.formats.markup.dialects.template_tags import filled, hidden, shown, with_fences
from qa_bot.documents.ingest.formats.markup.loose_blocks import with_blocks_apart
from qa_bot.documents.ingest.formats.markup.plain.drawn_tables import with_drawn_tables

INLINE_CODE = re.compile(r"(``[^\n]+?``|`[^`\n]+`)")
ADMONITION = re.compile(r"^([\s>]*)(?:!!!|\?\?\?\+?|===!?\+?)[ \t]++(?:([\w-]++)[\w\s-]*+)?[ \t]*+(?:\"(.*)\")?[ \t]*$")
BOX_TITLE = re.compile(r"(?:\*\*(.+)\*\*)? ")
ADMONITION_SIGNS = ("!!!", "???", "==")
BODY_SIGNS = (*ADMONITION_SIGNS, "[^")
ALERT = re.compile(r"^([\s>]*>\s*)\[!(\w+)\][+-]?[ \t]*(.*)$")
DEFINITION = re.compile(r"^ {0,3}(?::[ \t]+|~[ \t]+(?!\d))(\S.*)$")
"""Of Pandoc, too: "~ what it is", but not "~ 5 minutes"."""
TERM = re.compile(r"^(?![-+>#|:=~]|```|\*(?:[\s*]*$|\s)|\d+[.)]\s)\S.{0,99}$")
FOOTNOTE = re.compile(r"^(\s{0,3})\[\^([^\]\s]+)\]:[ \t]*(.*)$")
FOOTNOTE_MARK = re.compile(r"\[\^([^\]\[\s]{1,100})\]")
WIKI_LINK = re.compile(r"(!?)\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]+))?\]\]")
ATTRIBUTES = re.compile(
    r"\{:[^{}\n]{0,200}\}|(?:^[ \t>]*|(?<=[^\s{])[ \t]*)\{[ \t]?[#.][\w-][^{}\n]{0,200}\}[ \t]*$"
    r"|(?<=\))\{[ \t]?(?:[#.][A-Za-z]|[a-z-]{2,20}=)[^{}\n]{0,200}\}",
    re.MULTILINE,
)
"""Of Kramdown, at the end of a line or alone in one, as wikis have it below a quote, and directly behind a link."""
ATTRIBUTE_SIGNS = ("{:", "{#", "{.", "{ #", "{ .", "){")
NUMBERED_LINK = re.compile(r"(?<![\w\])])\[(?=[^\[\]\n]{0,300}?[^\W\d_])([^\[\]\n]{1,300})\]\[(\d{1,4})\]")
LINK_TARGET = re.compile(r"^[ \t>]*\[(\d{1,4}|@[^\[\]\n]{1,100})\]:", re.MULTILINE)
LISTED_CONTENTS = re.compile(r"^[ \t]*(?:[*+-]|\d\.)[ \t]+\S.*\n[ \t]*\{:[ \t]*toc\b[^{}\n]*\}[ \t]*$", re.MULTILINE)
"""The list that Kramdown replaces by the contents."""
HINT = re.compile(r"([!?])>[ \t]+(?=\S)")
HINTS = {"!": "**Important:** ", "?": "**Tip:** "}
"""Of Docsify."""
CONTENTS = re.compile(r"^\s*(?:\[\[?_?toc_?\]?\]|\$\{toc\}|\{:toc\})\s*$", re.IGNORECASE)
MDX_CODE = re.compile(r"^(?:import\s[^\n]*from\s+['\"]|import\s+['\"]|export\s+(?:const|let|var|default|function|\{))")
MDX_WORDS = ("import", "export")
MDX_COMMENT = re.compile(r"\{/\*(?:(?!\{/\*|\*/\}).)*\*/\}", re.DOTALL)
JSX = re.compile(r"</?(?:[A-Z][\w.]*|(?=>))")
JSX_TEXT = re.compile(r"\b(?:title|label|summary|alt|header|heading)=(?:\{\s*)?[\"']([^\"']+)[\"']")
JSX_DESCRIPTION = re.compile(r"\bdescription=[\"']([^\"']+)[\"']")
JSX_FIELDS = ("<ParamField", "<ResponseField", "<Property")
"""Components of a parameter or a field of an interface."""
JSX_NAME = re.compile(r"\b(?:path|query|body|header|name)=[\"']([^\"']+)[\"']")
JSX_DETAIL = re.compile(r"\btype=[\"']([^\"']+)[\"']|\s(required)(?!=)\b")
SUPERSCRIPT = re.compile(r"\^([A-Za-z0-9]{1,10})\^(?!\w)")
SUBSCRIPT = re.compile(r"(?<=[A-Za-z)])~(\d{1,3})~(?![~\d])")
MATHS_SIGN = re.compile(r"\$\s?([<>≤≥=±+×]|[<>]=)\s?\$")
MDX_LONG_IMPORT = re.compile(r"import\s+(?:[\w$]+\s*,\s*)?\{[^{}]*$")
MDX_LOOP = re.compile(r"\{\s*[\w$.?]{1,100}\.(?:map|filter)\((?:[^{}]|\{[^{}]{0,500}\}){0,2000}\}")
LONGEST_JSX = 5000  # characters of one tag
MAX_BROKEN_JSX = 100  # tags without an end, before the rest of the text is left unchanged


def is_mdx(source: str) -> bool:
    """Whether the file imports or exports as MDX does."""
    return any(
        line.startswith(MDX_WORDS) and MDX_CODE.match(line) is not None
        for is_code, line in lines_of(with_fences(source))
        if not is_code
    )


def commonmark(source: str, *, mdx: bool = False) -> str:
    """The file in CommonMark with HTML; code blocks and inline code stay unchanged."""
    source = with_containers(with_directives(hidden(without_properties(without_queries(source)))))
    source = with_blocks_as_containers(with_roles(source))
    source = with_labels_of_tabs(source) if mdx else source
    source = with_plain_heads(source)
    targets = frozenset(LINK_TARGET.findall(source))
    components: list[str] | None = [] if mdx else None
    prose: list[str] = []
    result: list[str] = []
    for is_code, line in lines_of("\n".join(_dedented(source))):
        if not is_code:
            prose.append(line)
            continue
        if prose:
            result.append(_converted("\n".join(prose), targets, components))
            prose.clear()
        result.append(line)
    if prose:
        result.append(_converted("\n".join(prose), targets, components))
    return shown("\n".join(result))


def _dedented(source: str) -> Iterator[str]:
    """The lines, those of admonitions, tabs and footnotes without their indentation, their titles as text."""
    lines = source.split("\n")
    if not any(sign in source for sign in BODY_SIGNS):
        yield from (line if line.strip() else "" for line in lines)
        return
    shifts: list[int] = []  # columns where the open bodies begin
    boxes: list[int] = []  # those of bodies that are elements
    fence = False
    for line in lines:
        if shifts and "\t" in line:
            text = line.lstrip()
            line = line[: len(line) - len(text)].expandtabs(4) + text
        indent = len(line) - len(line.lstrip(" "))
        while shifts and line.strip() and indent < shifts[-1]:
            if boxes[-1:] == [shifts.pop()]:
                boxes.pop()
                yield from () if fence else ("", NOTE_END, "")
        cut = 4 * len(shifts)
        line = line[min(indent, cut) :] if line.strip() else ""
        if "```" in line or "~~~" in line:
            fence = not fence
        if fence or not (title := _body_title(line)):
            yield line
        else:
            shifts.append(indent + 4)
            if match := BOX_TITLE.fullmatch(title):
                boxes.append(indent + 4)
                yield note(match[1] or "")
            else:
                yield from ("", title) if title.strip() else ("",)


def _body_title(line: str) -> str:
    """The text in place of a line that begins an indented body; "" if it begins none."""
    if any(sign in line for sign in ADMONITION_SIGNS) and (match := ADMONITION.match(line)):
        title = match[3] if match[3] is not None else (match[2] or "").capitalize()
        return f"{match[1]}{bold_title(title) if title else ''} "
    if "[^" in line and (match := FOOTNOTE.match(line)):
        return f"{match[1]}[{match[2]}] {match[3]}"
    return ""


def _converted(text: str, targets: Set[str], components: list[str] | None) -> str:
    """Prose without code blocks; a link to a number, or name with `@`, that is none of the targets is none.

    Args:
        components: names of the titled components of MDX that are open; None if the file is no MDX.
    """
    if components is not None:
        text = MDX_LOOP.sub("", _without_jsx(_without_mdx_code(text), components))
    text = LISTED_CONTENTS.sub("", text) if "toc" in text else text
    text = without_pandoc(with_drawn_tables(text), targets)
    text = "\n".join(_line(line) for line in without_references(without_marks(text)).split("\n"))
    text = with_blocks_apart(with_marks_mended("\n".join(_with_items(text.split("\n")))))
    pieces = INLINE_CODE.split(text)
    pieces[::2] = _templates_filled(pieces, targets)
    return "".join(pieces)


def _templates_filled(pieces: list[str], targets: Set[str]) -> Iterator[str]:
    for text in map(without_icons, pieces[::2]):
        if "{" in text:
            text = filled(accepted(text))
            text = ATTRIBUTES.sub("", text) if any(sign in text for sign in ATTRIBUTE_SIGNS) else text
        if "][" in text:
            text = NUMBERED_LINK.sub(lambda match: match[0] if match[2] in targets else str(match[1]), text)
        if "[^" in text:
            text = FOOTNOTE_MARK.sub(r"[\1]", text)
        if "[[" in text:
            text = WIKI_LINK.sub(lambda match: "" if match[1] else (str(match[3] or match[2])), text)
        if "^" in text:
            text = SUPERSCRIPT.sub(r"<sup>\1</sup>", text)
        if "~" in text:
            text = SUBSCRIPT.sub(r"<sub>\1</sub>", text)
        if "$" in text:
            text = MATHS_SIGN.sub(lambda match: html.escape(match[1]), text)
        yield text


def _with_items(lines: list[str]) -> Iterator[str]:
    """Terms with definitions ("Term", below it ": what it is") as items of a list; other lines unchanged."""
    if not any(line.lstrip(" ").startswith((":", "~")) and DEFINITION.match(line) for line in lines):
        yield from lines
        return
    term, is_item = "", False
    for before, line, after, second in zip(["", *lines], lines, [*lines[1:], ""], [*lines[2:], "", ""], strict=False):
        definition = DEFINITION.match(line)
        is_followed = DEFINITION.match(after or second) is not None
        if is_followed and TERM.match(line) and (is_item or not before.strip()):
            term, is_item = line.strip().strip("*"), True
        elif definition and term:
            yield f"- **{term}**: {definition[1]}"
            term = ""
        elif definition and is_item:
            yield from ("", f"  {definition[1]}")
        elif not term:  # else it is the empty line between a term and its definition
            is_item = is_item and (not line.strip() or line.startswith("  ") or bool(before.strip()))
            yield f"  {line.lstrip()}" if is_item and line.strip() else line


def _line(line: str) -> str:
    if ":::" in line:
        return container_line(line)
    if "[!" in line and (match := ALERT.match(line)):
        return f"{match[1]}{bold_title(match[3].strip() or match[2].capitalize())}"
    if line.startswith(("!>", "?>")):
        return HINT.sub(lambda match: HINTS[match[1]], line, count=1)
    return "" if "toc" in line.lower() and CONTENTS.match(line) else line


def _without_mdx_code(text: str) -> str:
    """Import and export statements, up to an empty line, and comments removed."""
    lines: list[str] = []
    in_code = False
    for line in MDX_COMMENT.sub("", text).split("\n"):
        begins = line.startswith(MDX_WORDS) and (MDX_CODE.match(line) or MDX_LONG_IMPORT.match(line))
        in_code = bool(begins) or (in_code and bool(line.strip()))
        if not in_code:
            lines.append(line)
    return "\n".join(lines)


def _without_jsx(text: str, components: list[str]) -> str:
    """The text without tags of components; their titles and labels stay.

    Args:
        components: names of the titled components that are open before the text, then those open after it.
    """
    result: list[str] = []
    start = broken = 0
    while broken < MAX_BROKEN_JSX and (match := JSX.search(text, start)) is not None:
        end = _tag_end(text, match.end())
        result.append(text[start : match.start()])
        if end < 0:
            result.append(match[0])
            start = match.end()
            broken += 1
            continue
        title = JSX_TEXT.search(text, match.end(), end)
        description = JSX_DESCRIPTION.search(text, match.end(), end)
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
        is_inline = before != "" and not before.endswith(">")
        if match[0].startswith("</"):
            result += _ends(match[0].removeprefix("</"), components)
        elif match[0] in JSX_FIELDS and (name := JSX_NAME.search(text, match.end(), end)):
            details = ", ".join(one[1] or one[2] for one in JSX_DETAIL.finditer(text, match.end(), end))
            result.append(f"\n\n**{name[1]}**{f' ({details})' if details else ''}: ")
        elif title and description and text[end - 2] == "/":
            result.append(f"\n\n{bold_title(title[1])} {description[1]}\n\n")
        elif title and text[end - 2] == "/":
            result.append(str(title[1]) if is_inline else f"\n\n{title[1]}\n\n")
        elif title and is_inline:
            result.append(f"**{title[1]}** ")
        elif title:
            components.append(match[0].removeprefix("<"))
            result.append(f"\n\n<details>\n\n**{title[1]}**\n\n")
        start = end
    return "".join([*result, text[start:]])


def _ends(name: str, components: list[str]) -> Iterator[str]:
    """The end of the last open component of a name, and of those in it."""
    while name in components:
        yield "\n\n</details>\n\n"
        if components.pop() == name:
            return


def _tag_end(text: str, start: int) -> int:
    """The offset after the `>` of a tag, outside of braces and quotes; -1 without one."""
    braces, quote = 0, ""
    for position in range(start, min(len(text), start + LONGEST_JSX)):
        sign = text[position]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "{}":
            braces += 1 if sign == "{" else -1
        elif sign == ">" and braces <= 0 and text[position - 1] != "=":
            return position + 1
    return -1
