"""Odd input to the graph of a home: bad lines, odd names, long questions, and a killed `add`."""

from __future__ import annotations

import bz2
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kg_index.building.kept_files import FOLDER, KeptFiles
from kg_index.linking.linker import EntityMention, Linker
from kg_index.linking.mentions import Mentions
from qa_bot.documents.graph import Graph, add, generations, open_graph
from qa_bot.home.folder import Home

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
ALIAS = "<http://www.w3.org/2004/02/skos/core#altLabel>"
REDIRECT = "<http://dbpedia.org/ontology/wikiPageRedirects>"
EX = "http://example.org/"
DBPEDIA = "http://dbpedia.org/resource/"
GOOD = f"<{EX}peru> <{EX}capital> <{EX}lima> ."


def linker(graph: Graph, lookups: list[int] | None = None) -> Linker:
    """The linker of questions; `lookups` collects the entities whose context is read."""
    met = [] if lookups is None else lookups
    return Linker(graph.mentions, graph.triples.salience, context=lambda entity: met.append(entity) or ())


def test_bad_lines_are_rejected_and_the_others_added(qa_bot, tmp_path: Path):
    path = tmp_path / "bad.nt"
    bad = {
        2: b"<http://example.org/no object> .",
        3: b"<http://example.org/with a space> <http://example.org/p> <http://example.org/o> .",
        4: b"<relative> <http://example.org/p> <http://example.org/o> .",
        5: b"<> <http://example.org/p> <http://example.org/o> .",
        6: b'<http://example.org/s> <http://example.org/p> "\xff\xfe" .',
        7: b"<http://example.org/\xc3> <http://example.org/p> <http://example.org/o> .",
        8: b'<http://example.org/s> "a literal" <http://example.org/o> .',
        9: b'<http://example.org/s> <http://example.org/p> "open .',
        10: b"\x00\x01\x02",
        11: b"<http://example.org/s> <http://example.org/p> <http://example.org/%zz{}> .",
    }
    path.write_bytes(b"\n".join([GOOD.encode(), *bad.values(), f'<{EX}lima> {LABEL} "Limapolis" .'.encode()]) + b"\n")
    added = qa_bot("kg", "add", path, "--json")
    assert (added.code, qa_bot("kg", "add", path).code) == (4, 4)
    assert added.json["files"] == [{"path": str(path), "triples": 2, "rejected": len(bad), "dropped": 0}]
    rejects = Path(added.json["rejects_file"]).read_text(encoding="utf-8")
    assert all(f"bad.nt:{line}" in rejects for line in bad)
    result = qa_bot("kg", "lookup", "--object", "Limapolis", "--json")
    assert [fact["subject"] for fact in result.json["facts"]] == [f"{EX}peru"]
    generation = qa_bot("kg", "stats", "--json").json["generation"]
    strict = qa_bot("kg", "add", path, "--strict")
    assert strict.code == 1
    assert "line 2" in strict.err
    assert qa_bot("kg", "stats", "--json").json["generation"] == generation


def test_exit_codes_without_good_or_bad_lines(qa_bot, tmp_path: Path):
    good, bad, table = tmp_path / "good.nt", tmp_path / "bad.nt", tmp_path / "names.tsv"
    good.write_text(f"{GOOD}\n")
    bad.write_text("<http://example.org/no object> .\n")
    table.write_text(f"Peru\t{EX}peru\t3\nno table\n")
    assert qa_bot("kg", "add", good).code == 0
    assert qa_bot("kg", "add", bad).code == 1
    assert qa_bot("kg", "add", "--mentions", table).code == 4


def test_extensions_in_capitals_are_read_and_copied(qa_bot, empty_home: Home, tmp_path: Path):
    turtle, packed = tmp_path / "up.TTL", tmp_path / "UP.NT.BZ2"
    turtle.write_text(GOOD)
    packed.write_bytes(bz2.compress(f'<{EX}lima> {LABEL} "Limapolis" .\n'.encode()))
    added = add(empty_home, [turtle, packed])
    assert [file.triples for file in added.files] == [1, 1]
    current = generations(empty_home).current()
    assert current
    assert sum(map(len, KeptFiles(current.path / FOLDER).triples())) == 2


