import json

import numpy as np
import pytest

from generators.topics.counting_grid import CountingGrid, GridConfig
from generators.topics.grid_map import GridMap, cell_words
from qa_core.networks.vocabulary import Vocabulary

TOKENS = ("ant", "bee", "cat")
CELLS = np.array([[0.2, 0.5, 0.0, 0.4], [0.3, 0.5, 0.1, 0.2], [0.5, 0.0, 0.9, 0.4]], dtype=np.float32)


def grid() -> CountingGrid:
    return CountingGrid.of(GridConfig(2, 2, 1, 0.0), Vocabulary(TOKENS), CELLS, np.full(3, 1 / 3, np.float32))


def test_words_of_cells_are_ordered_by_probability():
    assert cell_words(CELLS, TOKENS, 2) == (("cat", "bee"), ("ant", "bee"), ("cat", "bee"), ("ant", "cat"))
    assert cell_words(CELLS, TOKENS, 9)[0] == ("cat", "bee", "ant")
    assert cell_words(CELLS, TOKENS, 0) == ((), (), (), ())


def test_a_map_has_the_posterior_of_a_hint():
    plain, hinted = grid().map(words=1), grid().map("an ant", words=1)
    assert plain.words == (("cat",), ("ant",), ("cat",), ("ant",))
    assert plain.as_dict() == {"height": 2, "width": 2, "window": 1, "cells": [["cat"], ["ant"], ["cat"], ["ant"]]}
    payload = json.loads(json.dumps(hinted.as_dict()))
    assert payload["hint"] == "an ant"
    assert payload["notice"] is None
    np.testing.assert_allclose(payload["posterior"], [2 / 11, 5 / 11, 0, 4 / 11], atol=1e-6)
    assert "it steers nothing" in grid().map("dog").as_dict()["notice"]


def test_window_words_of_a_cell():
    words = tuple((f"w{cell}", "all") for cell in range(12))  # three rows of four
    shown = GridMap(3, 4, 3, words)
    # cell 3 is the right upper corner: itself, then its four neighbours around the torus
    assert shown.window_words(3, 6) == ("w3", "all", "w11", "w2", "w0", "w7")
    assert shown.window_words(3, 99)[6:] == ("w10", "w8", "w6", "w4")
    with pytest.raises(IndexError, match="Expected a cell from 0 to 11, but got 12"):
        shown.window_words(12)


def test_a_map_is_drawn(tmp_path):
    pytest.importorskip("matplotlib", reason="the plots extra is not installed")
    grid().map("an ant", words=2).draw(tmp_path / "hint.png")
    assert (tmp_path / "hint.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
