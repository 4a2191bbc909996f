"""The shipped transformer: its files, its vectors and its token vectors."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from qa_bot.home.encoders import EncoderError, locate, resolve, verify
from qa_bot.home.starter import TRANSFORMER
from qa_core.encoders.transformer_encoder import TransformerEncoder

QUESTION = "How many days of leave can I carry over?"
FIRST_NUMBERS = [0.0565, 0.0049, 0.054, 0.0539, 0.0766, 0.0113]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> TransformerEncoder:
    encoder = resolve("starter-transformer", models=tmp_path_factory.mktemp("models"))
    assert isinstance(encoder, TransformerEncoder)
    return encoder


def test_vectors_have_length_one_and_rank_by_meaning(encoder: TransformerEncoder) -> None:
    passages = ["Up to five unused vacation days move to the next year.", "The printer is on the second floor.", ""]
    vectors = encoder.encode(passages, side="answer")
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 1, 0], atol=1e-4)
    near, far, blank = vectors @ encoder.encode([QUESTION])[0]
    assert near > far + 0.3
    assert blank == 0


def test_a_question_has_the_stored_vector(encoder: TransformerEncoder) -> None:
    np.testing.assert_allclose(encoder.encode([QUESTION])[0][: len(FIRST_NUMBERS)], FIRST_NUMBERS, atol=0.01)


def test_a_text_has_the_same_vector_alone_and_among_others(encoder: TransformerEncoder) -> None:
    together = encoder.encode([QUESTION, "leave", QUESTION + " I joined in May. " * 20])
    np.testing.assert_allclose(encoder.encode([QUESTION])[0], together[0], atol=1e-4)


def test_states_are_a_row_a_token(encoder: TransformerEncoder) -> None:
    states, blank = encoder.states([QUESTION, " "])
    assert states.shape == (len(encoder.tokeniser.sequences([QUESTION])[0]), 384)
    assert blank.shape == (0, 384)
    pooled = states.mean(axis=0)
    np.testing.assert_allclose(pooled / np.linalg.norm(pooled), encoder.encode([QUESTION])[0], atol=1e-3)


def test_the_graph_is_the_one_that_its_settings_name() -> None:
    graph = (TRANSFORMER / "onnx" / "model.onnx").read_bytes()
    settings = json.loads((TRANSFORMER / "made_with.json").read_text(encoding="utf-8"))
    assert hashlib.sha256(graph).hexdigest() == settings["weights_sha256"]
    assert len(graph) < 25_000_000


def test_the_card_and_the_notice_name_the_original_and_the_licences() -> None:
    card = (TRANSFORMER / "README.md").read_text(encoding="utf-8")
    for name in ("all-MiniLM-L6-v2", "all-mpnet-base-v2", "Apache", "CC BY 4.0", "CC BY-SA 4.0", "MIT"):
        assert name in card
    assert "all-MiniLM-L6-v2" in (TRANSFORMER / "NOTICE").read_text(encoding="utf-8")


def test_nothing_is_written_and_the_encoder_is_shared(tmp_path: Path) -> None:
    assert resolve("starter-transformer", models=tmp_path) is resolve("starter-transformer", models=tmp_path)
    assert verify(locate("starter-transformer", models=tmp_path), models=tmp_path).dimension == 384
    assert not list(tmp_path.iterdir())


def test_the_table_has_a_name_of_its_own(tmp_path: Path) -> None:
    assert resolve("starter-table", models=tmp_path).fingerprint == resolve("starter", models=tmp_path).fingerprint


def test_a_damaged_graph_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("modules.json", "config.json", "tokenizer.json", "made_with.json", "1_Pooling/config.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((TRANSFORMER / name).read_bytes())
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").write_bytes(b"torn")
    monkeypatch.setattr("qa_bot.home.encoders.TRANSFORMER_FOLDER", tmp_path)
    with pytest.raises(EncoderError, match=r"Expected an ONNX graph at .*model\.onnx"):
        resolve("starter-transformer", models=tmp_path / "models", threads=7)