def test_literal_of_ten_megabytes_is_a_value_but_no_name(qa_bot, tmp_path: Path):
    path, text = tmp_path / "long.nt", "word " * 2_000_000
    path.write_text(f'{GOOD}\n<{EX}peru> <{EX}text> "{text}" .\n<{EX}lima> {LABEL} "{text}" .\n')
    added = qa_bot("kg", "add", path, "--json")
    assert (added.code, added.json["triples"]) == (0, 3)
    result = qa_bot("kg", "lookup", "--subject", f"{EX}peru", "--predicate", "text", "--json")
    assert [len(fact["labels"]["object"]) for fact in result.json["facts"]] == [len(text)]
    assert qa_bot("kg", "lookup", "--subject", text[:1000]).code == 3


def test_circular_redirects_end(empty_home: Home, write_lines: Callable[..., Path]):
    a, b = f"<{DBPEDIA}Big_Apple>", f"<{DBPEDIA}New_York>"
    lines = [f"{a} {REDIRECT} {b} .", f"{b} {REDIRECT} {a} .", f"{a} {REDIRECT} {a} .", f'{a} <{EX}p> "1" .']
    add(empty_home, [write_lines("circle.nt", *lines)])
    with open_graph(empty_home) as graph:
        ids = {name: graph.triples.id_of(DBPEDIA + name) for name in ("Big_Apple", "New_York")}
        assert graph.lookup.entities("new york") == [ids["Big_Apple"]]
        assert sorted(graph.lookup.entities("big apple")) == sorted(ids.values())
        assert [link.mention.text for link in linker(graph).link("who runs new york")] == ["new york"]


def test_stop_words_are_names_only_if_quoted_or_capitalised(empty_home: Home, write_lines: Callable[..., Path]):
    names = {"it": "It", "who": "The Who", "was": "was"}
    lines = [f'<{EX}{name}> {ALIAS} "{text}" .' for name, text in names.items()]
    add(empty_home, [write_lines("stop.nt", *lines, *(f'<{EX}{name}> <{EX}p> "1" .' for name in names))])
    with open_graph(empty_home) as graph:
        assert graph.lookup.entities("it") == [graph.triples.id_of(f"{EX}it")]
        linked = linker(graph).link
        assert linked("who was it that the who met") == []
        assert [link.mention.text for link in linked('who wrote "It" and when was it')] == ["It"]
        assert [link.entity for link in linked("when did The Who play")] == [graph.triples.id_of(f"{EX}who")]


def test_label_of_a_thousand_entities(qa_bot, empty_home: Home, write_lines: Callable[..., Path]):
    lines = [f'<{EX}{number}> {LABEL} "John Smith" .' for number in range(1000)]
    path = write_lines("many.nt", *lines, f"<{EX}500> <{EX}born> <{EX}lima> .")
    add(empty_home, [path])
    lookups: list[int] = []
    with open_graph(empty_home) as graph:
        best = linker(graph, lookups).candidates("where was john smith born")
        assert best[0].entity == graph.triples.id_of(f"{EX}500")  # among equal names the entity with most facts
        assert len(best) == len(lookups) == 20
        assert len(graph.lookup.entities("John Smith")) == 20
    assert qa_bot("kg", "add", path).code == 0
    assert qa_bot("kg", "lookup", "--subject", "John Smith", "--predicate", "born").code == 0


class Counted:
    """A table of mentions that counts its results and its lookups."""

    def __init__(self, mentions: Mentions) -> None:
        self._mentions, self.found, self.looked = mentions, 0, 0

    def find(self, text: str):
        result = self._mentions.find(text)
        self.found += len(result)
        return result

    def entities(self, key: int, **options: int):
        self.looked += 1
        return self._mentions.entities(key, **options)


