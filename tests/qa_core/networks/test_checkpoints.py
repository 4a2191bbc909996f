import json
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import nn

from qa_core.networks import checkpoints
from qa_core.networks.checkpoints import (
    load_config,
    load_module,
    load_tensors,
    load_vocabulary,
    load_weights,
    note_reads,
    reads_of,
    save_model,
)
from qa_core.networks.poolings import BiLSTMConfig, BiLSTMEncoder, pad


@dataclass(frozen=True)
class Toy:
    size: int
    rates: tuple[float, ...] = (0.5, 0.25)
    name: str | None = None


@dataclass(frozen=True)
class Other:
    size: int = 1


WEIGHTS = {"w": np.arange(6, dtype=np.float32).reshape(2, 3), "n": np.array(3, dtype=np.int64)}


def save(folder, *, config=None, weights=WEIGHTS, vocabulary=("cat", "naïve", "\u2028"), card="# Toy\n"):
    save_model(folder, config=config or Toy(2), weights=weights, vocabulary=vocabulary, card=card)
    return folder


def test_everything_comes_back(tmp_path):
    folder = save(tmp_path / "new" / "model", config=Toy(7, (1.0,), "x"))
    assert load_config(folder, Toy) == Toy(7, (1.0,), "x")
    assert load_vocabulary(folder) == ["cat", "naïve", "\u2028"]
    assert (folder / "README.md").read_text() == "# Toy\n"
    loaded = load_weights(folder)
    assert set(loaded) == {"w", "n"}
    assert all(
        np.array_equal(loaded[name], WEIGHTS[name]) and loaded[name].dtype == WEIGHTS[name].dtype for name in loaded
    )
    assert load_tensors(folder)["w"].equal(torch.from_numpy(WEIGHTS["w"]))
    assert {path.name for path in folder.parent.iterdir()} == {"model"}


def test_transposed_and_strided_arrays_keep_their_order(tmp_path):
    array = WEIGHTS["w"].T
    folder = save(tmp_path / "model", weights={"a": array, "b": array[::2]})
    assert np.array_equal(load_weights(folder)["a"], array)
    assert np.array_equal(load_weights(folder)["b"], array[::2])


def test_tensors_and_arrays_together_and_shared_memory(tmp_path):
    shared = torch.arange(6.0).reshape(2, 3)
    folder = save(tmp_path / "model", weights={"a": shared, "b": shared.T, "c": WEIGHTS["w"]})
    loaded = load_tensors(folder)
    assert loaded["a"].equal(shared)
    assert loaded["b"].equal(shared.T)
    assert loaded["c"].equal(torch.from_numpy(WEIGHTS["w"]))


def test_a_reloaded_model_gives_the_same_vectors(tmp_path):
    config = BiLSTMConfig(vocabulary=9, dimension=4, hidden=3, output=5, pretrained=True)
    encoder = BiLSTMEncoder(config).eval()
    encoder.embedding.set_pretrained(torch.randn(9, 4))
    save(tmp_path / "model", config=config, weights=encoder.state_dict(), vocabulary=None)
    again = BiLSTMEncoder(load_config(tmp_path / "model", BiLSTMConfig)).eval()
    load_module(tmp_path / "model", again)
    batch = pad([[1, 2, 3], [4]])
    assert encoder(*batch).equal(again(*batch))


def test_arrays_need_no_torch(tmp_path):
    folder = save(tmp_path / "model")
    code = (
        "import sys; from pathlib import Path; from qa_core.networks import checkpoints as c;"
        f"w = c.load_weights(Path({str(folder)!r})); c.write_weights(Path({str(tmp_path / 'copy')!r}), w);"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_saving_again_replaces_the_model_and_keeps_foreign_files(tmp_path):
    folder = save(tmp_path / "model")
    (folder / "run").mkdir()
    (folder / "run" / "curve.csv").write_text("step\n")
    save(folder, config=Toy(3), vocabulary=None)
    assert load_config(folder, Toy) == Toy(3)
    assert not (folder / "vocabulary.txt").exists()
    assert (folder / "run" / "curve.csv").read_text() == "step\n"


def test_an_interrupted_save_leaves_the_old_model(tmp_path, monkeypatch):
    folder = save(tmp_path / "model")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints, "write_weights", full)
    with pytest.raises(OSError, match="No space left"):
        save(folder, config=Toy(3))
    assert load_config(folder, Toy) == Toy(2)
    assert {path.name for path in tmp_path.iterdir()} == {"model"}


