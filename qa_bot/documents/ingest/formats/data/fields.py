"""Makes a record of named fields: a JSON object, or a row under a header."""

from __future__ import annotations

from collections.abc import Mapping

from qa_bot.documents.ingest.dates import iso_date
from qa_bot.documents.ingest.files.decoding import Repairs
from qa_bot.documents.ingest.formats.field_markup import field_text, plain_field
from qa_bot.documents.ingest.formats.pair_names import ANSWERS, QUESTIONS
from qa_bot.documents.ingest.records import Record, Reject

DATES = (
    *("updated", "updatedat", "lastupdated", "modified", "modifiedat", "lastmodified", "datemodified", "date", "datum"),
    *("published", "publishedat", "datepublished", "created", "createdat", "datecreated"),
)
"""Fields with the date of a document as `_plain` names them, the last change first."""


class FieldError(Exception):
    """A field is missing or of the wrong kind; the message names it."""


def record_of(fields: object, *, where: str, default_id: str, repairs: Repairs) -> Record | Reject:
    """A record from BEIR's `_id, title, text, metadata.url`, `id, title, text, url`, or `question, answer(s)`.

    Its date is that of a field such as `date`, `updated`, `lastModified` or `created_at`, also in `metadata`.
    """
    try:
        if not isinstance(fields, Mapping):
            raise FieldError(f"Expected a JSON object, but got {_kind(fields)}; write one object for each document.")
        return _record(fields, where=where, default_id=default_id, repairs=repairs)
    except FieldError as error:
        return Reject(where, str(error))


def _record(fields: Mapping[str, object], *, where: str, default_id: str, repairs: Repairs) -> Record:
    fields = _with_english_names(fields)
    is_pair = fields.get("question") is not None
    title, text = _pair(fields) if is_pair else _document(fields)
    content, is_markdown = field_text(text)
    if not content:
        raise FieldError("Expected text, but got HTML without text; fill it or drop the line.")
    return Record(
        id=repairs.clean(_id(fields) or default_id),
        title=repairs.clean(plain_field(title, text)),
        text=repairs.clean(content),
        body=repairs.clean(plain_field(_string(fields, "body"))),
        url=repairs.clean(_url(fields)),
        where=where,
        markdown=is_markdown,
        kind="pair" if is_pair else "prose",
        date=_date(fields) or _date(fields.get("metadata")),
    )


def is_date_field(name: str) -> bool:
    """Whether a field or column of this name has the date of a document."""
    return _plain(name) in DATES


def _date(fields: object) -> str:
    """The first of `DATES` that is a full date; other values are no error, because a field may mean something else."""
    if not isinstance(fields, Mapping):
        return ""
    named = {_plain(name): value for name, value in fields.items()}
    return next(filter(None, (iso_date(named[name]) for name in DATES if name in named)), "")


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


def _with_english_names(fields: Mapping[str, object]) -> Mapping[str, object]:
    """The fields with `question` and `answer` (`answers`, if it is a list), which may have names in other languages."""
    question = next((name for name in fields if name.strip().lower() in QUESTIONS), None)
    answer = next((name for name in fields if name.strip().lower() in ANSWERS), None)
    if question is None or answer is None or not {"question", "text"}.isdisjoint(fields):
        return fields
    value = fields[answer]
    return {**fields, "question": fields[question], "answers" if isinstance(value, list) else "answer": value}


def _pair(fields: Mapping[str, object]) -> tuple[str, str]:
    question = _string(fields, "question")
    is_list = isinstance(fields.get("answer"), list)
    answers = fields["answer"] if is_list else fields.get("answers")
    if answers is not None and (is_list or "answer" not in fields):
        if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
            raise FieldError(f"Expected a list of strings in the field answers, but got {_kind(answers)}.")
        answer = "\n".join(dict.fromkeys(stripped for item in answers if (stripped := item.strip())))
    else:
        answer = _string(fields, "answer")
    if not question or not answer:
        missing = "question" if not question else "answer"
        raise FieldError(f"Expected a question and its answer, but got no {missing}; add it or drop the line.")
    return question, answer


def _document(fields: Mapping[str, object]) -> tuple[str, str]:
    if "text" not in fields:
        names = ", ".join(list(fields)[:10]) or "none"
        raise FieldError(f"Expected the field text, or question and answer, but got {names}; rename or add it.")
    title, text = _string(fields, "title"), _string(fields, "text")
    if not title and not text:
        raise FieldError("Expected text, but got an empty text and no title; fill it or drop the line.")
    return title, text or title


def _id(fields: Mapping[str, object]) -> str:
    for name in ("_id", "id"):
        value = fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if value is not None:
            return _string(fields, name)
    return ""


def _url(fields: Mapping[str, object]) -> str:
    metadata = fields.get("metadata")
    if fields.get("url") is None and isinstance(metadata, Mapping) and isinstance(metadata.get("url"), str):
        return str(metadata["url"]).strip()
    return _string(fields, "url")


def _string(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise FieldError(f"Expected a string in the field {name}, but got {_kind(value)}; put it in quotes.")
    return value.strip()


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
