from functools import partial
from pathlib import Path

from kg_index.building.build import build
from kg_index.linking.mentions import MentionWriter, write_mentions
from kg_index.relations.templates import TemplateTable
from kg_index.training.mining import Bounds, QuestionAnswers, mine
from kg_index.training.mining_tools import SpansOfNames, open_tools
from kg_index.triples.triple_index import TripleIndex

FACTS = [("h:dune", "h:author", "h:herbert"), ("h:herbert", "h:born", "h:tacoma"), ("h:emma", "h:author", "h:austen")]
NAMES = {"Dune": "h:dune", "Frank Herbert": "h:herbert", "Tacoma": "h:tacoma", "Emma": "h:emma"}


def test_templates_are_mined_from_folders(tmp_path: Path) -> None:
    build([FACTS], tmp_path / "triples")
    index = TripleIndex(tmp_path / "triples")
    with MentionWriter(tmp_path / "mentions") as writer:
        for name, entity in NAMES.items():
            number = index.id_of(entity)
            assert number is not None
            writer.add(name, number)
    pairs = [
        QuestionAnswers("Who wrote Dune?", ["Frank Herbert did"]),
        QuestionAnswers("Where was the author of Dune born?", ["In Tacoma."]),
    ]
    tools = partial(open_tools, mentions=tmp_path / "mentions", triples=tmp_path / "triples")
    list(mine(pairs, tools, tmp_path / "templates.tsv", bounds=Bounds(), processes=1))
    assert {row[:2]: row.times for row in TemplateTable.load(tmp_path / "templates.tsv").rows()} == {
        ("who wrote <m>", "h:author"): 1,
        ("where was the author of <m> born", "h:author / h:born"): 1,
    }


def test_all_spans_that_are_names_are_found(tmp_path: Path) -> None:
    names = write_mentions([("Lord of the Rings", 1, 1), ("Rings", 2, 1)], tmp_path / "names")
    text = "who wrote Lord of the Rings"
    spans = [(text[span.start : span.end], span.entities) for span in SpansOfNames(names).find(text)]
    assert spans == [("Lord of the Rings", [1]), ("Rings", [2])]
    assert [span.entities for span in SpansOfNames(names, nested=False).find(text)] == [[1]]
