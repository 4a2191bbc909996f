"""Addresses of pages: parsed, written in one way, compared. The only file that imports yarl.

The same parsed object is checked and then requested, so that two parsers cannot disagree about the host.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from yarl import URL as URL

LONGEST = 2000
"""Characters; longer addresses come from traps."""
_TRACKING = re.compile(r"utm_\w+|(?:fb|g)clid|mc_[ce]id", re.IGNORECASE)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")
_HOST = re.compile(r"[a-z0-9._:%-]+")


class UrlError(ValueError):
    """The address cannot be used; the message says why."""


def is_url(text: str) -> bool:
    """Whether the text is an address of the web rather than a path of a file."""
    return text[:8].lower().startswith(("http://", "https://"))


def parse_url(text: str, base: URL | None = None) -> URL:
    """The normalised address, without fragment and without the parameters that advertisers add.

    Raises UrlError if it is not an address of http or https, or has a user name.
    """
    text = text.strip()
    if len(text) > LONGEST:
        raise UrlError(f"Expected an address of at most {LONGEST:,} characters, but got {len(text):,}.")
    if _CONTROLS.search(text) or "\\" in text.partition("?")[0]:
        raise UrlError(f"Expected an address without control characters and backslashes, but got {text!r}.")
    try:
        url = URL(text) if base is None else base.join(URL(text))
        host, port = url.raw_host, url.port
    except (ValueError, TypeError) as error:
        raise UrlError(f"Expected an address of a page, but got {text!r} ({error}).") from None
    if url.scheme not in {"http", "https"} or not port or not _HOST.fullmatch(host or ""):
        raise UrlError(f"Expected an address that begins with http:// or https://, but got {text!r}.")
    if url.raw_user is not None or url.raw_password is not None:
        raise UrlError(f"Expected an address without a user name, but got one for {host}; leave it out.")
    return _without_tracking(url.with_fragment(None).with_path(url.raw_path or "/", encoded=True, keep_query=True))


def _without_tracking(url: URL) -> URL:
    if not url.raw_query_string:
        return url
    parameters = [part for part in url.raw_query_string.split("&") if part and not _is_tracking(part)]
    address = str(url).partition("?")[0]
    return URL(f"{address}?{'&'.join(parameters)}" if parameters else address, encoded=True)


def _is_tracking(parameter: str) -> bool:
    return _TRACKING.fullmatch(parameter.partition("=")[0]) is not None


def document_id(url: URL) -> str:
    """The address without its scheme: `docs.example.org/guide/install`."""
    return str(url).partition("://")[2]


def file_name(url: URL) -> str:
    """Name of the page's file: the last part of its path, or the host's name if that is empty."""
    name = PurePosixPath(url.path).name or url.raw_host or "page"
    return re.sub(r"[^\w.-]+", "_", name)[-100:].lstrip(".") or "page"


@dataclass(frozen=True, slots=True)
class Scope:
    """The site below the path of its start: `https://example.org/docs/` holds `/docs/` and all pages below it."""

    start: URL

    @property
    def folder(self) -> str:
        """The path that pages of the site begin with; it ends with a slash."""
        path = self.start.raw_path
        name = path.rpartition("/")[2]
        return path[: len(path) - len(name)] if not name or "." in name else f"{path}/"

    def holds(self, url: URL) -> bool:
        """Whether a page belongs to the site; http and https are the same site."""
        same_host = url.raw_host == self.start.raw_host and _own_port(url) == _own_port(self.start)
        return same_host and (url.raw_path == self.start.raw_path or f"{url.raw_path}/".startswith(self.folder))

    def normalised(self, url: URL) -> URL:
        """The page by the start's scheme, so that it is not read twice."""
        is_default = url.is_default_port() and self.start.is_default_port()
        return url.with_scheme(self.start.scheme).with_port(None) if is_default else url


def _own_port(url: URL) -> int | None:
    return None if url.is_default_port() else url.port
