"""Recognises binary documents by their first bytes, whatever their names say."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""Compound files: Office before 2007, Outlook messages, and encrypted Office files of today."""

MAGIC = (
    (b"%PDF-", ".pdf"),
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"II*\0", ".tif"),
    (b"MM\0*", ".tif"),
    (b"{\\rtf", ".rtf"),
)
OTHER_ARCHIVES = ((b"Rar!", "RAR"), (b"\xfd7zXZ\0", "XZ"), (b"\x28\xb5\x2f\xfd", "Zstandard"))
TAR, TAR_OFFSET = b"ustar", 257
MIME_TYPES = {
    b"application/epub+zip": ".epub",
    b"application/vnd.oasis.opendocument.text": ".odt",
    b"application/vnd.oasis.opendocument.spreadsheet": ".ods",
    b"application/vnd.oasis.opendocument.presentation": ".odp",
}
MIME_MEMBER = re.compile(rb"^PK\x03\x04.{26}mimetype([\w/.+-]+?)(?:-template)?PK", re.DOTALL)
OFFICE_FOLDER = re.compile(rb"PK\x03\x04.{26}(word|xl|ppt)/", re.DOTALL)
OFFICE_FOLDERS = {b"word": ".docx", b"xl": ".xlsx", b"ppt": ".pptx"}
OFFICE_MEMBER = re.compile(rb"^PK\x03\x04.{26}(\[Content_Types\]\.xml|_rels/|docProps/|mimetype)", re.DOTALL)
OFFICE_SUFFIX = re.compile(r"\.(docx|docm|dotx|dotm|xlsx|xlsm|xltx|xlsb|pptx|pptm|potx|ppsx|od[tspg]|epub)$")
OLE_STREAMS = (
    ("__substg1.0_", ".msg"),
    ("__properties_version1.0", ".msg"),
    ("EncryptedPackage", ".docx"),
    ("WordDocument", ".doc"),
    ("Workbook", ".xls"),
    ("PowerPoint Document", ".ppt"),
)


def signature(name: str, head: bytes) -> str:
    """The usual suffix of a binary document, or "" if the bytes are text, an archive, or unknown.

    A name with a suffix of the same family decides among formats that begin alike.
    """
    suffix = PurePosixPath(name).suffix.lower()
    if head.startswith(b"PK\x03\x04"):
        return _of_zip(suffix, head)
    if head.startswith(OLE):
        return _of_ole(suffix, head)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return ".webp"
    return next((kind for magic, kind in MAGIC if head.startswith(magic)), "")


def other_archive(head: bytes) -> str:
    """The kind of an archive that is not read through, else ""."""
    if head.startswith(TAR, TAR_OFFSET):
        return "tar"
    return next((kind for magic, kind in OTHER_ARCHIVES if head.startswith(magic)), "")


def _of_zip(suffix: str, head: bytes) -> str:
    if match := MIME_MEMBER.match(head):
        return MIME_TYPES.get(match[1], ".zip-document")
    folder = OFFICE_FOLDER.search(head) if OFFICE_MEMBER.match(head) else None
    kind = OFFICE_FOLDERS[folder[1]] if folder else ""
    if OFFICE_SUFFIX.match(suffix) and (not kind or kind[1] == suffix[1]):  # .docm and .docx are of one family
        return suffix
    return kind or (".docx" if OFFICE_MEMBER.match(head) else "")


def _of_ole(suffix: str, head: bytes) -> str:
    if suffix in {".msg", ".doc", ".xls", ".ppt"} or OFFICE_SUFFIX.match(suffix):
        return suffix
    return next((kind for stream, kind in OLE_STREAMS if stream.encode("utf-16-le") in head), ".ole")
