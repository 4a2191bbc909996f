import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from kg_index.relations.relation_head import RelationHead
from kg_index.relations.relation_network import RelationDetector
from qa_bot.answering.graph.relation_encoders import display_names, open_encoders
from qa_bot.answering.graph.relation_folders import RelationScorerError
from qa_bot.home.encoders import STARTER, resolve
from qa_lab.errors import RunError, SettingsError, TrainingDataError
from qa_lab.evaluate.graph.relations import evaluate_relations, open_scorer
from qa_lab.train.relations.mined_relations import read_templates
from qa_lab.train.relations.relations import RELATIONS
from qa_lab.train.request import Request

BORN, DIED, WROTE = (
    f"http://rdf.freebase.com/ns/people.person.{last}" for last in ("birth_place", "grave", "author_of")
)
ASKS = {BORN: "birth place of", DIED: "grave of", WROTE: "what is the author of"}
ROWS = sorted(
    [f"{words} {more}<m>\t{name}\t3" for name, words in ASKS.items() for more in ("", "old ", "great ", "young ")]
    + [f"how {more}is <m>\tno path found\t2" for more in ("", "old ", "tall ")]
    + [f"cradle of <m>\t{BORN} / {DIED}\t9", f"tomb of <m>\t{BORN}\t1"]
)
NAMES = ("/people/person/birth_place", "/people/person/grave", "/people/person/author_of")
POOLS = ("1\t3 2 1\tthe birth place of #head_entity#", "2\t1 2 3\tgrave of the old #head_entity#")


@pytest.fixture
def request_(write_lines: Callable[..., Path], tmp_path: Path) -> Request:
    settings = tmp_path / "settings.toml"
    settings.write_text('model = "network"\n[mined]\nhidden = 12\nepochs = 15\nbatch = 4\nlearning_rate = 0.02\n')
    return Request((write_lines("templates.tsv", *ROWS),), tmp_path / "out", config=settings, seed=1)


def measured(request: Request, write_lines: Callable[..., Path], **more) -> list:
    pools, names = write_lines("pools.tsv", *POOLS), write_lines("names.txt", *NAMES)
    return evaluate_relations(pools, relations=names, models=[request.out], **more)