@pytest.mark.parametrize("times", [1, 2])
def test_work_on_a_long_question_is_linear(empty_home: Home, write_lines: Callable[..., Path], times: int):
    names = {"lima": "Lima", "york": "New York", "city": "New York City"}
    lines = [f'<{EX}{name}> {LABEL} "{text}" .' for name, text in names.items()]
    same = [f'<{EX}same{number}> {LABEL} "it is" .' for number in range(100)]
    add(empty_home, [write_lines("names.nt", *lines, *same)])
    words = ["was", "lima", "or", "new", "york", "city", "the", "capital", "it", "is"] * (1000 * times)
    lookups: list[int] = []
    facts: list[int] = []
    with open_graph(empty_home) as graph:
        counted = Counted(graph.mentions)

        def salience(entities):
            facts.append(len(entities))
            return graph.triples.salience(entities)

        linked = Linker(counted, salience, context=lambda entity: lookups.append(entity) or ())
        result = linked.link(" ".join(words))
        assert len(words) == 10_000 * times
        assert len(result) == 2000 * times  # Lima and New York City, each time
        assert (counted.found, counted.looked) == (3000 * times, 3)  # each name is looked up once
        assert facts == [3]
        assert len(lookups) <= 3
        assert len(linked.find(" ".join(words))) == 2000 * times
        assert linked.find("word " * 10_000) == []
        assert linked.find("lima") == [EntityMention(0, 4, [graph.triples.id_of(f"{EX}lima")])]


@pytest.mark.parametrize("lines", [(), ("# only a comment",), ("no triple",)])
def test_files_without_triples(qa_bot, write_lines: Callable[..., Path], lines: tuple[str, ...]):
    path = write_lines("empty.nt", *lines)
    added = qa_bot("kg", "add", path, "--json")
    assert added.json["triples"] == 0
    if added.code == 0:
        assert qa_bot("kg", "lookup", "--subject", "Atlantis").code == 3
        assert qa_bot("kg", "stats").code == 0
    assert qa_bot("kg", "add", write_lines("good.nt", GOOD)).code == 0
    assert qa_bot("kg", "lookup", "--subject", f"{EX}peru").code == 0


KILLED = """
import os, sys
from pathlib import Path
from qa_bot.documents.graph import add
from qa_bot.home.folder import Home

def kill_at(stage):
    def progress(_, at):
        at == stage and os.kill(os.getpid(), 9)
    add(Home.open(Path(sys.argv[1])), [Path(sys.argv[2])], progress=progress)

for stage in sys.argv[3:]:
    child = os.fork() or kill_at(stage)
    print(os.waitpid(child, 0)[1])
"""


def files_of(home: Home, generation: str) -> set[str]:
    folder = home.graph / generation
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.slow
def test_killed_add_leaves_the_old_graph_and_the_next_add_cleans_up(empty_home: Home, write_lines: Callable[..., Path]):
    add(empty_home, [write_lines("first.nt", GOOD)])
    new = write_lines("second.nt", f"<{EX}chile> <{EX}capital> <{EX}santiago> .")
    command = [sys.executable, "-c", KILLED, str(empty_home.path), str(new), "read", "name", "sort", "write"]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() == ["9"] * 4
    root = generations(empty_home).root
    assert sorted(path.name for path in root.iterdir()) == ["00000001", "00000002.partial", "CURRENT"]
    with open_graph(empty_home) as graph:
        assert (graph.generation, len(graph.triples)) == (1, 1)
        assert list(graph.lookup.facts(f"<{EX}peru>", None, None))
    added = add(empty_home, [new])
    assert (added.stats["generation"], added.stats["triples"]) == (2, 2)
    assert sorted(path.name for path in root.iterdir()) == ["00000001", "00000002", "CURRENT"]
    assert files_of(empty_home, "00000002") - files_of(empty_home, "00000001") == {"sources/00000002-0-second.nt.gz"}
