"""Paths on disk and names of sources, as `--under` takes them, become paths of ids of documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from qa_bot.documents.sources.under import cover, id_paths
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.store import Store

FILES = {
    "one/docs": ("hr/leave.md", "hr/de/urlaub.md", "tea.md"),
    "two/papers": ("hr/pay.md", "it/vpn.md"),
    "three/docs": ("tea.md",),  # collides with the first source, so that its ids begin with a name
}


@pytest.fixture
def firm(tmp_path: Path, qa_bot: Callable[..., Any]) -> Path:
    """Three sources in `tmp_path`."""
    for folder, names in FILES.items():
        for name in names:
            file = tmp_path / folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"# {name}\n\nThe wombat of {folder} and {name} digs.\n")
        assert qa_bot("add", tmp_path / folder).code == 0
    return tmp_path


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_cover_holds_all_paths_inside_and_none_outside(size: int) -> None:
    paths = ["a/x", "a/y", "a/b/x", "b/x", "c"]
    for inside in product(paths, repeat=size):
        outside = [path for path in paths if path not in inside]
        covering = cover(inside, outside)
        held = [path for path in paths if any(f"{path}/".startswith(f"{one}/") for one in covering)]
        assert sorted({*inside}) == sorted(held)
        assert len(covering) <= len({*inside})


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("hr", {"hr/leave.md", "hr/de/urlaub.md", "hr/pay.md"}),  # a path of ids comes first
        ("./one/docs/hr/", {"hr/leave.md", "hr/de/urlaub.md"}),
        ("one/docs/hr/de", {"hr/de/urlaub.md"}),
        ("one/../one/docs", {"hr/leave.md", "hr/de/urlaub.md", "tea.md"}),
        ("two/papers/it/vpn.md", {"it/vpn.md"}),
        ("papers", {"hr/pay.md", "it/vpn.md"}),  # the name of a source
        ("three/docs", {"three/docs/tea.md"}),
        ("three/docs/tea.md", {"three/docs/tea.md"}),
        ("tea.md", {"tea.md"}),
        ("{}/one/docs/tea.md", {"tea.md"}),
        ("{}/three/docs/", {"three/docs/tea.md"}),
        ("..", {"hr/leave.md", "hr/de/urlaub.md", "tea.md", "hr/pay.md", "it/vpn.md", "three/docs/tea.md"}),
        ("{}/three", {"three/docs/tea.md"}),  # a folder above a source
    ],
)
def test_paths_as_the_user_knows_them(
    firm: Path, qa_bot: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, path: str, expected: set[str]
) -> None:
    monkeypatch.chdir(firm)
    called = qa_bot("search", "wombat", "--engine", "keyword", "--under", path.format(firm), "--json")
    assert {result["document"] for result in called.json["results"]} == expected


def test_a_file_that_collides_later_is_found_by_its_own_path(
    firm: Path, qa_bot: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its id begins with the name of its source, so that the path below the source is that of the other file."""
    monkeypatch.chdir(firm)
    late = firm / "two" / "papers" / "tea.md"
    late.write_text("# Late\n\nThe wombat of papers digs late.\n")
    for _ in range(2):
        assert qa_bot("sync").code == 0
        for path, expected in {
            "two/papers/tea.md": {"papers/tea.md"},
            "papers/tea.md": {"papers/tea.md"},
            "papers": {"hr/pay.md", "it/vpn.md", "papers/tea.md"},
            "two/papers": {"hr/pay.md", "it/vpn.md", "papers/tea.md"},
            "one/docs": {"hr/leave.md", "hr/de/urlaub.md", "tea.md"},
            "one/docs/tea.md": {"tea.md"},
            "tea.md": {"tea.md"},
        }.items():
            called = qa_bot("search", "wombat", "--engine", "keyword", "--under", path, "--json")
            assert {result["document"] for result in called.json["results"]} == expected, path
        late.write_text("# Late\n\nThe wombat of papers digs later still.\n")


def test_an_unknown_path_is_an_error_that_names_near_ones(
    firm: Path, qa_bot: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(firm)
    near = qa_bot("search", "wombat", "--under", "./one/docs/hr/leaves.md")
    assert (near.code, near.out) == (1, "")
    assert "got 'hr/leaves.md'; there are: hr/leave.md" in near.err
    assert "Expected a folder or document, but got 'elsewhere'" in qa_bot("ask", "wombat", "--under", "elsewhere").err


def test_records_with_their_own_ids_are_found_by_their_file(
    qa_bot: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data" / "old").mkdir(parents=True)
    (tmp_path / "data" / "old" / "facts.jsonl").write_text('{"id": "f1", "title": "Boats", "text": "Quolls swim."}')
    (tmp_path / "data" / "more.jsonl").write_text('{"id": "f2", "title": "Boats", "text": "Quolls climb."}')
    qa_bot("add", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    for path in ("data/old", "old/facts.jsonl", "data/old/facts.jsonl", f"{tmp_path}/data/old/"):
        results = qa_bot("search", "quolls", "--engine", "keyword", "--under", path, "--json").json["results"]
        assert [result["document"] for result in results] == ["f1"], path


def test_sources_of_an_answer_have_a_path_below_their_source(firm: Path, qa_bot: Callable[..., Any]) -> None:
    answer = qa_bot("ask", "Who digs in hr/leave.md?", "--under", "hr/leave.md", "--json").json
    assert [source["path"] for source in answer["sources"]] == ["hr/leave.md"]
    assert str(firm) not in json.dumps(answer)
    places = [source["place"] for source in qa_bot("sources", "--json").json["sources"]]
    assert places == [str(firm / folder) for folder in ("one/docs", "two/papers", "three/docs")]


def test_a_path_that_is_in_no_source_stays(empty_home: Home, tmp_path: Path) -> None:
    with Store.open(empty_home.store_url(Config())) as store:
        assert id_paths(str(tmp_path), store.sources).paths == (str(tmp_path),)
        assert id_paths("", store.sources).paths == ("",)


def test_a_source_has_no_documents_of_another_collection(
    firm: Path, qa_bot: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same folder is in both, with the same ids."""
    assert qa_bot("add", firm / "two" / "papers", "--collection", "old").code == 0

    def collections(*arguments: object) -> list[str]:
        called = qa_bot("search", "wombat", "--engine", "keyword", *arguments, "--json")
        return sorted({result["collection"] for result in called.json["results"]})

    monkeypatch.chdir(firm)
    assert collections("--under", "two/papers/it") == ["default", "old"]  # a path of both
    assert collections("--under", "papers") == ["default"]  # the name of one source
    assert collections("--under", "papers", "--collection", "old") == ["old"]
    assert collections("--under", "it") == collections("--under", "papers", "--under", "it") == ["default", "old"]


def test_an_address_is_a_path_of_ids(firm: Path, qa_bot: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(firm / "one" / "docs")  # where it would be a path on disk
    called = qa_bot("search", "wombat", "--under", "http://site.example/hr")
    assert "Expected a folder or document, but got 'http://site.example/hr'" in called.err


def test_a_source_with_a_file_that_gave_no_document_is_searched(tmp_path: Path, qa_bot: Callable[..., Any]) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "tea.md").write_text("# Tea\n\nThe wombat drinks tea.\n")
    (docs / "empty.docx").write_bytes(b"")
    qa_bot("add", docs)
    answer = json.loads(qa_bot("search", "wombat", "--under", "docs", "--json").out)
    assert [result["document"] for result in answer["results"]] == ["tea.md"]
