"""Encodings of pages by the rules of HTML."""

from __future__ import annotations

import pytest

from qa_bot.documents.websites.charsets import decode_page, decode_text

TEXT = "“Größe” – 10 €"


def meta(encoding: str, text: str = TEXT, label: str = "") -> bytes:
    return f'<meta charset="{label or encoding}"><p>{text}'.encode(encoding)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (TEXT.encode(), "text/html"),
        (TEXT.encode(), "text/html; charset=UTF-8"),
        (TEXT.encode("cp1252"), 'text/html; Charset="windows-1252"'),
        (TEXT.encode("cp1252"), "text/html; charset=ISO-8859-1"),  # browsers read Windows-1252
        (TEXT.encode("cp1252"), "text/html"),  # invalid UTF-8
        (TEXT.encode("utf-8-sig"), "text/html; charset=ISO-8859-1"),  # the mark is first
        (TEXT.encode("utf-16"), "text/html; charset=ISO-8859-1"),
        (TEXT.encode("utf-16-le"), "text/html; charset=utf-16le"),
        (meta("cp1252"), "text/html; charset=unknown"),
        (meta("utf-8"), "text/html"),
        (meta("cp1252", label="latin1"), "text/html"),
        (meta("utf-8", label="utf-16"), "text/html"),  # it was read as ASCII
        (b'<?xml version="1.0" encoding="iso-8859-1"?>' + TEXT.encode("cp1252"), "application/xhtml+xml"),
        (meta("cp1252", label="rot13"), "text/html"),
    ],
)
def test_the_order_of_the_rules(body: bytes, content_type: str) -> None:
    assert decode_page(body, content_type).endswith(TEXT)


@pytest.mark.parametrize(
    ("label", "encoding", "text"),
    [("shift_jis", "cp932", "①猫"), ("gb2312", "gb18030", "猫㐀"), ("ks_c_5601-1987", "cp949", "고양이똠")],
)
def test_labels_mean_the_larger_encodings_of_browsers(label: str, encoding: str, text: str) -> None:
    assert decode_page(text.encode(encoding), f"text/html; charset={label}") == text


def test_wrong_bytes_are_replaced() -> None:
    assert decode_page(b"a\xffb", "text/html; charset=utf-8") == "a\ufffdb"


def test_texts_are_recoded_only_if_the_header_says_so() -> None:
    assert decode_text(b"Gr\xf6\xdfe", "text/plain; charset=latin1").decode("utf-8-sig") == "Größe"
    assert decode_text(b"Gr\xf6\xdfe", "text/plain") == b"Gr\xf6\xdfe"
    assert decode_text("Größe".encode("utf-16"), "text/plain; charset=latin1").decode("utf-16") == "Größe"
