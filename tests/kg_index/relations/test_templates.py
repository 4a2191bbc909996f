from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_index.relations.template_rows import Row, TemplateCounts
from kg_index.relations.template_text import NO_PATH
from kg_index.relations.templates import Likely, TemplateTable

ROWS = [
    Row("where was <m> born", NO_PATH, 6),
    Row("where was <m> born", "birthPlace", 3),
    Row("where was <m> born", "deathPlace", 1),
    Row("who wrote <m>", "author", 2),
]
TRIPLES = st.lists(
    st.tuples(st.text("abé ", min_size=1, max_size=4), st.sampled_from("rst"), st.sampled_from([0.5, 1.0, 2.0]))
)


def test_likelihoods_by_hand() -> None:
    table = TemplateTable.of(ROWS)
    assert table.lookup("where was <m> born") == [Likely("birthPlace", 0.3, 3), Likely("deathPlace", 0.1, 1)]
    assert table.lookup("who wrote <m>") == [Likely("author", 1, 2)]
    assert table.lookup("who ate <m>") == []
    assert table.lookup("where was <m> born", allowed=["deathPlace", "author"]) == [Likely("deathPlace", 1 / 7, 1)]
    assert table.lookup("who wrote <m>", allowed=["birthPlace"]) == []
    assert "who wrote <m>" in table
    assert "who" not in table


def test_probabilities_of_all_mappings() -> None:
    np.testing.assert_allclose(TemplateTable.of(ROWS).probabilities(), [0.3, 0.1, 0.6, 1], rtol=1e-6)


def test_an_empty_table_knows_nothing() -> None:
    table = TemplateTable.of([])
    assert table.probabilities().shape == (0,)
    assert (len(table), table.lookup("a"), list(table.rows())) == (0, [], [])


@given(TRIPLES, st.text("abé "))
def test_the_table_is_what_was_counted(triples: list[tuple[str, str, float]], other: str) -> None:
    counts = TemplateCounts()
    for likely in triples:
        counts.add(*likely)
    table = TemplateTable.of(counts.rows())
    assert list(table.rows()) == list(counts.rows())
    assert list(table.templates()) == sorted(counts.counts)
    assert [table.template(index) for index in table.owners()] == [row.template for row in counts.rows()]
    assert (other in table) == (other in counts.counts)
    for template, relations in counts.counts.items():
        rows = table.lookup(template)
        assert {likely.relation: likely.times for likely in rows} == relations
        assert sum(likely.probability for likely in rows) == pytest.approx(1)


def test_parts_are_merged(tmp_path: Path) -> None:
    TemplateTable.of(ROWS[:3]).save(tmp_path / "1.tsv")
    TemplateTable.of(ROWS[1:]).save(tmp_path / "2.tsv")
    table = TemplateTable.load(tmp_path / "1.tsv", tmp_path / "2.tsv")
    assert [row.times for row in table.rows()] == [6, 2, 6, 2] or [row.times for row in table.rows()] == [6, 6, 2, 2]
    assert table.lookup("where was <m> born")[0] == Likely("birthPlace", 6 / 14, 6)
