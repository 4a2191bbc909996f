"""XML of a site (sitemaps, feeds) from memory, with the reader of XML files and its safety."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TypeVar

from qa_bot.documents.ingest.files.byte_budget import ByteBudget, CountingStream, LayerBudget, LimitError
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.files.xml import Handler, XmlError, stream
from qa_bot.documents.ingest.records import Limits

T = TypeVar("T")


def parse_xml(body: bytes, where: str, handler: Handler[T]) -> Iterator[T]:
    """The handler's results, up to the first error of the XML.

    Raises ValueError behind these results if the XML is broken or has entities.
    """
    limits = Limits()
    raw = CountingStream(io.BytesIO(body), LayerBudget(ByteBudget(limits)))
    try:
        yield from stream(SourceFile(where, where, raw, limits), handler)
    except (XmlError, LimitError) as error:
        raise ValueError(str(error)) from None


def local_name(tag: str) -> str:
    """The name of an element without its namespace's prefix, in lower case."""
    return tag.rpartition("}")[2].rpartition(":")[2].lower()
