import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from generators.pretrained.recognition import is_transformer
from generators.pretrained.transformer_loading import load_transformer

Folder = Callable[..., Path]


@pytest.fixture
def folder(transformer_folder: Folder, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return shutil.copytree(transformer_folder("gpt2"), tmp_path / "copy")


def rewrite(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def reweigh(folder: Path, **changes: torch.Tensor | None) -> None:
    weights = load_file(folder / "model.safetensors") | changes
    save_file(
        {name: tensor for name, tensor in weights.items() if tensor is not None},
        folder / "model.safetensors",
        {"format": "pt"},
    )


def test_the_folder_describes_the_model(transformer_folder: Folder, tmp_path: Path):
    causal, encoded = load_transformer(transformer_folder("gpt2")), load_transformer(transformer_folder("bart"))
    assert (causal.encoded, encoded.encoded) == (False, True)
    assert (causal.positions, load_transformer(transformer_folder("t5")).positions) == (64, None)
    assert encoded.begin == (258, 3)
    assert causal.numbers.size == 262  # 256 bytes, three special tokens and three unused rows
    assert causal.numbers.ends == (258,)
    assert causal.numbers.silent == (256, 257, 259, 260, 261)
    assert causal.network.dtype == torch.float32
    assert not causal.network.training
    assert is_transformer(transformer_folder("gpt2"))
    (tmp_path / "config.json").write_text('{"format": 1, "kind": "ChatConfig", "config": {}}')
    assert not is_transformer(tmp_path)
    assert not is_transformer(tmp_path / "none")


def test_ends_of_the_generation_settings_are_used(transformer_folder: Folder):
    assert load_transformer(transformer_folder("llama", template=True)).numbers.ends == (259, 257)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "tf_model.h5"])
def test_pickled_weights_are_refused(folder: Path, name: str):
    (folder / "model.safetensors").rename(folder / name)
    with pytest.raises(ValueError, match=f"Expected model.safetensors in .*, but got {name}; pickled weights can run"):
        load_transformer(folder)


def test_missing_files_are_named(folder: Path, tmp_path: Path):
    (folder / "tokenizer.json").rename(tmp_path / "tokenizer.json")
    with pytest.raises(FileNotFoundError, match=r"Expected a tokenizer in .*, such as tokenizer.json, but got none"):
        load_transformer(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(ValueError, match=r"Expected model.safetensors in .*, but got no weights"):
        load_transformer(folder)
    with pytest.raises(FileNotFoundError, match=r"Expected .*config.json to describe a model of transformers"):
        load_transformer(tmp_path)


@pytest.mark.parametrize("names", [["BertForMaskedLM"], ["GPT2Model"], [], None])
def test_an_architecture_that_generates_no_text_is_refused(folder: Path, names: list[str] | None):
    rewrite(folder, architectures=names)
    with pytest.raises(ValueError, match=f"but got {names[0] if names else 'none'}; name a model that writes text"):
        load_transformer(folder)


def test_code_in_the_folder_is_not_run(folder: Path):
    rewrite(folder, model_type="mine", auto_map={"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"})
    (folder / "own.py").write_text("raise SystemExit('was run')")
    with pytest.raises(ValueError, match=r"Expected (a tokenizer|weights)"):
        load_transformer(folder)


def test_damaged_files_are_refused(folder: Path):
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(weights[:100])
    with pytest.raises(ValueError, match=r"Expected weights that fit .*config.json, but got"):
        load_transformer(folder)
    (folder / "model.safetensors").write_bytes(weights)
    rewrite(folder, n_embd=12)
    with pytest.raises(ValueError, match=r"Expected weights that fit .*config.json, but got"):
        load_transformer(folder)
    rewrite(folder, n_embd=16)
    (folder / "tokenizer.json").write_text("{")
    with pytest.raises(ValueError, match=r"Expected a tokenizer in .*, but got"):
        load_transformer(folder)


def test_weights_of_another_model_are_refused(folder: Path):
    reweigh(folder, **{"transformer.ln_f.weight": None})
    with pytest.raises(ValueError, match=r"but 1 tensors are missing \(first transformer.ln_f.weight\)"):
        load_transformer(folder)
    reweigh(folder, **{"transformer.ln_f.weight": torch.full((16,), torch.nan)})
    with pytest.raises(ValueError, match=r"Expected finite weights, but got NaN or infinity in transformer\.ln_f"):
        load_transformer(folder)


def test_a_tokenizer_of_another_model_is_refused(folder: Path, transformer_folder: Folder):
    loaded = load_transformer(folder)
    loaded.tokenizer.add_tokens(["other", "words", "than", "those"])
    with pytest.raises(ValueError, match=r"Expected a tokenizer of at most 262 tokens, .*, but got 263 tokens"):
        _ = loaded.numbers
    loaded = load_transformer(folder)
    loaded.tokenizer.eos_token = None
    loaded.network.config.eos_token_id = loaded.network.generation_config.eos_token_id = None
    with pytest.raises(ValueError, match="259 tokens and None as the end"):
        _ = loaded.numbers
    encoded = load_transformer(transformer_folder("t5"))
    encoded.network.config.decoder_start_token_id = None
    encoded.network.generation_config.decoder_start_token_id = None
    with pytest.raises(ValueError, match=r"Expected decoder_start_token_id in config.json"):
        _ = encoded.begin
