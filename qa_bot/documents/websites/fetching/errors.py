"""Why a page could not be fetched. Each message says what was expected, what came and what to do."""

from __future__ import annotations


class FetchError(Exception):
    """The page could not be fetched now; an earlier copy of it is still good."""


class RefusedError(FetchError):
    """The address must not be requested."""


class BodyError(FetchError):
    """The body is too large, damaged or in an unknown encoding."""


class LeftSiteError(FetchError):
    """A redirect leads to an address that is not wanted."""


class SiteLimitError(Exception):
    """The limit on bytes or seconds of the whole site is reached; nothing more is requested."""
