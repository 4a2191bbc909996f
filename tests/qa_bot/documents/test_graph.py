"""The graph of a home: `kg add`, `kg lookup`, `kg mine`, removal, failures and damage."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kg_index.answers.lookup import Fact, UnknownTermError, last_part
from kg_index.building.rdf_parsing import MalformedTripleError
from qa_bot.documents.graph import MENTIONS, TRIPLES, GraphError, add, batches_of, generations, open_graph, remove
from qa_bot.home.folder import Home, WriterBusyError
from qa_bot.home.generations import CorruptGenerationError

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
EX = "http://example.org/"
FACTS = (
    f"<{EX}peru> <{EX}capital> <{EX}lima> .",
    f"<{EX}peru> {LABEL} \"Peru\"@en .",
    f"<{EX}peru> {LABEL} \"Perú\"@es .",
    f"<{EX}lima> {LABEL} \"Lima\"@en .",
    f"<{EX}capital> {LABEL} \"capital city\"@en .",
    f"<{EX}lima> <{EX}founded_in> \"1535\"^^<http://www.w3.org/2001/XMLSchema#integer> .",
)  # fmt: skip
MORE = (f"<{EX}chile> <{EX}capital> <{EX}santiago> .", f'<{EX}chile> {LABEL} "Chile"@en .', "_:a <http://a.b/c> _:a .")


@pytest.fixture
def home(home: Path) -> Path:
    """The home without the starter's facts."""
    shutil.rmtree(home / "graph")
    return home


@pytest.fixture
def facts(write_lines: Callable[..., Path]) -> Path:
    return write_lines("facts.nt", *FACTS)


def terms(home: Home) -> set[tuple[str, str, str]]:
    with open_graph(home) as graph:
        return {triple for batch in batches_of(graph.triples) for triple in batch}


def test_lookup_by_name_by_words_and_by_value(empty_home: Home, facts: Path):
    added = add(empty_home, [facts])
    assert [(file.triples, file.rejected, file.dropped) for file in added.files] == [(6, 0, 0)]
    assert added.stats["triples"] == 6
    with open_graph(empty_home) as graph:
        ids = {name: graph.triples.id_of(EX + name) for name in ("peru", "capital", "lima", "founded_in")}
        held = Fact(ids["peru"], ids["capital"], ids["lima"])
        for pattern in (
            ("Peru", "capital", None),
            ("perú", "capital city", None),
            (None, f"<{EX}capital>", "LIMA"),
            ("peru", "capital", "lima"),
            (None, "capital", None),
        ):
            assert list(graph.lookup.facts(*pattern)) == [held], pattern
        assert [fact.predicate for fact in graph.lookup.facts("Peru", None, "Lima")] == [ids["capital"]]
        assert [fact.subject for fact in graph.lookup.facts(None, None, "1535")] == [ids["lima"]]
        assert len(list(graph.lookup.facts("Lima", None, None))) == 2
        assert list(graph.lookup.facts("Lima", "capital", "Peru")) == []
        payload = graph.fact_json(held)
        assert payload["object"] == f"{EX}lima"
        assert payload["labels"] == {"subject": "Peru", "predicate": "capital city", "object": "Lima"}
        with pytest.raises(UnknownTermError, match="an entity of the graph, but got 'Bolivia'"):
            graph.lookup.facts("Bolivia", None, None)
        with pytest.raises(ValueError, match="none of them"):
            graph.lookup.facts(None, None, None)


def test_labels_of_predicates_are_not_mentions(empty_home: Home, facts: Path):
    add(empty_home, [facts])
    with open_graph(empty_home) as graph:
        assert graph.mentions.key("capital city") is None
        assert [item.text for item in graph.mentions.find("is lima the capital city of PERU?")] == ["lima", "PERU"]


def test_later_files_are_added_to_the_graph(empty_home: Home, facts: Path, write_lines: Callable[..., Path]):
    add(empty_home, [facts])
    before = terms(empty_home)
    added = add(empty_home, [write_lines("more.nt", *MORE), facts])
    assert [file.triples for file in added.files] == [3, 6]
    assert added.stats["triples"] == 9
    assert added.stats["generation"] == 2
    assert before < terms(empty_home)
    again = add(empty_home, [write_lines("nodes.nt", MORE[2])])  # the scope of a blank node is its file
    assert again.stats["triples"] == 10
    with open_graph(empty_home) as graph:
        assert list(graph.lookup.facts("Chile", "capital", None))
        assert list(graph.lookup.facts("Peru", "capital", None))
    assert len(list(generations(empty_home).root.glob("0*"))) == 2


