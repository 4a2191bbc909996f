"""Access rules: known hosts and origins, the token, and the rate of requests.

Hosts and origins are checked on every route, also on loopback: any page in the user's browser can send requests there,
and a name that resolves to 127.0.0.1 (DNS rebinding) makes them look like requests to that page's own server.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import socket
import stat
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from qa_bot.home.config import ConfigError
from qa_bot.home.sections import ServeSection
from qa_bot.web.errors import ServiceError
from qa_bot.web.pages import PAGES

TOKEN_FILE = "token"  # noqa: S105  # the name of a file
PUBLIC_ROUTES = frozenset({*PAGES, "/livez", "/readyz", "/ws"})
"""Routes without a token; `/ws` requires it in the first frame."""
ASSETS = "/assets/"
PROBES = frozenset({"/livez", "/readyz"})
"""Without a rate limit, as are the page's assets, a dozen for each visit."""
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
WRONG_TOKENS = 20
"""Wrong tokens a minute from one address, and at once; further tokens from there are refused for a while."""
REMEMBERED = 10_000
"""Clients whose rate is tracked; the least recent is dropped first."""
PORTS = {"http": 80, "https": 443}


class Address(NamedTuple):
    """As in `Host: name:port`; the port is None if it is missing."""

    name: str
    port: int | None


class TokenBuckets:
    """A token bucket for each client: `burst` requests at once, then `rate` a minute."""

    def __init__(self, rate: float, *, burst: float, remembered: int = REMEMBERED) -> None:
        self._refill, self._burst, self._remembered = rate / 60, burst, remembered
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()  # client → tokens left, time

    def wait(self, client: str, now: float) -> float:
        """Seconds until the client's next request is allowed."""
        return max(0.0, (1 - self._level(client, now)) / self._refill)

    def take(self, client: str, now: float) -> None:
        """Count a request; one that must wait takes no token."""
        level = self._level(client, now)
        self._levels[client] = (level - 1 if level >= 1 else level, now)
        self._levels.move_to_end(client)
        if len(self._levels) > self._remembered:
            self._levels.popitem(last=False)

    def __len__(self) -> int:
        return len(self._levels)

    def _level(self, client: str, now: float) -> float:
        left, since = self._levels.get(client, (self._burst, now))
        return min(self._burst, left + (now - since) * self._refill)


