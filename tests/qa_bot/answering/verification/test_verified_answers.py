"""Answers of a small home whose first passages are read: confidence, unsure answers, and what happens without time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from qa_bot.answering.ask import Ask
from qa_bot.answering.confidence.calibration import Calibration
from qa_bot.answering.corridor import Corridor
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.stages.decide import UNSURE, Calibrations, Decision
from qa_bot.answering.verification.token_vectors import TokenVectors
from qa_bot.answering.verification.verify import Verifier
from qa_bot.documents.sync import add
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.home.index import Index
from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.types import Question

DOCUMENTS = {
    "dogs": "# Dogs\n\nTake your dog to work on Fridays. It stays below the desk.",
    "fees": "# Fees\n\nThe cost in Vienna is nine euros. Elsewhere it is six.",
    "doors": "# Doors\n\nThe doors open at eight and close at six.",
}
BY_COVER = Calibration(("covered",), (0.5,), (0.25,), (2.0,), 0.0, (0.8,), (1.0,))  # σ(8 (covered − .5))
NEVER = Calibration((), (), (), (), -9.0, (0.5,), (1.0,))


class SlowTokens:
    """Needs longer than any deadline of these tests."""

    def states(self, texts):
        time.sleep(0.5)
        raise TimeoutError

    def token_ids(self, texts):
        return [[] for _ in texts]

    def token_spans(self, _text):
        return []


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("verified")
    for name, text in DOCUMENTS.items():
        (folder / f"{name}.md").write_text(text)
    home = Home.open(folder / "home")
    add(home, Config(), StaticEncoder.load(ENCODER), [folder / f"{name}.md" for name in DOCUMENTS])
    generation = Generations(home.index).current()
    assert generation is not None
    return Index(generation)


@pytest.fixture
def workers() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def answer_to(index, workers, tokens, question, *, seconds=30.0, precision=None):
    calibrations = Calibrations(*[NEVER] * 4, BY_COVER, BY_COVER)
    verifier = Verifier(TokenVectors(lambda: tokens), read=5) if tokens else None
    encoder = StaticEncoder.load(ENCODER)
    corridor = Corridor(index, encoder, calibrations, Config(), workers, verifier=verifier)
    ask = Ask(Question(question), trace=True, precision=precision)
    return corridor.answer(ask, corridor.start(Deadline.after(seconds)))


def test_a_covered_question_is_answered(index, workers, tokens):
    answer = answer_to(index, workers, tokens, "Bring a puppy to the office?")
    assert answer.answered
    assert answer.sources[0].document == "dogs.md"
    assert answer.confidence == pytest.approx(0.982, abs=1e-3), "σ(4)"
    assert "verify" in answer.timings
    assert {"puppy": 1.0}.items() <= next(iter(answer.trace["covers"].values())).items()


def test_an_uncovered_question_is_refused_with_its_words(index, workers, tokens):
    answer = answer_to(index, workers, tokens, "Bring a puppy to the doors of Paris?")
    assert not answer.answered
    assert not answer.unsure
    assert "“Paris”" in answer.reason


def test_without_a_verifier_other_confidence_decides(index, workers):
    answer = answer_to(index, workers, None, "Bring a puppy to the office?")
    assert (answer.answered, answer.skipped) == (False, ())


def test_out_of_time_the_stage_is_skipped_and_named(index, workers):
    answer = answer_to(index, workers, SlowTokens(), "Bring a puppy to the office?", seconds=0.4)
    assert "verify" in answer.skipped
    assert not answer.answered, "the calibration of unread passages decides"


def test_an_answer_below_the_threshold_may_be_unsure(index, workers, tokens, monkeypatch):
    question = "Bring a puppy to the office in Vienna?"
    sure = answer_to(index, workers, tokens, question)
    monkeypatch.setattr("qa_bot.answering.stages.decide.UNSURE", 0.0)
    unsure = answer_to(index, workers, tokens, question)
    assert (sure.answered, unsure.answered, unsure.unsure, unsure.kind) == (False, True, True, "passage")
    assert unsure.confidence < 0.8
    assert 0.0 < UNSURE <= 1.0


def test_nothing_is_unsure_if_the_precision_cannot_be_had():
    assert Decision(0.99, 1.0, {"covered": 1.0}).accepted is False
    assert Decision(0.7, 0.8, {"covered": 1.0}).unsure
    assert not Decision(0.8, 0.8, {"covered": 1.0}).unsure
    assert not Decision(0.5, 0.8, {"covered": 1.0}).accepted
