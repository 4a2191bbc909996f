"""Tokens: where the service's own is kept, how a request carries one, and how both are compared.

The service keeps only the SHA-256 of its token. A plain hash suffices for tokens that are made at random
(`qa-bot config new-token`); one that a person invents should be long.
"""

from __future__ import annotations

import hmac
import stat
from collections.abc import Iterator
from pathlib import Path

from aiohttp import web

from qa_bot.home.config import ConfigError, hashed_token, token_hash
from qa_bot.home.sections import ServeSection

TOKEN_FILE = "token"  # noqa: S105  # the name of a file


def is_right(token: str, stored: str) -> bool:
    """Whether `token` is the one that `stored` is the hash of, compared in constant time."""
    return hmac.compare_digest(token_hash(token), stored)


def token_for(home: Path, settings: ServeSection) -> str:
    """Hash of the token that clients must send, from the configuration or the home's file `token`; empty if there is
    none.

    Raises:
        ConfigError: other users can read the file, or the token does not fit into a header.
    """
    if settings.token:
        return hashed_token(settings.token, "[serve] token")
    file = home / TOKEN_FILE
    try:
        state = file.stat()
        if mode := stat.S_IMODE(state.st_mode) & 0o077:
            raise ConfigError(
                f"Expected {file} to be readable by you alone, but got mode {mode | 0o600:04o}; run `chmod 600 {file}`."
            )
        return hashed_token(file.read_text("utf-8").strip(), str(file))
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"Expected to read the token in {file}, but got: {error}; correct or remove it.") from None


def sent_tokens(request: web.Request, *, in_query: bool) -> Iterator[str]:
    """All tokens of a request."""
    for header in request.headers.getall("Authorization", []):
        scheme, _, token = header.partition(" ")
        if scheme.lower() == "bearer":
            yield token.strip()
    yield from request.headers.getall("X-API-Key", [])
    if in_query:
        yield from request.query.getall("token", [])
