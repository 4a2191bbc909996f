import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from qa_bot.home.encoders import EncoderError, open_folder, verify
from qa_core.networks.checkpoints import load_weights
from qa_lab.errors import RunError, SettingsError, TrainingDataError, TrainingError
from qa_lab.train.request import Request
from qa_lab.train.retrieval.dense import DENSE

MODEL = "dense"


def test_a_run_leaves_an_encoder_with_card_and_curve(request_: Request, tmp_path: Path):
    outcome = DENSE.run(request_)
    assert outcome.pairs + outcome.held_out == 30
    assert outcome.after.rr >= outcome.before.rr
    encoder = verify_opened(request_.out, tmp_path)
    assert encoder.knows("house")
    assert encoder.knows("balor")  # every word of the vocabulary
    assert not encoder.knows("unheard")
    card = (request_.out / "README.md").read_text()
    assert all(part in card for part in ("| model | mean |", f"{outcome.after.rr:.3f}"))


def verify_opened(folder: Path, tmp_path: Path):
    encoder = open_folder(folder, models=tmp_path / "models")
    assert encoder.encode(["the house"]).shape == (1, encoder.dimension)
    return encoder


def test_a_run_with_other_settings_is_not_resumed(request_: Request, stop_after):
    with pytest.raises(InterruptedError):
        DENSE.run(request_, on_progress=stop_after(1))
    request_.config.write_text(request_.config.read_text().replace("0.05", "0.06"))
    with pytest.raises(RunError, match=r"config.slam.learning_rate = 0.06 instead of 0.05"):
        DENSE.run(replace(request_, resume=True))


def test_a_static_encoder_is_trained_without_torch_at_query_time(static_folder: Path, write_lines, tmp_path: Path):
    pairs = [("cats", "sleep"), ("unhappy", "day"), ("why", "do"), ("un", "cats day")]
    data = write_lines("p.jsonl", *({"question": q, "answer": a} for q, a in pairs))
    out = tmp_path / "out"
    outcome = DENSE.run(Request((data,), out, base=static_folder, dev=str(data)))
    assert outcome.held_out == outcome.pairs == 4
    assert type(verify(out, models=tmp_path)).__name__ == "StaticEncoder"
    made_with = json.loads((out / "config.json").read_text())["made_with"]
    assert made_with["settings"]["slam"]["batch"] == 2000


@pytest.mark.parametrize("model", ["mean", "bilstm"])
def test_pretrained_vectors_from_a_file(request_: Request, tmp_path: Path, model: str):
    vectors = tmp_path / "v.txt"
    vectors.write_text("house 1 0 0\nlive 0 1 0\n")
    settings = request_.config
    settings.write_text(f'model = "{model}"\npretrained = "{vectors}"\n[words]\nminimum = 1\n[slam]\nepochs = 1\n')
    DENSE.run(request_)
    weights = load_weights(request_.out)
    words = (request_.out / "vocabulary.txt").read_text().split("\n")
    assert weights["embedding.E_pre"][words.index("live")].tolist() == [0, 1, 0]
    again = replace(request_, base=request_.out, out=tmp_path / "again", config=None)
    assert DENSE.settings(again).model == model
    vectors.write_text("house 1 0 0\nlive 0 1\n")
    with pytest.raises(TrainingError, match=r"v.txt.*line 2"):
        DENSE.run(replace(request_, out=tmp_path / "third"))
    settings.write_text(f'model = "{model}"\npretrained = "{tmp_path / "none.txt"}"\n')
    with pytest.raises(FileNotFoundError):
        DENSE.run(replace(request_, out=tmp_path / "fourth"))


def test_bad_requests(request_: Request, write_lines: Callable[..., Path], tmp_path: Path, static_folder: Path):
    same = write_lines("same.jsonl", *({"question": f"q {n} q", "answer": "always the same"} for n in range(9)))
    cases: list[tuple[Request, type[Exception], str]] = [
        (replace(request_, data=(same,)), TrainingDataError, "different answers.*3?"),
        (replace(request_, dev=str(tmp_path / "no")), FileNotFoundError, "does not exist"),
        (replace(request_, dev="0.001"), TrainingDataError, "name development data with --dev PATH"),
        (replace(request_, base=static_folder), SettingsError, "Expected a mean encoder .* got a static one"),
        (replace(request_, base=tmp_path, config=None), TrainingDataError, "Expected an encoder to start from"),
    ]
    for wrong, kind, reason in cases:
        with pytest.raises(kind, match=reason):
            DENSE.run(wrong)
    assert not request_.out.exists()


@pytest.mark.parametrize(
    ("toml", "reason"),
    [
        ('model = "transformer"\n', "Expected --base DIR"),
        ("[slam]\nepochs = 0\n", "slam.epochs = 0"),
        ("[slam]\nlearning_rate = -1\n", "slam.learning_rate = -1"),
        ('device = "cuda"\n', "torch sees none"),
    ],
)
def test_bad_settings(request_: Request, toml: str, reason: str):
    import torch

    if "cuda" in toml and torch.cuda.is_available():
        pytest.skip("this machine has a CUDA device")
    request_.config.write_text(toml)
    with pytest.raises(SettingsError, match=reason):
        DENSE.run(request_)


def test_a_run_that_diverges_is_told(request_: Request, monkeypatch: pytest.MonkeyPatch):
    def diverging(*_arguments, **_options):
        raise FloatingPointError("Expected a finite loss, but got nan; lower the learning rate.")

    monkeypatch.setattr("qa_lab.train.retrieval.dense.train_slam", diverging)
    with pytest.raises(TrainingError, match="lower the learning rate"):
        DENSE.run(request_)


def test_few_pairs_are_one_batch(request_: Request, caplog: pytest.LogCaptureFixture):
    request_.config.write_text('model = "mean"\n[words]\nminimum = 1\n[slam]\nepochs = 1\n')
    DENSE.run(request_)
    assert "Expected at least a batch of 2000 pairs" in caplog.text


def test_a_trained_folder_without_its_parts_is_no_encoder(request_: Request, tmp_path: Path):
    DENSE.run(request_)
    (request_.out / "model.safetensors").unlink()
    with pytest.raises(EncoderError, match=r"model\.safetensors"):
        open_folder(request_.out, models=tmp_path)


@pytest.mark.slow
def test_on_the_command_line(qa_bot, request_: Request, tmp_path: Path):
    pytest.importorskip("matplotlib", reason="drawing needs the extra 'plots'")
    out = tmp_path / "new" / "encoder"
    options = ("--out", out, "--config", request_.config, "--dev", "0.3", "--seed", 3, "--plots", "--json")
    data = request_.data[0]
    called = qa_bot("train", "dense", "--data", data, data, *options)
    assert called.code == 0, called.err
    assert called.json["pairs"] + called.json["held_out"] == 30
    assert set(called.json["after"]) == {"Success@1", "RR"}
    assert "30 repeated" in called.err
    assert (out / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert qa_bot("use", out).code == 0
    assert qa_bot("add", data).code == 0
    assert qa_bot("search", "where does balor live", "--engine", "dense", "--top", 1).code == 0
    wrong = qa_bot("train", "dense", "--data", tmp_path / "none.jsonl", "--out", tmp_path / "x")
    assert (wrong.code, wrong.out) == (1, "")
    assert "does not exist" in wrong.err
    assert qa_bot("train", "tense", "--data", data, "--out", out).code == 2
