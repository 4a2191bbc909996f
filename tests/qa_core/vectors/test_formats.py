from __future__ import annotations

import gzip
import struct
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.vectors.formats import Format, detect, rows

GLOVE = b"the 0.5 -1 2e-1\n. . . 1 2 3\n\xc3\xa9t\xc3\xa9 0 0 0\n"
WORD2VEC = b"2 3\nthe 0.5 -1 0.2\ncat 1 2 3\n"
FASTTEXT = b"2 3\nthe 0.5 -1 0.2 \ncat 1 2 3 \n"


def packed(table: dict[str, list[float]], *, line_break: bytes = b"\n", count: int | None = None) -> bytes:
    width = len(next(iter(table.values())))
    head = f"{len(table) if count is None else count} {width}\n".encode()
    return head + b"".join(w.encode() + b" " + struct.pack(f"<{width}f", *v) + line_break for w, v in table.items())


BINARY = packed({"the": [0.5, -1.0, 0.25], "cat": [1.0, 2.0, 3.0]})


def read(path: Path, data: bytes, kind: Format | None = None) -> dict[str, list[float]]:
    path.write_bytes(data)
    return {row.word: row.vector().tolist() for row in rows(path, kind or detect(path))}


def near(table: dict[str, list[float]], expected: dict[str, list[float]]) -> bool:
    return list(table) == list(expected) and all(table[w] == pytest.approx(expected[w], rel=1e-6) for w in table)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (GLOVE, "glove"),
        (WORD2VEC, "word2vec"),
        (FASTTEXT, "word2vec"),
        (BINARY, "word2vec-binary"),
        (b"0 3\n", "word2vec"),
    ],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_formats_are_detected(tmp_path: Path, data: bytes, kind: Format, zipped: bool) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(gzip.compress(data) if zipped else data)
    assert detect(path) == kind


def test_glove_words_may_hold_spaces(tmp_path: Path) -> None:
    expected = {"the": [0.5, -1.0, 0.2], ". . .": [1.0, 2.0, 3.0], "été": [0.0, 0.0, 0.0]}
    assert near(read(tmp_path / "glove.txt", GLOVE), expected)


@pytest.mark.parametrize(
    "data", [WORD2VEC, FASTTEXT, gzip.compress(WORD2VEC, mtime=0), WORD2VEC.replace(b"\n", b"\r\n")]
)
def test_text_with_header(tmp_path: Path, data: bytes) -> None:
    assert near(read(tmp_path / "w.vec", data), {"the": [0.5, -1.0, 0.2], "cat": [1.0, 2.0, 3.0]})


@pytest.mark.parametrize("line_break", [b"\n", b""])
def test_binary_with_and_without_line_breaks(tmp_path: Path, line_break: bytes) -> None:
    table = {"the": [0.5, -1.0], "New_York": [1.0, 32.0]}
    assert read(tmp_path / "w.bin", packed(table, line_break=line_break), "word2vec-binary") == table


@given(
    st.dictionaries(
        st.text(alphabet=st.characters(exclude_characters=" \n", codec="utf-8"), min_size=1, max_size=6),
        st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=3, max_size=3),
        min_size=1,
        max_size=8,
    )
)
def test_binary_gives_back_what_was_packed(
    tmp_path_factory: pytest.TempPathFactory, table: dict[str, list[float]]
) -> None:
    assert read(tmp_path_factory.mktemp("vectors") / "w.bin", packed(table), "word2vec-binary") == table


@given(st.binary(max_size=200), st.sampled_from(["glove", "word2vec", "word2vec-binary"]))
def test_garbage_is_refused_or_read_never_worse(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, kind: Format
) -> None:
    with suppress(ValueError):
        read(tmp_path_factory.mktemp("garbage") / "w", data, kind)


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        (b"a 1 2\nb 1\n", None, "2 numbers after the word in line 2, but got 1"),
        (b"a 1 2\nb 1 2 3\n", None, "2 numbers after the word in line 2, but got 3"),
        (b"2 2\na 1 2\n\nb 1 2 3\n", None, "2 numbers after the word in line 4"),
        (b"a 1 2\n\xff 1 2\n", None, "UTF-8 in line 2"),
        (b"3 2\na 1 2\nb 1 2\n", None, "3 words, as line 1 says, but got 2"),
        (b"1 2\na 1 2\nb 1 2\n", None, "1 words, as line 1 says, but got 2"),
        (b"x y\n", "word2vec", 'Expected "COUNT DIMENSION" in line 1, but got b\'x y'),
        (b"3 0\n", "word2vec-binary", "COUNT DIMENSION"),
        (BINARY[:-3], None, "2 words, as line 1 says, but the file ends in word 2"),
        (BINARY + b"dog ", None, "2 words, as line 1 says, but got more"),
        (packed({"a": [1.0]}, count=10**11), "word2vec-binary", "the file ends in word 2"),
        (gzip.compress(WORD2VEC, mtime=0)[:-9], "word2vec", "whole gzip file"),
        (b"1 2\n\xff\xfe " + bytes(8), "word2vec-binary", "UTF-8 in word 1"),
    ],
)
def test_broken_files_are_refused_with_name_and_place(
    tmp_path: Path, data: bytes, kind: Format | None, message: str
) -> None:
    path = tmp_path / "broken"
    with pytest.raises(ValueError, match=message) as caught:
        read(path, data, kind)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("number", [b"nan", b"inf", b"1e99", b"x"])
def test_numbers_that_are_none(tmp_path: Path, number: bytes) -> None:
    with pytest.raises(ValueError, match=r"not finite|could not convert"):
        read(tmp_path / "w.txt", b"1 2\na 1 " + number + b"\n", "word2vec")
