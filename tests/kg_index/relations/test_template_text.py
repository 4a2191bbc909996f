import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_index.relations.template_text import SLOT, path_steps, path_text, template_of
from qa_core.text.analysis import words

IRIS = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="^<>"), min_size=1).map(
    "h:".__add__
)


@pytest.mark.parametrize(
    ("question", "mention", "expected"),
    [
        ("Who wrote Dune?", "Dune", "who wrote <m>"),
        ("Who is Bill Gates' father?", "Bill Gates", "who is <m> father"),
        ("What's Dune’s genre?", "Dune", "what <m> genre"),
        ("Dune", "Dune", "<m>"),
        ("WHERE IS  Köln ?", "Köln", "where is <m>"),
    ],
)
def test_a_template_is_the_question_with_a_slot(question: str, mention: str, expected: str) -> None:
    start = question.index(mention)
    assert template_of(question, start, start + len(mention)) == expected


def test_no_word_is_the_slot() -> None:
    assert SLOT not in words(f"a {SLOT} b")


def test_paths_are_written_with_directions() -> None:
    assert path_text([("http://g/p", False)]) == "http://g/p"
    assert path_text([("http://g/p", True), ("http://g/q", False)]) == "^http://g/p / http://g/q"


@given(st.lists(st.tuples(IRIS, st.booleans()), min_size=1, max_size=3))
def test_paths_are_read_back(steps: list[tuple[str, bool]]) -> None:
    assert path_steps(path_text(steps)) == tuple(steps)


@pytest.mark.parametrize("predicate", ["", "^p", "a b", " p", "p\n"])
def test_what_is_no_iri_is_refused(predicate: str) -> None:
    with pytest.raises(ValueError, match="Expected an IRI"):
        path_text([(predicate, False)])


def test_a_path_has_a_step() -> None:
    with pytest.raises(ValueError, match="one step"):
        path_text([])
