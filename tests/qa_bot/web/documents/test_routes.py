"""Documents over a real service: files and texts are sent, cited by answers, shown, listed and deleted."""

from __future__ import annotations

import io
import json
import socket
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import quote, urlsplit

import aiohttp
import pytest
from docx import Document

from qa_bot.documents.sources import uploads
from qa_bot.documents.sources.uploads import upload
from qa_bot.web.api.writer import WRITER
from qa_bot.web.documents import receiving
from qa_bot.web.documents.models import (
    CollectionsReply,
    DeletedReply,
    DocumentReply,
    UploadedReply,
    UploadReply,
)
from qa_bot.web.documents.routes import RECEIVER

KILN = "# Kiln rules\n\nThe kiln of the pottery club opens at seven on Thursdays.\n"
QUESTION = "When does the kiln of the pottery club open?"


@pytest.fixture(autouse=True)
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files."""
    folder = tmp_path / "spool"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def left(spool: Path) -> Callable[[], list[str]]:
    """Names of temporary files of uploads that are left."""
    return lambda: [path.name for path in spool.glob(f"{receiving.PREFIX}*")]


def form(*files: tuple[str, bytes | str], collection: str | None = None) -> aiohttp.FormData:
    data = aiohttp.FormData(quote_fields=False)
    for name, content in files:
        raw = content.encode() if isinstance(content, str) else content
        data.add_field("file", io.BytesIO(raw), filename=name, content_type="application/octet-stream")
    if collection is not None:
        data.add_field("collection", collection)
    return data


def send(service, *files: tuple[str, bytes | str], collection: str | None = None):
    return service.post("/api/documents", data=form(*files, collection=collection))


def raw_form(name: str, content: str) -> tuple[bytes, dict[str, str]]:
    """A form as browsers send it, which do not encode names, and its header."""
    head = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return f"{head}{content}\r\n--x--\r\n".encode(), {"Content-Type": "multipart/form-data; boundary=x"}


def sent(service, *files: tuple[str, bytes | str], collection: str | None = None) -> UploadReply:
    reply = send(service, *files, collection=collection)
    assert reply.status == 201, reply.text
    return UploadReply.model_validate(reply.json)


def error(reply, status: int) -> str:
    assert reply.status == status, reply.text
    return reply.json["error"]["message"]


def docx(text: str) -> bytes:
    document, out = Document(), io.BytesIO()
    document.add_paragraph(text)
    document.save(out)
    return out.getvalue()


def packed(**texts: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in texts.items():
            archive.writestr(f"{name}.md", text)
    return out.getvalue()


def test_an_answer_cites_an_uploaded_file(service, left) -> None:
    outcome = sent(service, ("kiln.md", KILN))
    assert [one.model_dump() for one in outcome.documents] == [
        {"id": "kiln.md", "title": "Kiln rules", "collection": "default", "path": "kiln.md"}
    ]
    assert (outcome.added, outcome.updated, outcome.unchanged, outcome.rejected) == (1, 0, 0, [])
    source = service.post("/api/ask", json={"question": QUESTION}).json["sources"][0]
    assert (source["document"], source["path"], source["collection"]) == ("kiln.md", "kiln.md", "default")
    assert left() == []


def test_the_same_name_replaces_the_document(service) -> None:
    sent(service, ("kiln.md", KILN))
    assert sent(service, ("kiln.md", KILN)).unchanged == 1
    outcome = sent(service, ("kiln.md", KILN.replace("seven", "nine")))
    assert (outcome.added, outcome.updated) == (0, 1)
    assert "at nine on Thursdays" in service.get("/api/documents/kiln.md").json["text"]


def test_office_files_and_archives_are_read(service) -> None:
    text = "The loom of the weaving club stands in room twelve."
    outcome = sent(service, ("loom.docx", docx(text)), ("clubs.zip", packed(kiln=KILN)), collection="clubs")
    assert sorted(one.id for one in outcome.documents) == ["clubs.zip!kiln.md", "loom.docx"]
    assert text in service.get("/api/documents/loom.docx").json["text"]
    member = DocumentReply.model_validate(service.get(f"/api/documents/{quote('clubs.zip!kiln.md')}").json)
    assert (member.path, member.source, member.collection) == ("clubs.zip!kiln.md", "uploads", "clubs")


def test_a_text_becomes_a_document(service, left) -> None:
    body = {"title": "Kiln/rules", "text": KILN, "url": "https://example.org/kiln", "collection": "clubs"}
    reply = service.post("/api/documents", json=body)
    assert (reply.status, reply.json["added"]) == (201, 1)
    id_ = reply.json["documents"][0]["id"]
    shown = DocumentReply.model_validate(service.get(f"/api/documents/{quote(id_)}").json)
    assert (shown.title, shown.url, shown.collection, shown.passages) == ("Kiln/rules", body["url"], "clubs", 1)
    assert service.post("/api/documents", json=body).json["unchanged"] == 1
    replaced = service.post("/api/documents", json={**body, "text": "It is closed now."})
    assert (replaced.json["updated"], [one["id"] for one in replaced.json["documents"]]) == (1, [id_])
    assert left() == []


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ({"title": "a"}, "Expected text, but it is missing."),
        ({"title": "?", "text": "a"}, "for title"),
        ({"title": "a", "text": " "}, "for text"),
        ({"title": "a", "text": "b", "url": "javascript:alert(1)"}, "for url"),
        ({"title": "a", "text": "b", "collection": " a"}, "for collection"),
        ({"title": "a", "text": "b", "collection": "a\nb"}, "for collection"),
        ({"title": "a", "text": "b", "path": "c"}, "Expected known fields"),
        ({"title": "a", "text": "# Only a heading"}, "Expected text, but got none"),
    ],
)
def test_an_invalid_text_is_rejected(service, body: dict[str, str], outcome: str) -> None:
    assert outcome in error(service.post("/api/documents", json=body), 422)
    assert service.get("/api/documents").json == {"documents": [], "total": 0}


def test_what_is_rejected_has_a_reason(service, left) -> None:
    outcome = sent(service, ("kiln.md", KILN), ("noise.md", b"\0\1\2"))
    assert (outcome.added, [one.where for one in outcome.rejected]) == (1, ["noise.md"])
    assert "binary file" in outcome.rejected[0].reason
    message = error(send(service, ("noise.md", b"\0\1\2"), ("empty.md", b"")), 422)
    assert message.startswith("Nothing was added. noise.md: Expected text")
    assert "empty.md: Expected a document, but got an empty file" in message
    assert left() == []


@pytest.mark.parametrize("name", ["../../x.md", "/etc/x.md", "C:/deep/x.md", "..\\\\x.md", "a/\u202ex.md"])
def test_a_hostile_name_is_a_name_alone(service, name: str, tmp_path: Path) -> None:
    body, headers = raw_form(name, KILN)
    reply = service.post("/api/documents", data=body, headers=headers)
    assert [one["id"] for one in reply.json["documents"]] == ["x.md"]
    assert list(tmp_path.rglob("x.md")) == []


@pytest.mark.parametrize("name", ["Öffnungs zeiten.md", "時間.md", "a'b;c=d.md", "100%.md"])
def test_any_other_name_stays(service, name: str) -> None:
    body, headers = raw_form(name, KILN)
    assert service.post("/api/documents", data=body, headers=headers).json["documents"][0]["id"] == name
    assert service.get(f"/api/documents/{quote(name)}").json["path"] == name


@pytest.mark.parametrize(("name", "outcome"), [("", "a name"), ("..", "a name"), ("a" * 256, "at most 255 bytes")])
def test_a_bad_name_is_rejected(service, left, name: str, outcome: str) -> None:
    assert outcome in error(send(service, (name, KILN)), 422)
    assert left() == []


def test_unexpected_forms_are_rejected(service, left) -> None:
    other = aiohttp.FormData()
    other.add_field("path", "x", content_type="text/plain")
    other.add_field("file", b"x", filename="x.md")
    assert "the fields file and collection" in error(service.post("/api/documents", data=other), 422)
    empty = aiohttp.FormData([("collection", "a")], default_to_multipart=True)
    assert "a field `file`" in error(service.post("/api/documents", data=empty), 422)
    assert "names differ" in error(send(service, ("x.md", KILN), ("a/x.md", KILN)), 422)
    assert "a collection of at most" in error(send(service, ("x.md", KILN), collection="a\nb"), 422)
    broken = {"Content-Type": "multipart/form-data; boundary=x"}
    for body in (
        b"",
        b"nothing",
        b"--x\r\nContent-Disposition: form-data; name=file; filename=a.md\r\n\r\nhalf",
    ):
        assert "malformed" in error(service.post("/api/documents", data=body, headers=broken), 400), body
    assert service.post("/api/documents", data=b"x", headers={"Content-Type": "text/plain"}).status == 415
    assert left() == []


def chunked(name: str, size: int) -> Iterator[bytes]:
    yield f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
    for _ in range(size // 65_536 + 1):
        yield b"words " * 10_923
    yield b"\r\n--x--\r\n"


def test_an_upload_over_the_limit_is_refused_and_leaves_nothing(serve, left) -> None:
    service = serve(upload_limit=1)
    assert "at most 1,048,576 bytes" in error(send(service, ("a.txt", b"a" * 1_100_000)), 413)

    async def unannounced() -> int:
        async def body():
            for chunk in chunked("a.txt", 3_000_000):
                yield chunk

        headers = {"Content-Type": "multipart/form-data; boundary=x"}
        async with service.client.post("/api/documents", data=body(), headers=headers) as reply:
            return reply.status

    assert service.run(unannounced()) == 413
    assert left() == []
    body = json.dumps({"title": "long", "text": "a " * 600_000}).encode()
    headers = {"Content-Type": "application/json"}
    assert service.post("/api/documents", data=io.BytesIO(body), headers=headers).status == 413
    assert service.get("/api/documents").json["total"] == 0


def test_a_client_that_goes_leaves_nothing(service, left) -> None:
    address = urlsplit(service.url)
    with socket.create_connection((address.hostname, address.port)) as client:
        head = f"POST /api/documents HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: 9000000\r\n"
        client.sendall(f"{head}Content-Type: multipart/form-data; boundary=x\r\n\r\n".encode())
        client.sendall(b"".join(chunk for chunk, _ in zip(chunked("a.txt", 9_000_000), range(4), strict=False)))
        service.until(lambda: left() != [], "a temporary file")
        (name,) = left()
        assert (Path(tempfile.gettempdir()) / name).stat().st_mode & 0o077 == 0
    service.until(lambda: left() == [], "no temporary file")
    assert service.running.app[RECEIVER].receiving == 0
    assert service.get("/api/documents").json["total"] == 0


def test_a_client_that_goes_while_its_files_are_read_leaves_nothing(service, left, monkeypatch) -> None:
    begun, go_on = Event(), Event()

    def slowly(*arguments: Any, **options: Any) -> Any:
        begun.set()
        assert go_on.wait(30)
        return upload(*arguments, **options)

    monkeypatch.setattr(uploads, "upload", slowly)
    address = urlsplit(service.url)
    body, headers = raw_form("kiln.md", KILN)
    with socket.create_connection((address.hostname, address.port)) as client:
        head = f"POST /api/documents HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: {len(body)}\r\n"
        client.sendall(f"{head}Content-Type: {headers['Content-Type']}\r\n\r\n".encode() + body)
        assert begun.wait(30)
    service.until(lambda: service.running.app[WRITER].waiting == 0, "the end of the request")
    assert len(left()) == 1
    go_on.set()
    service.until(lambda: left() == [], "no temporary file")
    assert service.get("/api/documents").json["total"] == 1


def test_the_token_is_needed(serve) -> None:
    service = serve(token="secret")
    right = {"X-API-Key": "secret"}
    for method, path in (
        ("POST", "/api/documents"),
        ("GET", "/api/documents"),
        ("GET", "/api/documents/animals-cats-sleep"),
        ("DELETE", "/api/documents/animals-cats-sleep"),
        ("GET", "/api/collections"),
    ):
        assert service.request(method, path).status == 401, path
    assert service.post("/api/documents", data=form(("kiln.md", KILN)), headers=right).status == 201
    foreign = {**right, "Origin": "https://elsewhere.example"}
    assert service.post("/api/documents", data=form(("kiln.md", KILN)), headers=foreign).status == 403


def test_two_uploads_at_once_wait_for_each_other(service) -> None:
    with ThreadPoolExecutor(2) as pool:
        replies = list(pool.map(lambda number: send(service, (f"kiln-{number}.md", KILN)), range(2)))
    assert [reply.status for reply in replies] == [201, 201]
    assert service.get("/api/documents").json["total"] == 2


def test_no_more_are_received_than_there_is_room_for(service, left, monkeypatch) -> None:
    monkeypatch.setattr(receiving, "AT_ONCE", 0)
    full = send(service, ("kiln.md", KILN))
    assert "uploads are being received" in error(full, 503)
    assert full.headers["Retry-After"] == "5"
    assert left() == []


def test_another_writer_is_named(service, left) -> None:
    with service.bot.home.lock("repair"):
        assert "repair by process" in error(send(service, ("kiln.md", KILN)), 409)
        assert "repair by process" in error(service.request("DELETE", "/api/documents/animals-cats-sleep"), 409)
    assert left() == []
    assert service.running.app[WRITER].waiting == 0
    assert send(service, ("kiln.md", KILN)).status == 201


def test_a_full_disk_is_named_before_anything_is_received(service, left, monkeypatch) -> None:
    monkeypatch.setenv("QA_BOT_DISK__REFUSE", "100")
    assert "of the disk free" in error(send(service, ("kiln.md", KILN)), 507)
    assert left() == []


def test_a_document_is_deleted_everywhere(service) -> None:
    sent(service, ("kiln.md", KILN))
    reply = service.request("DELETE", "/api/documents/kiln.md")
    assert DeletedReply.model_validate(reply.json).deleted == ["kiln.md"]
    assert service.get("/api/documents/kiln.md").status == 404
    assert "not in the home" in error(service.request("DELETE", "/api/documents/kiln.md"), 404)
    results = service.post("/api/search", json={"query": QUESTION, "engine": "keyword"}).json["results"]
    assert "kiln.md" not in [one["document"] for one in results]
    assert service.request("DELETE", "/api/documents/animals-cats-sleep").status == 200
    assert sent(service, ("kiln.md", KILN)).added == 1


def test_uploaded_documents_are_listed(service) -> None:
    for number in range(3):
        sent(service, (f"kiln-{number}.md", KILN))
    listed = UploadedReply.model_validate(service.get("/api/documents?limit=2").json)
    assert ([one.path for one in listed.documents], listed.total) == (["kiln-2.md", "kiln-1.md"], 3)
    assert "limit" in error(service.get("/api/documents?limit=0"), 422)


def test_collections_are_listed_with_their_sources(service) -> None:
    sent(service, ("kiln.md", KILN), collection="Töpfern & mehr")
    collections = CollectionsReply.model_validate(service.get("/api/collections").json).collections
    assert [one.name for one in collections] == ["Töpfern & mehr", "starter"]
    assert (collections[0].documents, collections[0].passages, collections[0].sources) == (1, 1, ["uploads"])


def test_a_document_of_the_starter_is_shown(service) -> None:
    shown = DocumentReply.model_validate(service.get("/api/documents/animals-cats-sleep").json)
    assert (shown.collection, shown.source, shown.path) == ("starter", "", "")
    assert "short bursts of hunting" in shown.text
    assert "'unknown/one'" in error(service.get("/api/documents/unknown/one"), 404).replace('"', "'")
