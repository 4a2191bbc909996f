"""Tiny models learn which passages answer."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from qa_bot.answering.relevance.passage_scorer import scorer_of
from qa_core.encoders.onnx_export import export_onnx
from qa_core.encoders.onnx_quantisation import quantise
from qa_core.training.loop import seed_everything
from qa_lab.fit.relevance import train_relevance
from qa_lab.fit.relevance.groups import Group
from qa_lab.fit.relevance.train_relevance import (
    GRAPH,
    PAIRS,
    STUDENT,
    TEACHER,
    falling,
    learnt,
    main,
    measured,
    open_student,
    open_teacher,
    teacher_logits,
    trained_student,
)
from tests.tiny_bert import TINY_WORDS

transformers = pytest.importorskip("transformers", reason="a transformer is converted by the extra 'minilm'")
CPU = torch.device("cpu")
WORDS = ("cats", "sleep", "day", "why")
GROUPS = [
    Group(f"{word} ?", language, source, ("do sleep", "do cats", "do day", "do why"), (True,) + (False,) * 3, held_out)
    for word in WORDS
    for language, source, held_out in (("en", "reading", False), ("de", "covid", False), ("en", "reading", True))
]
"""Whoever sleeps is right; held-out groups are those that are learnt, so that a fit shows."""
TEACHER_CONFIG = replace(TEACHER, steps=60, rate=1e-2, tokens=256, warm_up=5)
STUDENT_CONFIG = replace(STUDENT, steps=60, rate=3e-3, tokens=256, warm_up=5)


@pytest.fixture
def mpnet(pair_bert: Path, tmp_path: Path) -> Path:
    """A small MPNet of random weights."""
    config = transformers.MPNetConfig(
        vocab_size=len(TINY_WORDS), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=40, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    return saved(transformers.MPNetModel, config, tmp_path / "mpnet", pair_bert)


@pytest.fixture
def starter(pair_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small BERT of random weights, quantised as the shipped one."""
    config = transformers.BertConfig(
        vocab_size=len(TINY_WORDS), hidden_size=128, num_hidden_layers=1, num_attention_heads=2, intermediate_size=128,
        max_position_embeddings=PAIRS.max_length, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    folder = saved(transformers.BertModel, config, tmp_path / "shipped", pair_bert)
    (folder / "onnx").mkdir()
    export_onnx(folder, tmp_path / "float.onnx")
    quantise(tmp_path / "float.onnx", folder / GRAPH)
    (folder / "model.safetensors").unlink()
    monkeypatch.setattr(train_relevance, "STARTER", folder)
    return folder


def saved(kind: Any, config: Any, folder: Path, tokeniser: Path) -> Path:
    transformers.set_seed(0)
    model = kind(config, add_pooling_layer=False)
    for weight in model.parameters():  # equal ones would be one in a graph
        torch.nn.init.normal_(weight.data, mean=float(weight.detach().mean()), std=0.1)
    model.save_pretrained(folder)
    shutil.copyfile(tokeniser / "tokenizer.json", folder / "tokenizer.json")
    return folder


def test_the_rate_rises_and_falls_to_its_least_share() -> None:
    factor = falling(replace(TEACHER, steps=1000, warm_up=100))
    assert [round(factor(step), 4) for step in (0, 49, 99, 500, 990, 999)] == [0.01, 0.4755, 0.901, 0.5, 0.02, 0.02]


def test_groups_of_documents_for_reading_come_twice_and_held_out_ones_never() -> None:
    groups = [replace(GROUPS[0], source=source) for source in ("reading", "near", "squad")]
    assert learnt([*groups, GROUPS[2]]).tolist() == [0, 0, 1, 1, 2]


def test_without_groups_the_reason_is_given(pair_bert: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Expected groups to learn from"):
        teacher_logits([GROUPS[2]], pair_bert, tmp_path, CPU, TEACHER_CONFIG)


def test_without_held_out_groups_there_are_no_figures(pair_bert: Path) -> None:
    assert measured(open_teacher(pair_bert), [GROUPS[0]]) == {}


def test_the_teacher_learns_once_and_reads_english(
    mpnet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    logits = teacher_logits(GROUPS, mpnet, tmp_path / "work", CPU, TEACHER_CONFIG)
    assert "'first': 1.0" in capsys.readouterr().err
    by_group = logits.reshape(len(GROUPS), 4)
    assert np.isnan(by_group[1::3]).all()
    assert (by_group[0::3].argmax(1) == 0).all()
    assert np.abs(by_group[0::3]).max() <= 8

    monkeypatch.setattr(train_relevance, "fitted", None)  # a second run does not train
    again = teacher_logits(GROUPS, mpnet, tmp_path / "work", CPU, TEACHER_CONFIG)
    np.testing.assert_array_equal(again, logits)
    with pytest.raises(TypeError):
        teacher_logits(GROUPS, mpnet, tmp_path / "work", CPU, replace(TEACHER_CONFIG, seed=2))


def test_the_student_is_the_shipped_transformer_before_training(starter: Path, tmp_path: Path) -> None:
    seed_everything(0)
    student = open_student(starter, tmp_path / "float")
    original = transformers.BertModel.from_pretrained(tmp_path / "float")
    words = student.model.transformer.embeddings.word_embeddings.weight
    assert not words.requires_grad
    torch.testing.assert_close(words, original.embeddings.word_embeddings.weight.detach())
    assert student.score([("why cats ?", "sleep")]).shape == (1,)


def test_the_student_learns_and_its_word_vectors_stay(starter: Path, tmp_path: Path) -> None:
    targets = np.tile(np.array([4, -4, -4, -4], np.float32), len(GROUPS))
    targets.reshape(len(GROUPS), 4)[1::3] = np.nan
    before = open_student(starter, tmp_path / "before").model.state_dict()
    student = trained_student(GROUPS, targets, tmp_path / "work", CPU, STUDENT_CONFIG)
    assert measured(student, GROUPS) == {"groups": 4, "first": 1.0, "AUC": 1.0}
    scores = student.score([("cats ?", "do sleep"), ("sleep ?", "do day")])
    np.testing.assert_allclose(scores, [4, -4], atol=1.5)
    after = student.model.state_dict()
    name = "transformer.embeddings.word_embeddings.weight"
    torch.testing.assert_close(after[name], before[name])
    assert not torch.equal(after["transformer.embeddings.position_embeddings.weight"],
                           before["transformer.embeddings.position_embeddings.weight"])  # fmt: skip


def run_main(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mpnet: Path) -> None:
    options: dict[str, Any] = {"mpnet": mpnet, "data": tmp_path, "reading": tmp_path / "documents.jsonl"}
    options |= {"work": tmp_path / "work", "out": tmp_path / "out", "teacher-steps": 3, "student-steps": 2, "seed": 4}
    (tmp_path / "documents.jsonl").write_text("")
    arguments = [str(part) for name, value in options.items() for part in (f"--{name}", value)]
    monkeypatch.setattr(sys, "argv", ["train_relevance", *arguments])
    main()


def test_the_command_trains_both_and_writes_a_model_that_scores_passages(
    starter: Path, mpnet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train_relevance, "MPNET_SHA256", train_relevance.sha256(mpnet / "model.safetensors"))
    monkeypatch.setattr(train_relevance, "read_groups", lambda *_, seed: GROUPS[seed:])
    run_main(monkeypatch, tmp_path, mpnet)
    scorer = scorer_of(str(tmp_path / "out"))
    assert scorer is not None
    assert scorer.ready()
    assert np.isfinite(scorer.scores(["cats ?"], ["do sleep", "do day"])).all()
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    for text in ("groups of covid | 3 |", "| seed | 4 |", "held out, groups | 3 |", '"steps": 2', "CC BY-SA 4.0"):
        assert text in card


def test_weights_of_another_teacher_are_refused(mpnet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="Expected the weights of all-mpnet-base-v2"):
        run_main(monkeypatch, tmp_path, mpnet)
