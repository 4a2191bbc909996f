"""Wikitext, the markup of MediaWiki, as Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from qa_bot.documents.ingest.formats.markup.html import fragment

JOIN = "\ufdd2"  # in place of omitted markup: a line does not begin with the blank after it
COMMENT = re.compile(r"<!--(?:(?!<!--|-->).)*-->", re.DOTALL)
NAMED = re.compile(r"<ref\b[^<>]*?\bname\s*=\s*(\"[^\"<>]*|'[^'<>]*|[^\s\"'<>/]+)", re.IGNORECASE)
REFERENCE = re.compile(r"<ref\b[^<>/]*/>|<ref\b[^<>]*>(?:(?!<ref\b).)*?</ref\s*>", re.DOTALL | re.IGNORECASE)
GALLERY = re.compile(r"<(gallery|timeline|imagemap|math)\b[^<>]*>(?:(?!<\1\b).)*?</\1\s*>", re.DOTALL | re.IGNORECASE)
CODE = re.compile(
    r"<(syntaxhighlight|source|nowiki|pre)\b([^<>]*)>((?:(?!<\1\b).)*?)</\1\s*>", re.DOTALL | re.IGNORECASE
)
LANGUAGE = re.compile(r"lang\s*=\s*[\"']?([\w+#-]+)")
KEPT_CODE = re.compile("\ufdd0(\\d+)\ufdd1")
KEPT_NOTE = re.compile("\ufdd3(\\d+)\ufdd4")
NOTES = "\ufdd5"  # where the notes of a page stand
NOTES_PLACE = re.compile(
    r"<references\b(?:[^<>]*/>|[^<>]*>(?:(?:(?!<references\b).)*?</references\s*>)?)"
    r"|\{\{\s*(?:reflist|references|einzelnachweise)\b[^{}]*\}\}",
    re.DOTALL | re.IGNORECASE,
)
PREFORMATTED_LINES = re.compile(r"</pre>\n+<pre>")
DEFINED = re.compile(r"(?<=\S)(?:\s++:\s*|:\s++)(?=\S)")
BRACES = re.compile(r"\{\{|\}\}|\{\||\|\}")
CONVERTED = re.compile(
    r"\{\{\s*(?:convert|cvt)\s*\|\s*([+−-]?[\d.,/]{1,20})\s*\|"
    r"(?:\s*(to|by|and|x|-|–)\s*\|\s*([\d.,/]{1,20})\s*\|)?\s*([^|{}\n]{1,20}?)\s*(?:\|[^{}\n]{0,200})?\}\}",
    re.IGNORECASE,
)
HEADING = re.compile(r"(={1,6})(.+)\1")
LIST = re.compile(r"([*#:;]+)\s*(.*)")
MAGIC = re.compile(r"__[A-Z]+__")
LINK = re.compile(r"\[\[([^\[\]|\n]*)(?:\|([^\[\]]*))?\]\]")
FILE_LINK = re.compile(r":?(?:file|image|datei|bild|fichier|archivo|media)\s*:", re.IGNORECASE)
CATEGORY = re.compile(r"(?:category|kategorie|catégorie|categoría|categoria|categorie)\s*:\s*(.+)", re.IGNORECASE)
INTERWIKI = re.compile(r"[a-z]{2,3}(?:-[a-z]+)?:\S")
EXTERNAL = re.compile(r"\[((?:https?:)?//[^\s\[\]<>\"]++|mailto:[^\s\[\]<>\"]++)(?:\s++([^\[\]\n]*+))?\]")
BOLD, ITALIC = re.compile(r"'''(.+?)'''"), re.compile(r"''(.+?)''")
ATTRIBUTES = re.compile(r"^(?:\s*+[\w-]++\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[\w%#.-]++))++\s*+\|(?!\|)")
SPAN = re.compile(r"(?:col|row)span\s*=\s*[\"']?\d+[\"']?")
TRAIL = re.compile("[a-z]*")  # letters after a link belong to its text
DEEPEST_LINKS = 4  # links inside captions of pictures
DEEPEST_LIST = 20


@dataclass(frozen=True, slots=True)
class WikiPage:
    """The text of an article, and its categories."""

    markdown: str
    categories: tuple[str, ...]


def wikitext(source: str) -> WikiPage:
    """An article without comments and templates; the texts of its references are notes."""
    code: list[str] = []

    def keep_code(match: re.Match[str]) -> str:
        language = LANGUAGE.search(match[2])
        name = f" class='language-{language[1]}'" if language else ""
        escaped = html.escape(html.unescape(match[3]))
        code.append(escaped if match[1].lower() == "nowiki" else f"<pre{name}>{escaped}</pre>")
        return f"\ufdd0{len(code) - 1}\ufdd1"

    text = CODE.sub(keep_code, COMMENT.sub("", re.sub("[\ufdd0-\ufdd5]", "", source)))
    text, notes = _notes(CONVERTED.sub(_measure, text))
    text = _without_templates(GALLERY.sub("", NOTES_PLACE.sub(NOTES, text)))
    text, categories = _links(MAGIC.sub(JOIN, text))
    page = PREFORMATTED_LINES.sub("\n", "\n".join(_lines(text.split("\n"))))
    page = _with_notes(page, notes).replace(JOIN, "")
    page = KEPT_CODE.sub(lambda match: code[int(match[1])] if int(match[1]) < len(code) else "", page)
    return WikiPage(fragment(page).text, categories)


def _notes(text: str) -> tuple[str, list[str]]:
    """The text with a sign for each reference, and what they say; the uses of a name say the same."""
    notes: list[str] = []
    names: dict[str, int] = {}

    def sign(match: re.Match[str]) -> str:
        name = NAMED.match(match[0])
        number = names.setdefault(name[1].strip("\"' "), len(notes)) if name else len(notes)
        if number == len(notes):
            notes.append("")
        content = match[0].partition(">")[2].rpartition("<")[0]
        notes[number] = notes[number] or content
        return f"\ufdd3{number}\ufdd4"

    return REFERENCE.sub(sign, text), notes


def _with_notes(page: str, notes: list[str]) -> str:
    """The page with the numbers of its notes, and the notes where it lists them, else at its end."""
    texts = [_inline(" ".join(_links(_without_templates(note))[0].replace(JOIN, "").split())) for note in notes]
    numbers: dict[int, int] = {}

    def number(match: re.Match[str]) -> str:
        index = int(match[1])
        is_text = index < len(texts) and any(map(str.isalnum, texts[index]))
        return f" [{numbers.setdefault(index, len(numbers) + 1)}]" if is_text else ""

    page = KEPT_NOTE.sub(number, page)
    before, _, after = page.partition(NOTES)
    listed = "".join(f"<p>[{count}] {texts[index]}</p>" for index, count in numbers.items())
    return f"{before}{listed}{after.replace(NOTES, '')}"


def anchors(source: str) -> Iterator[tuple[str, str]]:
    """Text and title of the page of each link to an article: `[[Ship|steamer]]s` gives "steamers", "Ship"."""
    text = BOLD.sub(r"\1", GALLERY.sub("", REFERENCE.sub("", CODE.sub("", COMMENT.sub("", source)))))
    text = ITALIC.sub(r"\1", text)
    for match in LINK.finditer(text):
        target = match[1].replace("_", " ").strip().lstrip(":")
        title = " ".join(target.partition("#")[0].split())
        trail = TRAIL.match(text, match.end())
        shown = (match[1].strip().lstrip(":") if match[2] is None else match[2]) + (trail[0] if trail else "")
        if title and shown.strip() and not any(kind.match(target) for kind in (FILE_LINK, CATEGORY, INTERWIKI)):
            yield " ".join(html.unescape(shown).split()), title[0].upper() + title[1:]


def _without_templates(text: str) -> str:
    """The text outside of `{{…}}`; tables stay."""
    result: list[str] = []
    depth = start = opened = 0
    for match in BRACES.finditer(text):
        if match[0] == "{{":
            if depth == 0:
                result += [text[start : match.start()], JOIN]
                opened = match.start()
            depth += 1
        elif match[0] == "}}" and depth:
            depth -= 1
            start = match.end()
    if depth:  # a template that does not end
        return "".join([*result, text[opened:].replace("{{", " ")])
    return "".join([*result, text[start:]])


def _measure(match: re.Match[str]) -> str:
    """The measure that a template converts: "41 m", or "5–7 km" of a range."""
    first, word, second, unit = match.groups()
    joined = f" {word} " if word in {"by", "and", "x"} else "–"
    return f"{first}{joined}{second} {unit}" if second else f"{first} {unit}"


def _links(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with the labels of links in their place, and the categories."""
    categories: dict[str, None] = {}

    def label(match: re.Match[str]) -> str:
        target, shown = match[1].strip(), match[2]
        if category := CATEGORY.fullmatch(target):
            categories[category[1].strip()] = None
            return JOIN
        if FILE_LINK.match(target):
            caption = (shown or "").rpartition("|")[2].strip()
            return f"\n\n{caption}\n\n{JOIN}" if " " in caption else ""
        if INTERWIKI.match(target) and shown is None:
            return ""
        return shown if shown else target.lstrip(":").partition("#")[0] or target

    for _ in range(DEEPEST_LINKS):
        changed = LINK.sub(label, text)
        if changed == text:
            break
        text = changed
    return text, tuple(categories)


