"""What the configuration says about reading: how many passages, with which encoder, and whether they are scored."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

from qa_bot.answering.verification import configured_verifier as module
from qa_bot.answering.verification.configured_verifier import configured_verifier
from qa_bot.home.sections import RankingSection
from qa_bot.home.starter import RELEVANCE


@pytest.fixture(autouse=True)
def _scorer_of_each_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scorer is shared in a process, but not between these tests."""
    monkeypatch.setattr(module, "_shipped_scorers", lru_cache(module._shipped_scorers.__wrapped__))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The graphs of networks that were opened, in order."""
    graphs: list[Path] = []

    class Recorded:
        def __init__(self, _rows: object, graph: Path) -> None:
            graphs.append(graph)

    monkeypatch.setattr(module, "InteractionScorer", Recorded)
    return graphs


def test_the_shipped_network_scores_what_the_shipped_transformer_reads(tmp_path, opened):
    verifier = configured_verifier(RankingSection(), tmp_path)
    assert verifier is not None
    assert verifier.ready()
    assert opened == [RELEVANCE]
    second = configured_verifier(RankingSection(), tmp_path)
    assert second is not None
    assert second.ready()
    assert len(opened) == 1, "shared by the bots of a process"


@pytest.mark.parametrize(
    "changes",
    [{"relevance": False}, {"verifier": "none"}, {"verifier": "starter-table"}, {"cross_encoder": "none"}],
    ids=str,
)
def test_the_shipped_network_is_left_out(tmp_path, opened, changes):
    """By the key, for another encoder, whose states it cannot read, and for a cross-encoder."""
    named = {key: str(tmp_path / value) if value == "none" else value for key, value in changes.items()}
    verifier = configured_verifier(replace(RankingSection(), **named), tmp_path)
    assert verifier is not None
    assert verifier.ready() == ("verifier" not in changes)
    assert opened == []


def test_without_the_network_passages_are_read(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(module, "RELEVANCE", tmp_path / "interaction.onnx")
    verifier = configured_verifier(RankingSection(), tmp_path)
    assert verifier is not None
    assert verifier.ready()
    assert "Passages are not scored, because the model cannot be opened: Expected an ONNX graph" in caplog.text


def test_effort_says_how_much_is_read(tmp_path):
    config = RankingSection(verifier=str(tmp_path / "none"))
    assert configured_verifier(replace(config, effort="low"), tmp_path) is None
    verifier = configured_verifier(replace(config, effort="normal"), tmp_path)
    assert verifier is not None
    assert not verifier.ready(), "there is no such folder"


def test_an_encoder_without_tokens_is_none_to_read_with(tmp_path, caplog):
    verifier = configured_verifier(RankingSection(verifier="starter", effort="high"), tmp_path)
    assert verifier is not None
    assert not verifier.ready()
    assert "Expected a transformer as ranking.verifier, but got 'starter'" in caplog.text
