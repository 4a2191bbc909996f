"""A small network learns which passages answer, from the states of a tiny transformer."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from qa_bot.answering.relevance.interaction import InteractionScorer
from qa_bot.answering.verification.token_vectors import TokenVectors
from qa_core.encoders.graphs.export import export_onnx
from qa_core.encoders.graphs.quantisation import quantise
from qa_core.encoders.static_encoder import sha256
from qa_core.encoders.transformer_encoder import MADE_WITH, TransformerEncoder
from qa_core.training.interaction_network import InteractionConfig, InteractionNetwork
from qa_core.training.loop import seed_everything
from qa_lab.fit.relevance import train_relevance
from qa_lab.fit.relevance.group_rows import GroupRows
from qa_lab.fit.relevance.groups import Group
from qa_lab.fit.relevance.token_states import TokenStates
from qa_lab.fit.relevance.train_relevance import (
    GRAPH,
    FitConfig,
    falling,
    fitted,
    learnt,
    logits_of,
    main,
    measured,
    open_encoder,
    texts_of,
)
from tests.tiny_bert import TINY_WORDS

transformers = pytest.importorskip("transformers", reason="a transformer is converted by the extra 'minilm'")
WORDS = ("cats", "sleep", "day", "why")
SIZE = 128
"""Numbers of a state; smaller matrices are not quantised."""
GROUPS = [
    Group(f"{word} ?", language, source, ("do sleep", "do cats", "do day", "do why"), (True,) + (False,) * 3, held_out)
    for word in WORDS
    for language, source, held_out in (("en", "reading", False), ("de", "covid", False), ("en", "reading", True))
]
"""Whoever sleeps is right; held-out groups are those that are learnt, so that a fit shows."""
NEAR = Group("day ?", "en", "near", ("do why",), (False,), held_out=True)
CONFIG = FitConfig(steps=40, rate=3e-3, tokens=512, warm_up=5)


@pytest.fixture(scope="module")
def shipped(pair_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small BERT of random weights, quantised as the shipped one. Read only."""
    folder = tmp_path_factory.mktemp("shipped")
    config = transformers.BertConfig(
        vocab_size=len(TINY_WORDS), hidden_size=SIZE, intermediate_size=SIZE, num_hidden_layers=1,
        num_attention_heads=2, max_position_embeddings=40, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    transformers.set_seed(0)
    model = transformers.BertModel(config, add_pooling_layer=False)
    for weight in model.parameters():  # equal ones would be one in a graph
        torch.nn.init.normal_(weight.data, mean=float(weight.detach().mean()), std=0.1)
    model.save_pretrained(folder)
    shutil.copyfile(pair_bert / "tokenizer.json", folder / "tokenizer.json")
    (folder / "onnx").mkdir()
    export_onnx(folder, folder / "float.onnx")
    quantise(folder / "float.onnx", folder / GRAPH)
    (folder / MADE_WITH).write_text('{"weights_sha256": "0"}')
    for name in ("float.onnx", "model.safetensors"):
        (folder / name).unlink()
    return folder


@pytest.fixture(scope="module")
def encoder(shipped: Path) -> TransformerEncoder:
    return open_encoder(shipped)


@pytest.fixture
def states(encoder: TransformerEncoder, tmp_path: Path) -> TokenStates:
    return TokenStates.of(texts_of([*GROUPS, NEAR]), encoder, tmp_path / "states")


def untrained() -> InteractionNetwork:
    seed_everything(1)
    return InteractionNetwork(InteractionConfig(states=SIZE, width=32, heads=2, channels=16, rank=8))


def test_the_rate_rises_and_falls_to_its_least_share() -> None:
    factor = falling(replace(CONFIG, steps=1000, warm_up=100))
    assert [round(factor(step), 4) for step in (0, 49, 99, 500, 990, 999)] == [0.01, 0.4755, 0.901, 0.5, 0.02, 0.02]


def test_held_out_groups_are_not_learnt() -> None:
    assert learnt([GROUPS[2], *GROUPS[:3]]).tolist() == [1, 2]


def test_the_encoder_has_the_states_of_the_shipped_one(
    encoder: TransformerEncoder, shipped: Path, tmp_path: Path
) -> None:
    original = TransformerEncoder.load(shipped, cache=tmp_path)
    texts = texts_of(GROUPS[:1])
    assert texts == ["cats ?", "do sleep", "do cats", "do day", "do why"]
    for states, expected in zip(encoder.states(texts), original.states(texts), strict=True):
        lengths = np.linalg.norm(states, axis=1) * np.linalg.norm(expected, axis=1)
        assert ((states * expected).sum(1) / lengths).min() > 0.98
    assert encoder.dimension == SIZE


def test_logits_are_in_the_order_of_the_pairs(
    encoder: TransformerEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train_relevance, "_SCORED", 3)
    longer = Group("why do cats sleep ?", "en", "x", ("day why do cats sleep do day ?", "day"), (True, False))
    groups = [GROUPS[0], longer, GROUPS[3]]
    rows = GroupRows.of(groups, TokenStates.of(texts_of(groups), encoder, tmp_path))
    network = untrained()
    logits = logits_of(network, rows)
    assert logits.shape == (10,)
    assert np.ptp(logits) > 0.01
    with torch.no_grad():
        alone = [float(network(*rows.pairs(np.array([place])))) for place in range(10)]
    np.testing.assert_allclose(logits, alone, atol=1e-4)


def test_it_learns_which_passages_answer(states: TokenStates) -> None:
    network = untrained()
    before = measured(network, GROUPS, states)
    fitted(GroupRows.of(GROUPS, states), learnt(GROUPS), network, CONFIG)
    assert before["groups"] == 4
    assert before["first"] < 1
    assert measured(network, [*GROUPS, NEAR], states) == {"groups": 4, "first": 1.0, "AUC": 1.0}


def test_without_held_out_groups_there_are_no_figures(states: TokenStates) -> None:
    assert measured(untrained(), [GROUPS[0], NEAR], states) == {}


def run_main(monkeypatch: pytest.MonkeyPatch, folder: Path, groups: list[Group]) -> dict[str, Any]:
    """The note of a run in a folder, where a former one may have left its files."""
    folder.mkdir(exist_ok=True)
    (folder / "documents.jsonl").write_text("")
    options = {"data": folder, "reading": folder / "documents.jsonl", "work": folder / "work"}
    options |= {"out": folder / "new" / "interaction.onnx"}
    arguments = [str(part) for name, value in options.items() for part in (f"--{name}", value)]
    monkeypatch.setattr(sys, "argv", ["train_relevance", *arguments, "--steps", "3", "--seed", "4"])
    monkeypatch.setattr(train_relevance, "read_groups", lambda *_, seed: groups if seed == 4 else [])
    main()
    note: dict[str, Any] = json.loads((folder / "new" / "interaction.json").read_text(encoding="utf-8"))
    return note


def test_the_command_writes_a_network_that_scores_passages(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(train_relevance, "STARTER", shipped)
    note = run_main(monkeypatch, tmp_path, GROUPS)
    graph = tmp_path / "new" / "interaction.onnx"
    assert note["sha256"] == sha256(graph)
    assert note["transformer_sha256"] == sha256(shipped / GRAPH)
    assert note["reading_sha256"] == sha256(tmp_path / "documents.jsonl")
    assert note["groups"] == {"covid": 4, "reading": 4}
    assert note["held_out"]["en"]["groups"] == 4
    assert (note["settings"]["steps"], note["settings"]["seed"]) == (3, 4)
    assert "'en': {'groups': 4" in capsys.readouterr().err

    vectors = TokenVectors(lambda: TransformerEncoder.load(shipped, cache=tmp_path / "cache"))
    assert vectors.ready()
    scores = InteractionScorer(vectors.rows, graph).score([("cats ?", "do sleep"), ("cats ?", "do day")])
    assert np.isfinite(scores).all()
    assert np.ptp(scores) > 0

    def encode_again(*_: object) -> None:
        raise AssertionError("all texts are encoded")

    monkeypatch.setattr(TransformerEncoder, "states", encode_again)
    assert run_main(monkeypatch, tmp_path, GROUPS) == note, "a second run encodes nothing, and learns the same"


def test_without_groups_the_reason_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for groups in ([], [GROUPS[2]]):
        with pytest.raises(ValueError, match="Expected groups to learn from, but got none; check the folder of data"):
            run_main(monkeypatch, tmp_path, groups)
    assert not (tmp_path / "work").exists(), "nothing is encoded"
