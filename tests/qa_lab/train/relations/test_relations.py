from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kg_index.relations.compared.compared_scorer import ComparedScorer
from kg_index.relations.pools import as_iri
from kg_index.relations.relation_head import HeadConfig
from kg_index.relations.relation_network import RelationDetector
from qa_bot.answering.graph.relation_folders import RelationScorerError
from qa_core.networks.checkpoints import load_config
from qa_lab.errors import SettingsError, TrainingDataError
from qa_lab.evaluate.graph.relations import evaluate_relations, open_head, open_scorer
from qa_lab.train.relations.relations import RELATIONS
from qa_lab.train.request import Request

MODEL = "relations"
NAMES = ("/a/born_in", "/a/died_in", "/a/wrote", "/a/sings")


def test_a_run_leaves_a_scorer_with_card_and_curve_and_is_measured(request_: Request, tmp_path: Path):
    outcome = RELATIONS.run(request_)
    assert outcome.questions + outcome.held_out == 32
    assert outcome.accuracy > max(outcome.cosine, 0.7)
    card = (request_.out / "README.md").read_text()
    assert "| reads the vectors of | starter |" in card
    assert f"{outcome.accuracy:.3f}" in card
    rows = evaluate_relations(request_.data[0], relations=request_.relations, models=[request_.out])
    assert [row.engine for row in rows][:2] == ["out", "chance"]
    assert rows[0].scores["accuracy"].mean > 0.8
    head = open_head(request_.out, tmp_path)
    assert head.config.encoder == "starter"
    assert head.relations == tuple(map(as_iri, NAMES))


def test_settings(request_: Request, tmp_path: Path):
    for line, message in (
        ("hidden = 0", "hidden = 0"),
        ("[training]\nlearning_rate = 0.0", "learning_rate = 0.0"),
    ):
        request_.config.write_text(line)
        with pytest.raises(SettingsError, match=message):
            RELATIONS.settings(request_)
    request_.config.write_text("")
    with pytest.raises(SettingsError, match="no base to start from"):
        RELATIONS.settings(replace(request_, base=tmp_path))


def test_data_and_models_that_do_not_do(request_: Request, tmp_path: Path, write_lines: Callable[..., Path]):
    with pytest.raises(TrainingDataError, match="for training and to hold out, but got 1 and 0"):
        RELATIONS.run(
            replace(request_, data=(write_lines("one.tsv", "1\t1 2 3 4\tthe voice 0 of #head_entity#"),), dev="0.01")
        )
    with pytest.raises(TrainingDataError, match="--relations"):
        RELATIONS.run(replace(request_, relations=None))
    with pytest.raises(ValueError, match=r"bad.tsv, line 1"):
        RELATIONS.run(replace(request_, data=(write_lines("bad.tsv", "x"),)))
    with pytest.raises(RelationScorerError, match=r"names\.txt"):
        open_head(request_.relations, tmp_path)
    RELATIONS.run(request_)
    config = request_.out / "config.json"
    config.write_text(config.read_text().replace(load_config(request_.out, HeadConfig).fingerprint, "other"))
    with pytest.raises(RelationScorerError, match="got other weights"):
        open_head(request_.out, tmp_path)


def test_the_network_learns_from_questions_with_pools(request_: Request, tmp_path: Path):
    request_.config.write_text('model = "network"\n[network]\nhidden = 16\nbatch = 4\nlearning_rate = 0.01\n')
    assert RELATIONS.epochs(request_) == 12
    outcome = RELATIONS.run(request_)
    assert (outcome.questions + outcome.held_out, outcome.relations) == (32, 4)
    assert outcome.accuracy > 0.7
    assert f"{outcome.accuracy:.3f}" in (request_.out / "README.md").read_text()
    detector = open_scorer(request_.out, tmp_path)
    assert isinstance(detector, RelationDetector)
    (scores,) = detector.score(["the voice of <m>"], [[*map(as_iri, NAMES), "unknown"]])
    assert scores[-1] == 0
    assert scores.sum() == pytest.approx(1)


def test_compared_networks_learn_are_opened_and_measured(request_: Request, tmp_path: Path):
    request_.config.write_text('model = "hr-bilstm"\n[compared]\nhidden = 8\nbatch = 4\nlearning_rate = 0.01\n')
    assert RELATIONS.epochs(request_) == 10
    outcome = RELATIONS.run(request_)
    assert (outcome.questions + outcome.held_out, outcome.relations) == (32, 4)
    assert outcome.accuracy > 0.7
    assert "| network | hr-bilstm |" in (request_.out / "README.md").read_text()
    assert isinstance(open_scorer(request_.out, tmp_path), ComparedScorer)
    rows = evaluate_relations(request_.data[0], relations=request_.relations, models=[request_.out])
    assert [row.engine for row in rows][:2] == ["out", "chance"]
    assert rows[0].scores["accuracy"].mean > 0.7


def test_compared_networks_need_names_of_relations(request_: Request):
    request_.config.write_text('model = "ampcnn"')
    with pytest.raises(SettingsError, match="Expected questions with pools for model = 'ampcnn'"):
        RELATIONS.run(replace(request_, relations=None))
