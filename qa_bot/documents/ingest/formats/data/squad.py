"""SQuAD (Rajpurkar et al. 2016, 1.1 and 2.0): each paragraph is a document, without its questions (the test set)."""

from __future__ import annotations

import json
from collections.abc import Iterator

from qa_bot.documents.ingest.files.source_file import SourceFile, over_record_limit
from qa_bot.documents.ingest.formats.data.json_elements import JsonEndError, elements
from qa_bot.documents.ingest.records import Item, Record, Reject


def read(file: SourceFile) -> Iterator[Item]:
    """A record for each paragraph, with id `NAME#ARTICLE.PARAGRAPH` counted from 1."""
    try:
        number = 0
        for number, (line, data) in enumerate(elements(file.stream, limit=file.limits.record_bytes), 1):
            where = f"{file.where}:{line}"
            if data is None:
                yield Reject(where, over_record_limit(file.limits))
            else:
                yield from _article(data, number, where=where, file=file)
        if number == 0:
            yield Reject(file.where, 'Expected SQuAD\'s {"data": [articles]}, but got no article; name the --format.')
    except JsonEndError as error:
        yield Reject(file.where, str(error))


def _article(data: bytes, number: int, *, where: str, file: SourceFile) -> Iterator[Item]:
    try:
        article = json.loads(data)
    except (ValueError, RecursionError):
        yield Reject(where, f"Expected article {number} as an object, but got broken JSON; correct it.")
        return
    paragraphs = article.get("paragraphs")
    if not isinstance(paragraphs, list):
        names = ", ".join(list(article)[:10]) or "none"
        yield Reject(
            where,
            f"Expected article {number} with a title and a list of paragraphs, but got the fields {names}; correct it.",
        )
        return
    title = file.repairs.clean(str(article.get("title") or "")).replace("_", " ").strip()
    for position, paragraph in enumerate(paragraphs, 1):
        yield _paragraph(paragraph, title, f"{number}.{position}", where=where, file=file)


def _paragraph(paragraph: object, title: str, position: str, *, where: str, file: SourceFile) -> Record | Reject:
    context = paragraph.get("context") if isinstance(paragraph, dict) else None
    if not isinstance(context, str) or not context.strip():
        return Reject(where, f"Expected a text in context of paragraph {position}, but got none; correct it.")
    text = file.repairs.clean(context).strip()
    return Record(f"{file.name}#{position}", title, text, where=where)
