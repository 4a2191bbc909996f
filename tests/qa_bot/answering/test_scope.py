"""Questions that are asked of some documents only: dates, unknown names, and the same keys in every front end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qa_bot.answering.scope import Scope, ScopeError
from qa_bot.bot import Bot
from qa_bot.cli.app import run
from retrievers.engines.index import Filter

ROWS = [
    {"id": "tea/green.md", "title": "How hot is the water for tea?", "text": "The water for green tea has 80 degrees."},
    {"id": "tea/black.md", "title": "How hot is the water for tea?", "text": "The water for black tea boils."},
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scope")
    home = folder / "home"
    for row, collection in zip(ROWS, ("greens", "blacks"), strict=True):
        (folder / "rows.jsonl").write_text(json.dumps(row))
        assert run(["--home", str(home), "add", str(folder / "rows.jsonl"), "--collection", collection]) == 0
    return home


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, Filter()),
        ({"collection": "a", "under": ["b/", "/c"]}, Filter(("a",), ("b", "c"))),
        ({"under": ["./b/", "HTTPS://site.example/c/"]}, Filter(under=("b", "site.example/c"))),
        ({"since": "2024", "until": "2024"}, Filter(since=20240101, until=20241231)),
        ({"since": "2024-02", "until": "2024-02"}, Filter(since=20240201, until=20240229)),
        ({"since": "2024-02-29", "until": "2023-02"}, Filter(since=20240229, until=20230228)),
        ({"since": "2024-12-31", "until": "2023-12"}, Filter(since=20241231, until=20231231)),
        ({"under": "HTTP://Site.Example:8940/docs/cäsar/#top"}, Filter(under=("site.example:8940/docs/c%C3%A4sar",))),
        ({"under": "http://"}, Filter(under=("",))),
        ({"since": None, "collection": [], "under": None, "language": None}, Filter()),
        ({"slice": "a", "collection_id": 1, "langs": ["de"], "order": 2, "unit": "m"}, Filter()),
        ({"language": "DE", "include_archived": True, "other": 1}, Filter(languages=("de",))),
    ],
)
def test_the_keys_of_a_request_become_a_filter(fields: dict, expected: Filter) -> None:
    assert Scope.of(fields).filter() == expected


@pytest.mark.parametrize("date", ["yesterday", "2024-13", "2024-02-32", "2023-02-29", "24", "2024-01-01-01"])
def test_a_wrong_date_is_refused_with_an_example(date: str) -> None:
    if date == "24":  # the year 24
        assert Scope.of({"since": date}).filter().since == 240101
        return
    with pytest.raises(ScopeError, match=r"Expected a date like 2024, 2024-05 or 2024-05-31, but got"):
        Scope.of({"since": date})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"language": 5}, "Expected a text as `language`, but got 5"),
        ({"since": ""}, "Expected a text as `since`, but got ''"),
        ({"language": " "}, "Expected a text as `language`, but got ' '"),
        ({"since": ["2024"]}, "Expected a text as `since`"),
        ({"collection": {"a": 1}}, "Expected a text or a list of texts as `collection`"),
        ({"under": ["a", 1]}, "Expected a text or a list of texts as `under`"),
        ({"include_archived": "no"}, "Expected true or false as `include_archived`, but got 'no'"),
    ],
)
def test_a_value_of_another_type_is_refused(fields: dict, message: str) -> None:
    with pytest.raises(ScopeError, match=message):
        Scope.of(fields)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        *[("undr", "under"), ("udner", "under"), ("Since", "since"), ("collections", "collection")],
        *[("langauge", "language"), ("includeArchived", "include_archived"), ("untill", "until")],
    ],
)
def test_a_misspelt_key_is_refused(key: str, name: str) -> None:
    with pytest.raises(ScopeError, match=f"Expected the field `{name}`, but got `{key}`; correct its name."):
        Scope.of({"title": "how hot is tea?", key: "x"})


@pytest.mark.parametrize("scope", [Scope(collections=("blacks",)), Scope(under=("tea/black.md",))])
@pytest.mark.parametrize("engine", ["keyword", "dense", "hybrid"])
def test_every_engine_finds_only_what_is_in_the_scope(home: Path, scope: Scope, engine: str) -> None:
    with Bot.open(home, record=False) as bot:
        results = bot.search("how hot is water for green tea", engine=engine, scope=scope)
        assert [candidate.passage.source.document for candidate in results] == ["tea/black.md"]
        answer = bot.ask("how hot is the water for tea?", scope=scope)
    assert {source.document for source in answer.sources} == {"tea/black.md"}


@pytest.mark.parametrize("engine", ["keyword", "dense", "hybrid"])
def test_a_narrow_scope_brings_a_full_list(tmp_path: Path, engine: str) -> None:
    """The first 300 results of the engine are elsewhere: what was thrown away afterwards would leave nothing."""
    rows = [
        {"id": f"big/{number}.md", "text": f"Green tea needs water of 80 degrees {number}."} for number in range(300)
    ]
    rows += [{"id": f"small/{number}.md", "text": f"We also sell tea, part {number}."} for number in range(12)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    home, query = tmp_path / "home", "green tea water degrees"
    assert run(["--home", str(home), "add", str(tmp_path / "rows.jsonl")]) == 0
    with Bot.open(home, record=False) as bot:
        everywhere = bot.search(query, engine=engine, top=100)
        small = bot.search(query, engine=engine, top=12, scope=Scope(under=("small",)))
    assert {candidate.passage.source.document.partition("/")[0] for candidate in everywhere} == {"big"}
    assert {candidate.passage.source.document for candidate in small} == {row["id"] for row in rows[300:]}


def test_an_unknown_collection_or_folder_is_an_error_that_names_near_ones(home: Path) -> None:
    with Bot.open(home, record=False) as bot:
        with pytest.raises(ScopeError, match=r"Expected a collection, but got 'green'; there are: greens\b"):
            bot.ask("how hot is tea?", scope=Scope(collections=("green",)))
        with pytest.raises(ScopeError, match=r"Expected a folder or document, but got 'tee'; there are: tea\b"):
            bot.search("tea", scope=Scope(under=("tee",)))
        with pytest.raises(
            ScopeError, match=r"got 'nosuch'; there are: rows.jsonl, tea, animals-"
        ):  # the starter's last
            bot.search("tea", scope=Scope(under=("nosuch",)))
        with pytest.raises(ScopeError, match=r"Expected a language of your documents, but got 'xx'; there are: "):
            bot.search("tea", scope=Scope(language="xx"))


def test_all_languages_are_named_and_other_lists_say_that_they_go_on(tmp_path: Path) -> None:
    codes = ("de", "en", "es", "fr", "it", "ru", "zh")
    folder, home = tmp_path / "papers", tmp_path / "home"
    for code in codes:
        (folder / code).mkdir(parents=True)
        (folder / code / "tea.md").write_text(f"---\nlanguage: {code}\n---\n# 1\n\nOolong 80.\n")
    assert run(["--home", str(home), "add", str(folder)]) == 0
    with Bot.open(home, record=False) as bot:
        with pytest.raises(ScopeError, match=f"there are: {', '.join(codes)}[.]$"):
            bot.search("tea", scope=Scope(language="ar"))
        with pytest.raises(ScopeError, match=r"there are: de, en, es, fr, it, …$"):
            bot.search("tea", scope=Scope(under=("nosuch",)))


def test_facts_belong_to_no_documents(home: Path) -> None:
    with Bot.open(home, record=False) as bot:
        assert bot.search("capital of France", engine="facts", scope=Scope(include_archived=True))
        with pytest.raises(ScopeError, match="but got facts, which belong to no document"):
            bot.search("capital of France", engine="facts", scope=Scope(collections=("greens",)))
        with pytest.raises(ScopeError, match="Expected a collection, but got 'grens'"):
            bot.search("capital of France", engine="facts", scope=Scope(collections=("grens",)))


def test_the_command_line_takes_the_same_names(home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def results(*arguments: str) -> list[str]:
        assert run(["--home", str(home), "search", "water for tea", *arguments, "--json"]) == 0
        return sorted(row["document"] for row in json.loads(capsys.readouterr().out)["results"])

    assert results("--under", "tea") == ["tea/black.md", "tea/green.md"]
    assert results("--collection", "greens") == ["tea/green.md"]
    assert results("--collection", "greens", "--collection", "blacks") == ["tea/black.md", "tea/green.md"]
    assert run(["--home", str(home), "search", "tea", "--since", "soon"]) == 2
    assert run(["--home", str(home), "search", "tea", "--since", ""]) == 2
    assert run(["--home", str(home), "search", "tea", "--since", "2030", "--under", "tea"]) == 3
    assert "Nothing found with under tea, since 2030; ask in other words" in capsys.readouterr().out
    assert run(["--home", str(home), "ask", "tea", "--collection", "grens"]) == 1
    assert "there are: greens" in capsys.readouterr().err
    lines = [
        {"_id": 1, "title": "how hot is tea?", "collection": "blacks"},
        {"_id": 2, "title": "?", "under": "nowhere"},
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, lines)))
    run(["--home", str(home), "ask", "--batch", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out.jsonl")])
    first, second = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert {source["document"] for source in first["sources"]} == {"tea/black.md"}
    assert "Expected a folder or document, but got 'nowhere'" in second["error"]
