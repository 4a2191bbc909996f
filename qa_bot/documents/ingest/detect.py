"""The formats of `qa-bot add` and their readers, and how a file's format is detected from its name and first bytes.

To add a format, write a module in `formats/` with a function `read`, and add a row to `READERS`.
"""

from __future__ import annotations

import mimetypes
import re
from pathlib import PurePosixPath
from typing import NamedTuple

from qa_bot.documents.ingest.files.decoding import encoding_of, has_mark
from qa_bot.documents.ingest.files.signatures import other_archive, signature
from qa_bot.documents.ingest.formats.pair_names import QUESTIONS


class Reader(NamedTuple):
    """A module of `formats/`, its function, and the file suffixes and XML roots that select it."""

    module: str
    suffixes: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    function: str = "read"

    @property
    def path(self) -> str:
        """The full name of its module."""
        return f"qa_bot.documents.ingest.formats.{self.module}"

    @property
    def is_isolated(self) -> bool:
        """Whether it runs in a process of limited time and memory, because it gives files to large parsers."""
        return self.is_binary or self.module in {"mail.eml", "exports.slack", "markup.restructured"}

    @property
    def is_binary(self) -> bool:
        """Whether its files are no text."""
        return self.module.startswith(BINARY_MODULES) or self.function == "read_archive"


BINARY_MODULES = ("office.", "sheets.xls", "sheets.ods", "pages.", "mail.msg")
"""Rooms and modules of `formats/` that give files of others to large parsers."""

_DOCBOOK = (
    "appendix article bibliography book chapter glossary itemizedlist legalnotice orderedlist para part preface "
    "procedure qandaset refentry reference refsect1 sect1 sect2 sect3 section set topic variablelist"
)
DOCBOOK_ROOTS = tuple(_DOCBOOK.split())
"""Other XML has some of them, too: journals have articles. A file is DocBook if it has a mark of it."""
DOCBOOK_MARK = re.compile(
    r"http://docbook\.org/ns/docbook|<!DOCTYPE[^\[>]{1,200}docbook|<(?:\w{1,20}:)?(?:simpara|para|itemizedlist|orderedlist|"
    r"variablelist|programlisting|informaltable|mediaobject|refnamediv|refmeta|qandaentry|glossentry|sect[12]|"
    r"(?:book|article|chapter|part|section|sect[1-5]|refentry)info)[\s/>]",
    re.IGNORECASE,
)

