"""Keys of the objects that handlers find in their application."""

from __future__ import annotations

from aiohttp import web

from qa_bot.home.sections import ServeSection
from qa_bot.web.access.rules import Access
from qa_bot.web.metrics import Metrics
from qa_bot.web.service import AnswerService

SERVICE = web.AppKey("service", AnswerService)
METRICS = web.AppKey("metrics", Metrics)
ACCESS = web.AppKey("access", Access)
SETTINGS = web.AppKey("settings", ServeSection)
"""`[serve]`, with the actual ports."""
REQUEST_ID = web.RequestKey("request_id", str)
"""Set before any handler runs; part of errors, logs and the header `X-Request-ID`."""
REPLIED = web.RequestKey("replied", int)
"""Status of a reply that is complete although its handler still runs: an upgrade, or a stream that was sent whole."""
