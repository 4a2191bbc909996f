"""Access rules: known hosts and origins, the token, and the rate of requests.

Hosts and origins are checked on every route, also on loopback: any page in the user's browser can send requests there,
and a name that resolves to 127.0.0.1 (DNS rebinding) makes them look like requests to that page's own server.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from qa_bot.home.config import hashed_token, token_hash
from qa_bot.home.sections import ServeSection
from qa_bot.web.access.addresses import (
    Address,
    is_loopback,
    known_hosts,
    local_address,
    own_names,
    parse_address,
    plain,
)
from qa_bot.web.access.arrival import answer_expectation
from qa_bot.web.access.clients import Proxies
from qa_bot.web.access.rates import TokenBuckets
from qa_bot.web.access.tokens import is_right, sent_tokens
from qa_bot.web.errors import ServiceError
from qa_bot.web.pages import PAGES

PUBLIC_ROUTES = frozenset({*PAGES, "/livez", "/readyz", "/ws"})
"""Routes without a token; `/ws` requires it in the first frame."""
ASSETS = "/assets/"
PROBES = frozenset({"/livez", "/readyz"})
"""Without a rate limit, as are the page's assets, a dozen for each visit."""
WRONG_TOKENS = 20
"""Wrong tokens a minute from one address, or the same one from any, and at once; further ones get 429 for a while."""
RATE = 1200
"""Default of requests a minute if other machines can connect."""
PORTS = {"http": 80, "https": 443}


class Access:
    """The rules of one service, shared by its two ports."""

    def __init__(self, settings: ServeSection, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._token = hashed_token(settings.token, "[serve] token") if settings.token else None
        self._known = known_hosts(settings.hosts)
        self._ports = {port for port in (settings.port, settings.liveqa_port) if port}
        self._own = own_names(settings.host)
        self._wildcard = settings.host in ("0.0.0.0", "::")  # noqa: S104  # compared, not bound
        rate = _rate(settings)
        self._rate = TokenBuckets(rate, burst=rate) if rate else None
        self._wrong = TokenBuckets(WRONG_TOKENS, burst=WRONG_TOKENS)
        self._proxies = Proxies(settings.proxies)
        self._clock = clock

    @property
    def wants_token(self) -> bool:
        return self._token is not None

    def allows(self, token: str | None) -> bool:
        """Whether this token is right, compared in constant time."""
        return self._token is None or (token is not None and is_right(token, self._token))

    def check_token(self, request: web.Request, *tokens: str) -> None:
        """Raise ServiceError unless one of the tokens is right: 401, or 429 after many wrong ones.

        The right token is compared first, so that wrong ones of others do not lock it out.
        """
        if self._token is None or any(map(self.allows, tokens)):
            return
        if tokens:
            self._count_wrong(request, tokens)
        got = "another" if tokens else "none"
        raise ServiceError(401, f"Expected the token of this service, but got {got}; send `Authorization: Bearer …`.")

    def _count_wrong(self, request: web.Request, tokens: tuple[str, ...]) -> None:
        """Count wrong tokens by address and by token; raises ServiceError 429 if there were too many."""
        now = self._clock()
        senders = [self._proxies.client_address(request), *(f"token {token_hash(token)}" for token in tokens)]
        if wait := max(self._wrong.wait(sender, now) for sender in senders):
            raise ServiceError(429, "Too many wrong tokens came from you; wait.", retry_after=wait)
        for sender in senders:
            self._wrong.take(sender, now)

    def check_forwarded(self, request: web.Request) -> None:
        """Raise ServiceError 400 if a proxy of this service sends malformed addresses of clients."""
        self._proxies.check(request)

    def is_encrypted(self, request: web.Request) -> bool:
        """Whether the client's connection is encrypted, here or at a proxy of this service."""
        return self._proxies.is_encrypted(request)

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
        """Count one request, or one question or vote on a socket; raises ServiceError 429 if the rate is exceeded.

        An address has a rate with the token and one without: neither strangers behind the same address nor another
        program that has the token, elsewhere, can use it up.
        """
        if self._rate is None:
            return
        right = self._token is not None and any(map(self.allows, tokens))
        address, now = self._proxies.client_address(request), self._clock()
        client = f"the token from {address}" if right else address
        if wait := self._rate.wait(client, now):
            raise ServiceError(429, "Too many requests came from you; wait.", retry_after=wait)
        self._rate.take(client, now)

    def _host(self, request: web.Request) -> Address:
        hosts = request.headers.getall("Host", [])
        try:
            (text,) = hosts
            host = parse_address(text)
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
        names = {*self._own, local_address(request)} if self._wildcard else self._own
        return host.name in names and (not self._ports or (host.port or PORTS["http"]) in self._ports)

    def _is_own(self, origin: str, host: Address) -> bool:
        """The scheme only determines the default port, because a proxy may terminate TLS."""
        try:
            parts = urlsplit(origin)
            usual = PORTS[parts.scheme]
            address = Address(plain(parts.hostname or ""), parts.port or usual)
        except (ValueError, KeyError):  # `null`, or an invalid origin
            return False
        return any(address == Address(known.name, known.port or usual) for known in (host, *self._known))


def _rate(settings: ServeSection) -> int:
    """Requests a minute; 0 is no limit."""
    if settings.rate >= 0:
        return settings.rate
    return 0 if is_loopback(settings.host) else RATE


def guard(
    access: Access,
    *,
    token_in_query: frozenset[str] = frozenset(),
    public_routes: frozenset[str],
    longest: int,
    longer: Mapping[str, int] = MappingProxyType({}),
) -> Middleware:
    """Middleware that enforces `access`; a client that waits with its body may send it after all rules hold.

    Args:
        longest: limit of a body in bytes.
        longer: other limits by route.
        token_in_query: routes that also accept the token as `?token=`.
        public_routes: routes without a token; if there are any, assets need none either.
    """

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        route = route_of(request)
        is_asset = bool(public_routes) and route.startswith(ASSETS)
        is_open = is_asset or route in public_routes
        access.check_names(request, page=is_open and route in PAGES)
        access.check_forwarded(request)
        tokens = tuple(sent_tokens(request, in_query=route in token_in_query))
        if route not in PROBES and not is_asset:
            access.spend(request, *tokens)
        if not is_open:
            access.check_token(request, *tokens)
        await answer_expectation(request, longest=longer.get(route, longest))
        return await handler(request)

    return guarded


def route_of(request: web.Request) -> str:
    """The route's pattern, for logs and metrics; `unmatched` if the path has no route."""
    resource = request.match_info.route.resource
    return "unmatched" if resource is None else resource.canonical
