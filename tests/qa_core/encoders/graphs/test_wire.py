"""Fields of protobuf, worked out by hand from its encoding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.encoders.graphs.wire import Field, fields, message, number, read_varint


def test_a_number_has_seven_bits_a_byte_lowest_first() -> None:
    assert number(1, 150) == b"\x08\x96\x01"
    assert read_varint(b"\x96\x01", 0) == (150, 2)


def test_a_text_has_its_length_before_it() -> None:
    assert message(2, b"testing") == b"\x12\x07testing"


def test_fields_lie_where_they_were_written() -> None:
    data = number(1, 300) + message(2, b"ab") + b"\x1d\x00\x00\x80\x3f"
    assert [*fields(data, 0, len(data))] == [Field(1, 0, 1, 3), Field(2, 3, 5, 7), Field(3, 7, 8, 12)]


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 2**64 - 1) | st.binary(max_size=300))))
def test_what_was_written_is_read(parts: list[tuple[int, int | bytes]]) -> None:
    written = [message(key, value) if isinstance(value, bytes) else number(key, value) for key, value in parts]
    data = b"".join(written)
    read = [
        (
            field.number,
            data[field.content : field.end] if isinstance(value, bytes) else read_varint(data, field.content)[0],
        )
        for field, (_, value) in zip(fields(data, 0, len(data)), parts, strict=True)
    ]
    assert read == parts


@pytest.mark.parametrize("data", [b"\x12\x07test", b"\x08", b"\x08\x96"])
def test_a_message_that_ends_too_early_is_an_index_error(data: bytes) -> None:
    with pytest.raises(IndexError):
        [*fields(data, 0, len(data))]


@pytest.mark.parametrize(("data", "what"), [(b"\x0b", "kind 3"), (b"\x08" + b"\xff" * 11, "64 bits")])
def test_another_encoding_is_a_value_error(data: bytes, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        [*fields(data, 0, len(data))]
