"""Addresses of links."""

import pytest

from qa_core.types import AnswerSource, Source
from qa_core.web_addresses import web_address


@pytest.mark.parametrize("url", ["", "http://a.example/x?y=1#z", "HTTPS://a.example", "mailto:x@example.org"])
def test_web_and_mail_addresses_stay(url: str) -> None:
    assert web_address(url) == url


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", " javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "vbscript:x",
     "//a.example", "https://a.example/\x1b[2J", "https://a.example/ x", "java\nscript:alert(1)", "http://", "ftp://a.example"],
)  # fmt: skip
def test_other_addresses_are_in_no_source(url: str) -> None:
    """What is shown, sent, logged or exported of a document comes from these two types."""
    assert web_address(url) == ""
    assert Source("a", url=url).url == ""
    assert AnswerSource("a", "a", "c", "t", url, 1.0, "x").url == ""
