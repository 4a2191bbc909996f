"""Turns what is not CommonMark into it: template tags, MDX, admonitions, footnotes, wiki links, superscripts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Set

from qa_bot.documents.ingest.formats.markup.loose_blocks import with_blocks_apart

FENCE = re.compile(r"[\s>]*(?:[-*+]\s+|\d{1,9}[.)]\s+)?(`{3,}|~{3,})([^\n]*)$")
INLINE_CODE = re.compile(r"(``[^\n]+?``|`[^`\n]+`)")
COMMENT = re.compile(r"\{%-?\s*comment\b[^%]*%\}(?:(?!\{%-?\s*(?:end)?comment).)*\{%-?\s*endcomment\s*-?%\}", re.DOTALL)
RAW = re.compile(r"\{%-?\s*raw\s*-?%\}((?:(?!\{%-?\s*(?:end)?raw).)*)\{%-?\s*endraw\s*-?%\}", re.DOTALL)
BRACE = "\ufdd1"  # in place of `{` in raw text: a noncharacter, which never occurs in text
TAG = re.compile(r"\{%((?:(?!\{%|%\}).)*)%\}", re.DOTALL)
VARIABLE = re.compile(r"\{\{((?:(?!\{\{|\}\}).)*)\}\}", re.DOTALL)
TAG_COMMENT = re.compile(r"\{#(?:(?!\{#|#\}).)*#\}", re.DOTALL)
QUOTED = re.compile(r"(?:(?<![\w-])([\w-]++)\s*+=\s*+)?(?:\"([^\"]*)\"|'([^']*)')")
URL_BEFORE = re.compile(r"(?:\]\(\s*<?|=\s*[\"']?)[^\s()\"'<>]*$")
TEXT_KEYS = {"alt", "title", "caption", "label", "text", "heading", "summary", "header"}
CONTENT_KEY = "content"
SILENT = re.compile(
    r"include|page|link|post|download|asset|url|ref|set|if|elsif|elif|unless|for|assign|capture|layout|extends|block|"
    r"import|from|else|when|case|end|raw|comment|increment|cycle|render|usa|uswds|icon|feed|css|js|highlight"
)
ADMONITION = re.compile(
    r"^([\s>]*)(?:!!!|\?\?\?\+?|===!?\+?)[ \t]++(?:([\w-]++)[\w\s-]*+)?[ \t]*+(?:\"([^\"]*+)\")?[ \t]*$"
)
NOTE, NOTE_END = '<aside class="admonition"><div class="title">\n\n{}\n\n</div>\n', "</aside>"
"""An element whose title becomes the label of its text; no heading in it heads what follows."""
BOLD_TITLE = re.compile(r"\*\*(.+)\*\* ")
TITLE_ENDS = ("?", "!", ".", ":")
ADMONITION_SIGNS = ("!!!", "???", "==")
CONTAINER = re.compile(r"^\s*:{3,}[ \t]*(?:\{[ \t]*\.?)?([\w-]*)(?:\[([^\]]*)\]|[^\S\n]+([^{}\n]*?))?[^\n]*$")
ALERT = re.compile(r"^([\s>]*>\s*)\[!(\w+)\][+-]?[ \t]*(.*)$")
DEFINITION = re.compile(r"^ {0,3}:[ \t]+(\S.*)$")
TERM = re.compile(r"^(?![-+>#|:=~`]|\*(?:[\s*]*$|\s)|\d+[.)]\s)\S.{0,99}$")
FOOTNOTE = re.compile(r"^(\s{0,3})\[\^([^\]\s]+)\]:[ \t]*(.*)$")
FOOTNOTE_MARK = re.compile(r"\[\^([^\]\[\s]{1,100})\]")
WIKI_LINK = re.compile(r"(!?)\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]+))?\]\]")
ATTRIBUTES = re.compile(
    r"\{:[^{}\n]{0,200}\}|(?:^[ \t>]*|(?<=[^\s{])[ \t]*)\{[#.][\w-][^{}\n]{0,200}\}[ \t]*$", re.MULTILINE
)
"""Of Kramdown, and at the end of a line or alone in one, as wikis have it below a quote."""
ATTRIBUTE_SIGNS = ("{:", "{#", "{.")
NUMBERED_LINK = re.compile(r"(?<![\w\])])\[(?=[^\[\]\n]{0,300}?[^\W\d_])([^\[\]\n]{1,300})\]\[(\d{1,4})\]")
LINK_TARGET = re.compile(r"^[ \t>]*\[(\d{1,4})\]:", re.MULTILINE)
CONTENTS = re.compile(r"^\s*(?:\[\[?_?toc_?\]?\]|\$\{toc\}|\{:toc\})\s*$", re.IGNORECASE)
MDX_CODE = re.compile(r"^(?:import\s[^\n]*from\s+['\"]|import\s+['\"]|export\s+(?:const|let|var|default|function|\{))")
MDX_WORDS = ("import", "export")
MDX_COMMENT = re.compile(r"\{/\*(?:(?!\{/\*|\*/\}).)*\*/\}", re.DOTALL)
JSX = re.compile(r"</?(?:[A-Z][\w.]*|(?=>))")
JSX_TEXT = re.compile(r"\b(?:title|label|summary|alt|header|heading)=(?:\{\s*)?[\"']([^\"']+)[\"']")
SUPERSCRIPT = re.compile(r"\^([A-Za-z0-9]{1,10})\^(?!\w)")
MATHS_SIGN = re.compile(r"\$\s?([<>≤≥=±+×]|[<>]=)\s?\$")
MDX_LONG_IMPORT = re.compile(r"import\s+(?:[\w$]+\s*,\s*)?\{[^{}]*$")
MDX_LOOP = re.compile(r"\{\s*[\w$.?]{1,100}\.(?:map|filter)\((?:[^{}]|\{[^{}]{0,500}\}){0,2000}\}")
LONGEST_JSX = 5000  # characters of one tag
LONGEST_BODY = 5000  # characters between a tag and its end
MAX_BROKEN_JSX = 100  # tags without an end, before the rest of the text is left unchanged


def is_mdx(source: str) -> bool:
    """Whether the file imports or exports as MDX does."""
    return any(
        line.startswith(MDX_WORDS) and MDX_CODE.match(line) is not None
        for is_code, line in _lines(source)
        if not is_code
    )


def commonmark(source: str, *, mdx: bool = False) -> str:
    """The file in CommonMark with HTML; code blocks and inline code stay unchanged."""
    source = COMMENT.sub("", source)
    source = RAW.sub(lambda match: str(match[1]).replace("{", BRACE), source)
    targets = frozenset(LINK_TARGET.findall(source))
    components: list[str] | None = [] if mdx else None
    prose: list[str] = []
    result: list[str] = []
    for is_code, line in _lines("\n".join(_dedented(source.split("\n")))):
        if not is_code:
            prose.append(line)
            continue
        if prose:
            result.append(_converted("\n".join(prose), targets, components))
            prose.clear()
        result.append(line)
    if prose:
        result.append(_converted("\n".join(prose), targets, components))
    return "\n".join(result).replace(BRACE, "{")


def _lines(source: str) -> Iterator[tuple[bool, str]]:
    """Each line, and whether it belongs to a fenced code block."""
    fence = ""
    for line in source.split("\n"):
        match = FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence:
            yield True, line
            if match and match[1].startswith(fence) and not match[2].strip():
                fence = ""
        elif match and not (match[1][0] == "`" and "`" in match[2]):
            fence = match[1]
            yield True, line
        else:
            yield False, line


def _dedented(lines: list[str]) -> Iterator[str]:
    """Bodies of admonitions, tabs and footnotes without their indentation, their titles as text."""
    shifts: list[int] = []  # columns where the open bodies begin
    boxes: list[int] = []  # those of bodies that are elements
    fence = False
    for line in lines:
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
            if match := BOLD_TITLE.fullmatch(title):
                boxes.append(indent + 4)
                yield _note(match[1])
            else:
                yield from ("", title) if title.strip() else ("",)


def _body_title(line: str) -> str:
    """The text in place of a line that begins an indented body; "" if it begins none."""
    if any(sign in line for sign in ADMONITION_SIGNS) and (match := ADMONITION.match(line)):
        title = match[3] if match[3] is not None else (match[2] or "").capitalize()
        return f"{match[1]}{_bold_title(title)} " if title else " "
    if "[^" in line and (match := FOOTNOTE.match(line)):
        return f"{match[1]}[{match[2]}] {match[3]}"
    return ""


def _note(title: str) -> str:
    """The begin of a note outside of lists."""
    return f"\n{NOTE.format(title)}"


def _bold_title(title: str) -> str:
    """The title of an admonition in bold type, with a colon unless it ends a sentence."""
    return f"**{title}{'' if title.endswith(TITLE_ENDS) else ':'}**"


def _converted(text: str, targets: Set[str], components: list[str] | None) -> str:
    """Prose without code blocks; a link to a number that is none of the targets is text.

    Args:
        components: names of the titled components of MDX that are open; None if the file is no MDX.
    """
    if components is not None:
        text = MDX_LOOP.sub("", _without_jsx(_without_mdx_code(text), components))
    text = with_blocks_apart("\n".join(_with_items([_line(line) for line in text.split("\n")])))
    pieces = INLINE_CODE.split(text)
    pieces[::2] = _templates_filled(pieces, targets)
    return "".join(pieces)


def _templates_filled(pieces: list[str], targets: Set[str]) -> Iterator[str]:
    for text in pieces[::2]:
        if "{" in text:
            text = TAG_COMMENT.sub("", text)
            text = VARIABLE.sub(_variable_text, TAG.sub(_tag_text, text))
            text = ATTRIBUTES.sub("", text) if any(sign in text for sign in ATTRIBUTE_SIGNS) else text
        if "][" in text:
            text = NUMBERED_LINK.sub(lambda match: match[0] if match[2] in targets else str(match[1]), text)
        if "[^" in text:
            text = FOOTNOTE_MARK.sub(r"[\1]", text)
        if "[[" in text:
            text = WIKI_LINK.sub(lambda match: "" if match[1] else (str(match[3] or match[2])), text)
        if "^" in text:
            text = SUPERSCRIPT.sub(r"<sup>\1</sup>", text)
        if "$" in text:
            text = MATHS_SIGN.sub(lambda match: html.escape(match[1]), text)
        yield text


def _with_items(lines: list[str]) -> Iterator[str]:
    """Terms with definitions ("Term", below it ": what it is") as items of a list; other lines unchanged."""
    if not any(line.lstrip(" ").startswith(":") and DEFINITION.match(line) for line in lines):
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
    if ":::" in line and (match := CONTAINER.match(line)):
        title = (match[2] or match[3] or match[1] or "").strip()
        title = title.capitalize() if title == match[1] else title
        if line.startswith(":"):
            return _note(title) if title else f"\n{NOTE_END}\n"
        return f"\n{_bold_title(title)} " if title else ""
    if "[!" in line and (match := ALERT.match(line)):
        return f"{match[1]}{_bold_title(match[3].strip() or match[2].capitalize())}"
    return "" if "toc" in line.lower() and CONTENTS.match(line) else line


def _tag_text(match: re.Match[str]) -> str:
    return _template_text(match[1].strip(" -\n\t"), match)


def _variable_text(match: re.Match[str]) -> str:
    inner = match[1].strip()
    is_shortcode = inner[:1] in {"<", "%"}
    return _template_text(inner.strip("<>% \n\t/"), match) if is_shortcode else ""


def _template_text(body: str, match: re.Match[str]) -> str:
    """The text that a tag shows, as far as it says so itself; inside an address, the address."""
    texts = [(key, double or single) for key, double, single in QUOTED.findall(body)]
    if URL_BEFORE.search(match.string[max(0, match.start() - 200) : match.start()]):
        return next((text for _, text in texts if "://" in text), "#")
    name = re.match(r"[\w-]*", body)
    if content := next((text for key, text in texts if key == CONTENT_KEY and not _is_path(text)), ""):
        title = next((text for key, text in texts if key == "title" and text), "")
        return f"{_bold_title(title)} {content}" if title else str(content)
    if keyed := [text for key, text in texts if key in TEXT_KEYS and text]:
        return _label(str(keyed[0]), name[0] if name else "", match)
    words = [text for key, text in texts if not key and text and not _is_path(text)]
    if name and re.match(r"(?:image|img|figure|picture|photo)", name[0]):
        return str(words[-1]) if len(texts) > 1 and words else ""
    return _label(words[0], name[0], match) if words and name and not SILENT.match(name[0]) else ""


def _label(text: str, name: str, match: re.Match[str]) -> str:
    """The text of a tag; in bold type in front of the body that the tag begins if it is alone in its line."""
    line = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.end() + 1]
    if not name or line.strip() != match[0]:
        return text
    end = re.compile(rf"\{{[{{%]\s*[<%-]?\s*(?:/\s*|end){re.escape(name)}\b")
    if not end.search(match.string, match.end(), match.end() + LONGEST_BODY):
        return text
    return f"\n**{text}{'' if text[-1] in '.!?:' else ':'}** "


def _is_path(text: str) -> bool:
    return " " not in text and re.search(r"/|\.\w{2,5}$", text) is not None


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
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
        is_inline = before != "" and not before.endswith(">")
        if match[0].startswith("</"):
            result += _ends(match[0].removeprefix("</"), components)
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
