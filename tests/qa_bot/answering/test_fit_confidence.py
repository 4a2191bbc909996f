"""Calibrations of a toy collection, and answers of the starter collection with the shipped calibration."""

import json
from pathlib import Path

import numpy as np
import pytest

from qa_bot import Bot
from qa_bot.answering import fit_confidence as calibration
from qa_bot.answering.confidence.calibration import HYBRID, KEYWORDS, SCORED, Calibration
from qa_bot.answering.fit_confidence import (
    ANSWERED,
    HELD_OUT,
    CalibrationQuestion,
    Fitted,
    RankedQuestion,
    calibrate,
    calibration_for,
    calibrations,
    describe,
    ensure,
)
from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder

ANIMALS = ("cats", "dogs", "horses", "cows", "sheep", "goats", "bees", "owls", "foxes", "hens", "mice", "deer")
OTHERS = {"What does a bicycle cost?": "off-topic", "Why do owls wear hats?": "near-miss", "grmpf grmpf": "nonsense"}


class OtherEncoder:
    """The starter encoder with another fingerprint."""

    quick = True
    fingerprint = "f" * 64

    def __init__(self) -> None:
        self._encoder = StaticEncoder.load(ENCODER)
        self.dimension, self.knows, self.encode = self._encoder.dimension, self._encoder.knows, self._encoder.encode


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve documents with a question each, a paraphrase of half of them, and three questions without an answer."""
    pairs = [
        {
            "id": animal,
            "question": f"Where do {animal} sleep?",
            "answer": f"{animal.title()} sleep on straw, as {animal} do.",
        }
        for animal in ANIMALS
    ]
    questions = [{"question": f"bed of {animal}", "answer": animal} for animal in ANIMALS[::2]]
    questions += [{"question": question, "answer": None, "kind": kind} for question, kind in OTHERS.items()]
    for name, rows in (("COLLECTION", pairs), ("QUESTIONS", questions)):
        file = tmp_path / f"{name.lower()}.jsonl"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        monkeypatch.setattr(calibration, name, file)


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize(("engine", "names"), [("hybrid", HYBRID), ("keyword", KEYWORDS)])
def test_every_answered_question_is_repeated_without_its_document(engine, names) -> None:
    fitted = calibrate(OtherEncoder(), engine=engine)
    kinds = [row.question.kind for row in fitted.questions]
    assert kinds == [ANSWERED] * 18 + [*OTHERS.values()] + [HELD_OUT] * 18
    again = sorted(row.question.text for row in fitted.questions if row.question.kind == HELD_OUT)
    assert again == sorted(row.question.text for row in fitted.questions if row.question.kind == ANSWERED)
    assert not any(row.right for row in fitted.questions if row.question.kind != ANSWERED)
    assert sum(row.right for row in fitted.questions) >= 12
    assert fitted.calibration.features == names
    for row in fitted.questions:  # "sleep" is in every document, the animal in one
        if row.question.kind == HELD_OUT and row.question.text.startswith("Where"):
            assert 0 < row.features["coverage"] < 1
    confidences = dict(
        zip([(e.question.kind, e.question.text) for e in fitted.questions], fitted.confidences, strict=True)
    )
    assert confidences[ANSWERED, "Where do bees sleep?"] > confidences[HELD_OUT, "Where do bees sleep?"]


@pytest.mark.usefixtures("toy")
def test_answered_and_unanswered_questions_have_the_same_total_weight() -> None:
    fitted = calibrate(OtherEncoder())
    right = sum(row.right for row in fitted.questions)
    assert fitted.calibration.thresholds[0] == 0
    assert fitted.calibration.precisions[0] == pytest.approx(right / (2 * 18), abs=1e-4)  # all are given at threshold 0


def test_description_by_hand() -> None:
    rows = [(ANSWERED, True), (ANSWERED, True), (ANSWERED, False), ("near-miss", False), (HELD_OUT, False)]
    ranked = [
        RankedQuestion(CalibrationQuestion("q", "d" if kind == ANSWERED else "", kind), {}, right)
        for kind, right in rows
    ]
    sure = Calibration((), (), (), (), 0.0, thresholds=(0.0, 0.5), precisions=(0.4, 0.9))
    first, *others = describe(Fitted(sure, np.array([0.9, 0.3, 0.6, 0.5, 0.2]), ranked)).splitlines()
    assert first == "right first document for 0.667 of 3 answered questions"
    expected = "threshold 0.50, right answers given 0.500, unanswered ones given: near-miss 1.000, held out 0.000"
    assert others[-2] == f"wanted precision 0.90: {expected}"
    assert "threshold 1.00, right answers given 0.000" in others[-1]


@pytest.mark.usefixtures("toy")
def test_another_encoder_is_calibrated_once(tmp_path: Path) -> None:
    encoder, models = OtherEncoder(), tmp_path / "models"
    assert calibration_for(encoder, models) == calibration_for(None, models)
    ensure(encoder, models)
    (file,) = models.iterdir()
    made = calibration_for(encoder, models)
    assert made.features == HYBRID
    file.write_bytes(file.read_bytes().replace(b'"bias": ', b'"bias": 1'))
    ensure(encoder, models)
    assert calibration_for(encoder, models).bias != made.bias


def test_the_calibrations_of_scored_passages_are_those_of_their_scorer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = json.loads(calibration.PASSAGES.read_text())
    shipped = {key: of for key, of in fields.items() if not key.endswith(" scored")}
    file = tmp_path / "shipped.json"
    monkeypatch.setattr(calibration, "PASSAGES", file)
    file.write_text(json.dumps(shipped))
    without = calibrations(None, tmp_path)
    assert (without.scored, without.scored_by_words) == (None, None)

    scored = {
        f"{key} scored": {**shipped["hybrid verified"], "bias": bias} for key, bias in (("hybrid", 1), ("keyword", 2))
    }
    file.write_text(json.dumps(shipped | scored))
    of_network = calibrations(None, tmp_path)
    assert of_network.scored is not None
    assert of_network.scored_by_words is not None
    assert (of_network.scored.bias, of_network.scored_by_words.bias) == (1, 2)
    assert of_network[:6] == without[:6]

    folder = tmp_path / "cross-encoder"
    folder.mkdir()
    assert calibrations(None, tmp_path, str(folder)).scored is None, "those of another scorer do not hold"
    (folder / "passage_confidence.json").write_text(json.dumps({"hybrid": {**shipped["hybrid verified"], "bias": 3}}))
    of_folder = calibrations(None, tmp_path, str(folder))
    assert of_folder.scored is not None
    assert (of_folder.scored.bias, of_folder.scored_by_words) == (3, None)


def test_the_shipped_calibrations_of_scored_passages_rise_with_the_score() -> None:
    shipped = calibrations(None, Path())
    for of in (shipped.scored, shipped.scored_by_words):
        assert of is not None
        assert of.features == SCORED
        assert of.weights[of.features.index("relevance")] > 0
        assert of.threshold(0.9) < 1


@pytest.mark.parametrize(
    "question",
    [
        "Why do cats sleep all day?",
        "how do i boil an egg",
        "why is the sky blue",
        "What is the capital of Australia?",
        "reset router",
        "how much water should one drink",
        "what is photosynthesis?",
    ],
)
def test_answered_starter_questions(home: Path, question: str) -> None:
    with Bot.open(home, record=False) as bot:
        assert bot.ask(question).answered


@pytest.mark.parametrize(
    "question",
    [
        "what is the capital of Mongolia?",
        "who is Ada Lovelace",
        "how do I change the oil on a 2009 Honda Civic",
        "solve x^2 - 5x + 6 = 0",
        "hgfhgf 8787 jkjk 99",
        "how do I knit a cable stitch",
    ],
)
def test_unanswered_starter_questions(home: Path, question: str) -> None:
    with Bot.open(home, flags={"facts.enabled": False}, record=False) as bot:
        assert not bot.ask(question).answered


def test_the_shipped_calibration_uses_features_that_are_independent_of_the_collection() -> None:
    shipped = calibration_for(StaticEncoder.load(ENCODER), Path())
    raw = dict(zip(shipped.features, np.array(shipped.weights) / shipped.deviation, strict=True))
    assert set(raw) == set(HYBRID)
    assert raw.pop("missing_name") < 0
    assert all(weight > 0 for weight in raw.values())
