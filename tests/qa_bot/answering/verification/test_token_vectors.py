"""States of tokens are encoded once for all that read them, and kept up to a size."""

from __future__ import annotations

import numpy as np
import pytest

from qa_bot.answering.verification import token_vectors
from qa_bot.answering.verification.token_vectors import TokenVectors


@pytest.fixture
def vectors(tokens) -> TokenVectors:
    opened = TokenVectors(lambda: tokens)
    assert opened.ready()
    return opened


def test_rows_have_all_tokens_at_unit_length_and_their_ids(vectors):
    dog, empty = vectors.rows(["Take a dog", ""])
    assert dog.ids.tolist() == [0, 4, 1, 3, 0]
    assert dog.ids.dtype == np.int64
    assert dog.states.dtype == np.float32
    assert np.linalg.norm(dog.states, axis=1).tolist() == [0, 1, 0, 1, 0], "words without a group have zero rows"
    assert dog.states[3].tolist() == [0, 1, 0, 0, 0, 0]
    assert empty.ids.tolist() == [0, 0]
    np.testing.assert_array_equal(dog.states[1:-1], vectors.of_passages(["Take a dog"])[0])


def test_rows_of_a_text_without_tokens_are_none(tokens, vectors, monkeypatch):
    monkeypatch.setattr(tokens, "states", lambda texts: [np.zeros((0, 6), np.float32) for _ in texts])
    monkeypatch.setattr(tokens, "token_ids", lambda texts: [[] for _ in texts])
    (rows,) = vectors.rows([" "])
    assert (rows.states.shape, rows.ids.shape) == ((0, 6), (0,))
    assert vectors.of_passages([" "])[0].shape == (0, 6)


def test_states_are_encoded_once_for_words_passages_and_rows(tokens, vectors):
    vectors.of_passages(["Take a dog"])
    vectors.rows(["a puppy", "Take a dog"])
    (row,) = vectors.of_words("a puppy", [(2, 7)])
    assert row.tolist() == [0, 1, 0, 0, 0, 0]
    vectors.rows(["Take a dog"])
    assert tokens.read == ["Take a dog", "a puppy"]


def test_vectors_of_passages_are_kept(tokens, vectors):
    first = vectors.of_passages(["Take a dog", "euros", "Take a dog"])
    assert sorted(tokens.read) == ["Take a dog", "euros"]
    assert vectors.of_passages(["euros"])[0].tolist() == first[1].tolist()
    assert len(tokens.read) == 2
    assert [rows.shape for rows in first] == [(3, 6), (1, 6), (3, 6)]


def test_states_are_kept_up_to_a_size(tokens, vectors, monkeypatch):
    monkeypatch.setattr(token_vectors, "MOST_BYTES", 8 * 6 * 2)  # eight rows of six halves
    vectors.of_passages(["Take a dog", "euros"])  # five and three rows, special tokens included
    vectors.of_passages(["Take a dog"])  # the last one used
    vectors.of_passages(["cats"])
    assert sorted(tokens.read[:2]) == ["Take a dog", "euros"], "two threads read them"
    assert tokens.read[2:] == ["cats"]
    vectors.of_passages(["Take a dog"])
    assert len(tokens.read) == 3, "kept"
    vectors.of_passages(["euros"])
    assert tokens.read[3:] == ["euros"], "dropped"
