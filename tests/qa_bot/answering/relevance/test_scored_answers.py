"""Answers of a small home whose first passages are scored: by hand-made scores, and by saved models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson
import pytest
import torch

from qa_bot.answering import fit_confidence
from qa_bot.answering.ask import Ask
from qa_bot.answering.confidence.calibration import Calibration
from qa_bot.answering.fit_confidence import PASSAGES
from qa_bot.answering.relevance.passage_scorer import CALIBRATIONS, PassageScorer
from qa_bot.answering.verification import configured_verifier
from qa_bot.bot import Bot
from qa_bot.documents.sync import add
from qa_bot.home.config import Config, ConfigError
from qa_bot.home.folder import Home
from qa_bot.home.starter import ENCODER
from qa_core.encoders.pair_tokens import PairConfig
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.training.interaction_network import InteractionConfig, InteractionNetwork, export_interaction
from qa_core.types import Answer, Question

QUESTION = "Which dog may come to work?"
BY_SCORE = Calibration(("relevance",), (0.0,), (1.0,), (1.0,), 0.0, (0.5,), (1.0,))
"""σ(log-odds); sure from .5 on."""


class HandMadeScores:
    """The log-odds of a passage by a word of it."""

    def score(self, pairs):
        return np.array([2.0 if "desk" in text else -12.0 for _, text in pairs], np.float32)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp("scored")
    (folder / "dogs.md").write_text("# Dogs at work\n\nWhich dog may come to work is agreed with the team.")
    (folder / "desks.md").write_text("# Work\n\nA quiet dog may stay below the desk.")
    home = Home.open(folder / "home")
    add(home, Config(), StaticEncoder.load(ENCODER), [folder / "dogs.md", folder / "desks.md"])
    return home


@pytest.fixture
def scored_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with calibrations, whose model has hand-made scores."""
    (tmp_path / CALIBRATIONS).write_bytes(orjson.dumps({"hybrid": BY_SCORE, "keyword": BY_SCORE}))
    scorer = PassageScorer(HandMadeScores)
    named = "qa_bot.answering.verification.configured_verifier.scorer_of"
    monkeypatch.setattr(named, lambda folder: scorer if folder else None)
    return tmp_path


def answer_to(home: Home, question: str, **flags: str | bool) -> Answer:
    with Bot.open(home.path, flags={f"ranking.{name}": value for name, value in flags.items()}, record=False) as bot:
        return bot.ask(Ask(Question(question), trace=True), deadline=30)


def relevance_of(answer: Answer) -> float:
    """The feature of the confidence, from the trace."""
    features = (answer.trace or {})["confidence"]
    assert isinstance(features, dict)
    return float(features["relevance"])


def test_the_score_decides_the_order_and_the_confidence(home: Home, scored_folder: Path) -> None:
    answer = answer_to(home, QUESTION, cross_encoder=str(scored_folder))
    assert answer.sources[0].document.endswith("desks.md")
    assert answer.confidence == pytest.approx(0.8808, abs=1e-4), "σ(2)"
    assert relevance_of(answer) == 2.0
    other = answer_to(home, "Which cat may come to work?", cross_encoder=str(scored_folder), effort="low")
    assert relevance_of(other) == 0.0, "nothing is read"


def test_without_calibrations_the_score_decides_the_order_only(home: Home, scored_folder: Path) -> None:
    (scored_folder / CALIBRATIONS).unlink()
    scored = answer_to(home, QUESTION, cross_encoder=str(scored_folder))
    plain = answer_to(home, QUESTION, relevance=False)
    assert scored.sources[0].document.endswith("desks.md")
    assert relevance_of(plain) == 0.0
    assert plain.sources[0].document.endswith("dogs.md")
    assert scored.confidence != pytest.approx(0.8808, abs=1e-4)


def test_damaged_calibrations_are_an_error_of_the_configuration(home: Home, scored_folder: Path) -> None:
    (scored_folder / CALIBRATIONS).write_text("torn")
    with pytest.raises(ConfigError, match=r"ranking\.cross_encoder: expected calibrations"):
        answer_to(home, QUESTION, cross_encoder=str(scored_folder))


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of the shipped network, one that was not trained, and its calibrations."""
    torch.manual_seed(0)
    path = tmp_path / "interaction.onnx"
    export_interaction(InteractionNetwork(InteractionConfig(width=16, heads=2, channels=8, rank=4)), 384, path)
    monkeypatch.setattr(configured_verifier, "RELEVANCE", path)
    unshared = configured_verifier._shipped_scorers.__wrapped__
    monkeypatch.setattr(configured_verifier, "_shipped_scorers", unshared)
    shipped = orjson.loads(PASSAGES.read_bytes()) | {"hybrid scored": BY_SCORE, "keyword scored": BY_SCORE}
    (tmp_path / "shipped.json").write_bytes(orjson.dumps(shipped))
    monkeypatch.setattr(fit_confidence, "PASSAGES", tmp_path / "shipped.json")


@pytest.mark.usefixtures("network")
def test_the_network_scores_by_the_states_that_were_read(home: Home) -> None:
    answer = answer_to(home, QUESTION)
    score = relevance_of(answer)
    assert 0.0 < score < 4.5, "10 (mean of the highest cosines - .55)"
    assert answer.confidence == pytest.approx(1 / (1 + np.exp(-score)), abs=1e-3)
    for changes in ({"relevance": False}, {"effort": "low"}, {"verifier": "starter-table"}):
        plain = answer_to(home, QUESTION, **changes)
        assert relevance_of(plain) == 0.0, changes
        assert plain.confidence != pytest.approx(0.5), "another calibration decides"


@pytest.mark.usefixtures("network")
def test_a_cross_encoder_scores_in_place_of_the_network(home: Home, scored_folder: Path) -> None:
    assert relevance_of(answer_to(home, QUESTION, cross_encoder=str(scored_folder))) == 2.0


@pytest.mark.slow
def test_a_saved_model_scores_passages(home: Home, pair_bert: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="exporting a cross-encoder needs the extra 'minilm'")
    from rankers.training.cross_encoder_training import TrainedCrossEncoder

    TrainedCrossEncoder.of(pair_bert, PairConfig(max_length=32)).save(tmp_path / "model", card="# card\n")
    answer = answer_to(home, QUESTION, cross_encoder=str(tmp_path / "model"))
    score = relevance_of(answer)
    assert np.isfinite(score)
    assert score != 0.0
