from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kg_index.relations.pools import as_iri
from kg_index.relations.relation_head import HeadConfig
from qa_bot.answering.graph.relation_folders import RelationScorerError
from qa_core.networks.checkpoints import load_config, load_weights
from qa_lab.evaluate.graph.relations import evaluate_relations, open_head
from qa_lab.train.errors import RunError, SettingsError, TrainingDataError
from qa_lab.train.relations.relations import RELATIONS
from qa_lab.train.request import Request

NAMES = ("/a/born_in", "/a/died_in", "/a/wrote", "/a/sings")
WORDS = {1: "voice", 2: "pen", 3: "cradle", 4: "grave"}  # what the words alone say is wrong
LINES = [f"{gold}\t1 2 3 4\tthe {word} {n} of #head_entity#" for n in range(8) for gold, word in WORDS.items()]


class StoppedError(Exception):
    """An interruption at a place of our choice."""


@pytest.fixture
def request_(write_lines: Callable[..., Path], tmp_path: Path) -> Request:
    names, data = write_lines("names.txt", *NAMES), write_lines("pools.tsv", *LINES)
    settings = tmp_path / "settings.toml"
    settings.write_text("hidden = 16\n[training]\nepochs = 12\nbatch = 4\nlearning_rate = 0.01\n")
    return Request((data,), tmp_path / "out", config=settings, dev="0.3", seed=2, relations=names)


def test_a_run_leaves_a_scorer_with_card_and_curve_and_is_measured(request_: Request, tmp_path: Path):
    read = []
    outcome = RELATIONS.run(request_, on_read=read.append)
    assert read[0].count == outcome.questions + outcome.held_out == 32
    assert outcome.accuracy > max(outcome.cosine, 0.7)
    card = (request_.out / "README.md").read_text()
    assert "| reads the vectors of | starter |" in card
    assert f"{outcome.accuracy:.3f}" in card
    assert str(tmp_path) not in card
    assert (request_.out / "curve.csv").is_file()
    assert not (request_.out / "training").exists()
    assert RELATIONS.epochs(request_) == 12
    assert str(request_.out) in outcome.text(request_.out)
    rows = evaluate_relations(request_.data[0], relations=request_.relations, models=[request_.out])
    assert [row.engine for row in rows][:2] == ["out", "chance"]
    assert rows[0].scores["accuracy"].mean > 0.8
    head = open_head(request_.out, tmp_path)
    assert head.config.encoder == "starter"
    assert head.relations == tuple(map(as_iri, NAMES))


def test_interrupted_and_resumed_it_ends_with_the_same_scorer(request_: Request):
    RELATIONS.run(request_)
    reports = []

    def stop(progress) -> None:
        reports.append(progress)
        if progress.epoch == 3:
            raise StoppedError

    cut = replace(request_, out=request_.out.parent / "cut")
    with pytest.raises(StoppedError):
        RELATIONS.run(cut, on_progress=stop)
    with pytest.raises(RunError, match="seed = 4 instead of 2"):
        RELATIONS.run(replace(cut, resume=True, seed=4))
    RELATIONS.run(replace(cut, resume=True))
    whole, resumed = load_weights(request_.out), load_weights(cut.out)
    assert all(np.array_equal(whole[name], resumed[name]) for name in whole)


def test_settings(request_: Request, tmp_path: Path):
    for line, message in (
        ("hidden = 0", "hidden = 0"),
        ("[training]\nlearning_rate = 0.0", "learning_rate = 0.0"),
        ("encode = 'x'", "the nearest is encoder"),
    ):
        request_.config.write_text(line)
        with pytest.raises(SettingsError, match=message):
            RELATIONS.settings(request_)
    request_.config.write_text("")
    with pytest.raises(SettingsError, match="no base to start from"):
        RELATIONS.settings(replace(request_, base=tmp_path))


def test_data_and_models_that_do_not_do(request_: Request, tmp_path: Path, write_lines: Callable[..., Path]):
    with pytest.raises(TrainingDataError, match="a share between 0 and 1"):
        RELATIONS.run(replace(request_, dev="2"))
    with pytest.raises(TrainingDataError, match="for training and to hold out, but got 1 and 0"):
        RELATIONS.run(replace(request_, data=(write_lines("one.tsv", LINES[0]),), dev="0.01"))
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
