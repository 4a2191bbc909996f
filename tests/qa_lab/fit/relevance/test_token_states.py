"""States of the tokens of texts on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from qa_core.networks.token_rows import LEAST_TOKENS
from qa_lab.fit.relevance import token_states
from qa_lab.fit.relevance.token_states import TokenStates
from rankers.late_interaction import unit_rows
from tests.qa_lab.fit.relevance.letters import SIZE, Letters

TEXTS = ["abc", "a", "hello", "abc", "a longer text", "ö"]
FIVE = [*dict.fromkeys(TEXTS)]


@pytest.fixture(autouse=True)
def _two_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_states, "_AT_ONCE", 2)


def file_of(folder: Path) -> Path:
    (path,) = folder.glob("states-*.int8")
    return path


def test_a_text_comes_once_in_the_order_of_the_texts(tmp_path: Path) -> None:
    states = TokenStates.of(TEXTS, Letters(), tmp_path)
    assert [*states.places] == FIVE
    assert states.bounds.tolist() == [0, 3, 4, 9, 22, 23]
    assert states.lengths([4, 0]).tolist() == [1, 3]
    assert states.ids[:4].tolist() == [97, 98, 99, 97]
    assert states.rows.shape == (23, SIZE)
    assert np.abs(states.rows).max(axis=1).tolist() == [127] * 23, "all 8 bits of each row are used"


def test_padded_texts_have_unit_rows_close_to_those_of_the_encoder(tmp_path: Path) -> None:
    states = TokenStates.of(TEXTS, Letters(), tmp_path)
    padded = states.padded([2, 0, 3])
    assert padded.states.shape == (3, 13, SIZE)
    assert padded.mask.sum(1).tolist() == [5, 3, 13]
    assert padded.ids[1].tolist() == [97, 98, 99, *[0] * 10]
    assert not padded.states[1, 3:].any()
    for row, text in zip(padded.states, ("hello", "abc", "a longer text"), strict=True):
        (expected,) = Letters().states([text])
        np.testing.assert_allclose(np.linalg.norm(row[: len(text)], axis=1), 1, atol=1e-6)
        np.testing.assert_allclose(row[: len(text)], unit_rows(expected), atol=0.01)
    assert states.padded([1]).states.shape == (1, LEAST_TOKENS, SIZE)


def test_a_second_run_encodes_nothing(tmp_path: Path) -> None:
    first = TokenStates.of(TEXTS, Letters(), tmp_path)
    encoder = Letters()
    again = TokenStates.of(TEXTS, encoder, tmp_path)
    assert encoder.read == []
    np.testing.assert_array_equal(again.rows, first.rows)
    TokenStates.of([*TEXTS, "more"], encoder, tmp_path)
    assert encoder.read == [*FIVE, "more"], "other texts have another file"


@pytest.mark.parametrize("length", [1, 3 * SIZE, 7 * SIZE + 2, 9 * SIZE, 12 * SIZE])
def test_an_encoding_that_was_cut_off_goes_on_to_the_same_bytes(tmp_path: Path, length: int) -> None:
    TokenStates.of(TEXTS, Letters(), tmp_path)
    path = file_of(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:length])
    encoder = Letters()
    TokenStates.of(TEXTS, encoder, tmp_path)
    assert path.read_bytes() == whole
    first = 0 if length < 4 * SIZE else 2
    assert encoder.read == FIVE[first:], "those that are encoded together come together again"


def test_a_run_that_stops_goes_on(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        TokenStates.of(TEXTS, Letters(fails_at="a longer text"), tmp_path)
    encoder = Letters()
    states = TokenStates.of(TEXTS, encoder, tmp_path)
    assert encoder.read == FIVE[2:]
    np.testing.assert_array_equal(states.rows, TokenStates.of(TEXTS, Letters(), tmp_path / "other").rows)


def test_a_file_that_is_too_long_is_cut(tmp_path: Path) -> None:
    whole = TokenStates.of(TEXTS, Letters(), tmp_path).rows.tobytes()
    path = file_of(tmp_path)
    path.write_bytes(whole + bytes(3 * SIZE))
    TokenStates.of(TEXTS, Letters(), tmp_path)
    assert path.read_bytes() == whole


def test_a_blank_text_has_no_tokens(tmp_path: Path) -> None:
    states = TokenStates.of(["", "abc"], Letters(), tmp_path)
    assert states.lengths([0, 1]).tolist() == [0, 3]
    assert states.padded([0, 1]).mask.sum(1).tolist() == [0, 3]
