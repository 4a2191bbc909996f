import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from generators.conversation.chat_model import ChatModel
from generators.personas.persona import Persona, PersonaConfig, changed
from qa_core.networks.checkpoints import load_weights


def test_a_saved_persona_is_the_same(persona: Persona, chat_model: ChatModel, tmp_path: Path):
    persona.save(tmp_path / "sailor", card="# Card\n", half=False)
    loaded = Persona.load(tmp_path / "sailor", chat_model)
    assert loaded.config == persona.config
    assert loaded.casing == persona.casing
    assert loaded.quotations.sentences == persona.quotations.sentences
    for name in ("gists", "totals", "prior"):
        assert getattr(loaded.quotations, name).tolist() == getattr(persona.quotations, name).tolist()
    rows = [chat_model.forward_row(["why?"], "they are tired."), chat_model.forward_row([], "my cats do.")]
    assert loaded.model.log_forward(rows).tolist() == persona.model.log_forward(rows).tolist()
    scores = [replace(one.model, language=one.speaker).log_language(rows).tolist() for one in (loaded, persona)]
    assert scores[0] == scores[1] != chat_model.log_language(rows).tolist()
    features = np.random.default_rng(1).standard_normal((5, 3)).astype(np.float32)
    assert loaded.acceptor(features).tolist() == persona.acceptor(features).tolist()
    product = loaded.product_acceptor(features).tolist()
    assert product == persona.product_acceptor(features).tolist() != loaded.acceptor(features).tolist()


def test_a_persona_without_an_acceptor_for_multiplying_uses_that_of_the_base(
    persona: Persona, chat_model: ChatModel, tmp_path: Path
):
    replace(persona, product_acceptor=chat_model.acceptor).save(tmp_path / "old", card="# Card\n")
    assert not [name for name in load_weights(tmp_path / "old") if name.startswith("product")]
    loaded = Persona.load(tmp_path / "old", chat_model).product_acceptor
    features = np.random.default_rng(1).standard_normal((5, 3)).astype(np.float32)
    assert loaded(features).tolist() == chat_model.acceptor(features).tolist()


def test_half_precision_scores_nearly_the_same(persona: Persona, chat_model: ChatModel, tmp_path: Path):
    persona.save(tmp_path / "half", card="# Card\n")
    rows = [chat_model.forward_row(["why?"], "they are tired.")]
    loaded = Persona.load(tmp_path / "half", chat_model)
    assert loaded.forward.output.bias.dtype == np.float32
    assert loaded.model.log_forward(rows) == pytest.approx(persona.model.log_forward(rows), rel=1e-2)


def test_only_changed_tensors_are_written_and_the_others_are_shared(
    persona: Persona, chat_model: ChatModel, tmp_path: Path
):
    persona.save(tmp_path / "sailor", card="# Card\n")
    written = {name for name in load_weights(tmp_path / "sailor") if "." in name}
    assert written == {"forward.output.bias", "speaker.output.bias", "acceptor.layers.2.bias", "product.layers.2.bias"}
    loaded = Persona.load(tmp_path / "sailor", chat_model)
    assert loaded.forward.output.weight is chat_model.forward.output.weight
    assert loaded.forward.weights["attention.W_a"] is chat_model.forward.weights["attention.W_a"]
    assert loaded.forward.output.bias is not chat_model.forward.output.bias
    assert loaded.base is chat_model


def test_another_base_is_refused(persona: Persona, chat_model: ChatModel, tmp_path: Path):
    persona.save(tmp_path / "sailor", card="# Card\n")
    bias = chat_model.backward.output.bias + np.float32(1)
    other = replace(chat_model, backward=changed(chat_model.backward, {"output.bias": bias}))
    with pytest.raises(ValueError, match=r"Expected the chat model that sailor was trained on \(fingerprint \w{16}\)"):
        Persona.load(tmp_path / "sailor", other)
    chat_model.save(tmp_path / "base", card="# Card\n")
    with pytest.raises(ValueError, match="Expected a model of kind PersonaConfig, but got 'ChatConfig'"):
        Persona.load(tmp_path / "base", chat_model)
    with pytest.raises(FileNotFoundError):
        Persona.load(tmp_path / "nothing", chat_model)


def test_a_base_in_half_precision_has_the_same_fingerprint(chat_model: ChatModel, tmp_path: Path):
    chat_model.save(tmp_path / "base", card="# Card\n", half=True)
    assert ChatModel.load(tmp_path / "base").fingerprint == chat_model.fingerprint
    words = replace(chat_model.vocabulary, tokens=(*chat_model.vocabulary.tokens[:-1], "other"))
    assert replace(chat_model, vocabulary=words).fingerprint != chat_model.fingerprint


@pytest.mark.parametrize("name", ["", "a/b", "../a", "a b", ".a", "-a", "a" * 65, "a\n"])
def test_names_that_are_not_valid_in_a_path_are_refused(name: str):
    with pytest.raises(ValueError, match="Expected a persona's name of up to 64 letters"):
        PersonaConfig(name, base="0")
    with pytest.raises(ValueError, match="Expected"):
        PersonaConfig("a", base="0", weights=(-1.0, 0.0))


def test_damaged_personas_are_refused(persona: Persona, chat_model: ChatModel, tmp_path: Path):
    folder = tmp_path / "sailor"
    persona.forward.output.bias[3] = np.nan
    with pytest.raises(ValueError, match="Expected finite weights"):
        persona.save(folder, card="# Card\n")
    persona.forward.output.bias[3] = 0
    persona.save(folder, card="# Card\n")
    head = json.loads((folder / "config.json").read_text())
    head["config"]["name"] = "../sailor"
    (folder / "config.json").write_text(json.dumps(head))
    with pytest.raises(ValueError, match="Expected a persona's name"):
        Persona.load(folder, chat_model)


def test_tensors_of_wrong_names_and_shapes_are_refused(chat_model: ChatModel):
    with pytest.raises(ValueError, match=r"Expected tensors of the base's names and shapes, but got output\.bias"):
        changed(chat_model.forward, {"output.bias": np.zeros(3, dtype=np.float32)})
    with pytest.raises(ValueError, match=r"but got nothing\.here"):
        changed(chat_model.forward, {"nothing.here": np.zeros(3, dtype=np.float32)})
