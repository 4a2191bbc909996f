"""Names that clients give: any of them becomes a plain name, or is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.web.documents.names import COLLECTION, NAME, expect_collection, file_name, file_of_title
from qa_core.text.safe_text import has_control_characters


@given(st.text(max_size=400))
def test_any_file_name_is_plain_or_refused(sent: str) -> None:
    try:
        name = file_name(sent)
    except ValueError:
        return
    assert 0 < len(name.encode()) <= NAME
    assert not set("/\\") & set(name)
    assert not has_control_characters(name)
    assert name not in (".", "..")
    assert file_name(name) == name


@given(st.text(max_size=400))
def test_any_title_gives_a_file_name(title: str) -> None:
    name = file_of_title(title)
    assert name == file_name(name)
    assert name == file_of_title(f" {title}\n")


def test_titles_that_differ_have_names_that_differ() -> None:
    titles = ["a/b", "a-b", "a:b", "", "..", "w" * 300, "w" * 301, "Opening hours"]
    names = [file_of_title(title) for title in titles]
    assert len(set(names)) == len(titles)
    assert names[1] == "a-b.md"
    assert names[-1] == "Opening hours.md"


def test_composed_and_decomposed_names_are_one() -> None:
    assert file_name("O\u0308ffnung.md") == file_name("\u00d6ffnung.md")


@pytest.mark.parametrize("name", ["", " ", " a", "a ", "a\nb", "a\u202eb", "a" * (COLLECTION + 1)])
def test_bad_collections_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="Expected a collection"):
        expect_collection(name)


@pytest.mark.parametrize("name", ["a", "Töpfern & mehr", "a" * COLLECTION])
def test_other_collections_are_taken(name: str) -> None:
    assert expect_collection(name) == name
