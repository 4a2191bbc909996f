"""LaTeX, one document a file: sections, lists, tables, code, links. Nothing is run, and no other file is read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qa_bot.documents.ingest.dates import iso_date
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.markup.html import fragment, one_document, plain, without_title
from qa_bot.documents.ingest.formats.markup.latex.arguments import argument
from qa_bot.documents.ingest.formats.markup.latex.class_commands import with_article_commands
from qa_bot.documents.ingest.formats.markup.latex.commands import VERBATIM
from qa_bot.documents.ingest.formats.markup.latex.converter import Converter
from qa_bot.documents.ingest.formats.markup.latex.definitions import expanded
from qa_bot.documents.ingest.formats.markup.latex.glossaries import Glossary
from qa_bot.documents.ingest.formats.markup.latex.headings import first_line, with_headings
from qa_bot.documents.ingest.formats.markup.latex.long_tables import on_one_page
from qa_bot.documents.ingest.records import Item

COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*\n?[ \t]*")
BODY = re.compile(r"\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)", re.DOTALL)
VERBATIM_NAMES = "|".join(sorted(VERBATIM))
VERBATIM_BLOCK = (
    rf"\\begin\s*\{{(?:{VERBATIM_NAMES})\*?\}}(?:(?!\\begin\s*\{{(?:{VERBATIM_NAMES})).)*?"
    rf"\\end\s*\{{(?:{VERBATIM_NAMES})\*?\}}"
)
INLINE_CODE = (
    r"\\(?:verb\*?|lstinline(?:\[[^\[\]\n]*\])?|mintinline(?:\[[^\[\]\n]*\])?\{\w+\})"
    r"(?P<sign>[^\s\w{*\[\\])[^\n]*?(?P=sign)"
)
HIDDEN = (
    r"\\begin\s*\{comment\}(?:(?!\\begin\s*\{comment\}).)*?\\end\s*\{comment\}[ \t]*\n?"
    r"|\\iffalse(?![A-Za-z])(?:(?!\\iffalse(?![A-Za-z])).)*?\\(?:else|fi)(?![A-Za-z])"
)
LITERAL = re.compile(
    rf"(?<!\\)(?:\\\\)*%[^\n]*|(?P<hidden>{HIDDEN})|(?P<verbatim>{VERBATIM_BLOCK}|{INLINE_CODE})", re.DOTALL
)
"""What is no markup; a comment is matched too, because nothing in it begins or ends anything."""
BRACED = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
SETTINGS = re.compile(
    rf"^[ \t]*(\\(?:newcounter|setcounter|newtheorem\*?|setlist)(?:[ \t]*(?:\[[^\[\]]*\]|{BRACED}))+)", re.MULTILINE
)
"""Macros above the body that say how it is numbered."""
DECLARED = (r"(?:title|setkomavar\s*\{subject\})", r"(?:date|setkomavar\s*\{date\})")
"""Macros with the title of a document or the subject of a letter, and with its date."""
LABELLED = re.compile(
    r"\\(?:part|chapter|(?:sub){0,2}section|caption)\*?(?:\[[^\[\]]{0,300}\])?"
    r"\{((?:[^{}]|\{[^{}]{0,200}\}){1,300})\}\s*\\label\s*\{([^{}]{1,200})\}"
)
GERMAN = re.compile(r"\\(?:usepackage|documentclass)\s*(?:\[[^\[\]]*german[^\[\]]*\]|\{n?german\})")
SHORTHAND = re.compile(r"(?<!\\)\"([aouAOUsz`'=~/|\"<>-])")
SHORTHANDS = {
    **dict(zip("aouAOU", "äöüÄÖÜ", strict=True)),
    **dict.fromkeys("sz", "ß"),
    **dict.fromkeys('-|"', ""),
    **dict.fromkeys("=~", "-"),
    "`": "„",
    "'": "“",
    "/": "/",
    "<": "«",
    ">": "»",
}
"""What follows a quotation mark in German documents → what is printed."""


def read(file: SourceFile) -> Iterator[Item]:
    """One record; its title is that of `\\title`, else a centred first line, else the file's stem."""
    title, date, text = latex(file.text())
    yield one_document(
        file,
        title,
        text,
        reject="Expected LaTeX with text, but got none; name another format with --format.",
        date=date,
    )


def latex(source: str) -> tuple[str, str, str]:
    """Title, date and Markdown of a document."""
    parts = _parts(source)
    has_shorthands = GERMAN.search(source) is not None and "\\shorthandoff" not in source
    others = [part if number % 2 else _prepared(part, has_shorthands) for number, part in enumerate(parts)]
    document = expanded(others)
    glossary = Glossary(document.parts[::2])
    text = "".join(
        part if number % 2 else glossary.filled(on_one_page(part))
        for number, part in enumerate(with_article_commands(document.parts))
    )
    match = BODY.search(text)
    head, body = (text[: match.start()], match[1]) if match else ("", text)
    title, date = (_declared(name, head) or _declared(name, body) for name in DECLARED)
    html = Converter("\n".join([*SETTINGS.findall(head), body]), document.names, _titles(body)).html()
    if not title:
        title, html = first_line(html)
    return title, iso_date(date), without_title(fragment(with_headings(html)).text, title)


def _parts(source: str) -> list[str]:
    """The source without environments named `comment`, divided: every second part is verbatim."""
    parts, position, text = [], 0, ""
    for match in LITERAL.finditer(source):
        if match["hidden"] or match["verbatim"]:
            text += source[position : match.start()]
            position = match.end()
        if match["verbatim"]:
            parts += [text, match[0]]
            text = ""
    return [*parts, text + source[position:]]


def _titles(body: str) -> dict[str, str]:
    """Label → title, of the sections and captions directly above labels."""
    return {label: " ".join(plain(Converter(title).html()).split()) for title, label in LABELLED.findall(body)}


def _prepared(text: str, has_shorthands: bool) -> str:
    """A part that is not verbatim without comments, and without the short forms of German documents."""
    text = COMMENT.sub(r"\1", text)
    return SHORTHAND.sub(lambda match: SHORTHANDS[match[1]], text) if has_shorthands else text


def _declared(name: str, text: str) -> str:
    """The text of an argument as in `\\title{…}`."""
    match = re.search(rf"\\{name}\s*(?:\[[^\]]{{0,500}}\]\s*)?(?=\{{)", text)
    content = argument(text, match.end())[0] if match else ""
    return " ".join(plain(Converter(content).html()).split()) if content else ""
