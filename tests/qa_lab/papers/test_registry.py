import pytest

from qa_lab.evaluate.datasets import DatasetError
from qa_lab.papers.declarations import Computed, Evaluated, Joined, Reported
from qa_lab.papers.tables.registry import TABLES, chosen


def measures(way) -> set[str]:
    """Names of the declared figures."""
    match way:
        case Evaluated() | Reported():
            return set(way.measures)
        case Joined():
            return {name for part in way.parts for name in measures(part)}
        case Computed() | str() | None:
            return set()


def test_every_table_of_the_papers():
    ids = [table.id for table in TABLES]
    numbers = {"T": "3.1 3.2 4.1 4.2 5.1 6.2 6.3 6.4 6.5 7.1 7.2 7.3 7.4 7.5 7.6 8.2 8.3 8.4", "D": "1 2"}
    numbers |= {"P": "1 2 3 4 5 6 7 8 9 10 11 12", "X": "2 3 4 5 6", "H": "1 2 3 4 5 6 7"}
    assert ids == [f"{letter} {number}" for letter, of in numbers.items() for number in of.split()]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.id)
def test_rows_have_distinct_names_and_figures_of_the_table(table):
    names = [row.name for row in table.rows]
    assert len(names) == len(set(names))
    for row in table.rows:
        assert set(row.paper) <= set(table.measures)
        assert all(measures(way) <= set(table.measures) for way in row.ways.values())
        assert row.paper or not all(isinstance(way, str) for way in row.ways.values())


@pytest.mark.parametrize(
    ("table", "row", "models"),
    [
        ("P 6", "skip-gram, addition", {"words"}),
        ("P 6", "paragram, addition", {"paragram"}),
        ("P 12", "GloVe, addition", {"words"}),
        ("P 12", "paragram, tuned on WS353, addition", {"paragram"}),
    ],
)
def test_sums_of_phrases_are_of_the_vectors_that_the_row_names(table, row, models):
    (chosen_table,) = chosen([table])
    ways = next(one for one in chosen_table.rows if one.name == row).ways.values()
    assert {encoder.model for way in ways for encoder in way.encoders} == models
    assert all(way.row == "addition" for way in ways)


def test_tables_by_name():
    assert [table.id for table in chosen(["t6.3", "D 2", "T 6.3"])] == ["T 6.3", "D 2"]
    assert {table.id[0] for table in chosen(["h", "X"])} == {"H", "X"}
    assert chosen([]) == TABLES
    with pytest.raises(DatasetError, match=r"but got T9\.9; the nearest is T"):
        chosen(["T9.9"])
