import math

import numpy as np
import pytest

from kg_index.relations.keywords import KeywordMatcher
from kg_index.relations.template_rows import Row
from kg_index.relations.template_text import NO_PATH
from kg_index.relations.templates import TemplateTable
from kg_index.training.mapping_weights import f_weights, k_weights, s_weights

TABLE = TemplateTable.of(
    [
        Row("birth place of <m>", "http://g/birthPlace", 3),
        Row("birth place of <m>", "http://g/within", 2),
        Row("birth place of <m>", NO_PATH, 5),
        Row("city <m>", "http://g/within", 4),
        Row("who is <m>", "http://g/within", 1),
        Row("who is <m>", NO_PATH, 1),
    ]
)


def test_f_by_hand() -> None:
    born, nothing = math.log(3 / 1), math.log(3 / 2)
    np.testing.assert_allclose(f_weights(TABLE), [3 * born, 0, 5 * nothing, 0, 0, nothing], rtol=1e-6)  # log(3/3) = 0


def test_k_counts_shared_words_and_spares_no_path_found() -> None:
    assert k_weights(TABLE, KeywordMatcher().overlap).tolist() == [2, 0, 1, 0, 0, 1]


def test_s_by_hand() -> None:
    weights = s_weights(np.array([2, 4], dtype=np.float32), np.array([0.5, 0.0], dtype=np.float32))
    np.testing.assert_allclose(weights, [1.2, 0.4], rtol=1e-6)


def test_an_empty_table_has_no_weights() -> None:
    empty = TemplateTable.of([])
    assert len(f_weights(empty)) == len(k_weights(empty, KeywordMatcher().overlap)) == 0


@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_alpha_keeps_what_the_first_model_denies(alpha: float) -> None:
    one = np.ones(1, dtype=np.float32)
    assert s_weights(one, 0 * one, alpha=alpha)[0] == pytest.approx(alpha)
