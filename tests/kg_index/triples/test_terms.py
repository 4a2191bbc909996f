from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_index.building.build import build
from kg_index.triples import terms
from kg_index.triples.columns import CorruptGraphError
from kg_index.triples.terms import TermTable

NAMES = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=5)
TERMS = st.builds("{}{}".format, st.sampled_from(['"', "_:", "http://e/", "http://e/" + "long" * 60]), NAMES)


def table(folder: Path, names) -> TermTable:
    build([[(name, "p:p", "p:p") for name in names]], folder / "kg")
    return TermTable(folder / "kg")


@settings(max_examples=40)
@given(st.sets(TERMS, min_size=1, max_size=40), TERMS, st.integers(1, 50))
def test_every_term_is_found_and_no_other(tmp_path_factory, names, other, samples):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terms, "_SAMPLES", samples)
        known = table(tmp_path_factory.mktemp("terms"), names)
        ordered = sorted({*names, "p:p"}, key=str.encode)
        assert [known.term(number) for number in range(len(known))] == ordered
        assert [known.id_of(name) for name in ordered] == list(range(len(known)))
        assert (known.id_of(other) is not None) == (other in ordered)


def test_text_that_is_no_text_is_told(tmp_path):
    table(tmp_path, ["http://e/a"])
    path = tmp_path / "kg" / "terms.text"
    path.write_bytes(b"\xff" * path.stat().st_size)
    with pytest.raises(CorruptGraphError, match=r"not UTF-8 at term 0 in .*terms\.text"):
        TermTable(tmp_path / "kg").term(0)


def test_begins_that_do_not_fit_the_text_are_told(tmp_path):
    table(tmp_path, ["http://e/a"])
    path = tmp_path / "kg" / "terms.begins"
    path.write_bytes(path.read_bytes()[:-8] + b"\x01" * 8)
    with pytest.raises(CorruptGraphError, match=r"an end at byte .*terms\.begins"):
        TermTable(tmp_path / "kg")
