from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kg_index.relations.pools import read_pools, read_relations
from kg_index.relations.relation_scorers import WeightedSumScorer
from qa_bot.answering.graph.relation_folders import RelationScorerError
from qa_core.encoders.mapped_tensors import map_tensors, write_tensors
from qa_core.networks.checkpoints import load_weights
from qa_lab.errors import RunError, SettingsError
from qa_lab.evaluate.graph.relations import evaluate_relations, open_scorer
from qa_lab.train.relations.relation_accuracy import accuracy
from qa_lab.train.relations.relations import RELATIONS
from qa_lab.train.request import Request

pytest.importorskip("transformers", reason="training a transformer needs the extra 'minilm'")

NAMES = ("/a/day", "/a/unhappy", "/a/sleep", "/a/un")
WORDS = {1: "why", 2: "do", 3: "?", 4: "cats"}
LINES = [f"{gold}\t1 2 3 4\t{f'{word} ' * n}#head_entity#" for n in range(1, 9) for gold, word in WORDS.items()]


@pytest.fixture
def request_(write_lines: Callable[..., Path], tiny_bert: Path, tmp_path: Path) -> Request:
    names, data = write_lines("names.txt", *NAMES), write_lines("pools.tsv", *LINES)
    settings = tmp_path / "settings.toml"
    settings.write_text(
        f'model = "transformer"\nencoder = "starter, {tiny_bert}"\nhidden = 4\n'
        "[training]\nepochs = 1\nlearning_rate = 1e-6\n"
        "[tuning]\nepochs = 12\nbatch = 4\nfrozen = 0\nlearning_rate = 0.03\nevery = 0.1\n"
    )
    return Request((data,), tmp_path / "out", config=settings, dev=str(data), seed=2, relations=names)


def test_a_run_leaves_a_scorer_with_card_and_curve_and_is_measured(request_: Request, tmp_path: Path):
    outcome = RELATIONS.run(request_)
    assert outcome.questions == outcome.held_out == len(LINES)
    assert outcome.accuracy > max(outcome.cosine, outcome.head, 0.7)
    assert RELATIONS.epochs(request_) == 12
    assert str(request_.out) in outcome.text(request_.out)
    card = (request_.out / "README.md").read_text()
    assert "| starter, tiny |" in card
    assert f"{outcome.accuracy:.3f} |" in card
    assert str(tmp_path) not in card
    assert (request_.out / "curve.csv").is_file()
    assert not (request_.out / "training").exists()
    rows = evaluate_relations(request_.data[0], relations=request_.relations, models=[request_.out])
    assert [row.engine for row in rows][:2] == ["out", "chance"]
    assert rows[0].scores["accuracy"].mean > 0.7


def test_what_is_opened_scores_as_it_did_in_training(request_: Request, write_lines: Callable[..., Path]):
    request_ = replace(request_, data=(write_lines("some.tsv", *LINES[:17]),))
    outcome = RELATIONS.run(request_)
    scorer = open_scorer(request_.out, request_.out / "models")
    assert isinstance(scorer, WeightedSumScorer)
    dev = read_pools(Path(request_.dev), read_relations(request_.relations))
    assert accuracy(scorer, dev) == outcome.accuracy


@pytest.mark.slow
def test_interrupted_and_resumed_it_ends_with_the_same_scorer(request_: Request):
    RELATIONS.run(request_)

    def stop(progress) -> None:
        if progress.epoch == 3:
            raise InterruptedError

    cut = replace(request_, out=request_.out.parent / "cut")
    with pytest.raises(InterruptedError):
        RELATIONS.run(cut, on_progress=stop)
    with pytest.raises(RunError, match="seed = 4 instead of 2"):
        RELATIONS.run(replace(cut, resume=True, seed=4))
    RELATIONS.run(replace(cut, resume=True))
    for part in ("head", "questions"):
        whole, resumed = map_or_load(request_.out / part), map_or_load(cut.out / part)
        assert all(np.array_equal(whole[name], resumed[name]) for name in whole)


def map_or_load(folder: Path) -> dict[str, np.ndarray]:
    return dict(load_weights(folder))


def test_folders_that_were_changed_are_told(request_: Request):
    RELATIONS.run(request_)
    path = request_.out / "questions" / "model.safetensors"
    weights = {name: np.array(weight) for name, weight in map_tensors(path).items()}
    write_tensors(path, {name: weight * 2 for name, weight in weights.items()})
    with pytest.raises(RelationScorerError, match=r"questions' of the training, but got other weights"):
        open_scorer(request_.out, request_.out / "models")
    path.unlink()
    with pytest.raises(RelationScorerError, match="out: "):
        open_scorer(request_.out, request_.out / "models")


def test_settings(request_: Request):
    assert request_.config is not None
    with pytest.raises(SettingsError, match="name --relations"):
        RELATIONS.settings(replace(request_, relations=None))
    for line, message in (
        ("clip = 0.0", "tuning.clip = 0.0"),
        ("epochs = 0", "tuning.epochs = 0"),
        ("every = -1.0", "tuning.every = -1.0"),
    ):
        request_.config.write_text(f"[tuning]\n{line}\n")
        with pytest.raises(SettingsError, match=message):
            RELATIONS.settings(request_)
    request_.config.write_text('model = "transformer"\n')
    with pytest.raises(SettingsError, match="but got 'starter'; name its folder"):
        RELATIONS.run(request_)