def _inline(text: str) -> str:
    text = EXTERNAL.sub(lambda match: f'<a href="{html.escape(match[1])}">{match[2] or match[1]}</a>', text)
    return ITALIC.sub(r"<i>\1</i>", BOLD.sub(r"<b>\1</b>", text))


def _lines(lines: list[str]) -> list[str]:
    result: list[str] = []
    open_lists = ""
    in_table = 0
    for line in lines:
        stripped = line.replace(JOIN, "").strip()
        if stripped.startswith("{|"):
            in_table += 1
            result += [_closed(open_lists), "<table>"]
            open_lists = ""
        elif in_table and stripped.startswith("|}"):
            in_table -= 1
            result += [_closed(open_lists), "</table>"]
            open_lists = ""
        elif in_table and stripped[:1] in {"|", "!"} and stripped:
            result += [_closed(open_lists), _table_line(stripped)]
            open_lists = ""
        elif item := LIST.fullmatch(stripped):
            signs = item[1][:DEEPEST_LIST]
            if open_lists.endswith(";") and signs == f"{open_lists[:-1]}:":  # what the term above means
                result[-1] += f"{': ' if result[-1].endswith('</b>') else '<br>'}{_inline(item[2])}"
            else:
                result.append(_item(open_lists, signs, item[2]))
                open_lists = signs
        else:
            result += [_closed(open_lists), _line(line, stripped)]
            open_lists = ""
    return [*result, _closed(open_lists), "</table>" * min(in_table, 20)]


