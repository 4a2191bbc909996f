"""Triples written as N-Triples are read back as they were."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph
from hypothesis import given
from hypothesis import strategies as st

from kg_index.building.ntriples import statement
from kg_index.building.rdf_parsing import read_triples

IRI = st.from_regex(r"https?://[a-z]{1,8}\.org/[A-Za-z0-9_é日()-]{0,12}", fullmatch=True)
LITERAL = st.builds(
    lambda text, language: str(pyoxigraph.Literal(text, language=language)),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    st.sampled_from([None, "en", "de-at"]),
)


def test_three_kinds_of_terms() -> None:
    assert statement(("http://a", "http://p", '"x"@en')) == '<http://a> <http://p> "x"@en .'
    assert statement(("_:b1", "http://p", "http://o")) == "_:b1 <http://p> <http://o> ."


@given(st.lists(st.tuples(IRI, IRI, IRI | LITERAL | st.just("_:0-b1")), min_size=1, max_size=20))
def test_what_is_written_is_read(tmp_path: Path, triples: list[tuple[str, str, str]]) -> None:
    path = tmp_path / "facts.nt"
    path.write_text("".join(f"{statement(triple)}\n" for triple in triples), encoding="utf-8", newline="")
    assert [triple for batch in read_triples(path, strict=True) for triple in batch] == triples
