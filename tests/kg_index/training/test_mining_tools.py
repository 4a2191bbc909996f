from functools import partial
from pathlib import Path

from kg_index.building.build import build
from kg_index.linking.mentions import MentionWriter
from kg_index.relations.templates import TemplateTable
from kg_index.training.mining import Bounds, mine
from kg_index.training.mining_tools import open_tools
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
    pairs = [("Who wrote Dune?", "Frank Herbert did"), ("Where was the author of Dune born?", "In Tacoma.")]
    tools = partial(open_tools, mentions=tmp_path / "mentions", triples=tmp_path / "triples")
    list(mine(pairs, tools, tmp_path / "templates.tsv", bounds=Bounds(), processes=1))
    assert {row[:2]: row.times for row in TemplateTable.load(tmp_path / "templates.tsv").rows()} == {
        ("who wrote <m>", "h:author"): 1,
        ("where was the author of <m> born", "h:author / h:born"): 1,
    }