def test_a_crash_between_the_renames_leaves_the_old_model(tmp_path):
    folder = save(tmp_path / "model")
    folder.rename(tmp_path / ".model.old")
    (tmp_path / ".model.new").mkdir()
    assert load_config(folder, Toy) == Toy(2)
    assert load_weights(folder).keys() == WEIGHTS.keys()
    save(folder, config=Toy(3))
    assert load_config(folder, Toy) == Toy(3)
    assert {path.name for path in tmp_path.iterdir()} == {"model"}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"README.md": "years of work"},
            r"Expected a folder without README\.md, or one with model\.safetensors beside",
        ),
        ({"config.json": '{"hidden_size": 384}', "model.safetensors": "x"}, r"holds a config\.json of something else"),
    ],
)
def test_files_of_other_programs_are_never_overwritten(tmp_path, files, message):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        save(tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == files


def test_a_folder_that_is_a_link_stays_one(tmp_path):
    (tmp_path / "link").symlink_to(save(tmp_path / "model"))
    save(tmp_path / "link", config=Toy(3))
    assert (tmp_path / "link").is_symlink()
    assert load_config(tmp_path / "model", Toy) == Toy(3)


@pytest.mark.parametrize("bad", [np.array([1.0, np.nan]), torch.tensor([float("inf")]), np.array([np.inf], np.float16)])
def test_nan_and_infinite_weights_are_rejected(tmp_path, bad):
    with pytest.raises(ValueError, match="got NaN or infinity in 'b'"):
        save(tmp_path / "model", weights={"a": np.zeros(2), "b": bad})
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("word", ["a\nb", "a\r", ""])
def test_words_with_line_breaks_are_rejected(tmp_path, word):
    with pytest.raises(ValueError, match="Expected words that fit on a line"):
        save(tmp_path / "model", vocabulary=["a", word])


def test_missing_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"Expected a model folder with config\.json"):
        load_config(tmp_path / "none", Toy)
    folder = save(tmp_path / "model", vocabulary=None)
    with pytest.raises(FileNotFoundError, match=r"with vocabulary\.txt"):
        load_vocabulary(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"with model\.safetensors"):
        load_weights(folder)


def edit(folder, **changes):
    head = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**head, **changes}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "Oracle"}, "Expected a model of kind Toy, but got 'Oracle'"),
        ({"format": 2}, "Expected format 1, but got 2"),
        ({"config": [1]}, r"Expected an object under 'config', but got \[1\]"),
        ({"config": {"sise": 1}}, "Expected known keys, but got 'sise'; the nearest is 'size'"),
        ({"config": {"size": "many"}}, "Expected the fields of Toy, but got size: Input should be a valid integer"),
        ({"config": {}}, "Expected the fields of Toy, but got size: Field required"),
    ],
)
def test_bad_configs_are_named(tmp_path, changes, message):
    folder = save(tmp_path / "model")
    edit(folder, **changes)
    with pytest.raises(ValueError, match=message):
        load_config(folder, Toy)


def test_a_config_of_another_class_or_no_json_is_refused(tmp_path):
    folder = save(tmp_path / "model")
    with pytest.raises(ValueError, match="Expected a model of kind Other, but got 'Toy'"):
        load_config(folder, Other)
    for text, message in [("{", "Expected JSON"), ("[]", "Expected a JSON object")]:
        (folder / "config.json").write_text(text)
        with pytest.raises(ValueError, match=message):
            load_config(folder, Toy)


def test_absent_config_keys_take_their_defaults(tmp_path):
    folder = save(tmp_path / "model")
    edit(folder, config={"size": 4})
    assert load_config(folder, Toy) == Toy(4)


def test_every_difference_of_weights_is_named(tmp_path):
    folder = save(tmp_path / "model", weights={"weight": np.zeros((4, 2), np.float32), "extra": np.zeros(1)})
    message = (
        r"bias: expected \(3,\), got nothing; extra: expected nothing, got \(1,\); "
        r"weight: expected \(3, 2\), got \(4, 2\)\."
    )
    with pytest.raises(ValueError, match=message):
        load_module(folder, nn.Linear(2, 3))
    with pytest.raises(ValueError, match=message):
        load_weights(folder, shapes={"weight": (3, 2), "bias": (3,)})


def test_a_truncated_weights_file_is_called_damaged(tmp_path):
    folder = save(tmp_path / "model")
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-4])
    for load in (load_weights, load_tensors):
        with pytest.raises(ValueError, match=r"model\.safetensors: Expected safetensors, but got a damaged file"):
            load(folder)


def test_what_a_model_reads_is_noted_beside_its_config(tmp_path):
    folder = save(tmp_path / "m")
    assert reads_of(folder) == {}
    note_reads(folder, {"question": "title"})
    assert reads_of(folder) == {"question": "title"}
    assert load_config(folder, Toy) == Toy(2)
    (folder / "config.json").write_text('{"reads": "title"}')
    with pytest.raises(ValueError, match="Expected an object of texts under 'reads'"):
        reads_of(folder)