def test_order_of_files_makes_no_difference(empty_home: Home, facts: Path, tmp_path: Path, write_lines):
    more = write_lines("more.nt", *MORE[:2])
    add(empty_home, [facts])
    add(empty_home, [more])
    other = Home.open(tmp_path / "other")
    add(other, [more, facts])
    assert terms(empty_home) == terms(other)


def test_tables_of_mentions_stay_when_more_is_added(empty_home: Home, facts: Path, write_lines: Callable[..., Path]):
    table = write_lines("names.tsv", f"city of kings\t{EX}lima\t5", "nonsense", f"nowhere\t{EX}atlantis\t2")
    added = add(empty_home, [facts], tables=[table])
    assert added.rejected == 1
    assert added.examples[0].where.endswith("names.tsv:2")
    assert add(empty_home, [write_lines("more.nt", *MORE)]).rejected == 0  # errors of a table are reported once
    with open_graph(empty_home) as graph:
        key = graph.mentions.key("City of Kings")
        assert graph.mentions.entities(key)[0].tolist() == [graph.triples.id_of(f"{EX}lima")]
        assert graph.mentions.key("nowhere") is None


def test_tables_of_mentions_of_the_same_name_are_all_read(empty_home: Home, facts: Path, tmp_path: Path):
    tables = [tmp_path / folder / "names.tsv" for folder in "ab"]
    for table, name in zip(tables, ("city of kings", "old capital"), strict=True):
        table.parent.mkdir()
        table.write_text(f"{name}\t{EX}lima\t5\n", encoding="utf-8")
    add(empty_home, [facts], tables=tables)
    with open_graph(empty_home) as graph:
        assert None not in {graph.mentions.key("city of kings"), graph.mentions.key("old capital")}


def test_malformed_lines_are_rejected(empty_home: Home, write_lines: Callable[..., Path]):
    path = write_lines("bad.nt", FACTS[0], "<http://a.b/c> is no triple", FACTS[1])
    added = add(empty_home, [path])
    assert (added.triples, added.rejected) == (2, 1)
    assert added.examples[0].where == f"{path}:2"
    assert "is no triple" in added.rejects_file.read_text()
    with pytest.raises(MalformedTripleError, match="line 2"):
        add(empty_home, [path], strict=True)
    assert terms(empty_home) == {(f"{EX}peru", f"{EX}capital", f"{EX}lima"), (f"{EX}peru", LABEL[1:-1], '"Peru"@en')}
    assert not list(generations(empty_home).root.glob("*.partial"))


def test_literals_in_other_languages_are_left_out(empty_home: Home, facts: Path):
    added = add(empty_home, [facts], languages={"en"})
    assert added.files[0].dropped == 1
    with open_graph(empty_home) as graph:
        assert graph.lookup.entities("Perú")  # accents are folded
        assert graph.triples.id_of('"Perú"@es') is None


def test_further_predicates_of_labels(empty_home: Home, facts: Path, write_lines: Callable[..., Path]):
    path = write_lines("more.nt", f'<{EX}lima> <{EX}nick> "pearl of the pacific" .')
    add(empty_home, [facts, path], labels=[f"{EX}nick"])
    with open_graph(empty_home) as graph:
        assert graph.lookup.entities("Pearl of the Pacific") == [graph.triples.id_of(f"{EX}lima")]
        assert graph.lookup.label(graph.triples.id_of(f"{EX}founded_in")) == "founded in"
    add(empty_home, [write_lines("third.nt", MORE[0])])
    with open_graph(empty_home) as graph:
        assert graph.lookup.entities("Pearl of the Pacific") == [graph.triples.id_of(f"{EX}lima")]


def test_failed_add_leaves_the_old_graph(empty_home: Home, facts: Path, write_lines: Callable[..., Path]):
    add(empty_home, [facts])
    before = terms(empty_home)

    def stop(_done: int, doing: str) -> None:
        if doing == "sort":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        add(empty_home, [write_lines("more.nt", *MORE)], progress=stop)
    assert terms(empty_home) == before
    assert not list(generations(empty_home).root.glob("*.partial"))
    with pytest.raises(GraphError, match="got no file at"):
        add(empty_home, [facts.with_name("absent.nt")])
    with pytest.raises(GraphError, match="Expected a file named"):
        add(empty_home, [write_lines("a.csv", "a")])
    with empty_home.lock("add"), pytest.raises(WriterBusyError):
        add(empty_home, [facts])
    assert terms(empty_home) == before


