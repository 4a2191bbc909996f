from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from qa_bot.home.encoders import open_folder, verify
from qa_core.networks.checkpoints import load_weights
from qa_lab.errors import SettingsError, TrainingDataError, TrainingError
from qa_lab.train.request import Request
from qa_lab.train.retrieval.similar import SIMILAR
from retrievers.training.dual_encoder import PAPER

MODEL = "similar"
SETTINGS = "[words]\ndimension = 16\n[dual]\nepochs = 3\nbatch = 8\n"


@pytest.fixture
def groups(write_lines: Callable[..., Path]) -> Path:
    rows = ({"questions": [f"what eats {name}", f"who feeds on {name}", f"{name} is food of"]} for name in "abcdefghij")
    return write_lines("groups.jsonl", *rows)


def test_a_run_leaves_an_encoder_with_card_and_curve(request_: Request, tmp_path: Path):
    outcome = SIMILAR.run(request_)
    (task,) = outcome.tasks
    assert task.pairs + task.held_out == 20
    encoder = verify(request_.out, models=tmp_path / "models")
    assert encoder.dimension == 16
    assert encoder.knows("address")
    card = (request_.out / "README.md").read_text()
    assert all(part in card for part in ("| model | mean |", "| quora.tsv | ", f"{task.after:.3f}"))
    assert outcome.as_dict()["tasks"][0]["after"] == {"P@1": task.after}
    assert f"use it: qa-bot use {request_.out}" in outcome.text(request_.out)


def test_several_tasks_with_the_largest_first(request_: Request, groups: Path):
    both = replace(request_, data=(groups, request_.data[0]))
    outcome = SIMILAR.run(both)
    assert [task.name for task in outcome.tasks] == ["groups.jsonl", "quora.tsv"]
    assert [task.pairs + task.held_out for task in outcome.tasks] == [30, 20]
    assert (request_.out / "pretraining.csv").is_file()
    alone = replace(both, out=request_.out.parent / "alone", config=request_.out.parent / "alone.toml")
    alone.config.write_text(SETTINGS + "pretrain = false\n")
    SIMILAR.run(alone)
    assert not (alone.out / "pretraining.csv").exists()


@pytest.mark.parametrize("stop", [1, 4])
def test_interrupted_in_either_stage_and_resumed_it_ends_with_the_same_model(
    request_: Request, groups: Path, stop: int, stop_after
):
    request_.config.write_text(SETTINGS + "patience = 9\n")
    both = replace(request_, data=(groups, request_.data[0]))
    SIMILAR.run(both)
    cut = replace(both, out=both.out.parent / "cut")
    with pytest.raises(InterruptedError):
        SIMILAR.run(cut, on_progress=stop_after(stop))
    SIMILAR.run(replace(cut, resume=True))
    whole, resumed = load_weights(both.out), load_weights(cut.out)
    assert all(np.array_equal(whole[name], resumed[name]) for name in whole)


def test_development_data_of_its_own_and_questions_kept_aside(request_: Request, groups: Path):
    request_.config.write_text("test = 0.5\n" + SETTINGS)
    outcome = SIMILAR.run(replace(request_, dev=str(groups)))
    (task,) = outcome.tasks
    assert task.held_out == 30
    assert 3 < task.pairs < 17


