"""Detection of a file's format by its first bytes."""

import pytest

from qa_bot.documents.ingest.detect import UnknownFormatError, expect_text


def test_random_bytes_without_a_nul_are_binary_too():
    noise = bytes(1 + (i * 97 + i * i) % 255 for i in range(2000))
    assert b"\0" not in noise
    with pytest.raises(UnknownFormatError, match="binary file"):
        expect_text(noise)
    expect_text("Grüße, \tволна\x0c and one stray \x07".encode())
    expect_text("Все счастливые семьи похожи друг на друга".encode("cp1251"))