def test_readers_keep_their_generation_and_damage_is_reported(
    empty_home: Home, facts: Path, write_lines: Callable[..., Path]
):
    add(empty_home, [facts])
    with open_graph(empty_home) as graph:
        for number in range(3):
            add(empty_home, [write_lines(f"{number}.nt", f"<{EX}a> <{EX}b> <{EX}c{number}> .")])
        assert len(graph.triples) == 6
        assert list(graph.lookup.facts("Peru", None, None))
    current = generations(empty_home).current()
    (current.path / TRIPLES / "terms.text").write_bytes(b"short")
    with pytest.raises(CorruptGenerationError, match=r"terms\.text is damaged"), open_graph(empty_home):
        pass
    (current.path / MENTIONS / "words.marisa").unlink()
    assert len(generations(empty_home).verify(deep=True)) == 2
    (current.path / "manifest.json").write_text("{")
    with pytest.raises(CorruptGenerationError), open_graph(empty_home):
        pass


def test_empty_graph(empty_home: Home, write_lines: Callable[..., Path]):
    with pytest.raises(GraphError, match="qa-bot kg add FILE"), open_graph(empty_home):
        pass
    assert add(empty_home, [write_lines("empty.nt")]).stats["triples"] == 0
    with open_graph(empty_home) as graph:
        assert graph.stats()["names"] == 0
        assert graph.mentions.find("anything") == []


def test_the_last_part_of_an_iri():
    assert last_part("http://rdf.freebase.com/ns/location.country.form_of_government") == "form of government"
    assert last_part("http://a.org/") == "org"


def test_the_command_line(qa_bot, facts: Path, write_lines: Callable[..., Path]):
    assert "there is none yet" in qa_bot("kg", "stats").err
    added = qa_bot("kg", "add", facts, "--languages", "en", "--json")
    assert added.code == 0
    assert added.json["files"][0] == {"path": str(facts), "triples": 5, "rejected": 0, "dropped": 1}
    assert "9 distinct" not in qa_bot("kg", "add", facts).out
    result = qa_bot("kg", "lookup", "--subject", "Peru", "--predicate", "capital", "--json")
    assert result.code == 0
    assert [fact["labels"]["object"] for fact in result.json["facts"]] == ["Lima"]
    assert "Peru · capital city · Lima" in qa_bot("kg", "lookup", "--object", "Lima").out
    nothing = qa_bot("kg", "lookup", "--subject", "Atlantis", "--json")
    assert (nothing.code, nothing.json) == (3, {"facts": []})
    assert "Atlantis" in nothing.err
    assert qa_bot("kg", "lookup").code == 2
    assert qa_bot("status", "--json").json["facts"] == 6
    assert "6 facts" in qa_bot("doctor").out
    payload = qa_bot("kg", "stats", "--json").json
    assert payload["triples"] == 6
    assert payload["most_frequent"][0]["predicate"] == LABEL[1:-1]
    assert "triples" in qa_bot("kg", "stats").out
    (path,) = Path(qa_bot("status", "--json").json["home"]).glob("graph/00000002/triples/ops.subjects")
    path.write_bytes(bytes(path.stat().st_size))
    sick = qa_bot("doctor", "--json")
    assert (sick.code, [item["name"] for item in sick.json["checks"] if not item["ok"]]) == (1, ["graph"])
    wrong = qa_bot("kg", "add", write_lines("wrong.nt", "no triple"))
    assert wrong.code == 1
    assert "wrong.nt:1" in wrong.err


def test_templates_are_mined_over_the_graph(qa_bot, facts: Path, write_lines: Callable[..., Path], tmp_path: Path):
    pairs = write_lines(
        "pairs.jsonl",
        {"question": "What is the capital city of Peru?", "answer": "It is Lima."},
        {"question": "Where is Lima?", "answer": "In Peru, on the coast."},
        {"question": "Who are you?", "answer": "A bot."},
    )
    assert "kg add" in qa_bot("kg", "mine", pairs, "--out", tmp_path / "mined").err
    qa_bot("kg", "add", facts)
    mined = qa_bot("kg", "mine", pairs, "--out", tmp_path / "mined", "--processes", 1, "--json")
    assert mined.code == 0
    payload = mined.json
    assert (payload["pairs"], payload["with_mentions"], payload["templates"], payload["mappings"]) == (3, 2, 2, 2)
    assert (payload["with_path"], payload["sharing_words"], payload["relations"]) == (2, 1, 2)
    rows = (tmp_path / "mined" / "templates.tsv").read_text().splitlines()
    assert rows == [f"what is the capital city of <m>\t{EX}capital\t1", f"where is <m>\t^{EX}capital\t1"]
    assert payload["known"] == 1
    assert (tmp_path / "mined" / "known.tsv").read_text().splitlines() == rows[:1]
    assert "2 templates, 2 mappings" in qa_bot("kg", "mine", pairs, "--out", tmp_path / "again", "--processes", 1).out
    assert qa_bot("kg", "mine", write_lines("none.jsonl"), "--out", tmp_path / "none").code == 1


