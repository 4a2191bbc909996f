"""The shipped encoder of many languages: questions are near passages of their meaning."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from qa_bot.home.encoders import locate, resolve, verify
from qa_bot.home.starter import MULTILINGUAL, MULTILINGUAL_LANGUAGES
from qa_core.encoders.transformer_encoder import TransformerEncoder

QUESTIONS = [
    "Darf mein Hund in die Wohnung?",
    "Combien de jours de vacances ai-je ?",
    "When does the swimming pool open?",
    "¿Quién paga la calefacción?",
]
PASSAGES = [
    "Haustiere sind nur mit Zustimmung des Vermieters erlaubt.",
    "Chaque salarié a droit à 27 jours de congé par an.",
    "The pool opens at nine.",
    "El inquilino paga los gastos de calefacción.",
]


def test_questions_find_passages_of_their_meaning() -> None:
    encoder = TransformerEncoder.load_prepared(MULTILINGUAL)
    cosines = encoder.encode(QUESTIONS) @ encoder.encode(PASSAGES, side="answer").T
    assert cosines.argmax(axis=1).tolist() == [0, 1, 2, 3]
    assert encoder.layout.question_prompt == "query: "


def test_the_graph_is_the_one_that_its_settings_name() -> None:
    graph = (MULTILINGUAL / "onnx" / "model.onnx").read_bytes()
    settings = json.loads((MULTILINGUAL / "made_with.json").read_text(encoding="utf-8"))
    assert hashlib.sha256(graph).hexdigest() == settings["weights_sha256"]
    assert len(graph) < 25_000_000
    norwegian = {"nb": "no"}
    assert {norwegian.get(code, code) for code in settings["covered"]} == {*MULTILINGUAL_LANGUAGES, "en"}


def test_the_card_and_the_notice_name_the_original_and_the_licences() -> None:
    for name in ("README.md", "NOTICE"):
        text = (MULTILINGUAL / name).read_text(encoding="utf-8")
        assert "intfloat/multilingual-e5-small" in text
        assert "MIT License" in text


def test_its_vectors_have_unit_length_and_nothing_is_written(tmp_path: Path) -> None:
    assert verify(locate("starter-multilingual", models=tmp_path), models=tmp_path).dimension == 384
    vectors = resolve("starter-multilingual", models=tmp_path).encode(["Hund"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert not list(tmp_path.iterdir())
