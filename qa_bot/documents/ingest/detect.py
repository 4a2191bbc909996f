"""Which format a file has, by its name and its first kilobytes."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from qa_bot.documents.ingest.files.decoding import encoding_of, has_mark

FORMATS = ("jsonl", "tsv", "squad", "medquad", "stackexchange", "markdown", "html", "pdf", "text")

BY_SUFFIX = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".tsv": "tsv",
    ".md": "markdown",
    ".markdown": "markdown",
    ".htm": "html",
    ".html": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".txt": "text",
}
TRIPLES = {".nt", ".nq", ".ttl"}
MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"PK\x03\x04": "zip", b"PK\x05\x06": "zip", b"7z\xbc\xaf\x27\x1c": "7z"}
OFFICE = re.compile(rb"^PK\x03\x04.{26}(\[Content_Types\]\.xml|mimetype|_rels/)", re.DOTALL)
CONTROLS = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
CONTROL_SHARE = 0.02  # a text has none or very few, random bytes have a tenth
XML_ROOT = re.compile(r"^(?:\s|<\?.*?\?>|<!--.*?-->|<!DOCTYPE(?:[^\[>]|\[.*?\])*>)*<([\w:.-]+)", re.DOTALL)
ROOTS = {"posts": "stackexchange", "html": "html", "Document": "medquad", "doc": "medquad", "DiseaseFile": "medquad"}


class UnknownFormatError(Exception):
    """No reader takes this file; the message says why and what to do."""


def container_of(head: bytes) -> str | None:
    """`gz`, `bz2`, `zip` or `7z` by the first bytes, whatever the name says."""
    return next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), None)


def format_of(name: str, head: bytes) -> str:
    """One of `FORMATS`.

    Raises UnknownFormatError where no reader fits.
    """
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in TRIPLES:
        raise UnknownFormatError("Expected documents, but got triples; add them with `qa-bot kg add`.")
    if head.startswith(b"%PDF-"):
        return "pdf"
    expect_text(head)
    text = head.decode(encoding_of(head), "replace").lstrip()
    return BY_SUFFIX.get(suffix) or _by_content(suffix, text)


def expect_text(head: bytes) -> None:
    """Raises UnknownFormatError where the first bytes are not of a text."""
    if has_mark(head):
        return
    if b"\0" in head:
        raise UnknownFormatError(
            "Expected text, but got a binary file (it has NUL bytes); convert it to text (UTF-16 needs its byte "
            "order mark)."
        )
    if len(CONTROLS.findall(head)) > max(3, CONTROL_SHARE * len(head)):
        raise UnknownFormatError("Expected text, but got a binary file (it is full of control characters); convert it.")


def _by_content(suffix: str, text: str) -> str:
    if suffix == ".json" or text.startswith("{"):
        return _json(text)
    if suffix in {".xml", ""} and text.startswith("<"):
        return _markup(text)
    first = text.partition("\n")[0]
    return "tsv" if suffix == "" and re.match(r"^\S+\t[^\t]+$", first) else "text"


def _json(text: str) -> str:
    if text.startswith("["):
        return "json"
    is_squad = '"paragraphs"' in text or '"data"' in text[:500] or text.partition("\n")[0].strip() == "{"
    return "squad" if is_squad else "jsonl"


def _markup(text: str) -> str:
    match = XML_ROOT.match(text)
    root = match[1] if match else ""
    if text[:9].lower() == "<!doctype" and "html" in text[:20].lower():
        return "html"
    if root not in ROOTS and root.lower() != "html":
        expected = ", ".join(f"<{name}>" for name in ROOTS)
        raise UnknownFormatError(
            f"Expected XML with one of the roots {expected}, but got <{root}>; name another format with --format, "
            "or convert it to JSONL."
        )
    return ROOTS.get(root, "html")
