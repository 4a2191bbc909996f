"""One form of each path, names of sources, and which source holds a path."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import pytest

from qa_bot.documents.sources.places import holder, inner_sources, kind_of, names, path_below, resolve
from qa_bot.home.store import Source

DOCS = Source(1, "docs", "folder", "/team/docs", "default", {})
NOTE = Source(2, "note.md", "file", "/team/note.md", "default", {})
SITE = Source(3, "site", "website", "https://example.org/", "default", {})


def test_one_folder_has_one_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    forms = ["docs", "docs/", "./docs/../docs", "link", "link/", "~/docs", str(folder), f"{folder}{os.sep}"]
    assert {resolve(Path(form)) for form in forms} == {folder.resolve()}


def test_kinds(tmp_path: Path) -> None:
    (tmp_path / "a.md").touch()
    assert [kind_of(tmp_path), kind_of(tmp_path / "a.md"), kind_of(tmp_path / "b.ZIP")] == ["folder", "file", "archive"]


def test_names_grow_with_the_path_and_then_count() -> None:
    assert [*islice(names(Path("/work/team/docs")), 5)] == ["docs", "team/docs", "work/team/docs", "docs-2", "docs-3"]
    assert next(names(Path("/"))) == "root"


@pytest.mark.parametrize(
    ("path", "below"),
    [("/team/docs", ""), ("/team/docs/a/b.md", "a/b.md"), ("/team/docs2", None), ("/team", None)],
)
def test_path_below_a_folder(path: str, below: str | None) -> None:
    assert path_below(Path(path), DOCS) == below


def test_the_holder_is_the_outermost_source_of_the_collection() -> None:
    inner = Source(4, "a", "folder", "/team/docs/a", "default", {})
    other = Source(5, "hr", "folder", "/team", "hr", {})
    sources = [SITE, inner, DOCS, other, NOTE]
    assert holder(Path("/team/docs/a/b.md"), sources, None) == (DOCS, "a/b.md")
    assert holder(Path("/team/docs/a/b.md"), sources, "hr") == (other, "docs/a/b.md")
    assert holder(Path("/team/else.md"), sources, None) == (other, "else.md")
    assert holder(Path("/else.md"), sources, None) is None


def test_sources_below_a_new_one() -> None:
    assert inner_sources(Path("/team"), [DOCS, NOTE, SITE], "default") == [(DOCS, "docs"), (NOTE, "note.md")]
    assert inner_sources(Path("/team"), [DOCS], "hr") == []
    assert inner_sources(Path("/team/docs"), [DOCS], "default") == []