def test_to_start_from(request_: Request, tmp_path: Path, static_folder: Path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("where 1 0 0\nlive 0 1 0\nelsewhere 0 0 1\n")
    started = replace(request_, base=vectors)
    SIMILAR.run(started)
    words = (request_.out / "vocabulary.txt").read_text().split("\n")
    assert "elsewhere" in words
    assert load_weights(request_.out)["embedding.E_tune"].shape[1] == 3
    SIMILAR.run(replace(started, base=request_.out, out=tmp_path / "again"))
    assert (tmp_path / "again" / "vocabulary.txt").read_text().split("\n") == words
    static = replace(request_, base=static_folder, out=tmp_path / "static")
    assert SIMILAR.settings(replace(static, config=None)).model == "static"
    SIMILAR.run(replace(static, data=(short(tmp_path),), dev=str(short(tmp_path))))
    assert type(open_folder(static.out, models=tmp_path)).__name__ == "StaticEncoder"
    request_.config.write_text('model = "mean"\n' + SETTINGS)
    mean = replace(static, data=(short(tmp_path),), dev=str(short(tmp_path)), out=tmp_path / "mean")
    SIMILAR.run(mean)
    assert open_folder(mean.out, models=tmp_path).dimension == 8
    vectors.write_text("where 1 0 0\nlive 0 1\n")
    with pytest.raises(TrainingError, match=r"vectors\.txt.*line 2"):
        SIMILAR.run(started)


def short(tmp_path: Path) -> Path:
    path = tmp_path / "short.tsv"
    path.write_text("1\tcats sleep\twhy do cats\t1\n1\tunhappy day\tday\t2\n")
    return path


def test_bad_requests(request_: Request, write_lines: Callable[..., Path], tmp_path: Path):
    same = write_lines("same.tsv", *(f"1\tone and the same\tOne and the  same\t{n}" for n in range(5)))
    positive = write_lines("positive.tsv", *(f"1\tq {n}\tr {n}\t0" for n in range(20)))
    pairwise = tmp_path / "pairwise.toml"
    pairwise.write_text(SETTINGS + 'loss = "pairwise"\n')
    other = tmp_path / "other"
    other.mkdir()
    (other / "config.json").write_text('{"kind": "Seq2SeqConfig"}')
    cases: list[tuple[Request, type[Exception], str]] = [
        (replace(request_, data=(same,)), TrainingDataError, "got none: .*same.tsv:1: Expected two different"),
        (replace(request_, data=(positive,), config=pairwise), TrainingError, "labelled 0 for the pairwise loss"),
        (replace(request_, dev="0.0001"), TrainingDataError, "name development data with --dev PATH"),
        (replace(request_, base=other), TrainingDataError, "but got 'Seq2SeqConfig'; name a file of vectors"),
        (replace(request_, base=tmp_path / "none"), TrainingDataError, "but got 'none'"),
    ]
    for wrong, kind, reason in cases:
        with pytest.raises(kind, match=reason):
            SIMILAR.run(wrong)
    one = write_lines("one.tsv", *(f"1\tword\tword{' word' * n}\t0" for n in range(1, 9)))
    with pytest.raises(TrainingError, match="at least two words"):
        SIMILAR.run(replace(request_, data=(one,), dev=str(positive)))


@pytest.mark.parametrize(
    ("toml", "reason"),
    [
        ("[dual]\nepochs = 0\n", "dual.epochs = 0"),
        ("[dual]\nalpha = -1\n", "dual.alpha = -1"),
        ('model = "static"\n', "Expected a static encoder to start from"),
        ("test = 1.5\n", "test = 1.5"),
    ],
)
def test_bad_settings(request_: Request, toml: str, reason: str):
    request_.config.write_text(toml)
    with pytest.raises(SettingsError, match=reason):
        SIMILAR.run(request_)


def test_few_pairs_are_one_batch(request_: Request, caplog: pytest.LogCaptureFixture):
    request_.config.write_text("[words]\ndimension = 4\n[dual]\nepochs = 1\n")
    SIMILAR.run(request_)
    assert "Expected at least a batch of 1000 pairs, but quora.tsv has" in caplog.text


def test_the_paper_preset_has_the_training_of_the_paper(request_: Request):
    request_.config.write_text('preset = "paper"\n')
    assert SIMILAR.settings(request_).dual == PAPER
    request_.config.write_text('preset = "paper"\n[dual]\nbatch = 7\n')
    assert SIMILAR.settings(request_).dual == replace(PAPER, batch=7)