def test_remove_selects_by_subject_and_removes_names(empty_home: Home, facts: Path, write_lines) -> None:
    other = "https://other.org/"
    cusco = (f"<{other}cusco> <{other}in> <{EX}peru> .", f'<{other}cusco> {LABEL} "Cusco"@en .')
    further = write_lines("other.nt", *cusco, f"<{EX}peru> <{other}has> <{other}cusco> .")
    names = write_lines("names.tsv", f"navel of the world\t{other}cusco\t2", f"city of kings\t{EX}lima\t1")
    add(empty_home, [facts, further], labels=[f"{EX}called"], tables=[names])
    before = terms(empty_home)
    assert remove(empty_home, namespace=other) == 2
    assert terms(empty_home) == {triple for triple in before if not triple[0].startswith(other)}
    with open_graph(empty_home) as graph:
        assert graph.mentions.key("Cusco") is None
        assert graph.mentions.key("navel of the world") is not None  # still the object of a triple
        assert graph.mentions.key("city of kings") is not None
        assert graph.mentions.key("Lima") is not None
        (current,) = generations(empty_home).root.glob(f"{graph.generation:08}")
        assert f"{EX}called" in (current / "manifest.json").read_text()
    assert remove(empty_home, namespace="https://nobody.org/") == 0
    assert terms(empty_home) == {triple for triple in before if not triple[0].startswith(other)}


def test_a_graph_can_be_emptied_and_filled_again(empty_home: Home, facts: Path) -> None:
    assert remove(empty_home, namespace=EX) == 0  # no graph yet
    add(empty_home, [facts])
    assert remove(empty_home, namespace=EX) == 6
    with open_graph(empty_home) as graph:
        assert (len(graph.triples), len(graph.mentions)) == (0, 0)
        assert graph.stats()["triples"] == 0
    assert remove(empty_home, namespace=EX) == 0
    assert add(empty_home, [facts]).stats["triples"] == 6


def test_readers_keep_removed_facts_and_failures_change_nothing(empty_home: Home, facts: Path, monkeypatch) -> None:
    add(empty_home, [facts])
    with open_graph(empty_home) as graph:
        remove(empty_home, namespace=EX)
        assert len(list(graph.lookup.facts("Peru", "capital", None))) == 1
    add(empty_home, [facts])
    before = terms(empty_home)

    def fail(*_: object, **__: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("qa_bot.documents.graph.build", fail)
    with pytest.raises(OSError, match="no space"):
        remove(empty_home, namespace=EX)
    monkeypatch.undo()
    assert terms(empty_home) == before
    assert len(list(generations(empty_home).root.glob("0*"))) == 2
    with empty_home.lock("test"), pytest.raises(WriterBusyError):
        remove(empty_home, namespace=EX)


def test_facts_and_names_of_which_some_are_rejected(qa_bot, facts: Path, write_lines, tmp_path: Path) -> None:
    facts.write_text(facts.read_text() + "no triple\n")
    assert qa_bot("kg", "add", facts).code == 4
    table = write_lines("names.tsv", f"city of kings\t{EX}lima\t5", "Ünsinn")
    added = qa_bot("kg", "add", "--mentions", table, "--json")
    assert (added.code, added.json["names"], added.json["rejected"]) == (4, 1, 1)
    assert added.json["rejects"][0]["where"] == f"{table}:2"
    assert "but got 'Ünsinn'" in added.json["rejects"][0]["reason"]
    assert qa_bot("kg", "add", "--mentions", write_lines("wrong.tsv", "nonsense")).code == 1


@pytest.mark.parametrize("name", ["people.ttl", "people.nt"])
def test_blank_nodes_of_the_same_file_are_the_same(empty_home: Home, facts: Path, write_lines, name: str) -> None:
    lines = {"people.ttl": f'<{EX}book> <{EX}by> [ <{EX}name> "Ann Onym" ] .', "people.nt": MORE[2]}
    people = write_lines(name, lines[name])
    before = add(empty_home, [facts, people]).stats["triples"]
    assert add(empty_home, [people]).stats["triples"] == before
    assert add(empty_home, [people, write_lines(f"other-{name}", "", lines[name])]).stats["triples"] > before
