"""The HTML pages, sent with a new nonce each time, and their files under a path that changes with their content."""

from __future__ import annotations

import gzip
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from aiohttp import web

from qa_bot.web.errors import ServiceError

PAGES = {"/": "index.html", "/owner": "owner.html"}
"""Path → file: the chat, and the owner's page."""
TYPES = {".css": "text/css", ".js": "text/javascript", ".html": "text/html"}
FOREVER = "public, max-age=31536000, immutable"
NONCE, ASSETS = "{{nonce}}", "{{assets}}"
"""Placeholders in the pages for the nonce and the path of the other files."""

POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of a page, plain and compressed."""

    body: bytes
    packed: bytes
    content_type: str
    tag: str

    @classmethod
    def of(cls, name: str, body: bytes) -> Asset:
        content_type = TYPES[name[name.rindex(".") :]]
        return cls(body, gzip.compress(body, mtime=0), content_type, hashlib.sha256(body).hexdigest()[:16])


@dataclass(frozen=True, slots=True)
class Pages:
    """All pages in memory; `version` is the hash of all files, so that old and new ones are never mixed."""

    version: str
    assets: Mapping[str, Asset]

    async def show(self, request: web.Request) -> web.Response:
        """One of `PAGES`; it holds no data and needs no token."""
        nonce = secrets.token_urlsafe(16)
        body = self.assets[PAGES[request.path]].body
        text = body.decode().replace(NONCE, nonce).replace(ASSETS, f"assets/{self.version}")
        policy = {"Content-Security-Policy": POLICY.format(nonce=nonce), "Cache-Control": "no-store"}
        return web.Response(text=text, content_type="text/html", headers=policy)

    async def asset(self, request: web.Request) -> web.Response:
        """`GET /assets/VERSION/NAME`."""
        name, version = request.match_info["name"], request.match_info["version"]
        asset = self.assets.get(name) if version == self.version and name not in PAGES.values() else None
        if asset is None:
            raise ServiceError(404, f"Expected a file of the page, but got {request.path!r}; reload the page.")
        headers = {"Cache-Control": FOREVER, "ETag": f'"{asset.tag}"', "Vary": "Accept-Encoding"}
        if any(known.value in (asset.tag, "*") for known in request.if_none_match or ()):
            return web.Response(status=304, headers=headers)
        packed = "gzip" in request.headers.get("Accept-Encoding", "")
        if packed:
            headers["Content-Encoding"] = "gzip"
        body = asset.packed if packed else asset.body
        return web.Response(body=body, content_type=asset.content_type, charset="utf-8", headers=headers)


def routes() -> list[web.RouteDef]:
    pages = load_pages()
    return [*(web.get(path, pages.show) for path in PAGES), web.get("/assets/{version}/{name}", pages.asset)]


@cache
def load_pages() -> Pages:
    """Read the files of the pages once."""
    folder = resources.files("qa_bot.web") / "page"
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.name.endswith(tuple(TYPES))}
    whole = hashlib.sha256(b"".join(name.encode() + b"\0" + files[name] for name in sorted(files)))
    return Pages(whole.hexdigest()[:16], {name: Asset.of(name, body) for name, body in files.items()})
