"""Routes of documents: send files or a text, show, list and delete documents, list collections."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import web

from qa_bot.bot import Bot
from qa_bot.web.api.json_bodies import read, read_query, reply, shown
from qa_bot.web.api.writer import WRITER
from qa_bot.web.app_keys import SERVICE, SETTINGS
from qa_bot.web.documents.models import DocumentRequest, ListQuery
from qa_bot.web.documents.names import file_of_title
from qa_bot.web.documents.receiving import UPLOADS, Received, Receiver, SentFile, longest_upload
from qa_bot.web.errors import ServiceError
from qa_core.text.safe_text import clean

if TYPE_CHECKING:
    from qa_bot.documents.sources.uploads import UploadOutcome
    from qa_bot.home.store import ListedDocument, Store

RECEIVER = web.AppKey("receiver", Receiver)
FORM = "multipart/form-data"
NAMED = 5
"""Reasons that an error about an upload names."""


def prepare(app: web.Application) -> None:
    """Add the receiver of uploads to an application."""
    app[RECEIVER] = Receiver(longest_upload(app[SETTINGS]))


def routes() -> list[web.RouteDef]:
    return [
        web.post(UPLOADS, add),
        web.get(UPLOADS, list_uploaded),
        web.get("/api/documents/{document:.+}", show),
        web.delete("/api/documents/{document:.+}", delete),
        web.get("/api/collections", list_collections),
    ]


async def add(request: web.Request) -> web.Response:
    """Add documents from files or a text; those of the same names are replaced."""
    bot = request.app[SERVICE].bot
    if request.content_type not in (FORM, "application/json"):
        got = request.headers.get("Content-Type", "none")
        raise ServiceError(415, f"Expected Content-Type: {FORM} or application/json, but got {shown(got)}.")
    bot.home.expect_room()
    text = await read(request, DocumentRequest) if request.content_type != FORM else None
    received = _written(text) if text else await request.app[RECEIVER].receive(request)
    outcome = await request.app[WRITER].run(partial(_upload, bot, received, text), after=received.close)
    return reply(_outcome(outcome), status=201)


async def list_uploaded(request: web.Request) -> web.Response:
    """Uploaded documents, the last that were added first."""
    limit, service = read_query(request, ListQuery).limit, request.app[SERVICE]
    documents, total = await service.store(lambda store: store.sources.latest("upload", limit=limit))
    return reply({"documents": list(map(_listed, documents)), "total": total})


async def show(request: web.Request) -> web.Response:
    """A document with its text as the store has it."""
    id_ = request.match_info["document"]
    return reply(await request.app[SERVICE].store(lambda store: _document(store, id_)))


async def delete(request: web.Request) -> web.Response:
    """Remove a document everywhere."""
    id_ = request.match_info["document"]
    await request.app[WRITER].run(partial(_delete, request.app[SERVICE].bot, id_))
    return reply({"deleted": [id_]})


async def list_collections(request: web.Request) -> web.Response:
    """Collections with their sources."""
    return reply({"collections": await request.app[SERVICE].store(_collections)})


def _written(body: DocumentRequest) -> Received:
    """A text as a file that was sent."""
    received = Received(collection=body.collection)
    file = received.new_file()
    file.write(body.text.encode(errors="replace"))
    file.flush()
    received.files.append(SentFile(file_of_title(body.title), Path(file.name)))
    return received


def _upload(bot: Bot, received: Received, text: DocumentRequest | None) -> UploadOutcome:
    from qa_bot.documents.sources.uploads import Upload, upload  # late: the start does not wait for SQLAlchemy

    fields = {"format": "markdown", "title": clean(" ".join(text.title.split())), "url": text.url or ""} if text else {}
    uploads = [Upload(sent.name, sent.path, **fields) for sent in received.files]
    outcome = upload(bot.home, bot.config, bot.encoder, uploads, collection=received.collection)
    if not outcome.report.accepted:
        reasons = [f"{one.where}: {one.reason}" for one in outcome.report.examples]
        more = [f"{len(reasons) - NAMED} more are rejected."] if len(reasons) > NAMED else []
        raise ServiceError(422, " ".join(["Nothing was added.", *reasons[:NAMED], *more]))
    bot.corridor()  # opened here, so that the next question does not wait for it
    return outcome


def _delete(bot: Bot, id_: str) -> None:
    from qa_bot.documents import sync

    _, missing = sync.delete(bot.home, bot.config, bot.encoder, ids=[id_])
    if missing:
        raise _unknown(id_)
    bot.corridor()


def _outcome(outcome: UploadOutcome) -> dict[str, Any]:
    report = outcome.report
    return {
        "documents": list(map(_listed, outcome.documents)),
        "added": report.added,
        "updated": report.updated,
        "unchanged": report.unchanged,
        "rejected": [{"where": one.where, "reason": one.reason} for one in report.examples],
    }


def _listed(document: ListedDocument) -> dict[str, str]:
    return {"id": document.id, "title": document.title, "collection": document.collection, "path": document.file}


def _document(store: Store, id_: str) -> dict[str, Any]:
    from qa_bot.transfer.exporting import document_fields

    documents = store.with_id(id_)
    if not documents:
        raise _unknown(id_)
    document = documents[0]
    details = document.details
    names = {source.id: source.name for source in store.sources.all()}
    fields = document_fields(document)
    return {
        "id": document.external_id,
        "title": document.title,
        "url": fields["url"],
        "collection": document.collection,
        "source": names.get(document.source or 0, ""),
        "path": details.path,
        "date": details.date,
        "language": details.language,
        "archived": details.archived,
        "text": fields["text"],
        "passages": len(document.passages),
    }


def _unknown(id_: str) -> ServiceError:
    return ServiceError(404, f"Expected the id of a document, but got {shown(id_)}, which is not in the home.")


def _collections(store: Store) -> list[dict[str, Any]]:
    sources = store.sources.all()
    return [
        {
            "name": one.name,
            "documents": one.documents,
            "passages": one.passages,
            "sources": [source.name for source in sources if source.collection == one.name],
        }
        for one in store.collections()
        if one.documents
    ]