def _line(line: str, stripped: str) -> str:
    if heading := HEADING.fullmatch(stripped):
        level = len(heading[1])
        return f"<h{level}>{_inline(heading[2].strip())}</h{level}>"
    if not stripped or set(stripped) == {"-"}:
        return "<p>"
    is_preformatted = line[0] == " " and not stripped.startswith("<")
    return f"<pre>{line[1:].replace(JOIN, '').rstrip()}</pre>" if is_preformatted else _inline(line)


def _closed(signs: str) -> str:
    return "".join("</ol>" if sign == "#" else "</ul>" for sign in reversed(signs))


def _item(before: str, signs: str, text: str) -> str:
    """The item with the lists that begin and end before it: `**` after `*` begins one."""
    same = 0
    while same < min(len(before), len(signs)) and (before[same] == "#") == (signs[same] == "#"):
        same += 1
    opened = "<li>".join("<ol>" if sign == "#" else "<ul>" for sign in signs[same:])
    return f"{_closed(before[same:])}{opened}<li>{_term(text) if signs[-1] == ';' else _inline(text)}"


def _term(text: str) -> str:
    """A term in bold type, and what it means if its line says that."""
    term, *meaning = DEFINED.split(text.removesuffix(":").rstrip(), maxsplit=1)
    return ": ".join([f"<b>{_inline(term)}</b>", *map(_inline, meaning)])


def _table_line(line: str) -> str:
    if line.startswith("|-"):
        return "<tr>"
    if line.startswith("|+"):
        return f"<caption>{_inline(line[2:])}</caption>"
    is_header = line[0] == "!"
    cells = re.split(r"\|\||!!", line[1:]) if is_header else line[1:].split("||")
    return "".join(_cell(cell, "th" if is_header else "td") for cell in cells)


def _cell(text: str, tag: str) -> str:
    attributes = ATTRIBUTES.match(text)
    spans = " ".join(SPAN.findall(attributes[0])) if attributes else ""
    return f"<{tag} {spans}>{_inline(text[attributes.end() :] if attributes else text)}"
