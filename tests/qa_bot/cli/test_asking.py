"""`ask`, `search` and `chat` on the command line: every option that narrows a question, over files of a folder."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("no_shipped_voices")
QaBot = Callable[..., Any]

NOW, OLD, GERMAN = "handbook/leave.md", "handbook/archive/leave.md", "lang/urlaub.md"
FILES = {
    NOW: "---\ndate: 2024-05-01\n---\n# Leave\n\nEveryone in our offices has 28 days of annual leave a year.\n",
    OLD: "---\ndate: 2022-05-01\n---\n# Leave\n\nEveryone in our offices has 25 days of annual leave a year.\n",
    GERMAN: "---\ndate: 2025-02-03\n---\n# Urlaub\n\nAlle Angestellten haben im Jahr 28 Tage Urlaub (annual leave).\n",
}
NARROWED = [
    (("--collection", "rules"), {NOW, OLD, GERMAN}),
    (("--under", "handbook"), {NOW, OLD}),
    (("--under", "handbook/archive", "--under", "lang/"), {OLD, GERMAN}),
    (("--since", "2024"), {NOW, GERMAN}),
    (("--until", "2024-05-01"), {NOW, OLD}),
    (("--since", "2024-05", "--until", "2024-05"), {NOW}),
    (("--language", "de"), {GERMAN}),
]


@pytest.fixture
def filled(qa_bot: QaBot, tmp_path: Path) -> QaBot:
    for path, text in FILES.items():
        (tmp_path / "firm" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "firm" / path).write_text(text)
    assert qa_bot("add", tmp_path / "firm", "--collection", "rules").code == 0
    return qa_bot


@pytest.mark.parametrize(("options", "expected"), NARROWED)
def test_a_question_is_narrowed(
    filled: QaBot, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], expected: set[str]
) -> None:
    query = "annual leave"
    results = filled("search", query, *options, "--json").json["results"]
    assert {result["document"] for result in results} == expected
    answer = filled("ask", f"How many days of {query} a year?", *options, "--json").json
    assert {source["document"] for source in answer["sources"]} == expected
    monkeypatch.setattr("sys.stdin", io.StringIO(f"How many days of {query} a year?\n"))
    (turn,) = map(json.loads, filled("chat", *options, "--json").out.splitlines())
    assert {source["document"] for source in turn["sources"]} == expected


def test_a_search_names_the_places_that_it_shows(filled: QaBot) -> None:
    query = ("search", "annual leave", "--under", "handbook/archive")
    (result,) = filled(*query, "--json").json["results"]
    place = {"path": OLD, "heading": [], "date": "2022-05-01", "language": "en", "archived": True}
    assert {key: result.get(key, []) for key in place} == place
    assert "page" not in result
    line = filled(*query).out.splitlines()[0].strip()
    assert line == f"1. Leave, 2022-05-01, archived  {result['score']:.3f}  rules/{OLD}"


def test_archived_documents_are_ranked_like_others_if_they_are_included(filled: QaBot) -> None:
    query = ("search", "annual leave", "--engine", "keyword", "--under", "handbook", "--json")
    scores = [
        {result["document"]: result["score"] for result in filled(*query, *option).json["results"]}
        for option in ((), ("--include-archived",))
    ]
    assert scores[0][OLD] < scores[0][NOW] == scores[1][NOW]
    assert scores[1][OLD] == pytest.approx(scores[1][NOW], rel=0.01)


@pytest.mark.parametrize("command", [("ask", "leave?"), ("search", "leave"), ("chat",)])
def test_unknown_names_are_errors_that_name_near_ones(
    filled: QaBot, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    for options, message in (
        (("--collection", "rule"), "Expected a collection, but got 'rule'; there are: rules"),
        (("--under", "Handbok"), "Expected a folder or document, but got 'Handbok'; there are: handbook"),
    ):
        monkeypatch.setattr("sys.stdin", io.StringIO("leave?\n"))
        called = filled(*command, *options)
        assert (called.code, message in called.err) == (1, True), called
    assert filled(*command, "--until", "soon").code == 2
