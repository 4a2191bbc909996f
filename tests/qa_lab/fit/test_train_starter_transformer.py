"""Training of the shipped transformer, on a tiny one."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from qa_core.encoders.sentence_layout import SentenceLayout
from qa_core.encoders.transformer_encoder import TransformerEncoder, padded
from qa_core.training.loop import seed_everything
from qa_core.training.transformer_tuning import load_tunable, save_tuned
from qa_lab.fit.starter_pairs import Example, texts_of
from qa_lab.fit.starter_tokens import TokenReader
from qa_lab.fit.train_starter_transformer import (
    Student,
    Taught,
    TuningConfig,
    averaged,
    inner,
    loss_of,
    measured,
    split,
    taught,
    tune,
    write,
)

EXAMPLES = [
    Example("why do cats sleep?", "cats sleep day day"),
    Example("why unhappy?", "unhappy day", near="day day"),
    Example("do cats day?", "cats cats day"),
    Example("sleep?", "sleep sleep"),
]
CONFIG = TuningConfig(batch=2, epochs=30, rate=1e-2, frozen_layers=0, hardest=2, warm_up=0.0)


def student_of(folder: Path) -> Student:
    seed_everything(0)
    return Student(load_tunable(SentenceLayout.read(folder)), frozen=0).eval()


def data_of(student: Student, folder: Path) -> tuple[Taught, TokenReader]:
    texts = texts_of(EXAMPLES)
    reader = TokenReader.of(SentenceLayout.read(folder), texts)
    return taught(EXAMPLES, teacher(texts), student.below(reader.rows(texts)), config=CONFIG), reader


def teacher(texts: Sequence[str]) -> np.ndarray:
    """Unit vectors of word counts: texts that share words are alike."""
    words = sorted({word for text in texts for word in text.strip("?").split()})
    counts = np.array([[text.strip("?").split().count(word) for word in words] for text in texts], dtype=np.float32)
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def test_the_upper_layers_over_the_states_below_are_the_transformer(tiny_bert: Path) -> None:
    student = student_of(tiny_bert)
    rows = TokenReader.of(SentenceLayout.read(tiny_bert), []).rows(["cats sleep", "why do cats sleep day"])
    ids, mask = (torch.from_numpy(part) for part in padded(rows))
    states = [torch.from_numpy(row.astype(np.float32)) for row in student.below(rows)]
    vectors, _ = student(torch.nn.utils.rnn.pad_sequence(states, batch_first=True), mask)
    np.testing.assert_allclose(vectors.detach(), student.tuned(ids, mask.bool()).detach(), atol=5e-3)


@pytest.mark.slow
def test_training_lowers_the_loss_and_resumes(tiny_bert: Path, tmp_path: Path) -> None:
    student = student_of(tiny_bert)
    data, reader = data_of(student, tiny_bert)
    batch = data.batch(reader, np.arange(4), np.random.default_rng(0))
    loss = loss_of(CONFIG)
    before = float(loss(student, batch).detach())
    tune(student, data, np.arange(4), reader, tmp_path, CONFIG)
    assert float(loss(student.eval(), batch).detach()) < 0.7 * before

    resumed = student_of(tiny_bert)
    tune(resumed, data, np.arange(4), reader, tmp_path, CONFIG)
    for name, weight in student.state_dict().items():
        assert torch.equal(weight, resumed.state_dict()[name]), name
    assert set(measured(student, [batch])) == {"first", "divergence", "AUC"}


def test_hard_negatives_are_wrong_and_the_near_passage_is_one(tiny_bert: Path) -> None:
    data, _ = data_of(student_of(tiny_bert), tiny_bert)
    assert not (data.hard == data.answers[:, None]).any()
    assert data.texts[data.hard[1][0]] == "day day"
    # the teacher gives "cats sleep day day" .41; "cats cats day" with .45 and "sleep sleep" with .5 may be right too
    assert {data.texts[i] for i in data.hard[0]} == {"unhappy day", "day day"}


def test_only_inner_tokens_count() -> None:
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
    assert inner(mask).tolist() == [[False, True, True, False], [False, True, False, False]]


def test_averages_by_hand() -> None:
    both = averaged(
        {"a": torch.tensor([1.0]), "ids": torch.tensor([3])},
        {"a": torch.tensor([3.0]), "ids": torch.tensor([3])},
        share=0.25,
    )
    assert (both["a"].tolist(), both["ids"].tolist()) == ([1.5], [3])


def test_a_passage_is_on_one_side_of_the_split() -> None:
    examples = [Example(f"q{i}", f"p{i // 2}") for i in range(100)]
    training, held = split(examples)
    assert held.tolist() == [0, 1, 40, 41, 80, 81]
    assert sorted([*training, *held]) == list(range(100))


@pytest.mark.slow
def test_the_written_folder_is_an_encoder(tiny_bert: Path, tmp_path: Path) -> None:
    layout = SentenceLayout.read(tiny_bert)
    save_tuned(tmp_path / "tuned", load_tunable(layout), layout=layout, card="")
    write(tmp_path / "out", tmp_path / "tuned", made_with={"seed": 0})
    encoder = TransformerEncoder.load_prepared(tmp_path / "out")
    expected = TransformerEncoder.load(tiny_bert, cache=tmp_path / "cache")
    np.testing.assert_allclose(encoder.encode(["cats sleep"]), expected.encode(["cats sleep"]), atol=1e-3)
    settings = json.loads((tmp_path / "out" / "made_with.json").read_text(encoding="utf-8"))
    assert settings["made_with"] == {"seed": 0}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "1_Pooling",
        "config.json",
        "made_with.json",
        "modules.json",
        "onnx",
        "sentence_bert_config.json",
        "tokenizer.json",
    ]
