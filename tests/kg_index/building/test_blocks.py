import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_index.building.blocks import Stream, whole_lines


@given(st.lists(st.binary(max_size=6) | st.sampled_from([b"\n", b"ab\n", b"\n\n"]), max_size=12))
def test_blocks_end_with_lines_and_lose_nothing(chunks):
    blocks = list(whole_lines(chunks, longest=10**6))
    assert b"".join(blocks) == b"".join(chunks)
    assert all(block.endswith(b"\n") for block in blocks[:-1])


@given(st.lists(st.binary(max_size=9) | st.sampled_from([b"\n", b"ab\n", b"c\nd"]), max_size=12), st.integers(1, 8))
def test_lines_are_kept_or_counted(chunks, longest):
    """A line may be kept though it is long where it came in one chunk; what is dropped was too long."""
    lines = _lines(b"".join(chunks))
    yielded: list[int | bytes] = []
    for block in whole_lines(chunks, longest=longest):
        yielded += [block] if isinstance(block, int) else _lines(block)
    assert len(yielded) == len(lines)
    for piece, line in zip(yielded, lines, strict=True):
        assert piece == line or (piece == len(line) and len(line) > longest)


def _lines(text: bytes) -> list[bytes]:
    parts = text.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


@pytest.mark.parametrize("size", [1, 3, 100])
def test_stream_gives_all_bytes_whatever_is_asked(size):
    stream = Stream(iter([b"abcd", b"ef"]))
    assert b"".join(iter(lambda: stream.read(size), b"")) == b"abcdef"