class Access:
    """The rules of one service, shared by its two ports."""

    def __init__(self, settings: ServeSection, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._token = _digest(settings.token) if settings.token else None
        self._known = [_address(name.strip()) for name in settings.hosts.split(",") if name.strip()]
        self._ports = {port for port in (settings.port, settings.liveqa_port) if port}
        self._own = _own_names(settings.host)
        self._wildcard = settings.host in ("0.0.0.0", "::")  # noqa: S104  # compared, not bound
        self._rate = TokenBuckets(settings.rate, burst=settings.rate) if settings.rate else None
        self._wrong = TokenBuckets(WRONG_TOKENS, burst=WRONG_TOKENS)
        self._clock = clock

    @property
    def wants_token(self) -> bool:
        return self._token is not None

    def allows(self, token: str | None) -> bool:
        """Whether this token is right, compared in constant time."""
        return self._token is None or (token is not None and hmac.compare_digest(_digest(token), self._token))

    def check_token(self, request: web.Request, *tokens: str) -> None:
        """Raise ServiceError unless one of the tokens is right: 401, or 429 after many wrong ones."""
        if self._token is None:
            return
        address, now = client_address(request), self._clock()
        if tokens and (wait := self._wrong.wait(address, now)):
            raise ServiceError(429, "Too many wrong tokens came from your address; wait.", retry_after=wait)
        if any(map(self.allows, tokens)):
            return
        if tokens:
            self._wrong.take(address, now)
        got = "another" if tokens else "none"
        raise ServiceError(401, f"Expected the token of this service, but got {got}; send `Authorization: Bearer …`.")

    def check_names(self, request: web.Request, *, page: bool = False) -> None:
        """Raise ServiceError 403 for a foreign Host or Origin; links from other sites may lead to a `page`."""
        host = self._host(request)
        origins = request.headers.getall("Origin", [])
        if any(not self._is_own(origin, host) for origin in origins):
            raise ServiceError(403, f"Expected requests from this service's own page, but got one from {origins[0]!r}.")
        site = request.headers.get("Sec-Fetch-Site", "none")
        followed = page and request.headers.get("Sec-Fetch-Mode") == "navigate"
        if site not in ("none", "same-origin") and not followed:
            raise ServiceError(403, f"Expected requests from this service's own page, but got a {site!r} one.")

    def spend(self, request: web.Request, *tokens: str) -> None:
        """Count one request, or one question on a socket; raises ServiceError 429 if the rate is exceeded."""
        if self._rate is None:
            return
        right = self._token is not None and any(map(self.allows, tokens))
        client, now = "the token" if right else client_address(request), self._clock()
        if wait := self._rate.wait(client, now):
            raise ServiceError(429, "Too many requests came from you; wait.", retry_after=wait)
        self._rate.take(client, now)

    def _host(self, request: web.Request) -> Address:
        hosts = request.headers.getall("Host", [])
        try:
            (text,) = hosts
            host = _address(text)
        except ValueError:
            raise ServiceError(403, f"Expected one Host, but got {', '.join(hosts)!r}.") from None
        if not self._knows(host, request):
            raise ServiceError(
                403, f"Expected a known Host, but got {text!r}; to allow it, add it to `[serve] hosts`."
            ) from None
        return host

    def _knows(self, host: Address, request: web.Request) -> bool:
        if any(host.name == known.name and known.port in (None, host.port) for known in self._known):
            return True
        names = {*self._own, _local_address(request)} if self._wildcard else self._own
        return host.name in names and (not self._ports or (host.port or PORTS["http"]) in self._ports)

    def _is_own(self, origin: str, host: Address) -> bool:
        """The scheme only determines the default port, because a proxy may terminate TLS."""
        try:
            parts = urlsplit(origin)
            usual = PORTS[parts.scheme]
            address = Address(_plain(parts.hostname or ""), parts.port or usual)
        except (ValueError, KeyError):  # `null`, or an invalid origin
            return False
        return any(address == Address(known.name, known.port or usual) for known in (host, *self._known))


def guard(access: Access, *, token_in_query: frozenset[str] = frozenset(), public_routes: frozenset[str]) -> Middleware:
    """Middleware that enforces `access`.

    Args:
        token_in_query: routes that also accept the token as `?token=`.
        public_routes: routes without a token; if there are any, assets need none either.
    """

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        route = route_of(request)
        is_asset = bool(public_routes) and route.startswith(ASSETS)
        is_open = is_asset or route in public_routes
        access.check_names(request, page=is_open and route in PAGES)
        tokens = tuple(_tokens(request, in_query=route in token_in_query))
        if not is_open:
            access.check_token(request, *tokens)
        if route not in PROBES and not is_asset:
            access.spend(request, *tokens)
        return await handler(request)

    return guarded


def route_of(request: web.Request) -> str:
    """The route's pattern, for logs and metrics; `unmatched` if the path has no route."""
    resource = request.match_info.route.resource
    return "unmatched" if resource is None else resource.canonical


def client_address(request: web.Request) -> str:
    """Address of the client; for IPv6 its /64 network, in which a client has countless addresses."""
    peer = request.transport.get_extra_info("peername") if request.transport else None
    if not isinstance(peer, tuple):
        return "local"
    try:
        address = ipaddress.ip_address(_without_zone(str(peer[0])))
    except ValueError:
        return str(peer[0])
    if isinstance(address, ipaddress.IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped or ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def token_for(home: Path, settings: ServeSection) -> str:
    """The token that clients must send, from the configuration or the home's file `token`; empty if there is none.

    Raises:
        ConfigError: other users can read the file, or the token does not fit into a header.
    """
    if settings.token:
        return _sendable(settings.token, "[serve] token")
    file = home / TOKEN_FILE
    try:
        state = file.stat()
        if mode := stat.S_IMODE(state.st_mode) & 0o077:
            raise ConfigError(
                f"Expected {file} to be readable by you alone, but got mode {mode | 0o600:04o}; run `chmod 600 {file}`."
            )
        return _sendable(file.read_text("utf-8").strip(), str(file))
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"Expected to read the token in {file}, but got: {error}; correct or remove it.") from None


def check_binding(host: str, token: str) -> None:
    """Raise ConfigError if other machines could connect and there is no token."""
    if token or all(ipaddress.ip_address(address).is_loopback for address in addresses(host)):
        return
    raise ConfigError(
        f"Expected a token before listening on {host}, where other machines can connect, but got none; "
        f"set `[serve] token` (or QA_BOT_TOKEN), or listen on 127.0.0.1."
    )


def addresses(host: str) -> list[str]:
    """Distinct addresses of a host name to listen on; raises ConfigError if it does not resolve."""
    try:
        if not host.strip():
            raise OSError("an empty name")
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise ConfigError(
            f"Expected the name or address of this machine to listen on, but got {host!r} ({error}); "
            "127.0.0.1 is for this machine alone, 0.0.0.0 for all."
        ) from None
    return list(dict.fromkeys(_without_zone(str(entry[4][0])) for entry in entries))


def _sendable(token: str, where: str) -> str:
    if token and token.isascii() and token.isprintable() and " " not in token:
        return token
    got = "an empty one" if not token else "one with spaces or characters beyond ASCII"
    raise ConfigError(f"Expected a token that a header can carry in {where}, but got {got}.")


def _digest(token: str) -> bytes:
    """Digest of a token, so that all compared values have the same length."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _tokens(request: web.Request, *, in_query: bool) -> Iterator[str]:
    """All tokens of a request."""
    for header in request.headers.getall("Authorization", []):
        scheme, _, token = header.partition(" ")
        if scheme.lower() == "bearer":
            yield token.strip()
    yield from request.headers.getall("X-API-Key", [])
    if in_query:
        yield from request.query.getall("token", [])


def _own_names(host: str) -> frozenset[str]:
    """Names of a service that listens on `host`."""
    numbers = [ipaddress.ip_address(address) for address in addresses(host)]
    local = any(number.is_loopback or number.is_unspecified for number in numbers)
    return frozenset({_plain(host), *map(str, numbers), *(LOOPBACK_NAMES if local else ())})


def _local_address(request: web.Request) -> str:
    """The local address of the connection, which no foreign name can change."""
    address = request.transport.get_extra_info("sockname") if request.transport else None
    return _plain(str(address[0])) if isinstance(address, tuple) else ""


def _address(text: str) -> Address:
    """Parse `name`, `name:port` or `[v6]:port`; raises ValueError for anything else."""
    parts = urlsplit(f"//{text}")
    if not parts.hostname or parts.netloc != text or "@" in text:
        raise ValueError(text)
    return Address(_plain(parts.hostname), parts.port)


def _plain(name: str) -> str:
    """Canonical spelling of a name or address."""
    name = _without_zone(name.lower().strip("[]"))
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return name


def _without_zone(address: str) -> str:
    return address.partition("%")[0]