def test_the_phases_leave_a_network_that_is_measured_alone_and_behind_keywords(request_: Request, write_lines):
    heard, reports = [], []
    outcome = RELATIONS.run(request_, on_read=heard.append, on_progress=reports.append)
    assert heard[0].count == len(ROWS)
    assert RELATIONS.epochs(request_) == len({(item.epoch, number // 15) for number, item in enumerate(reports)}) == 30
    assert (outcome.mappings, outcome.relations, outcome.epochs) == (len(ROWS) - 1, 4, 30)  # one path has two steps
    assert (request_.out / "curve.csv").is_file()
    assert not (request_.out / "training").exists()
    assert "| data | templates.tsv |" in (request_.out / "README.md").read_text()
    assert str(request_.out) in outcome.text(request_.out)
    detector = open_scorer(request_.out, request_.out)
    assert isinstance(detector, RelationDetector)
    rows = measured(request_, write_lines)
    assert [row.engine for row in rows][:3] == ["out", "out, shared words first", "out, keywords first"]
    assert [row.scores["accuracy"].mean for row in rows[:3]] == [1, 1, 1]


def test_without_evening_it_is_the_network_of_the_thesis(request_: Request, write_lines):
    RELATIONS.run(request_)
    request_.config.write_text(request_.config.read_text() + "even = 0.0\n")
    RELATIONS.run(plain := replace(request_, out=request_.out.parent / "plain"))
    scores = [
        open_scorer(item.out, item.out).score(["birth place of <m>"], [[BORN, DIED]])[0] for item in (request_, plain)
    ]
    assert not np.allclose(*scores)
    assert int(scores[0].argmax()) == int(scores[1].argmax()) == 0


def test_the_preset_of_the_paper_has_its_settings(request_: Request):
    request_.config.write_text('preset = "paper"\n[mined]\nhidden = 8\nepochs = 1\n')
    config = RELATIONS.settings(request_)
    mined = config.mined
    assert (config.model, mined.batch, mined.learning_rate, mined.alpha) == ("network", 2000, 0.001, 0.1)
    assert (mined.plain_words, mined.even, mined.hidden) == (True, 0.0, 8)
    outcome = RELATIONS.run(request_)
    assert (outcome.mappings, outcome.relations) == (len(ROWS), 5), "paths of two steps too"


def test_a_missing_device_is_told_before_the_training(request_: Request):
    if torch.cuda.is_available():
        pytest.skip("this machine has a CUDA device")
    request_.config.write_text(request_.config.read_text() + 'device = "cuda"\n')
    with pytest.raises(SettingsError, match="torch sees none"):
        RELATIONS.run(request_)
    assert not request_.out.exists()


def test_a_head_learns_from_templates_that_its_teacher_labelled(request_: Request, write_lines):
    request_.config.write_text("hidden = 16\n")
    outcome = RELATIONS.run(request_)
    assert (outcome.epochs, RELATIONS.epochs(request_), outcome.relations) == (1, 1, 3)
    head = open_scorer(request_.out, request_.out)
    assert isinstance(head, RelationHead)
    assert head.relations == ()
    assert [row.engine for row in measured(request_, write_lines)][:2] == ["out", "chance"]
    again = replace(request_, out=request_.out.parent / "again")
    RELATIONS.run(again)
    pool = [[BORN, DIED, WROTE]]
    np.testing.assert_array_equal(
        *(open_scorer(item.out, item.out).score(["where <m>"], pool)[0] for item in (request_, again))
    )


def test_covered_relations_are_measured_apart(request_: Request, write_lines, qa_bot, tmp_path: Path):
    RELATIONS.run(request_)
    facts = write_lines("facts.nt", f"<http://a/x> <{BORN}> <http://a/y> .")
    home = tmp_path / "home"
    assert qa_bot("--home", home, "kg", "add", facts).code == 0
    first = measured(request_, write_lines, home=home)[0].scores
    assert len(first["accuracy_covered"].per_query) == len(first["accuracy_uncovered"].per_query) == 1
    assert "accuracy_covered" not in measured(request_, write_lines, home=tmp_path / "none")[0].scores


def test_folders_of_kg_mine_are_read_too(request_: Request, tmp_path: Path):
    folder = request_.data[0].parent
    assert len(read_templates([folder]).examples) == len(read_templates(request_.data).examples)
    with pytest.raises(TrainingDataError, match="or name relations by --relations"):
        read_templates([tmp_path / "none.tsv"])


def test_what_does_not_do(request_: Request, write_lines, tmp_path: Path):
    with pytest.raises(RunError, match="no --resume"):
        RELATIONS.run(replace(request_, resume=True))
    silent = write_lines("silent.tsv", "how is <m>\tno path found\t2")
    request_.config.write_text("")
    with pytest.raises(TrainingDataError, match="mine more pairs"):
        RELATIONS.run(replace(request_, data=(silent,)))
    for line, message in (
        ("[mined]\nsteps = 3", "steps of 1 or 2"),
        ("[mined]\neven = -1.0", r"mined\.even = -1"),
        ("[self_training]\nepochs = 0", r"self_training\.epochs = 0"),
        ('[mined]\nweights = "S"', "mined.weights"),
    ):
        request_.config.write_text(line)
        with pytest.raises(SettingsError, match=message):
            RELATIONS.settings(request_)


def test_a_damaged_network_is_told(request_: Request, tmp_path: Path):
    RELATIONS.run(request_)
    config = json.loads((request_.out / "config.json").read_text())
    config["config"]["words"] += 1
    (request_.out / "config.json").write_text(json.dumps(config))
    with pytest.raises(RelationScorerError, match="words"):
        open_scorer(request_.out, tmp_path)


def test_vectors_side_by_side_have_equal_shares(tmp_path: Path):
    both, one = open_encoders(f"{STARTER}, {STARTER}", models=tmp_path), resolve(STARTER, models=tmp_path)
    texts = ["who wrote it", "author"]
    np.testing.assert_allclose(np.linalg.norm(both.encode(texts), axis=1), 1, atol=1e-5)
    first, second = both.encode(texts)
    np.testing.assert_allclose(first @ second, one.encode(texts)[0] @ one.encode(texts)[1], atol=1e-5)
    assert both.fingerprint == f"{one.fingerprint}+{one.fingerprint}"
    assert display_names("starter, /a/b/mine") == "starter, mine"
