"""Headers that take the library quadratic time, or that it cannot parse."""

import email

import pytest

from qa_bot.documents.ingest.formats.mail import header_parsing
from qa_bot.documents.ingest.formats.mail.header_parsing import MOST_KEPT, MOST_PARSED, TOLERANT


def header(name, value):
    return email.message_from_bytes(f"{name}: {value}\n\nIt is hot.\n".encode(), policy=TOLERANT)[name]


@pytest.mark.parametrize("pattern", ["{", "(", '"', ";;", "<@a,", "=?utf-8?q?x?= "])
@pytest.mark.parametrize("name", ["To", "Content-Type", "Subject"])
def test_only_short_headers_are_parsed(monkeypatch, name, pattern):
    """Found by the campaign: 55,000 braces took 9 s, and the time grows with the square of the length."""

    class Library:
        def header_fetch_parse(self, name, value):
            raise AssertionError("parsed")

    monkeypatch.setattr(header_parsing, "_LIBRARY", Library())
    value = pattern * (100_000 // len(pattern))
    assert isinstance(header(name, value), str)
    assert len(header(name, value)) <= MOST_KEPT


def test_a_long_header_is_decoded():
    people = ", ".join(f"=?utf-8?q?Ren=C3=A9_{number}?= <rene{number}@example.org>" for number in range(100))
    assert len(people) > MOST_PARSED
    assert header("To", people).endswith("René 99 <rene99@example.org>")


def test_a_header_that_cannot_be_parsed_is_its_text():
    """Found while looking for slow headers: nested comments ended in a RecursionError."""
    value = "text/plain;" + "(" * (MOST_PARSED - 20)
    assert header("Content-Type", value) == value


def test_other_headers_are_parsed_as_by_the_library():
    assert header("To", "=?utf-8?q?Ren=C3=A9?= <r@example.org>").addresses[0].display_name == "René"
    assert header("Content-Type", 'text/plain; charset="utf-8"').params["charset"] == "utf-8"
