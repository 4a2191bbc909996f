import gzip
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from qa_core.measures.metrics import Score
from qa_lab.evaluate.community import systems
from qa_lab.papers import computed
from qa_lab.papers.computed import by_vocabulary, mining
from qa_lab.papers.declarations import Computed, Setting
from qa_lab.papers.measuring import Laboratory
from qa_lab.papers.tables.retrieval_tables import MAPPINGS, RELATIONS
from retrievers.training.examples import Pair

NS = "http://rdf.freebase.com/ns/"
FACTS = [("dune", "book.author", "herbert"), ("dune", "book.genre", "novel"), ("emma", "book.author", "austen")]
NAMES = {"dune": "Dune", "herbert": "Frank Herbert", "novel": "Novel", "emma": "Emma", "austen": "Jane Austen"}
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


@pytest.fixture
def graph_data(tmp_path: Path) -> Path:
    """A graph with two relations of the questions, one of which a pair mentions."""
    data = tmp_path / "data"
    for folder in ("kg", "qa_pairs", "relations"):
        (data / folder).mkdir(parents=True)
    facts = "".join(f"<{NS}m.{s}> <{NS}{p}> <{NS}m.{o}> .\n" for s, p, o in FACTS)
    labels = "".join(f'<{NS}m.{name}> <{LABEL}> "{text}"@en .\n' for name, text in NAMES.items())
    pair = {"question": "who is the author of Dune?", "answers": ["Frank Herbert"]}
    texts = {
        "kg/fb15k237.nt.gz": facts,
        "kg/fb15k237.labels.nt.gz": labels,
        "qa_pairs/open_qa.jsonl.gz": json.dumps(pair),
        "qa_pairs/jeopardy.jsonl.gz": '{"question": "who sings at night", "answer": "an owl"}',
    }
    for name, text in texts.items():
        (data / name).write_bytes(gzip.compress(text.encode()))
    (data / "relations/sq.relations.txt").write_text("/book/author\n/book/genre\n/people/person/gender\n")
    pools = ["1\t1 2 3\twho wrote #head_entity#", "2\t2 1\twhat kind is #head_entity#", "3\t3 1\twhat is #head_entity#"]
    (data / "relations/sq.valid.withpool.tsv").write_text("\n".join(pools) + "\n")
    return data


@pytest.mark.parametrize("paper", [False, True])
def test_covered_relations_are_those_in_mappings(graph_data: Path, paper: bool):
    laboratory = Laboratory(Setting(graph_data, graph_data.parent / "models"))
    figures = mining(laboratory, paper=paper)
    assert {name: figure.mean for name, figure in figures.items()} == {
        "pairs": 2,
        "mappings": 1,
        "mappings that share a word": 1,
        "relations of the questions": 3,
        "of them in mappings": 1,  # book.author; of book.genre there are only facts
        "of them in the graph": 2,
    }


def test_the_tables_of_relations_have_rows_by_the_paper():
    (mined,) = MAPPINGS.rows
    assert mined.paper["of them in mappings"] == 905
    weighted = [row for row in RELATIONS.rows if row.name.startswith(("uniform", "F"))]
    assert len(weighted) == 5
    for row in (mined, *weighted):
        assert isinstance(row.preset, Computed)
        assert row.preset.options["paper"]
    (first,) = [row for row in weighted if row.name.endswith("keywords first")]
    assert first.preset.options["row"] == "shared words first"  # plain counts, as in the paper


def test_rows_by_vocabulary_share_the_training(monkeypatch, tmp_path):
    """Question 0 has only known words; keywords find the right answer of question 1 alone."""
    trained = []
    recall = {"vectors": {"0": 1.0, "1": 0.0}, "words": {"0": 0.0, "1": 1.0}}
    task = SimpleNamespace(measured=lambda ranked: {"R@1000": Score.of(recall[ranked])})
    bench = SimpleNamespace(task=task, dense=None, dense_name="")

    def ranked_by(name, bench, _progress):
        if name == "bm25":
            return "words"
        trained.append(name)
        bench.dense, bench.dense_name = "vectors", name
        return "vectors"

    monkeypatch.setattr(computed, "_bench", lambda _laboratory, paper: bench)
    monkeypatch.setattr(systems, "ranked_by", ranked_by)
    monkeypatch.setattr(systems, "in_vocabulary", lambda _: {0})
    laboratory = Laboratory(Setting(tmp_path, tmp_path / "models"))
    rows = [by_vocabulary(laboratory, row=name, dense="starter-slam") for name in ("starter-slam", "bm25")]
    assert [(row["in vocabulary"].mean, row["out of it"].mean, row["all"].mean) for row in rows] == [
        (1, 0, 0.5),
        (0, 1, 0.5),
    ]
    assert trained == ["starter-slam"]


def test_community_search_trains_on_the_device_that_there_is(monkeypatch, tmp_path):
    pairs = tuple(Pair(f"question {number}", f"answer {number}") for number in range(200))
    monkeypatch.setattr("qa_lab.data.pairs.read_pairs", lambda _: SimpleNamespace(examples=pairs))
    monkeypatch.setattr("qa_lab.train.settings.device_of", lambda: torch.device("meta"))
    for quick in (True, False):
        options = computed._bench(Laboratory(Setting(tmp_path, tmp_path / "models", quick)), paper=False).options
        assert (options.device, options.steps) == ("meta", 1 if quick else 300)
