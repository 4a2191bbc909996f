import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_index.building import line_order
from kg_index.building.line_order import Lines, ordered

WORD = st.text(st.sampled_from("ab \u00e9\u65e5\U0001f600\x7f"), max_size=12)
SHARED = st.sampled_from(["", "http://a.org/", "http://a.org/entity/Q", "x" * 300])
LINES = st.lists(st.builds(lambda start, rest: (start + rest).encode(), SHARED, WORD), max_size=40)


def taken(texts: list[bytes], *, end: bool = True) -> tuple[bytes, list[bool]]:
    """What is written of the lines in their order, and which differ from the one before."""
    lines = Lines.of(text + b"\n" for text in texts)
    order, first = ordered(lines)
    file = io.BytesIO()
    lines.write(file, order, end=end)
    return file.getvalue(), first.tolist()


@pytest.fixture
def small(monkeypatch):
    """All ways of sorting are taken, few though the lines are."""
    monkeypatch.setattr(line_order, "_LARGE", 4)
    monkeypatch.setattr(line_order, "_FEWEST", 2)
    monkeypatch.setattr(line_order, "_PIECE", 3)
    return monkeypatch


def expected(texts: list[bytes]) -> tuple[bytes, list[bool]]:
    inside = sorted(texts)
    return b"".join(text + b"\n" for text in inside), [i == 0 or inside[i - 1] != inside[i] for i in range(len(inside))]


def test_five_lines_by_hand():
    written, first = taken([b"beta", b"alpha", b"beta", b"", b"al"])
    assert written == b"\nal\nalpha\nbeta\nbeta\n"
    assert first == [True, True, True, True, False]
    assert taken([b"b", b"a"], end=False)[0] == b"ab"


@settings(max_examples=150)
@given(LINES, st.sampled_from([16, 256]))
def test_order_is_that_of_sorted(texts, deepest):
    for fewest, large in ((2, 4), (2, 1 << 12), (256, 4)):
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {"_DEEPEST": deepest, "_FEWEST": fewest, "_LARGE": large, "_LONG": 40}.items():
                patch.setattr(line_order, name, value)
            assert taken(texts) == expected(texts)


def test_many_lines_of_all_lengths():
    rng = np.random.default_rng(3)
    texts = [
        b"http://example.org/" + bytes(rng.integers(97, 99, length).tolist()) for length in rng.integers(0, 16, 20_000)
    ]
    assert taken(texts) == expected(texts)


@pytest.mark.usefixtures("small")
def test_very_long_lines_that_are_alike_need_few_steps(monkeypatch):
    steps = []
    real = line_order._eight
    monkeypatch.setattr(line_order, "_eight", lambda *arguments: steps.append(1) or real(*arguments))
    long = b"x" * 1_000_000
    texts = [long + b"b", long + b"a", long, long + b"a", b"y"]
    assert taken(texts) == expected(texts)
    assert len(steps) < 200


def test_no_lines():
    assert taken([]) == (b"", [])
    assert len(Lines.of([])) == 0


def test_lines_between_two():
    lines = Lines.of([b"a\nbc\n", b"d\n"])
    assert len(lines) == 3
    assert lines.line(1) == b"bc"
    assert lines.between(1, 3) == b"bc\nd\n"
    assert lines.between(2, 2) == b""