READERS = {
    "jsonl": Reader("data.jsonl", (".jsonl", ".ndjson")),
    "tsv": Reader("sheets.delimited", (".tsv", ".tab"), function="read_tsv"),
    "csv": Reader("sheets.delimited", (".csv",)),
    "squad": Reader("data.squad"),
    "yaml": Reader("data.yaml_pairs", (".yaml", ".yml")),
    "medquad": Reader("data.medquad", roots=("Document", "doc", "DiseaseFile")),
    "stackexchange": Reader("data.stackexchange", roots=("posts",)),
    "markdown": Reader("markup.markdown", (".md", ".markdown", ".mdx", ".mkd", ".mdown", ".qmd", ".rmd")),
    "restructured": Reader("markup.restructured", (".rst", ".rest")),
    "asciidoc": Reader("markup.asciidoc.document", (".adoc", ".asciidoc", ".asc")),
    "latex": Reader("markup.latex.document", (".tex", ".latex", ".ltx")),
    "typst": Reader("markup.typst.document", (".typ",)),
    "docbook": Reader("markup.docbook.document", (".docbook", ".dbk"), DOCBOOK_ROOTS),
    "mediawiki": Reader("exports.mediawiki", roots=("mediawiki",)),
    "wordpress": Reader("exports.wordpress"),
    "notebook": Reader("markup.notebook", (".ipynb",)),
    "python": Reader("markup.python_source", (".py", ".pyi")),
    "transcript": Reader("mail.transcript", (".srt", ".vtt")),
    "calendar": Reader("mail.calendars.events", (".ics", ".ical")),
    "contacts": Reader("mail.calendars.contacts", (".vcf", ".vcard")),
    "html": Reader("markup.html", (".htm", ".html", ".xhtml"), ("html",)),
    "epub": Reader("pages.epub", (".epub",)),
    "pdf": Reader("pages.pdf", (".pdf",)),
    "docx": Reader("office.word.docx", (".docx", ".docm", ".dotx", ".dotm")),
    "pptx": Reader("office.slides.pptx", (".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm")),
    "odt": Reader("office.opendocument.documents", (".odt", ".ott", ".fodt"), function="read_text"),
    "odp": Reader("office.opendocument.documents", (".odp", ".otp", ".fodp"), function="read_slides"),
    "xlsx": Reader("sheets.xlsx", (".xlsx", ".xlsm", ".xltx", ".xltm")),
    "image": Reader("pages.image", (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")),
    "eml": Reader("mail.eml", (".eml", ".mhtml", ".mht")),
    "mbox": Reader("mail.eml", (".mbox", ".mbx"), function="read_mbox"),
    "msg": Reader("mail.msg", (".msg",)),
    "slack": Reader("exports.slack"),
    "slack-archive": Reader("exports.slack", function="read_archive"),
    "confluence": Reader("exports.confluence"),
    "xls": Reader("sheets.xls", (".xls", ".xlt")),
    "ods": Reader("sheets.ods", (".ods", ".ots", ".fods")),
    "rtf": Reader("office.rich_text.rtf", (".rtf",)),
    "text": Reader("markup.text", (".txt", ".text")),
    "json": Reader("data.jsonl", function="read_array"),
    "json-object": Reader("data.jsonl", function="read_object"),
}
FORMATS = tuple(name for name in READERS if name not in {"json", "json-object", "slack-archive"})
"""Names for `--format`; an array is given as `jsonl` or detected."""

BY_SUFFIX = {suffix: name for name, reader in READERS.items() for suffix in reader.suffixes}
ROOTS = {root: name for name, reader in READERS.items() for root in reader.roots}
TRIPLES = {".nt", ".nq", ".ttl"}
CONTROLS = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
CONTROL_SHARE = 0.02  # texts have almost none, random bytes about 10 %
MAIL_HEAD = re.compile(
    r"(?:From \S+ .*\d{4}.*\n)?"
    r"(?:Return-Path|Received|Delivered-To|From|Message-ID|MIME-Version|Date|Subject|X-[\w-]+):.*\n"
    r"(?:[\w-]+:.*\n|[ \t].*\n)+",
    re.IGNORECASE,
)
MAIL_MARK = re.compile(r"^(?:MIME-Version: *\d|Message-ID: *<|Received: (?:from|by) )", re.IGNORECASE | re.MULTILINE)
"""A field that mail programs write; a memo begins with "From:", "To:" and "Date:", too."""
SLACK_HEAD = re.compile(r'"ts"\s*:\s*"\d{9,11}\.\d+"|"id"\s*:\s*"[UWCGD][A-Z0-9]{6,}",\s*"(?:team_id|name)"')
FIRST_FIELD = re.compile(r'\{\s*"([^"\\\n]{1,60})"\s*:')
ONE_LIST = re.compile(
    r'\{(?:\s*"[^"\\\n]{1,60}"\s*:\s*(?:"[^"\\\n]{0,200}"|[\w.+-]{1,40})\s*,){0,9}\s*"[^"\\\n]{1,60}"\s*:\s*\[\s*\{'
)
"""An object with a list of objects, after some fields of other kinds."""
TEXT_FIELD = re.compile(r'"(?:text|question|frage|pregunta|domanda)"\s*:', re.IGNORECASE)
JSON_QUESTION = re.compile(rf'"(?:{"|".join(map(re.escape, sorted(QUESTIONS)))}|[^"\n]+[?？])"\s*:', re.IGNORECASE)
"""A field for questions, or a question as a name."""
NEXT_LINE = re.compile(r"\}[ \t\r]*\n\s*\{")
WORDPRESS_HEAD = re.compile(r"<rss\b[^>]*?xmlns:wp\s*=")
CONFLUENCE_HEAD = re.compile(r'<div id="main-header">.{0,200}?<div id="breadcrumb-section">', re.DOTALL)
RESTRUCTURED_HEADING = re.compile(r"^(?=\S)(.{3,})\n([=\-~^\"'*+#`.:_])\2{2,}\s*$", re.MULTILINE)
RESTRUCTURED_MARK = re.compile(
    r"^\.\. (?:[\w-]+(?::[\w-]+)?::(?=\s|$)|_[^:\n]+:(?=\s|$))|:[a-z][\w:+.-]*:`[^`\n]", re.MULTILINE
)
"""A directive, a target or a role. Manuals made with Sphinx often name their files `.txt`: Django's, docutils' own."""
_SUBSET = r"""\[(?:(?><!--.*?-->)|"[^"]*+"|'[^']*+'|[^\]])*+\]"""
XML_ROOT = re.compile(
    rf"^(?:\s++|(?><\?.*?\?>)|(?><!--.*?-->)|<!DOCTYPE(?:[^\[>]|{_SUBSET})*+>)*+<([\w:.-]+)", re.DOTALL
)
"""Nothing is given back: thirty comments before a text that is no XML would otherwise take minutes."""


FLAT_ROOT = "office:document"
FLAT_KIND = re.compile(
    r"office:mimetype\s*=\s*[\"']application/vnd\.oasis\.opendocument\.(text|spreadsheet|presentation)\b"
)
FLAT_FORMATS = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}
"""OpenDocument files that are one XML file."""
OTHER_ROOTS = {
    **dict.fromkeys(("rss", "feed"), "the feed of a website; add it by its address: `qa-bot add https://…`"),
    **dict.fromkeys(("svg", "svg:svg"), "a drawing (SVG); save it as PDF or PNG"),
}
"""XML that is no document: the root, and what is said of the file."""


_PARTS = "html head body div section article main header nav h1 h2 h3 p table ul ol dl form style script"
HTML_PARTS = frozenset(_PARTS.split())
"""Elements that templates of websites begin with."""
WHOLE_PAGE = re.compile(
    r"(?:(?><(?:\?.*?\?|!--.*?--)>)\s*+)*+<(?:!doctype\s+html\b|html\b[^>]*+>\s*+<(?:head|body)\b)",
    re.IGNORECASE | re.DOTALL,
)
DAMAGED = {
    "docx": ("Word", "a Word file"),
    "xlsx": ("Excel", "an Excel file"),
    "pptx": ("PowerPoint", "a PowerPoint file"),
    "xls": ("Excel", "an Excel file"),
    **dict.fromkeys(("odt", "ods", "odp"), ("its program", "an OpenDocument file")),
    "pdf": ("a PDF program", "a PDF file"),
    "epub": ("its program", "an e-book"),
    "msg": ("Outlook", "an Outlook message"),
}
"""The program and the kind of a file of each binary format, for what is said of damaged ones."""


SEARCH_INDEX = "Search.setIndex("
"""What `searchindex.js` begins with, which Sphinx writes beside its pages."""


class UnknownFormatError(Exception):
    """No reader accepts this file; the message says why and what to do."""


def format_of(name: str, head: bytes) -> str:
    """A key of `READERS`.

    Raises UnknownFormatError if no reader accepts the file.
    """
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in TRIPLES:
        raise UnknownFormatError("Expected documents, but got triples; add them with `qa-bot kg add`.")
    if kind := signature(name, head):
        return _binary(kind)
    if (kind := media_of(name)) and b"\0" in head:
        raise UnknownFormatError(
            f"Expected a document, but got {kind}; add its subtitles (SRT, WebVTT) or a transcript as text."
        )
    if kind := other_archive(head):
        raise UnknownFormatError(f"Expected a document or a zip archive, but got {kind} data; unpack it.")
    by_suffix = BY_SUFFIX.get(suffix)
    if by_suffix is not None and by_suffix in DAMAGED:
        _expect_whole(by_suffix, head)
    expect_text(head)
    text = head.decode(encoding_of(head), "replace").lstrip()
    if by_suffix is None:
        return _by_content(suffix, text)
    if by_suffix == "text":
        by_suffix = _text(text)
    if by_suffix == "html" and CONFLUENCE_HEAD.search(text):
        return "confluence"
    # a text with the suffix of a binary format: programs save pages and tables as .xls
    return _by_content("", text) if READERS[by_suffix].is_binary else by_suffix


def media_of(name: str) -> str:
    """ "a video" or "a sound recording" by the suffix of a name, else ""."""
    family = (mimetypes.guess_type(name)[0] or "").partition("/")[0]
    return {"video": "a video", "audio": "a sound recording"}.get(family, "")


def _binary(suffix: str) -> str:
    if suffix not in BY_SUFFIX:
        raise UnknownFormatError(
            f"Expected a document of a known format, but got a binary file ({suffix.lstrip('.')}); save it as PDF, "
            "HTML or text."
        )
    return BY_SUFFIX[suffix]


def expect_text(head: bytes) -> None:
    """Raises UnknownFormatError if the first bytes are not text."""
    if has_mark(head):
        return
    if b"\0" in head:
        raise UnknownFormatError(
            "Expected text, but got a binary file (it has NUL bytes); convert it to text (UTF-16 needs its byte "
            "order mark)."
        )
    if len(CONTROLS.findall(head)) > max(3, CONTROL_SHARE * len(head)):
        raise UnknownFormatError("Expected text, but got a binary file (it is full of control characters); convert it.")


def _expect_whole(name: str, head: bytes) -> None:
    """Raises UnknownFormatError if a file has the suffix of a binary format, but neither its first bytes nor text."""
    try:
        expect_text(head)
    except UnknownFormatError:
        program, kind = DAMAGED[name]
        raise UnknownFormatError(
            f"Expected {kind}, but got a damaged file, which does not begin like one; open it in {program} and save it "
            "again, or fetch it anew."
        ) from None


def _by_content(suffix: str, text: str) -> str:
    if text.startswith(SEARCH_INDEX):
        raise UnknownFormatError("Expected a document, but got the search index of a website; its pages are read.")
    if suffix == ".json" or text.startswith("{"):
        return _json(text)
    if suffix in {".xml", ""} and text.startswith("<"):
        return _markup(text)
    if suffix and root_of(text).lower() in HTML_PARTS:  # a template of a website, such as .php
        return "html"
    if text.startswith("<?xml") or root_of(text) in OTHER_ROOTS:
        return _markup(text)
    if suffix == "" and MAIL_HEAD.match(text):
        return _mail(text)
    first = text.partition("\n")[0]
    return "tsv" if suffix == "" and re.match(r"^\S+\t[^\t]+$", first) else _text(text)


def _text(text: str) -> str:
    """Plain text, or what was saved as such: a whole web page, mails with a mark of their programs, reStructuredText.

    This has an underlined heading and a mark that nothing else has.
    """
    if WHOLE_PAGE.match(text):
        return "html"
    if (head := MAIL_HEAD.match(text)) and MAIL_MARK.search(head[0]):
        return _mail(text)
    is_marked = RESTRUCTURED_HEADING.search(text) and RESTRUCTURED_MARK.search(text)
    return "restructured" if is_marked else "text"


def _mail(text: str) -> str:
    return "mbox" if text.startswith("From ") else "eml"


def _json(text: str) -> str:
    if text.startswith("["):
        return "slack" if SLACK_HEAD.search(text) else "json"
    is_indented = text.partition("\n")[0].strip() == "{"
    if '"paragraphs"' in text:
        return "squad"
    if ONE_LIST.match(text) and TEXT_FIELD.search(text) and (is_indented or not NEXT_LINE.search(text)):
        return "json"
    if is_indented and JSON_QUESTION.search(text):
        return "json-object"
    if '"data"' in (text if is_indented else text[:500]):
        return "squad"
    if is_indented:
        field = FIRST_FIELD.match(text)
        raise UnknownFormatError(
            f"Expected a JSON object on each line, an array of objects, or SQuAD, but got one object"
            f"{f' that begins with the field {field[1]}' if field else ''}; save its records as an array of objects "
            "with title and text."
        )
    return "jsonl"


def root_of(text: str) -> str:
    """The name of the root element of an XML text; "" if the text does not begin with one."""
    match = XML_ROOT.match(text)
    return match[1] if match else ""


def _markup(text: str) -> str:
    root = root_of(text)
    if root == "rss" and WORDPRESS_HEAD.search(text):
        return "wordpress"
    if (kind := OTHER_ROOTS.get(root)) is not None:
        raise UnknownFormatError(f"Expected a document, but got {kind}.")
    if root == FLAT_ROOT and (match := FLAT_KIND.search(text)):
        return FLAT_FORMATS[match[1]]
    if root.rpartition(":")[2] in DOCBOOK_ROOTS and DOCBOOK_MARK.search(text):
        return "docbook"
    if text[:9].lower() == "<!doctype" and "html" in text[:20].lower():
        return "html"
    if (root not in ROOTS or root in DOCBOOK_ROOTS) and root.lower() != "html":
        expected = ", ".join(f"<{name}>" for name in ROOTS if name not in DOCBOOK_ROOTS)
        raise UnknownFormatError(
            f"Expected DocBook, or XML with one of the roots {expected}, but got <{root}>; name another format with "
            "--format, or convert it to JSONL."
        )
    return ROOTS.get(root, "html")
