"""One request at a time to an address that the guard has checked. Only this file and the service import aiohttp.

A host's name is resolved once for each connection, the result is checked, and the connection goes to exactly these
addresses: a name server that answers differently the next time changes nothing.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from qa_bot.documents.websites.fetching.decompression import ACCEPTED, BodyReader
from qa_bot.documents.websites.fetching.errors import BodyError, FetchError
from qa_bot.documents.websites.fetching.guard import Guard
from qa_bot.documents.websites.urls import URL

SECONDS = 30.0
"""Longest request, from the name's resolution to the last byte."""
PIECE = 64 * 1024
OK = 200

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Addresses of a host; raises OSError if there are none."""


@cache
def user_agent() -> str:
    """`qa-bot/VERSION`."""
    try:
        return f"qa-bot/{version('qa-bot')}"
    except PackageNotFoundError:  # run from a folder that is not installed
        return "qa-bot/0"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server sent; names of headers are in lower case, and only the body of a 200 is read."""

    url: URL
    status: int
    headers: Mapping[str, str]
    body: bytes = b""


async def system_addresses(host: str, port: int) -> Sequence[str]:
    """Addresses of a host by the operating system."""
    loop = asyncio.get_running_loop()
    entries = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in entries))


class _CheckedResolver(AbstractResolver):
    """Gives aiohttp only addresses that the guard has checked."""

    def __init__(self, guard: Guard, resolve: Resolve) -> None:
        self._guard, self._resolve = guard, resolve

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_UNSPEC,  # noqa: ARG002  # aiohttp's signature
    ) -> list[ResolveResult]:
        addresses = await self._resolve(host, port)
        self._guard.check_addresses(host, port, addresses)
        if not addresses:
            raise OSError(f"no address of {host}")
        return [_resolved(host, port, address) for address in addresses]

    async def close(self) -> None:
        """Nothing is open."""


def _resolved(host: str, port: int, address: str) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return {"hostname": host, "host": address, "port": port, "family": family, "proto": 0, "flags": 0}


class WebClient:
    """Sends requests without cookies, proxies and redirects; use it in a `with` statement, in one thread."""

    def __init__(self, guard: Guard, *, resolve: Resolve = system_addresses, seconds: float = SECONDS) -> None:
        self._guard, self._resolve, self._seconds = guard, resolve, seconds
        self._runner = asyncio.Runner()
        self._session: aiohttp.ClientSession | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            self._runner.run(self._session.close())
        self._runner.close()

    def get(self, url: URL, headers: Mapping[str, str], limit: int) -> Reply:
        """The reply of one request, whose unpacked body has at most `limit` bytes.

        Raises:
            RefusedError: the guard refuses the address.
            BodyError: the body exceeds the limit or is damaged.
            FetchError: the server cannot be reached, breaks off, or does not answer in time.
        """
        self._guard.check_url(url)
        try:
            return self._runner.run(self._get(url, headers, limit))
        except TimeoutError:
            raise FetchError(
                f"Expected an answer of {url.host} within {self._seconds:g} s, but got none; try again later."
            ) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise FetchError(
                f"Expected to reach {url.host}, but got: {error or type(error).__name__}; check the address and the "
                "network."
            ) from None

    async def _get(self, url: URL, headers: Mapping[str, str], limit: int) -> Reply:
        session = self._session = self._session or self._open()
        async with session.get(url, headers=headers, allow_redirects=False) as reply:
            fields = {name.lower(): value for name, value in reply.headers.items()}
            if reply.status != OK:
                return Reply(url, reply.status, fields)
            if (reply.content_length or 0) > limit:
                raise BodyError(f"Expected at most {limit:,} bytes in a page, but got {reply.content_length:,}.")
            body = BodyReader(fields.get("content-encoding", ""), limit)
            async for piece in reply.content.iter_chunked(PIECE):
                body.feed(piece)
            return Reply(url, reply.status, fields, body.finish())

    def _open(self) -> aiohttp.ClientSession:
        resolver = _CheckedResolver(self._guard, self._resolve)
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False, limit=1),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": user_agent(), "Accept-Encoding": ACCEPTED},
            timeout=aiohttp.ClientTimeout(total=self._seconds),
            auto_decompress=False,
            trust_env=False,
        )
