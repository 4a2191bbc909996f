"""What every handler finds in its application."""

from __future__ import annotations

from aiohttp import web

from qa_bot.config import ServeSection
from qa_bot.web.access import Access
from qa_bot.web.engine import Engine
from qa_bot.web.metrics import Metrics

ENGINE = web.AppKey("engine", Engine)
METRICS = web.AppKey("metrics", Metrics)
ACCESS = web.AppKey("access", Access)
SETTINGS = web.AppKey("settings", ServeSection)
"""`[serve]`, with the ports that are really listened on."""
REQUEST_ID = web.RequestKey("request_id", str)
"""Set before any handler runs; stands in errors, logs and the reply's `X-Request-ID`."""
