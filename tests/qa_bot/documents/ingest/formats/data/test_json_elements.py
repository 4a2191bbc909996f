"""Elements of large JSON files, sliced without parsing the whole file."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qa_bot.documents.ingest.formats.data import json_elements
from qa_bot.documents.ingest.formats.data.json_elements import JsonEndError, elements

TEXTS = st.text(st.sampled_from('ab"\\{}[]\n猫'), max_size=20)
VALUES = st.recursive(TEXTS | st.integers(), lambda inner: st.lists(inner, max_size=3), max_leaves=8)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=4)


@given(st.lists(OBJECTS, max_size=5), st.booleans(), st.integers(1, 40), st.sampled_from([None, 1]))
@settings(max_examples=50)
def test_slices_are_the_elements(objects, is_array, chunk, indent):
    root = objects if is_array else {"version": {"a": "1"}, "data": objects}
    data = json.dumps(root, indent=indent).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_elements, "CHUNK", chunk)
        slices = list(elements(io.BytesIO(data), limit=10_000))
    assert [json.loads(element) for _, element in slices if element is not None] == objects
    assert all(data.split(b"\n")[line - 1].lstrip().startswith((b"{", b'"data": [', b"[")) for line, _ in slices)


def test_elements_over_the_limit():
    data = b'[{"a": 1}, {"a": "' + b"x" * 100 + b'"}, {"a": 3}]'
    assert list(elements(io.BytesIO(data), limit=20)) == [(1, b'{"a": 1}'), (1, None), (1, b'{"a": 3}')]


@pytest.mark.parametrize("data", [b"[", b'[{"a": "', b'{"data": [{}', b"[}]]]"])
def test_unclosed(data):
    with pytest.raises(JsonEndError):
        list(elements(io.BytesIO(data), limit=20))
